"""Local frames of a joint: normalisation, body scale, re-anchoring, the disjoint-frame check (spec section 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import JointBlock
from consumer.bodies import ENABLED, RIGID_BODY, BodyTable, nearest_body
from consumer.columns import ColumnReader
from consumer.constants import FRAME_TOLERANCE, ZERO
from consumer.decompose import (
    Mat3,
    Quat,
    Vec3,
    axis_scale,
    compose,
    decompose,
    determinant,
    inverse,
    multiply,
    products,
    quaternion,
    rotation,
    square,
    transform,
)
from consumer.findings import DISJOINT, NO_MARKS, SAME_BODY, sane_frame, side_marks
from consumer.jit import at, ranged, readonly, rule, serial
from consumer.passes import Pass
from consumer.rulesets import RuleSet
from consumer.transforms import Affine, Transforms, world_block, world_matrix
from ovsim.contract.joints import D6, FIXED, PRISMATIC, REVOLUTE, SPHERICAL

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
LANE = 264  # its room in memory: not a power of two, so that lanes do not fall on the same cache lines
SURELY_CLOSE = 2.0 * FRAME_TOLERANCE**2
BLOCK = 256  # rows whose lanes are worked on together: they stay in the first two caches
SURE = np.uint8(RIGID_BODY | ENABLED)  # a target with these bits is its own body under every rule set
_NO_PATH, _NEXT = np.uint64(0), np.uint64(1)
_WALK = readonly(np.empty(0, np.uint32))  # no table of bodies: walk up from each target

# what the disjoint-frame check compares, by rule set switch and joint type (spec 4.7; "observed" measured on 0.6.3)
UNCHECKED, POSITION, POSITION_ROTATION, OFF_AXIS, OFF_AXIS_ROTATION = range(5)
CHECKS: dict[str, dict[str, int]] = {
    "described": {FIXED: POSITION_ROTATION, REVOLUTE: POSITION, SPHERICAL: POSITION, PRISMATIC: OFF_AXIS_ROTATION},
    "observed": {FIXED: POSITION_ROTATION, REVOLUTE: OFF_AXIS, SPHERICAL: POSITION, PRISMATIC: POSITION, D6: POSITION_ROTATION},
}


@rule
def normalise(x: np.float32, y: np.float32, z: np.float32, w: np.float32) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    """Quaternion lanes over their length, all in float32; unchanged when the squared length is zero or underflows to it (spec 4.1).

    An overflowing squared length gives zero lanes; the sign is kept.
    """
    n2 = x * x + y * y + z * z + w * w
    if n2 > ZERO:
        n = np.sqrt(n2)
        return x / n, y / n, z / n, w / n
    return x, y, z, w


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
    for lane in moved:
        total += lane
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


@serial
def find_targets(
    first: int, n: int, offsets: I64, targets: U64, ts: int, body_of: U32, skip_disabled: bool, parents: U32, flags: U8, rel: U64, body: U32
) -> int:
    """First target of rows `first` to `first + n`, and the body it resolves to, 0 for none; returns how many targets are not the body itself."""
    others = 0
    for j in range(n):
        i = at(first + j, ts)
        start, end = offsets[i], offsets[i + _NEXT]
        target = targets[np.uint64(start)] if end > start else _NO_PATH
        rel[j] = target
        if body_of.size:
            body[j] = body_of[target]
        elif flags[target] & SURE == SURE:
            body[j] = target
        else:
            body[j] = nearest_body(target, parents, flags, skip_disabled)
        others += 0 if target == body[j] else 1
    return others


@serial
def scale_places(n: int, world: F64, lies: U8, scale: F64) -> None:
    """Scales (3, n) of the world matrices (12, n); one where a body has no matrix."""
    sheared = 0
    for j in range(n):
        m = (world[0, j], world[1, j], world[2, j], world[3, j], world[4, j], world[5, j], world[6, j], world[7, j], world[8, j])
        sign = -1.0 if determinant(m) < 0.0 else 1.0
        c00, c11, c22, c01, c02, c12 = products(m)
        scale[0, j], scale[1, j], scale[2, j] = axis_scale(c00, sign), axis_scale(c11, sign), axis_scale(c22, sign)
        sheared += 0 if square(c00, c11, c22, c01, c02, c12) else 1
    if sheared:
        for j in range(n):
            if lies[j]:
                s, _ = decompose(basis(world, j))
                scale[0, j], scale[1, j], scale[2, j] = s


@rule
def basis(world: F64, j: int) -> Mat3:
    """The upper 3x3 of matrix j."""
    return world[0, j], world[1, j], world[2, j], world[3, j], world[4, j], world[5, j], world[6, j], world[7, j], world[8, j]


@serial
def read_frames(first: int, n: int, pos: F32, ps: int, rot: F32, rs: int, t: F64, q: F32) -> None:
    """Authored frames of rows `first` to `first + n`, lane by lane: positions (3, n), normalised orientations (4, n)."""
    for j in range(n):
        p, r = at(first + j, ps), at(first + j, rs)
        for lane in range(3):
            t[lane, j] = pos[p, lane]
        for lane in range(4):
            q[lane, j] = rot[r, lane]
    for j in range(n):
        q[0, j], q[1, j], q[2, j], q[3, j] = normalise(q[0, j], q[1, j], q[2, j], q[3, j])


@serial
def bake(n: int, scale: F64, t: F64) -> None:
    """Body scale into positions (3, n), rounded to float32."""
    for lane in range(3):
        for j in range(n):
            t[lane, j] = np.float64(np.float32(t[lane, j] * scale[lane, j]))


@serial
def world_positions(n: int, world: F64, scale: F64, t: F64, out: F64) -> None:
    """Resolved positions in the world (3, n): body scale divided out, body matrix applied (spec 4.7)."""
    for j in range(n):
        to = transform((t[0, j] / scale[0, j], t[1, j] / scale[1, j], t[2, j] / scale[2, j]), basis(world, j))
        out[0, j], out[1, j], out[2, j] = to[0] + world[9, j], to[1] + world[10, j], to[2] + world[11, j]


@rule
def world_rotation(world: F64, scale: F64, q: F32, j: int) -> Quat:
    """A resolved orientation in the world (spec 4.7)."""
    m, x, y, z = basis(world, j), scale[0, j], scale[1, j], scale[2, j]
    if square(*products(m)):
        turn = (m[0] / x, m[1] / x, m[2] / x, m[3] / y, m[4] / y, m[5] / y, m[6] / z, m[7] / z, m[8] / z)
    else:
        _, turn = decompose(m)
    return compose(quaternion(turn), (np.float64(q[0, j]), np.float64(q[1, j]), np.float64(q[2, j]), np.float64(q[3, j])))


@serial
def reanchor_block(
    n: int, rel: U64, body: U32, unresolved: bool, world: F64, lies: U8, t: F64, q: F32,
    parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64, own: U32,
) -> None:  # fmt: skip
    """Re-anchor the frames whose target is not the body itself."""
    for j in range(n):
        if rel[j] != body[j] and (body[j] != 0 or unresolved):
            _, target = world_matrix(rel[j], parents, flags, slot, table, ready, v0, v1, v2, own)
            here = (t[0, j], t[1, j], t[2, j])
            turn = (np.float64(q[0, j]), np.float64(q[1, j]), np.float64(q[2, j]), np.float64(q[3, j]))
            home = (world[9, j], world[10, j], world[11, j])
            here, turn = reanchor(here, turn, target, lies[j] != 0, (basis(world, j), home))
            t[0, j], t[1, j], t[2, j] = here
            for lane in range(4):
                q[lane, j] = np.float32(turn[lane])


@serial
def write_rows(
    first: int, n: int, rows: U32, rel: U64, body: U32, t: F64, q: F32, agree: U8, flags: U8,
    rel_out: U64, body_out: U64, position: F32, orientation: F32, valid: U8, marks: U8,
) -> None:  # fmt: skip
    """Both sides, the check's result and the marks of rows `first` to `first + n`, into their destination rows."""
    for j in range(n):
        row = rows[at(first + j, 1)]
        valid[row] = agree[j]
        m = NO_MARKS if agree[j] else DISJOINT
        for k in range(2):
            rel_out[row, k] = rel[k, j]
            body_out[row, k] = body[k, j]
            for lane in range(3):
                position[row, k, lane] = np.float32(t[k, lane, j])
            for lane in range(4):
                orientation[row, k, lane] = q[k, lane, j]
            sane = sane_frame(t[k, 0, j], t[k, 1, j], t[k, 2, j], q[k, 0, j], q[k, 1, j], q[k, 2, j], q[k, 3, j])
            m |= side_marks(k, rel[k, j], flags[rel[k, j]], sane)
        if body[0, j] == body[1, j] and body[0, j] != 0:
            m |= SAME_BODY
        marks[row] = m


