"""Local frames of a joint: normalisation, body scale, re-anchoring, the disjoint-frame check (spec section 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import prange

from consumer.blocks import JointBlock
from consumer.bodies import BodyTable
from consumer.columns import ColumnReader
from consumer.constants import FRAME_TOLERANCE, ZERO
from consumer.decompose import Mat3, Quat, Vec3, compose, decompose, inverse, multiply, quaternion, rotation, transform
from consumer.jit import kernel, rule
from consumer.rulesets import RuleSet
from consumer.transforms import Transforms
from ovsim.contract.joints import D6, FIXED, PRISMATIC, REVOLUTE, SPHERICAL

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

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
def basis(world: F64, slot: int) -> Mat3:
    """The upper 3x3 of a world matrix."""
    return (
        world[slot, 0, 0],
        world[slot, 0, 1],
        world[slot, 0, 2],
        world[slot, 1, 0],
        world[slot, 1, 1],
        world[slot, 1, 2],
        world[slot, 2, 0],
        world[slot, 2, 1],
        world[slot, 2, 2],
    )


@rule
def origin(world: F64, slot: int) -> Vec3:
    """The translation of a world matrix."""
    return world[slot, 3, 0], world[slot, 3, 1], world[slot, 3, 2]


@rule
def reanchor(t: Vec3, q: Quat, world: F64, rel: int, body: int) -> tuple[Vec3, Quat]:
    """The frame (t, q) of target slot `rel`, as a frame of body slot `body` (0 = world) before the body scale is baked in (spec 4.3).

    A body matrix that cannot be inverted counts as the identity, and a frame that holds an infinity or NaN becomes the identity (observed).
    """
    # target relative to body first: a large world offset that both share cancels before the frame comes in
    between = basis(world, rel)
    offset = origin(world, rel)
    if body != 0:
        regular, back = inverse(basis(world, body))
        if regular:
            home = origin(world, body)
            between = multiply(between, back)
            offset = transform((offset[0] - home[0], offset[1] - home[1], offset[2] - home[2]), back)
    at = transform(t, between)
    turned = multiply(rotation(q), between)
    total = at[0] + at[1] + at[2]
    for lane in turned:
        total += lane
    if not np.isfinite(total):
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    _, pure = decompose(turned)
    return (at[0] + offset[0], at[1] + offset[1], at[2] + offset[2]), quaternion(pure)


@rule
def world_frame(t: Vec3, q: Quat, world: F64, body: int, scale: Vec3, turn: Mat3) -> tuple[Vec3, Quat]:
    """A resolved frame in the world: body scale divided out, body matrix applied; slot 0 leaves it as it is (spec 4.7)."""
    if body == 0:
        return t, q
    at = transform((t[0] / scale[0], t[1] / scale[1], t[2] / scale[2]), basis(world, body))
    home = origin(world, body)
    return (at[0] + home[0], at[1] + home[1], at[2] + home[2]), compose(quaternion(turn), q)


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
def frames_agree(check: int, axis: int, p0: Vec3, q0: Quat, p1: Vec3, q1: Quat) -> bool:
    """The disjoint-frame check of one joint (spec 4.7)."""
    if check == UNCHECKED:
        return True
    if check == POSITION:
        return close(p0, p1)
    if check == POSITION_ROTATION:
        return close(p0, p1) and close_rotation(q0, q1)
    if check == OFF_AXIS:
        return close_off_axis(p0, p1, axis)
    return close_off_axis(p0, p1, axis) and close_rotation(q0, q1)


@rule
def side(
    i: int, row: int, k: int, offsets: I64, targets: U64, ts: int, pos: F32, ps: int, rot: F32, rs: int, body_of: U32, slot: U32, world: F64,
    reanchor_unresolved: bool, checked: bool, rel_out: U64, body_out: U64, position: F32, orientation: F32,
) -> tuple[Vec3, Quat]:  # fmt: skip
    """Resolve side `k` of joint row `row` and write it; returns its frame in the world when `checked`."""
    first = offsets[i * ts]
    rel = np.uint64(0)
    if offsets[i * ts + 1] > first:
        rel = targets[first]
    body = body_of[rel]
    rel_out[row, k] = rel
    body_out[row, k] = body
    p, r = i * ps, i * rs
    x, y, z, w = normalise(rot[r, 0], rot[r, 1], rot[r, 2], rot[r, 3])
    q = (np.float64(x), np.float64(y), np.float64(z), np.float64(w))
    t = (np.float64(pos[p, 0]), np.float64(pos[p, 1]), np.float64(pos[p, 2]))
    scale, turn = (1.0, 1.0, 1.0), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    at = slot[body]
    if at != 0:
        scale, turn = decompose(basis(world, at))
    if rel != body and (body != 0 or reanchor_unresolved):
        t, q = reanchor(t, q, world, slot[rel], at)
    position[row, k, 0] = np.float32(t[0] * scale[0])
    position[row, k, 1] = np.float32(t[1] * scale[1])
    position[row, k, 2] = np.float32(t[2] * scale[2])
    for lane in range(4):
        orientation[row, k, lane] = np.float32(q[lane])
    if not checked:
        return t, q
    t = (np.float64(position[row, k, 0]), np.float64(position[row, k, 1]), np.float64(position[row, k, 2]))
    return world_frame(t, q, world, at, scale, turn)


@kernel
def resolve_frames(
    rows: U32, offsets0: I64, targets0: U64, ts0: int, pos0: F32, ps0: int, rot0: F32, rs0: int,
    offsets1: I64, targets1: U64, ts1: int, pos1: F32, ps1: int, rot1: F32, rs1: int,
    body_of: U32, slot: U32, world: F64, reanchor_unresolved: bool, check: int, axis: U8,
    rel_out: U64, body_out: U64, position: F32, orientation: F32, valid: U8,
) -> None:  # fmt: skip
    """Both sides of every joint of one archetype; `rows` are the destination rows in the block."""
    checked = check != UNCHECKED
    for i in prange(rows.size):
        row = rows[i]
        p0, q0 = side(i, row, 0, offsets0, targets0, ts0, pos0, ps0, rot0, rs0, body_of, slot, world, reanchor_unresolved, checked,
                      rel_out, body_out, position, orientation)  # fmt: skip
        p1, q1 = side(i, row, 1, offsets1, targets1, ts1, pos1, ps1, rot1, rs1, body_of, slot, world, reanchor_unresolved, checked,
                      rel_out, body_out, position, orientation)  # fmt: skip
        valid[row] = frames_agree(check, axis[row], p0, q0, p1, q1)


def fill_frames(block: JointBlock, rows: U32, reader: ColumnReader, bodies: BodyTable, transforms: Transforms, rules: RuleSet) -> None:
    """Bodies, frames and the frame check of one archetype's rows; reads `block.axis`."""
    args: list[Any] = []
    for k in "01":
        args += reader.targets(f"physics:body{k}")
        args += reader.float32(f"physics:localPos{k}")
        args += reader.float32(f"physics:localRot{k}")
    resolve_frames(
        rows,
        *args,
        bodies.body,
        transforms.slot,
        transforms.world,
        rules.unresolved_target_frame == "reanchor",
        CHECKS[rules.disjoint_frame_check].get(block.type_name, UNCHECKED),
        block.axis,
        block.rel,
        block.body,
        block.position,
        block.orientation,
        block.valid_frames,
    )
