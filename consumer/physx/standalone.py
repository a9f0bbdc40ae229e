"""Standalone joints: PxD6Joint, PxDistanceJoint, gear and rack, with motions, limits and drives (spec 8.2, 5.3, 5.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import JointBlock
from consumer.constants import D2R, FLT_MAX, ONE, ZERO
from consumer.physx import codes as c
from consumer.physx import limits as lim
from consumer.physx.d6 import d6_limits
from consumer.physx.limits import finite_positive
from ovsim.contract.joints import D6, DISTANCE, FIXED, GEAR, PRISMATIC, RACK, REVOLUTE, SPHERICAL
from ovsim.jit import rule, serial

Array = npt.NDArray[Any]
_INVALID_DRIVE, _INVALID_TARGET, _INVALID_DISTANCE = (c.BIT[n] for n in ("invalid-drive", "invalid-drive-target", "invalid-distance"))

CLASS = {
    FIXED: c.PX_D6,
    REVOLUTE: c.PX_D6,
    PRISMATIC: c.PX_D6,
    SPHERICAL: c.PX_D6,
    D6: c.PX_D6,
    DISTANCE: c.PX_DISTANCE,
    GEAR: c.PX_GEAR,
    RACK: c.PX_RACK,
}


@dataclass
class Standalone:
    """s standalone joints in joint order; everything float32 unless said.

    joint (s,) int64 global joint index; px_class (s,) uint8; actor (s, 2) uint64 path ids, 0 the world; position (s, 2, 3) and orientation (s, 2, 4)
    after the axis fix-up; break_force (s, 2); collision (s,) uint8; motion (s, 6) uint8 in the order of `codes.D6_AXES`; linear (s, 3, 6) and
    twist (s, 6) limits with lanes `codes.LINEAR`; swing (s, 8) lanes `codes.SWING`, swing_kind (s,) uint8; distance_limit (s, 5); drive (s, 6, 3)
    lanes `codes.DRIVE`, drive_acceleration (s, 6) uint8; drive_pose (s, 7) position and quaternion; drive_velocity (s, 6) linear and angular;
    distance (s, 4) with distance_flags (s,) uint8; coupled (s, 2) uint64 path ids, ratio (s,). Limits and drives hold the SDK default where
    nothing was set. remark (s,) int64 is a bit set of `codes.REMARKS`.
    """

    joint: Array
    px_class: Array
    actor: Array
    position: Array
    orientation: Array
    break_force: Array
    collision: Array
    motion: Array
    linear: Array
    twist: Array
    swing: Array
    swing_kind: Array
    distance_limit: Array
    drive: Array
    drive_acceleration: Array
    drive_pose: Array
    drive_velocity: Array
    distance: Array
    distance_flags: Array
    coupled: Array
    ratio: Array
    remark: Array

    def __len__(self) -> int:
        return int(self.joint.size)


def empty(joint: Array, tolerance_length: np.float32) -> Standalone:
    """Rows with the defaults of the SDK; `tolerance_length` is the scene's length scale in stage units (1 / metersPerUnit)."""
    s, f4 = joint.size, np.float32

    def repeat(row: Any, shape: tuple[int, ...]) -> Array:
        return np.broadcast_to(np.array(row, f4), (s, *shape)).copy()

    bounce = f4(2) * tolerance_length
    return Standalone(
        joint=joint,
        px_class=np.zeros(s, np.uint8),
        actor=np.zeros((s, 2), np.uint64),
        position=np.zeros((s, 2, 3), f4),
        orientation=np.zeros((s, 2, 4), f4),
        break_force=np.zeros((s, 2), f4),
        collision=np.zeros(s, np.uint8),
        motion=np.zeros((s, 6), np.uint8),
        linear=repeat([[-lim.LINEAR_DEFAULT, lim.LINEAR_DEFAULT, 0, bounce, 0, 0]] * 3, (3, 6)),
        twist=repeat([-lim.HALF_PI, lim.HALF_PI, 0, lim.ANGULAR_BOUNCE, 0, 0], (6,)),
        swing=repeat([-lim.HALF_PI, lim.HALF_PI, -lim.HALF_PI, lim.HALF_PI, 0, lim.ANGULAR_BOUNCE, 0, 0], (8,)),
        swing_kind=np.zeros(s, np.uint8),
        distance_limit=repeat([FLT_MAX, 0, bounce, 0, 0], (5,)),
        drive=repeat([[0, 0, FLT_MAX]] * 6, (6, 3)),
        drive_acceleration=np.zeros((s, 6), np.uint8),
        drive_pose=repeat([0, 0, 0, 0, 0, 0, 1], (7,)),
        drive_velocity=np.zeros((s, 6), f4),
        distance=np.zeros((s, 4), f4),
        distance_flags=np.zeros(s, np.uint8),
        coupled=np.zeros((s, 2), np.uint64),
        ratio=np.zeros(s, f4),
        remark=np.zeros(s, np.int64),
    )