@serial
def check_block(n: int, check: int, axis: U8, q: F32, met: F64, world: F64, scale: F64, agree: U8) -> None:
    """The disjoint-frame check of n joints (spec 4.7)."""
    if check == UNCHECKED:
        for j in range(n):
            agree[j] = 1
        return
    if check in (OFF_AXIS, OFF_AXIS_ROTATION):
        for j in range(n):
            agree[j] = close_off_axis((met[0, 0, j], met[0, 1, j], met[0, 2, j]), (met[1, 0, j], met[1, 1, j], met[1, 2, j]), axis[j])
    else:
        for j in range(n):
            agree[j] = close((met[0, 0, j], met[0, 1, j], met[0, 2, j]), (met[1, 0, j], met[1, 1, j], met[1, 2, j]))
    if check in (POSITION_ROTATION, OFF_AXIS_ROTATION):
        apart = np.empty(BLOCK)
        turned_apart(n, world, scale, q, apart)
        for j in range(n):
            if agree[j] and not apart[j] <= SURELY_CLOSE:
                a, b = world_rotation(world[0], scale[0], q[0], j), world_rotation(world[1], scale[1], q[1], j)
                agree[j] = close_rotation(a, b)


@serial
def turned_apart(n: int, world: F64, scale: F64, q: F32, apart: F64) -> None:
    """Squared distance of the rotation matrices of both sides in the world, meaningful where the bodies have no shear.

    For rotations that differ by a small angle it is twice the angle's square, while their quaternions differ by half the angle: below
    `SURELY_CLOSE` every lane is well within the tolerance, so that only the rest needs quaternions.
    """
    for j in range(n):
        a = turned(basis(world[0], j), scale[0, 0, j], scale[0, 1, j], scale[0, 2, j], q[0, 0, j], q[0, 1, j], q[0, 2, j], q[0, 3, j])
        b = turned(basis(world[1], j), scale[1, 0, j], scale[1, 1, j], scale[1, 2, j], q[1, 0, j], q[1, 1, j], q[1, 2, j], q[1, 3, j])
        d0, d1, d2 = a[0] - b[0], a[1] - b[1], a[2] - b[2]
        d3, d4, d5 = a[3] - b[3], a[4] - b[4], a[5] - b[5]
        d6, d7, d8 = a[6] - b[6], a[7] - b[7], a[8] - b[8]
        apart[j] = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4 + d5 * d5 + d6 * d6 + d7 * d7 + d8 * d8


