"""Local frames of a joint: normalisation, body scale, re-anchoring, the disjoint-frame check (spec section 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import JointBlock
from consumer.bodies import BodyTable
from consumer.columns import ColumnReader
from consumer.constants import FRAME_TOLERANCE
from consumer.decompose import Mat3, Quat, Vec3, compose, decompose, inverse, multiply, quaternion, rotation, transform
from consumer.lanes import (
    BLOCK,
    LANE,
    OFF_AXIS,
    OFF_AXIS_ROTATION,
    POSITION,
    POSITION_ROTATION,
    SURELY_CLOSE,
    UNCHECKED,
    apart,
    bake,
    check_near,
    check_turned,
    find_matrices,
    find_scales,
    find_targets,
    meet,
    read_orientations,
    read_positions,
    turned,
)
from consumer.passes import Pass
from consumer.rulesets import RuleSet
from consumer.store import mark_lanes, write_rows
from consumer.transforms import Affine, Transforms, world_matrix
from ovsim.contract.joints import D6, FIXED, PRISMATIC, REVOLUTE, SPHERICAL
from ovsim.jit import at, ranged, readonly, rule, serial

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
_WALK = readonly(np.empty(0, np.uint32))  # no table of bodies: walk up from each target
_NO = np.uint8(0)

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
    first: int, n: int, rows: U32, pos0: F32, ps0: int, rot0: F32, rs0: int, pos1: F32, ps1: int, rot1: F32, rs1: int,
    rel: U64, body: U32, parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64, own: U32,
    unresolved: bool, check: int, axis: U8, sure: U8, t: F32, q: F32, agree: U8,
) -> None:  # fmt: skip
    """The rules themselves, for rows that are not sure on both sides; `q` holds their normalised orientations."""
    for j in range(n):
        if sure[0, j] and sure[1, j]:
            continue
        i, k = at(first + j, ps0), at(first + j, ps1)
        p0 = (np.float64(pos0[i, 0]), np.float64(pos0[i, 1]), np.float64(pos0[i, 2]))
        p1 = (np.float64(pos1[k, 0]), np.float64(pos1[k, 1]), np.float64(pos1[k, 2]))
        q0 = (np.float64(q[0, 0, j]), np.float64(q[0, 1, j]), np.float64(q[0, 2, j]), np.float64(q[0, 3, j]))
        q1 = (np.float64(q[1, 0, j]), np.float64(q[1, 1, j]), np.float64(q[1, 2, j]), np.float64(q[1, 3, j]))
        w0, s0, r0, p0, q0 = resolve_side(p0, q0, rel[0, j], body[0, j], unresolved, parents, flags, slot, table, ready, v0, v1, v2, own)
        w1, s1, r1, p1, q1 = resolve_side(p1, q1, rel[1, j], body[1, j], unresolved, parents, flags, slot, table, ready, v0, v1, v2, own)
        t[0, 0, j], t[0, 1, j], t[0, 2, j] = p0
        t[1, 0, j], t[1, 1, j], t[1, 2, j] = p1
        q[0, 0, j], q[0, 1, j], q[0, 2, j], q[0, 3, j] = q0
        q[1, 0, j], q[1, 1, j], q[1, 2, j], q[1, 3, j] = q1
        good = True
        if check != UNCHECKED:
            a, b = world_position(w0, s0, p0), world_position(w1, s1, p1)
            off_axis = check in (OFF_AXIS, OFF_AXIS_ROTATION)
            good = close_off_axis(a, b, axis[rows[at(first + j, 1)]]) if off_axis else close(a, b)
            if good and check in (POSITION_ROTATION, OFF_AXIS_ROTATION):
                good = same_rotation(w0, s0, r0, q0, w1, s1, r1, q1)
        agree[j] = good


@ranged
def resolve_frames(
    lo: int, hi: int, rows: U32, offsets0: I64, targets0: U64, ts0: int, pos0: F32, ps0: int, rot0: F32, rs0: int,
    offsets1: I64, targets1: U64, ts1: int, pos1: F32, ps1: int, rot1: F32, rs1: int, body_of: U32, skip_disabled: bool,
    parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64, own: U32, stretch: F64,
    unresolved: bool, check: int, axis: U8, rel_out: U64, body_out: U64, position: F32, orientation: F32, valid: U8, marks: U8,
) -> None:  # fmt: skip
    """Both sides of every joint of one archetype, block by block; `rows` are the destination rows."""
    rel, body, told = np.empty((2, LANE), np.uint64), np.empty((2, LANE), np.uint32), np.empty((2, LANE), np.uint8)
    base, by, sure = np.empty((2, LANE), np.uint32), np.empty((2, LANE)), np.empty((2, LANE), np.uint8)
    matrix, scale, met = np.empty((2, 12, LANE)), np.empty((2, 3, LANE)), np.empty((2, 3, LANE))
    t, q, agree = np.empty((2, 3, LANE), np.float32), np.empty((2, 4, LANE), np.float32), np.ones(LANE, np.uint8)
    mark = np.empty(LANE, np.uint8)
    lanes = 9 if check == UNCHECKED else 12
    for first in range(lo, hi, BLOCK):
        n = min(BLOCK, hi - first)
        find_targets(first, n, offsets0, targets0, ts0, body_of, skip_disabled, parents, flags, rel[0], body[0], told[0])
        find_targets(first, n, offsets1, targets1, ts1, body_of, skip_disabled, parents, flags, rel[1], body[1], told[1])
        read_positions(first, n, pos0, ps0, t[0])
        read_positions(first, n, pos1, ps1, t[1])
        read_orientations(first, n, rot0, rs0, q[0])
        read_orientations(first, n, rot1, rs1, q[1])
        for k in range(2):
            find_matrices(n, body[k], parents, slot, table, ready, stretch, v0, v1, v2, own, lanes, base[k], by[k], matrix[k])
            find_scales(n, matrix[k], by[k], scale[k], sure[k])
            bake(n, scale[k], t[k], sure[k])
            if check != UNCHECKED:
                meet(n, matrix[k], by[k], scale[k], t[k], met[k], sure[k])
        if check != UNCHECKED:
            check_near(n, check, base, by, met, sure, agree)
        if check in (POSITION_ROTATION, OFF_AXIS_ROTATION):
            check_turned(n, matrix, by, scale, q, sure, agree)
        left = 0
        for j in range(n):
            for k in range(2):
                if rel[k, j] != body[k, j] and (body[k, j] != 0 or unresolved):
                    sure[k, j] = _NO
            left += 0 if sure[0, j] and sure[1, j] else 1
        if left:
            resolve_rows(first, n, rows, pos0, ps0, rot0, rs0, pos1, ps1, rot1, rs1, rel, body, parents, flags, slot, table, ready,
                         v0, v1, v2, own, unresolved, check, axis, sure, t, q, agree)  # fmt: skip
        mark_lanes(n, rel, body, told, t, q, agree, mark)
        write_rows(first, n, rows, rel, body, t, q, agree, mark, rel_out, body_out, position, orientation, valid, marks)


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
    return [Pass(resolve_frames, (rows, *args, body_of, bodies.skip_disabled, *transforms.args, transforms.stretch, unresolved, check, *outs))]