@rule
def write_drive(record: Array, acceleration: int, out: Array, flag: Array, axis: int) -> int:
    """Drive record (lanes `blocks.DRIVE`) into drive `axis`; PhysX refuses negative or non-finite gains and limits, then nothing drives."""
    if not (finite_positive(record[2]) and finite_positive(record[3]) and finite_positive(record[4])):
        return _INVALID_DRIVE
    out[axis, 0], out[axis, 1], out[axis, 2] = record[2], record[3], record[4]
    flag[axis] = acceleration
    return 0


@rule
def write_drive_target(pose: Array, velocity: Array, pose_out: Array, velocity_out: Array) -> int:
    """Drive pose (7 lanes) and velocity (6 lanes) when finite; otherwise each stays as it was."""
    remark = 0
    fine = True
    for lane in range(7):
        fine = fine and np.isfinite(pose[lane])
    if fine:
        pose_out[:] = pose
    else:
        remark = _INVALID_TARGET
    fine = True
    for lane in range(6):
        fine = fine and np.isfinite(velocity[lane])
    if fine:
        velocity_out[:] = velocity
    else:
        remark = _INVALID_TARGET
    return remark


@rule
def about(angle: np.float32, axis: int, out: Array) -> None:
    """Quaternion x y z w of a rotation about a coordinate axis, NaN for an angle that is not finite.

    In float64 through the C library, since float32 sines differ between NumPy and compiled code.
    """
    sine, cosine = np.nan, np.nan
    if np.isfinite(angle):
        half = 0.5 * np.float64(angle)
        sine, cosine = math.sin(half), math.cos(half)
    out[0], out[1], out[2], out[3] = ZERO, ZERO, ZERO, np.float32(cosine)
    out[axis] = np.float32(sine)


@serial
def revolute_rows(
    rows: Array, limit: Array, on: Array, drive: Array, driven: Array, acceleration: Array, at: int, motion: Array, twist: Array,
    drive_out: Array, flag: Array, pose_out: Array, velocity_out: Array, remark: Array,
) -> None:  # fmt: skip
    """Revolute joints: TWIST moves; its bounds go through `limits.revolute_bounds`; the drive velocity changes sign."""
    pose, velocity = np.zeros(7, np.float32), np.zeros(6, np.float32)
    for i in range(rows.size):
        r, o = rows[i], at + i
        motion[o, 3] = c.FREE
        if on[r, 0]:
            motion[o, 3] = c.LIMITED
            low, high, told = lim.revolute_bounds(limit[r, 0, 0], limit[r, 0, 1])
            if np.isfinite(limit[r, 0, 0]) != np.isfinite(limit[r, 0, 1]):
                told |= lim.ONE_SIDED
            remark[o] |= told | lim.write_pair(low, high, limit[r, 0], twist[o])
        if driven[r, 0]:
            remark[o] |= write_drive(drive[r, 0], acceleration[r, 0], drive_out[o], flag[o], 3)
            about(drive[r, 0, 0], 0, pose[3:])
            velocity[3] = -drive[r, 0, 1]
            remark[o] |= write_drive_target(pose, velocity, pose_out[o], velocity_out[o])


@serial
def prismatic_rows(
    rows: Array, limit: Array, on: Array, drive: Array, driven: Array, acceleration: Array, at: int, motion: Array, linear: Array,
    drive_out: Array, flag: Array, pose_out: Array, velocity_out: Array, remark: Array,
) -> None:  # fmt: skip
    """Prismatic joints: X moves."""
    pose, velocity = np.zeros(7, np.float32), np.zeros(6, np.float32)
    pose[6] = ONE
    for i in range(rows.size):
        r, o = rows[i], at + i
        motion[o, 0] = c.FREE
        if on[r, 0]:
            motion[o, 0] = c.LIMITED
            remark[o] |= lim.write_pair(limit[r, 0, 0], limit[r, 0, 1], limit[r, 0], linear[o, 0])
        if driven[r, 0]:
            remark[o] |= write_drive(drive[r, 0], acceleration[r, 0], drive_out[o], flag[o], 0)
            pose[0], velocity[0] = drive[r, 0, 0], drive[r, 0, 1]
            remark[o] |= write_drive_target(pose, velocity, pose_out[o], velocity_out[o])


