"""Local frames of a joint: normalisation, body scale, re-anchoring, the disjoint-frame check (spec section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consumer.blocks import JointBlock
from consumer.bodies import BodyTable
from consumer.columns import ColumnReader
from consumer.constants import FRAME_TOLERANCE
from consumer.decompose import Mat3, Quat, Vec3, compose, decompose, inverse, multiply, quaternion, rotation, transform
from consumer.lanes import (
    AGREE,
    AUTHORED,
    BLOCK,
    LANE,
    OFF_AXIS,
    OFF_AXIS_ROTATION,
    POSITION,
    POSITION_ROTATION,
    SCRATCH,
    SIDE,
    SURE,
    SURELY_CLOSE,
    TURN,
    UNCHECKED,
    WORD,
    T,
    apart,
    ask_ahead,
    bake,
    check_bases,
    check_near,
    check_turned,
    find_bodies,
    find_others,
    find_themselves,
    lane,
    pass_over,
    read_matrices,
    read_orientations,
    read_positions,
    read_targets,
    scratch,
    triple,
    turned,
)  # fmt: skip
from consumer.passes import Pass, Runner, Work
from consumer.rulesets import RuleSet
from consumer.store import expect_rows, mark_rows, pack_rows, write_rows
from consumer.transforms import Transforms
from consumer.world import Affine, world_matrix
from ovsim.contract.joints import D6, FIXED, PRISMATIC, REVOLUTE, SPHERICAL
from ovsim.jit import at, ranged, readonly, rule, serial
from ovsim.memory import codes, doubles, floats, ids, offsets, words

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
NEAR = 1 << 10  # rows of a part, at most: what the parts at one height read stays in the second cache
MOST_BODIES = 2  # bodies to a joint, beyond which most matrices are not wanted
MOST_PARTS, SHARES = 96, 8  # parts that a thread takes at once, at most; how often it comes for more, at least
# what a row of `sources` holds: addresses, numbers of rows, steps; then for each side what `side_of` takes
_ROWS, _COUNT, _OUT, _CHECK, _AXIS, _REL, _BODY, _POSITION, _ORIENTATION, _VALID, _MARKS, _SIDES = range(12)
_WIDTH = 8
_WALK = readonly(np.empty(0, np.uint32))  # no table of bodies: walk up from each target

# what the disjoint-frame check compares, by rule set switch and joint type (spec 4.7; "observed" measured on 0.6.3)
CHECKS: dict[str, dict[str, int]] = {
    "described": {FIXED: POSITION_ROTATION, REVOLUTE: POSITION, SPHERICAL: POSITION, PRISMATIC: OFF_AXIS_ROTATION},
    "observed": {FIXED: POSITION_ROTATION, REVOLUTE: OFF_AXIS, SPHERICAL: POSITION, PRISMATIC: POSITION, D6: POSITION_ROTATION},
}


@rule
def reanchor(t: Vec3, q: Quat, target: Affine, lies: bool, body: Affine) -> tuple[Vec3, Quat]:
    """The frame (t, q) of a target, as a frame of a body (of the world unless the body `lies` anywhere) before its scale is baked in (spec 4.3).

    A body matrix that cannot be inverted counts as the identity, and a frame that holds an infinity or NaN becomes the identity (observed).
    """
    # target relative to body first: a large world offset that both share cancels before the frame comes in
    between, offset = target
    if lies:
        regular, back = inverse(body[0])
        if regular:
            home = body[1]
            between = multiply(between, back)
            offset = transform((offset[0] - home[0], offset[1] - home[1], offset[2] - home[2]), back)
    to = transform(t, between)
    moved = multiply(rotation(q), between)
    total = to[0] + to[1] + to[2]
    for number in moved:
        total += number
    if not np.isfinite(total):
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    _, pure = decompose(moved)
    return (to[0] + offset[0], to[1] + offset[1], to[2] + offset[2]), quaternion(pure)


@rule
def close(a: Vec3, b: Vec3) -> bool:
    """Whether two positions lie within FRAME_TOLERANCE of each other; NaN never does."""
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return np.sqrt(x * x + y * y + z * z) <= FRAME_TOLERANCE


@rule
def close_off_axis(a: Vec3, b: Vec3, axis: int) -> bool:
    """Whether two positions agree, lane by lane in the world, except along world axis `axis`."""
    x = axis == 0 or abs(a[0] - b[0]) <= FRAME_TOLERANCE
    y = axis == 1 or abs(a[1] - b[1]) <= FRAME_TOLERANCE
    z = axis == 2 or abs(a[2] - b[2]) <= FRAME_TOLERANCE
    return x and y and z


@rule
def close_rotation(a: Quat, b: Quat) -> bool:
    """Whether two rotations agree: vector part by its length, real part by itself, whatever the signs."""
    sign = -1.0 if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0.0 else 1.0
    x, y, z, w = a[0] - sign * b[0], a[1] - sign * b[1], a[2] - sign * b[2], a[3] - sign * b[3]
    return np.sqrt(x * x + y * y + z * z) <= FRAME_TOLERANCE and abs(w) <= FRAME_TOLERANCE


@rule
def resolve_side(
    t: Vec3, q: Quat, rel: Any, body: Any, unresolved: bool,
    parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64, own: U32,
) -> tuple[Affine, Vec3, Mat3, Vec3, Quat]:  # fmt: skip
    """One side from its authored position and normalised orientation.

    The body's world matrix, its scale and rotation, the resolved frame in float32.
    """
    lies, world = world_matrix(body, parents, flags, slot, table, ready, v0, v1, v2, own)
    scale, pure = decompose(world[0])
    if rel != body and (body != 0 or unresolved):
        _, target = world_matrix(rel, parents, flags, slot, table, ready, v0, v1, v2, own)
        t, q = reanchor(t, q, target, lies, world)
    position = (np.float32(t[0] * scale[0]), np.float32(t[1] * scale[1]), np.float32(t[2] * scale[2]))
    turn = (np.float32(q[0]), np.float32(q[1]), np.float32(q[2]), np.float32(q[3]))
    return (
        world,
        scale,
        pure,
        (np.float64(position[0]), np.float64(position[1]), np.float64(position[2])),
        (np.float64(turn[0]), np.float64(turn[1]), np.float64(turn[2]), np.float64(turn[3])),
    )


@rule
def world_position(world: Affine, scale: Vec3, t: Vec3) -> Vec3:
    """A resolved position in the world: body scale divided out, body matrix applied (spec 4.7)."""
    to = transform((t[0] / scale[0], t[1] / scale[1], t[2] / scale[2]), world[0])
    home = world[1]
    return to[0] + home[0], to[1] + home[1], to[2] + home[2]


@rule
def same_rotation(w0: Affine, s0: Vec3, r0: Mat3, q0: Quat, w1: Affine, s1: Vec3, r1: Mat3, q1: Quat) -> bool:
    """Whether two resolved orientations agree in the world (spec 4.7)."""
    a = turned(w0[0], 1.0 / s0[0], 1.0 / s0[1], 1.0 / s0[2], q0)
    b = turned(w1[0], 1.0 / s1[0], 1.0 / s1[1], 1.0 / s1[2], q1)
    return apart(a, b) <= SURELY_CLOSE or close_rotation(compose(quaternion(r0), q0), compose(quaternion(r1), q1))


@serial
def resolve_rows(
    first: int, n: int, rows: Any, rel: Any, body: Any, parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64,
    own: U32, unresolved: bool, check: int, axis: Any, lanes: Any, baked: Any, q: Any,
) -> None:  # fmt: skip
    """The rules themselves, for rows that are not sure on both sides."""
    for j in range(n):
        here = np.uint64(j)
        there, other, c = here + SIDE, here + np.uint64(LANE), here + np.uint64(4 * LANE)
        if lanes[lane(here, SURE)] != 0.0 and lanes[lane(there, SURE)] != 0.0:
            continue
        t0, t1 = triple(lanes, here, AUTHORED), triple(lanes, there, AUTHORED)
        q0 = np.float64(q[here]), np.float64(q[lane(here, 1)]), np.float64(q[lane(here, 2)]), np.float64(q[lane(here, 3)])
        q1 = np.float64(q[c]), np.float64(q[lane(c, 1)]), np.float64(q[lane(c, 2)]), np.float64(q[lane(c, 3)])
        w0, s0, r0, p0, q0 = resolve_side(t0, q0, rel[here], body[here], unresolved, parents, flags, slot, table, ready, v0, v1, v2, own)
        w1, s1, r1, p1, q1 = resolve_side(t1, q1, rel[other], body[other], unresolved, parents, flags, slot, table, ready, v0, v1, v2, own)
        baked[here], baked[lane(here, 1)], baked[lane(here, 2)] = p0
        baked[lane(here, 3)], baked[lane(here, 4)], baked[lane(here, 5)] = p1
        q[here], q[lane(here, 1)], q[lane(here, 2)], q[lane(here, 3)] = q0
        q[c], q[lane(c, 1)], q[lane(c, 2)], q[lane(c, 3)] = q1
        good = True
        if check != UNCHECKED:
            a, b = world_position(w0, s0, p0), world_position(w1, s1, p1)
            off_axis = check in (OFF_AXIS, OFF_AXIS_ROTATION)
            good = close_off_axis(a, b, axis[rows[at(first + j, 1)]]) if off_axis else close(a, b)
            if good and check in (POSITION_ROTATION, OFF_AXIS_ROTATION):
                good = same_rotation(w0, s0, r0, q0, w1, s1, r1, q1)
        lanes[lane(here, AGREE)] = 1.0 if good else 0.0


@rule
def side_of(sources: I64, s: int, k: int) -> Any:
    """Side k of source s: offsets, targets, their step, positions, their step, orientations, their step."""
    o, n = _SIDES + _WIDTH * k, sources[s, _COUNT]
    ts, ps, rs = sources[s, o + 3], sources[s, o + 5], sources[s, o + 7]
    return (
        offsets(sources[s, o], n * ts + 2 - ts), ids(sources[s, o + 1], sources[s, o + 2]), ts,
        floats(sources[s, o + 4], 3 * (n * ps + 1 - ps)), ps, floats(sources[s, o + 6], 4 * (n * rs + 1 - rs)), rs,
    )  # fmt: skip


@ranged
def resolve_frames(
    lo: int, hi: int, parts: I64, sources: I64, body_of: U32, skip_disabled: bool, unresolved: bool, parents: U32, flags: U8, slot: U32, table: F64,
    ready: U8, v0: F64, v1: F64, v2: F64, own: U32, stretch: F64, stand: U64, many: bool,
) -> None:  # fmt: skip
    """Both sides of every joint of the parts (source, first row, end), block by block.

    `sources` (s, `_SIDES` + 2 * `_WIDTH`) holds addresses, numbers of rows and steps; results of float32 are taken two numbers at a time.
    `many`: most of the matrices in columns are wanted.
    """
    memory = np.empty(SCRATCH)
    lanes, q, turn, t, baked, rel, pair, pairs, body, base, code, told = scratch(memory.ctypes.data)
    moved, turns = ids(memory.ctypes.data + T * WORD, 3 * LANE), ids(memory.ctypes.data + TURN * WORD, 4 * LANE)
    table_of, stretch_of = doubles(table.ctypes.data, table.size), doubles(stretch.ctypes.data, stretch.size)
    m0, m1, m2 = doubles(v0.ctypes.data, v0.size), doubles(v1.ctypes.data, v1.size), doubles(v2.ctypes.data, v2.size)
    stands, known = ids(stand.ctypes.data, stand.size), stand.size > 0
    reached, passed = 0.0, 0.0
    for p in range(lo, hi):
        s, start, end = parts[p, 0], parts[p, 1], parts[p, 2]
        count, out = sources[s, _COUNT], sources[s, _OUT]
        check, places, axis = sources[s, _CHECK], words(sources[s, _ROWS], count), codes(sources[s, _AXIS], out)
        to_rel, to_body = ids(sources[s, _REL], 2 * out), ids(sources[s, _BODY], 2 * out)
        to_position, to_orientation = ids(sources[s, _POSITION], 3 * out), ids(sources[s, _ORIENTATION], 4 * out)
        to_valid, to_marks = codes(sources[s, _VALID], out), codes(sources[s, _MARKS], out)
        begin0, held0, ts0, pos0, ps0, rot0, rs0 = side_of(sources, s, 0)
        begin1, held1, ts1, pos1, ps1, rot1, rs1 = side_of(sources, s, 1)
        fails = check in (POSITION, POSITION_ROTATION)  # frames far apart fail; off an axis they may not
        origins, rotations = check != UNCHECKED, check in (POSITION_ROTATION, OFF_AXIS_ROTATION)
        if many and end / count > reached:
            height, reached = max(reached, start / count), end / count
            passed += pass_over(m0, v0.size, height, reached) + pass_over(m1, v1.size, height, reached) + pass_over(m2, v2.size, height, reached)
        for j in range(LANE):
            lanes[lane(np.uint64(j), AGREE)] = 1.0  # which a check overwrites
        for first in range(start, end, BLOCK):
            n = min(BLOCK, end - first)
            after, then = min(first + BLOCK, count), min(first + 2 * BLOCK, count)  # columns of the next block are asked for, a few at a time
            ask_ahead(begin0, after * ts0, then * ts0, 8)
            ask_ahead(begin1, after * ts1, then * ts1, 8)
            read_targets(first, n, 0, begin0, held0, ts0, rel)
            read_targets(first, n, 1, begin1, held1, ts1, rel)
            others = find_bodies(n, 0, known, stands, stretch_of, rel, code, base, lanes)
            others += find_bodies(n, 1, known, stands, stretch_of, rel, code, base, lanes)
            find_themselves(n, rel, body, told)
            if others:
                for k in range(2):
                    find_others(
                        n, k, body_of, skip_disabled, unresolved, parents, flags, slot, ready, stretch, own, rel, body, told, code, base, lanes
                    )
            expect_rows(first, n, places, to_rel, to_body, to_position, to_orientation)
            ask_ahead(pos0, 3 * after * ps0, 3 * then * ps0, 16)
            ask_ahead(rot0, 4 * after * rs0, 4 * then * rs0, 16)
            read_positions(first, n, 0, pos0, ps0, lanes)
            read_positions(first, n, 1, pos1, ps1, lanes)
            ask_ahead(pos1, 3 * after * ps1, 3 * then * ps1, 16)
            ask_ahead(rot1, 4 * after * rs1, 4 * then * rs1, 16)
            read_orientations(first, n, 0, rot0, rs0, q)
            read_orientations(first, n, 1, rot1, rs1, q)
            for k in range(2):
                read_matrices(n, k, origins, code, table_of, m0, m1, m2, lanes)
                if bake(n, k, True, rotations, lanes, baked):
                    bake(n, k, False, rotations, lanes, baked)
            if origins:
                check_near(n, fails, lanes)
                check_bases(n, base, lanes)
            if rotations:
                check_turned(n, lanes, q)
            ask_ahead(held0, begin0[np.uint64(after * ts0)], begin0[np.uint64(then * ts0)], 8)
            ask_ahead(held1, begin1[np.uint64(after * ts1)], begin1[np.uint64(then * ts1)], 8)
            ask_ahead(places, after, then, 16)
            sure = 0.0
            for j in range(n):
                sure += lanes[lane(np.uint64(j), SURE)] * lanes[lane(np.uint64(j) + SIDE, SURE)]
            if sure < n:
                resolve_rows(
                    first, n, places, rel, body, parents, flags, slot, table, ready, v0, v1, v2, own, unresolved, check, axis, lanes, baked, q
                )
            mark_rows(first, n, places, rel, body, told, lanes, baked, q, to_valid, to_marks)
            pack_rows(n, rel, body, baked, q, pair, pairs, t, turn)
            write_rows(first, n, places, pair, pairs, moved, turns, to_rel, to_body, to_position, to_orientation)
    memory[0] = passed  # so that the columns are read, and the scratch memory is not given back before


class FrameSource(NamedTuple):
    """One archetype's joints for `resolve_frames`: how many, their row of `sources`, and the arrays whose addresses stand there."""

    rows: int
    entry: tuple[int, ...]
    held: list[Any]

    @classmethod
    def of(cls, block: JointBlock, rows: U32, reader: ColumnReader, rules: RuleSet, marks: U8) -> FrameSource:
        """`rows`: the rows (n,) of the block that they go to, all different; the bits of findings go to `marks`, (rows of the block,)."""
        held: list[Any] = [rows, block.axis, block.rel, block.body, block.position, block.orientation, block.valid_frames, marks]
        place, *outs = (a.ctypes.data for a in held)
        entry = [place, rows.size, len(block), CHECKS[rules.disjoint_frame_check].get(block.type_name, UNCHECKED), *outs]
        for k in "01":
            begin, targets, ts = reader.targets(f"physics:body{k}")
            pos, ps = reader.float32(f"physics:localPos{k}")
            rot, rs = reader.float32(f"physics:localRot{k}")
            entry += [begin.ctypes.data, targets.ctypes.data, targets.size, ts, pos.ctypes.data, ps, rot.ctypes.data, rs]
            held += [begin, targets, pos, rot]
        return cls(rows.size, tuple(entry), held)


