"""What PhysX makes of limits: soft or hard, its validity rules, its defaults (spec 5.3).

A limit that PhysX refuses leaves the default of the SDK in place while the motion stays limited, on a standalone joint; in an articulation the range
is [0, 0]. A `remark` is a bit set of `codes.REMARKS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.constants import FLT_MAX, ONE, ZERO
from consumer.physx.codes import BIT
from ovsim.jit import rule

Array = npt.NDArray[Any]

PI = np.float32(3.141592653589793)
HALF_PI = np.float32(1.5707963267948966)
TWO_PI_EPS = np.float32(2 * 3.141592653589793 - 1e-7)
PI_CLAMP = np.float32(np.float32(3.141592653589793) * np.float32(1.0001))
LINEAR_DEFAULT = np.float32(FLT_MAX / np.float32(3))
ANGULAR_BOUNCE = np.float32(0.5)
INVALID, ONE_SIDED, REVERSED, CLAMPED = (BIT[n] for n in ("invalid-limit", "one-sided-limit", "reversed-limit", "clamped-limit"))


@rule
def soft(stiffness: np.float32, damping: np.float32) -> bool:
    """A limit with a positive spring takes the spring; else it is hard and both gains are 0."""
    return stiffness > ZERO or damping > ZERO


@rule
def finite_positive(value: np.float32) -> bool:
    """Finite and not negative."""
    return np.isfinite(value) and value >= ZERO


@rule
def tuning_valid(restitution: np.float32, bounce: np.float32, stiffness: np.float32, damping: np.float32) -> bool:
    """The four tuning values of a limit: restitution within [0, 1], the rest finite and not negative."""
    return finite_positive(restitution) and restitution <= ONE and finite_positive(bounce) and finite_positive(stiffness) and finite_positive(damping)


@rule
def write_pair(low: np.float32, high: np.float32, record: Array, out: Array) -> int:
    """Write a linear or twist limit into `out` (6 lanes `codes.LINEAR`, holding the default) when PhysX takes it; returns a remark."""
    k, d = ZERO, ZERO
    if soft(record[4], record[5]):
        k, d = record[4], record[5]
    if not (np.isfinite(low) and np.isfinite(high) and low <= high and tuning_valid(record[2], record[3], k, d)):
        return refused(low, high)
    out[0], out[1], out[2], out[3], out[4], out[5] = low, high, record[2], record[3], k, d
    return 0


@rule
def refused(low: np.float32, high: np.float32) -> int:
    """Why a pair of bounds is no limit: reversed, one-sided, or otherwise invalid."""
    if low > high:
        return INVALID | REVERSED
    if np.isfinite(low) != np.isfinite(high):
        return INVALID | ONE_SIDED
    return INVALID


@rule
def turn_bounds(low: np.float32, high: np.float32) -> tuple[np.float32, np.float32, int]:
    """Bounds of a twist held within a turn: the lower one from below, the upper one from above; NaN counts as unlimited."""
    remark = 0
    if not low >= -TWO_PI_EPS:
        low, remark = -TWO_PI_EPS, CLAMPED
    if not high <= TWO_PI_EPS:
        high, remark = TWO_PI_EPS, CLAMPED
    return low, high, remark


@rule
def revolute_bounds(low: np.float32, high: np.float32) -> tuple[np.float32, np.float32, int]:
    """Bounds of a standalone revolute joint: within a turn, then beyond half a turn they become half a turn."""
    low, high, remark = turn_bounds(low, high)
    if low < -PI_CLAMP:
        low, remark = -PI, CLAMPED
    if high > PI_CLAMP:
        high, remark = PI, CLAMPED
    return low, high, remark


@rule
def write_cone(record: Array, out: Array) -> int:
    """Write a cone into `out` (8 lanes `codes.SWING`, the angles in the upper slots): both angles strictly between 0 and pi."""
    k, d = ZERO, ZERO
    if soft(record[4], record[5]):
        k, d = record[4], record[5]
    y, z = record[0], record[1]
    if not (y > ZERO and y < PI and z > ZERO and z < PI and tuning_valid(record[2], record[3], k, d)):
        return INVALID
    out[0], out[1], out[2], out[3] = -y, y, -z, z
    out[4], out[5], out[6], out[7] = record[2], record[3], k, d
    return 0


@rule
def write_pyramid(y: tuple[np.float32, np.float32], z: tuple[np.float32, np.float32], record: Array, out: Array) -> int:
    """Write a swing pyramid into `out` (8 lanes `codes.SWING`): every bound strictly inside (-pi, pi); the tuning is `record`'s."""
    k, d = ZERO, ZERO
    if soft(record[4], record[5]):
        k, d = record[4], record[5]
    inside = y[0] > -PI and y[1] < PI and z[0] > -PI and z[1] < PI and y[0] <= y[1] and z[0] <= z[1]
    if not (inside and tuning_valid(record[2], record[3], k, d)):
        one_sided = np.isfinite(y[0]) != np.isfinite(y[1]) or np.isfinite(z[0]) != np.isfinite(z[1])
        return INVALID | (ONE_SIDED if one_sided else 0)
    out[0], out[1], out[2], out[3] = y[0], y[1], z[0], z[1]
    out[4], out[5], out[6], out[7] = record[2], record[3], k, d
    return 0


@rule
def write_distance_limit(record: Array, out: Array) -> int:
    """Write the distance limit of a D6 into `out` (5 lanes `codes.DISTANCE_LIMIT`): positive and finite; restitution and bounce stay 0."""
    k, d = ZERO, ZERO
    if soft(record[4], record[5]):
        k, d = record[4], record[5]
    value = record[1]
    if not (np.isfinite(value) and value > ZERO and finite_positive(k) and finite_positive(d)):
        return INVALID
    out[0], out[1], out[2], out[3], out[4] = value, ZERO, ZERO, k, d
    return 0


@rule
def link_bounds(low: np.float32, high: np.float32, most: np.float32) -> tuple[np.float32, np.float32, int]:
    """Bounds of an articulation axis, [0, 0] when PhysX refuses them (spec 8.3); `most` is the largest bound it takes on the joint type."""
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        return ZERO, ZERO, refused(low, high)
    if low < -most or high > most:
        return ZERO, ZERO, INVALID
    return low, high, 0