@serial
def spherical_rows(rows: Array, limit: Array, on: Array, at: int, motion: Array, swing: Array, kind: Array, remark: Array) -> None:
    """Spherical joints: the three rotations move; an enabled cone limits both swings."""
    for i in range(rows.size):
        r, o = rows[i], at + i
        motion[o, 3] = c.FREE
        motion[o, 4] = motion[o, 5] = c.LIMITED if on[r, 0] else c.FREE
        if on[r, 0]:
            kind[o] = c.CONE
            remark[o] |= lim.write_cone(limit[r, 0], swing[o])


@serial
def d6_drives(rows: Array, drive: Array, driven: Array, acceleration: Array, at: int, drive_out: Array, flag: Array,
              pose_out: Array, velocity_out: Array, remark: Array) -> None:  # fmt: skip
    """Drives of a D6: one an axis; the drive pose joins all targets, rotations as qz * qy * qx; a distance drive does nothing."""
    pose, velocity = np.zeros(7, np.float32), np.zeros(6, np.float32)
    q, turned = np.zeros(4, np.float32), np.zeros(4, np.float32)
    for i in range(rows.size):
        r, o = rows[i], at + i
        any_drive = False
        pose[:], velocity[:] = ZERO, ZERO
        pose[6] = ONE
        for k in range(6):
            if not driven[r, k]:
                continue
            any_drive = True
            remark[o] |= write_drive(drive[r, k], acceleration[r, k], drive_out[o], flag[o], k)
            if k < 3:
                pose[k], velocity[k] = drive[r, k, 0], drive[r, k, 1]
                continue
            velocity[k] = -drive[r, k, 1]
            about(drive[r, k, 0], k - 3, q)
            compose(q, pose[3:], turned)
            pose[3:] = turned
        if any_drive:
            remark[o] |= write_drive_target(pose, velocity, pose_out[o], velocity_out[o])


@rule
def compose(a: Array, b: Array, out: Array) -> None:
    """out = a * b, quaternions x y z w."""
    out[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1]
    out[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0]
    out[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3]
    out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]


@serial
def distance_rows(rows: Array, limit: Array, on: Array, spring: Array, sprung: Array, at: int, out: Array, flags: Array, remark: Array) -> None:
    """Distance joints: each value is set by itself, and one that is negative or not finite is refused by itself."""
    for i in range(rows.size):
        r, o = rows[i], at + i
        gains = (limit[r, 0, 4], limit[r, 0, 5], spring[r, 0], spring[r, 1])
        for k in range(2 if not sprung[r] else 4):
            if finite_positive(gains[k]):
                out[o, 2 + (k & 1)] = gains[k]
            else:
                remark[o] |= _INVALID_DISTANCE
        for k in range(2):
            if on[r, 0] & (1 << k):
                flags[o] |= c.MIN_DISTANCE if k == 0 else c.MAX_DISTANCE
                if finite_positive(limit[r, 0, k]):
                    out[o, k] = limit[r, 0, k]
                else:
                    remark[o] |= _INVALID_DISTANCE
        if sprung[r]:
            flags[o] |= c.SPRING


def fill(out: Standalone, block: JointBlock, rows: Array, at: int) -> None:
    """Write `rows` of a block into out[at : at + rows.size]: class, motions, limits, drives, distances, ratio."""
    here = slice(at, at + rows.size)
    out.px_class[here] = CLASS[block.type_name]
    b = block
    drives = (b.drive, b.drive_listed, b.drive_acceleration, at)
    targets = (out.drive, out.drive_acceleration, out.drive_pose, out.drive_velocity, out.remark)
    if b.type_name == REVOLUTE:
        revolute_rows(rows, b.limit, b.limit_enabled, *drives, out.motion, out.twist, *targets)
    elif b.type_name == PRISMATIC:
        prismatic_rows(rows, b.limit, b.limit_enabled, *drives, out.motion, out.linear, *targets)
    elif b.type_name == SPHERICAL:
        spherical_rows(rows, b.limit, b.limit_enabled, at, out.motion, out.swing, out.swing_kind, out.remark)
    elif b.type_name == D6:
        d6_limits(rows, b.limit, b.limit_listed, b.limit_enabled, at, out.motion, out.linear, out.twist, out.swing, out.swing_kind,
                  out.distance_limit, out.remark)  # fmt: skip
        d6_drives(rows, *drives, *targets)
    elif b.type_name == DISTANCE:
        distance_rows(rows, b.limit, b.limit_enabled, b.spring, b.spring_enabled, at, out.distance, out.distance_flags, out.remark)
    elif b.type_name in (GEAR, RACK):
        out.ratio[here] = b.ratio[rows] if b.type_name == GEAR else b.ratio[rows] * D2R