@rule
def turned(m: Mat3, sx: float, sy: float, sz: float, x: np.float32, y: np.float32, z: np.float32, w: np.float32) -> Mat3:
    """Rotation of a frame in the world, as a matrix: scale divided out of the body matrix, the frame's rotation before it."""
    ix, iy, iz = 1.0 / sx, 1.0 / sy, 1.0 / sz
    pure = (m[0] * ix, m[1] * ix, m[2] * ix, m[3] * iy, m[4] * iy, m[5] * iy, m[6] * iz, m[7] * iz, m[8] * iz)
    return multiply(rotation((np.float64(x), np.float64(y), np.float64(z), np.float64(w))), pure)


@ranged
def resolve_frames(
    lo: int, hi: int, rows: U32, offsets0: I64, targets0: U64, ts0: int, pos0: F32, ps0: int, rot0: F32, rs0: int,
    offsets1: I64, targets1: U64, ts1: int, pos1: F32, ps1: int, rot1: F32, rs1: int, body_of: U32, skip_disabled: bool,
    parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64, own: U32,
    unresolved: bool, check: int, axis: U8, rel_out: U64, body_out: U64, position: F32, orientation: F32, valid: U8, marks: U8,
) -> None:  # fmt: skip
    """Both sides of every joint of one archetype, block by block and lane by lane; `rows` are the destination rows."""
    rel, body, lies = np.empty((2, LANE), np.uint64), np.empty((2, LANE), np.uint32), np.empty((2, LANE), np.uint8)
    world, scale = np.empty((2, 12, LANE)), np.empty((2, 3, LANE))
    t, q, met = np.empty((2, 3, LANE)), np.empty((2, 4, LANE), np.float32), np.empty((2, 3, LANE))
    code, below = np.empty(LANE, np.uint32), np.empty(LANE, np.uint32)
    along, agree = np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.uint8)
    for first in range(lo, hi, BLOCK):
        n = min(BLOCK, hi - first)
        others0 = find_targets(first, n, offsets0, targets0, ts0, body_of, skip_disabled, parents, flags, rel[0], body[0])
        others1 = find_targets(first, n, offsets1, targets1, ts1, body_of, skip_disabled, parents, flags, rel[1], body[1])
        read_frames(first, n, pos0, ps0, rot0, rs0, t[0], q[0])
        read_frames(first, n, pos1, ps1, rot1, rs1, t[1], q[1])
        for k in range(2):
            world_block(n, body[k], parents, flags, slot, table, ready, v0, v1, v2, own, world[k], lies[k],
                        code, below)  # fmt: skip
            scale_places(n, world[k], lies[k], scale[k])
            if others0 if k == 0 else others1:
                reanchor_block(n, rel[k], body[k], unresolved, world[k], lies[k], t[k], q[k], parents, flags, slot, table, ready,
                               v0, v1, v2, own)  # fmt: skip
            bake(n, scale[k], t[k])
            if check != UNCHECKED:
                world_positions(n, world[k], scale[k], t[k], met[k])
        for j in range(n):
            along[j] = axis[rows[at(first + j, 1)]]
        check_block(n, check, along, q, met, world, scale, agree)
        write_rows(first, n, rows, rel, body, t, q, agree, flags, rel_out, body_out, position, orientation, valid, marks)


def frame_passes(
    block: JointBlock, rows: U32, reader: ColumnReader, bodies: BodyTable, transforms: Transforms, rules: RuleSet, marks: U8
) -> list[Pass]:
    """Bodies, frames, the frame check and the marks of one archetype's rows; reads `block.axis`."""
    args: list[Any] = []
    for k in "01":
        args += reader.targets(f"physics:body{k}")
        args += reader.float32(f"physics:localPos{k}")
        args += reader.float32(f"physics:localRot{k}")
    outs = (block.axis, block.rel, block.body, block.position, block.orientation, block.valid_frames, marks)
    check = CHECKS[rules.disjoint_frame_check].get(block.type_name, UNCHECKED)
    body_of = bodies.body if bodies.deep else _WALK
    unresolved = rules.unresolved_target_frame == "reanchor"
    return [Pass(resolve_frames, (rows, *args, body_of, bodies.skip_disabled, *transforms.args, unresolved, check, *outs))]