def resolve_all_frames(sources: Sequence[FrameSource], bodies: BodyTable, transforms: Transforms, rules: RuleSet, runner: Runner) -> None:
    """Bodies, frames, the frame check and the marks of all joints; reads `block.axis`.

    All archetypes go through their rows at the same pace, so that what rows at the same height share (the bodies of a robot) is still in cache.
    """
    some = [source for source in sources if source.rows]
    if not some:
        return
    order = _parts([source.rows for source in some], min(runner.chunk, NEAR))
    table = readonly(np.array([source.entry for source in some], np.int64))
    body_of = bodies.body if bodies.deep else _WALK
    unresolved = rules.unresolved_target_frame == "reanchor"
    many = sum(len(column) for column in transforms.places) < MOST_BODIES * sum(source.rows for source in some)
    args = (order, table, body_of, bodies.skip_disabled, unresolved, *transforms.args, transforms.stretch, transforms.stand, many)
    share = max(1, min(MOST_PARTS, len(order) // (SHARES * runner.threads)))
    replace(runner, chunk=share).run([Work(len(order), [Pass(resolve_frames, args, some)])])


def _parts(sizes: Sequence[int], most: int) -> I64:
    """Parts (source, first row, end) of at most `most` rows, int64 (p, 3), by their height: first row over the source's rows."""
    parts = []
    for s, n in enumerate(sizes):
        at = np.arange(0, n, most)
        parts.append(np.stack([np.full(at.size, s), at, np.minimum(at + most, n)], 1))
    every = np.concatenate(parts)
    return readonly(every[np.argsort(every[:, 1] / np.array(sizes)[every[:, 0]], kind="stable")])
