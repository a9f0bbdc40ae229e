"""Articulation joints: type, axes, limits, drives, friction, states, with the signs of a reversed joint (spec 8.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import JointBlock
from consumer.constants import FLT_MAX, ZERO
from consumer.physx import codes as c
from consumer.physx import limits as lim
from ovsim.contract.joints import D6, FIXED, PRISMATIC, REVOLUTE, SPHERICAL
from ovsim.jit import rule, serial

Array = npt.NDArray[Any]
TWO_PI = np.float32(6.283185307179586)
_NO_BOUND = FLT_MAX
_INVALID_TARGET, _INVALID_STATE, _WRAPPED, _FRICTION, _ENVELOPE, _LINEAR_MOTION, _LINEAR_DRIVE, _LINEAR_STATE, _TUNING = (
    c.BIT[n]
    for n in (
        "invalid-drive-target",
        "invalid-state",
        "drive-target-wrapped",
        "invalid-friction",
        "invalid-envelope",
        "linear-motion-locked",
        "linear-drive-ignored",
        "linear-state-ignored",
        "limit-tuning-ignored",
    )
)
_LOWER, _UPPER, _DRIVE, _TARGET, _VELOCITY, _ARMATURE, _FRICTION_LANE, _POSITION = 0, 1, 2, 9, 10, 11, 13, 16


@dataclass
class LinkJoints:
    """a articulation joints in joint order; float32 unless said.

    joint (a,) int64 global joint index; type (a,) uint8; articulation (a,) int64; link (a, 2) uint64 path ids of parent and child; flipped (a,)
    uint8, 1 when the child is body0; position (a, 2, 3), orientation (a, 2, 4) of parent and child pose; friction (a,); axes in the slots that
    `codes.LINK_AXES` names for the type: motion (a, 3), drive_type (a, 3) uint8, value (a, 3, 18) lanes `codes.LINK_AXIS`. remark (a,) int64.
    """

    joint: Array
    type: Array
    articulation: Array
    link: Array
    flipped: Array
    position: Array
    orientation: Array
    friction: Array
    motion: Array
    drive_type: Array
    value: Array
    remark: Array

    def __len__(self) -> int:
        return int(self.joint.size)


def empty(joint: Array) -> LinkJoints:
    """Rows to fill; untouched axis slots stay zero."""
    a, f4 = joint.size, np.float32
    return LinkJoints(
        joint=joint,
        type=np.zeros(a, np.uint8),
        articulation=np.zeros(a, np.int64),
        link=np.zeros((a, 2), np.uint64),
        flipped=np.zeros(a, np.uint8),
        position=np.zeros((a, 2, 3), f4),
        orientation=np.zeros((a, 2, 4), f4),
        friction=np.zeros(a, f4),
        motion=np.zeros((a, 3), np.uint8),
        drive_type=np.zeros((a, 3), np.uint8),
        value=np.zeros((a, 3, len(c.LINK_AXIS)), f4),
        remark=np.zeros(a, np.int64),
    )


@rule
def write_limit(low: np.float32, high: np.float32, record: Array, most: np.float32, flipped: bool, value: Array) -> int:
    """Bounds of a limited axis, reversed with the joint; only bounds reach an articulation, tuning does not."""
    if flipped:
        low, high = -high, -low
    value[_LOWER], value[_UPPER], remark = lim.link_bounds(low, high, most)
    for lane in range(2, 6):
        if record[lane] > ZERO:
            remark |= _TUNING
    return remark


@rule
def write_drive(record: Array, acceleration: int, envelope: int, flipped: bool, most: np.float32, wraps: bool, value: Array) -> tuple[int, int]:
    """Drive record into an axis; returns (drive type, remark).

    An envelope takes the force limit as maxEffort and is refused as a whole when a parameter is negative or NaN. A target beyond `most` is refused;
    on an unlimited revolute (`wraps`) one of a turn or more is first reduced by whole turns.
    """
    remark = 0
    drive_type = c.ACCELERATION if acceleration else c.FORCE
    if envelope:
        if record[4] >= ZERO and record[5] >= ZERO and record[6] >= ZERO and record[7] >= ZERO:
            value[_DRIVE], value[_DRIVE + 1] = record[2], record[3]
            for lane in range(4):
                value[_DRIVE + 3 + lane] = record[4 + lane]
        else:
            drive_type, remark = c.NO_DRIVE, _ENVELOPE
    else:
        value[_DRIVE], value[_DRIVE + 1], value[_DRIVE + 2] = record[2], record[3], record[4]
    target = -record[0] if flipped else record[0]
    value[_VELOCITY] = -record[1] if flipped else record[1]
    if wraps and abs(target) >= TWO_PI:
        target = np.float32(np.fmod(target, TWO_PI))
        remark |= _WRAPPED
    if most < _NO_BOUND and not abs(target) <= most:
        return drive_type, remark | _INVALID_TARGET
    value[_TARGET] = target
    return drive_type, remark


@rule
def write_state(record: Array, flipped: bool, most: np.float32, value: Array) -> int:
    """Initial position and velocity; each is refused by itself when it is not finite, a position also beyond `most`."""
    remark = 0
    position = -record[0] if flipped else record[0]
    velocity = -record[1] if flipped else record[1]
    if np.isfinite(position) and abs(position) <= most:
        value[_POSITION] = position
    else:
        remark |= _INVALID_STATE
    if np.isfinite(velocity):
        value[_POSITION + 1] = velocity
    else:
        remark |= _INVALID_STATE
    return remark


@rule
def write_properties(record: Array, value: Array) -> int:
    """Armature, velocity cap and friction; a dynamic effort above the static one, or NaN, refuses the whole friction triple."""
    value[_ARMATURE], value[_ARMATURE + 1] = record[0], record[1]
    if not record[2] >= record[3]:
        return _FRICTION
    for lane in range(3):
        value[_FRICTION_LANE + lane] = record[2 + lane]
    return 0


@serial
def single_axis_rows(rows: Array, revolute: bool, limit: Array, on: Array, drive: Array, driven: Array, acceleration: Array, envelope: Array,
                     state: Array, stated: Array, properties: Array, at: int, flipped: Array, type_: Array, motion: Array, drive_type: Array,
                     value: Array, remark: Array) -> None:  # fmt: skip
    """Revolute and prismatic joints: one axis; a limited revolute is of the unwrapped type, which takes any bound."""
    for i in range(rows.size):
        r, o = rows[i], at + i
        f = flipped[o] != 0
        limited = on[r, 0] != 0
        type_[o] = (c.REVOLUTE_UNWRAPPED if limited else c.REVOLUTE) if revolute else c.PRISMATIC
        motion[o, 0] = c.LIMITED if limited else c.FREE
        v = value[o, 0]
        if limited:
            remark[o] |= write_limit(limit[r, 0, 0], limit[r, 0, 1], limit[r, 0], _NO_BOUND, f, v)
        remark[o] |= write_properties(properties[r, 0], v)
        most = TWO_PI if revolute and not limited else _NO_BOUND
        if driven[r, 0]:
            drive_type[o, 0], told = write_drive(drive[r, 0], acceleration[r, 0], envelope[r, 0], f, most, revolute and not limited, v)
            remark[o] |= told
        if stated[r, 0]:
            remark[o] |= write_state(state[r, 0], f, most, v)


@serial
def spherical_rows(
    rows: Array, limit: Array, on: Array, properties: Array, at: int, type_: Array, motion: Array, value: Array, remark: Array
) -> None:
    """Spherical joints: an enabled cone gives each swing a symmetric range; no drive, no state."""
    for i in range(rows.size):
        r, o = rows[i], at + i
        type_[o] = c.SPHERICAL
        motion[o, 0] = c.FREE
        for k in range(3):
            remark[o] |= write_properties(properties[r, k], value[o, k])
            if k:
                motion[o, k] = c.LIMITED if on[r, 0] else c.FREE
                if on[r, 0]:
                    angle = limit[r, 0, k - 1]
                    remark[o] |= write_limit(-angle, angle, limit[r, 0], lim.PI, False, value[o, k])


@serial
def d6_rows(rows: Array, limit: Array, listed: Array, on: Array, drive: Array, driven: Array, acceleration: Array, envelope: Array, state: Array,
            stated: Array, properties: Array, at: int, flipped: Array, type_: Array, motion: Array, drive_type: Array, value: Array,
            remark: Array) -> None:  # fmt: skip
    """D6 joints become spherical: only their rotations count, an enabled reversed pair locks, linear axes are always locked."""
    for i in range(rows.size):
        r, o = rows[i], at + i
        f = flipped[o] != 0
        type_[o] = c.SPHERICAL
        for k in range(3):
            v = value[o, k]
            motion[o, k] = c.FREE
            low, high = limit[r, 3 + k, 0], limit[r, 3 + k, 1]
            if on[r, 3 + k]:
                motion[o, k] = c.LOCKED if low > high else c.LIMITED
                if motion[o, k] == c.LIMITED:
                    remark[o] |= write_limit(low, high, limit[r, 3 + k], lim.PI, f, v)
            remark[o] |= write_properties(properties[r, k], v)
            if driven[r, 3 + k]:
                drive_type[o, k], told = write_drive(drive[r, 3 + k], acceleration[r, 3 + k], envelope[r, 3 + k], f, lim.PI, False, v)
                remark[o] |= told
            if stated[r, 3 + k]:
                remark[o] |= write_state(state[r, 3 + k], f, lim.PI, v)
            if not (listed[r, k] and limit[r, k, 0] > limit[r, k, 1]):
                remark[o] |= _LINEAR_MOTION
            if driven[r, k]:
                remark[o] |= _LINEAR_DRIVE
            if stated[r, k]:
                remark[o] |= _LINEAR_STATE


def fill(out: LinkJoints, block: JointBlock, rows: Array, at: int) -> None:
    """Write the axes of `rows` of a block into out[at : at + rows.size]; `out.flipped` must stand already."""
    b, axes = block, (out.type, out.motion)
    out.friction[at : at + rows.size] = b.friction[rows]
    driven = (b.drive, b.drive_listed, b.drive_acceleration, b.drive_envelope, b.state, b.state_listed, b.properties, at, out.flipped)
    if b.type_name == FIXED:
        out.type[at : at + rows.size] = c.FIX
    elif b.type_name in (REVOLUTE, PRISMATIC):
        single_axis_rows(rows, b.type_name == REVOLUTE, b.limit, b.limit_enabled, *driven, *axes, out.drive_type, out.value, out.remark)
    elif b.type_name == SPHERICAL:
        spherical_rows(rows, b.limit, b.limit_enabled, b.properties, at, *axes, out.value, out.remark)
    elif b.type_name == D6:
        d6_rows(rows, b.limit, b.limit_listed, b.limit_enabled, *driven, *axes, out.drive_type, out.value, out.remark)
