"""Limits of a standalone D6 joint, axis by axis (spec 5.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.constants import ZERO
from consumer.physx import codes as c
from consumer.physx import limits as lim
from ovsim.jit import serial

Array = npt.NDArray[Any]
_MINIMUM, _HALF_PYRAMID = c.BIT["distance-minimum-ignored"], c.BIT["half-pyramid"]
TWIST, SWING1, SWING2, DISTANCE = 3, 4, 5, 6


@serial
def d6_limits(rows: Array, limit: Array, listed: Array, on: Array, at: int, motion: Array, linear: Array, twist: Array,
              swing: Array, swing_kind: Array, distance_limit: Array, remark: Array) -> None:  # fmt: skip
    """Motions and limits of D6 rows; records in the order transX..Z, rotX..Z, distance.

    A reversed pair locks its axis, enabled or not. The two swings share one pyramid whose tuning is that of the last of them, a missing half
    being [0, 0]. A distance record is taken whatever its enabling and limits every linear axis that is still free.
    """
    zero = (ZERO, ZERO)
    for i in range(rows.size):
        r, o = rows[i], at + i
        y, z, last = zero, zero, -1
        for k in range(6):
            motion[o, k] = c.FREE
            if not listed[r, k]:
                continue
            low, high = limit[r, k, 0], limit[r, k, 1]
            if low > high:
                motion[o, k] = c.LOCKED
            elif on[r, k]:
                motion[o, k] = c.LIMITED
                if k < TWIST:
                    remark[o] |= lim.write_pair(low, high, limit[r, k], linear[o, k])
                elif k == TWIST:
                    low, high, told = lim.turn_bounds(low, high)
                    if np.isfinite(limit[r, k, 0]) != np.isfinite(limit[r, k, 1]):
                        told |= lim.ONE_SIDED
                    remark[o] |= told | lim.write_pair(low, high, limit[r, k], twist[o])
                elif k == SWING1:
                    y, last = (low, high), k
                else:
                    z, last = (low, high), k
        if last >= 0:
            swing_kind[o] = c.PYRAMID
            remark[o] |= lim.write_pyramid(y, z, limit[r, last], swing[o])
            if (motion[o, SWING1] == c.LIMITED) != (motion[o, SWING2] == c.LIMITED):
                remark[o] |= _HALF_PYRAMID
        if listed[r, DISTANCE]:
            if limit[r, DISTANCE, 0] > ZERO:
                remark[o] |= _MINIMUM
            remark[o] |= lim.write_distance_limit(limit[r, DISTANCE], distance_limit[o])
            for k in range(3):
                if motion[o, k] == c.FREE:
                    motion[o, k] = c.LIMITED
