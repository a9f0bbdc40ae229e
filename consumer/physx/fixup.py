"""Axis fix-up: PhysX joints move about or along X, so frames are turned by a quaternion an axis (spec 8.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.constants import ZERO
from ovsim.contract.joints import PRISMATIC, REVOLUTE, SPHERICAL
from ovsim.jit import readonly, rule, serial

Array = npt.NDArray[Any]
_H = 0.5**0.5
_SINGLE = ((0, 0, 0, 1), (0, 0, _H, _H), (0, -_H, 0, _H))
_TWIST = ((0, 0, 0, 1), (0.5, 0.5, 0.5, 0.5), (0.5, -0.5, 0.5, 0.5))
# joint type: quaternion x y z w by axis X, Y, Z; other types are not turned
FIXUP: dict[str, Array] = {t: readonly(np.array(q, np.float32)) for t, q in {REVOLUTE: _SINGLE, PRISMATIC: _SINGLE, SPHERICAL: _TWIST}.items()}
_NONE = readonly(np.array([(0, 0, 0, 1)] * 3, np.float32))


def fixup_of(type_name: str) -> Array:
    """Quaternions (3, 4) by axis of a joint type."""
    return FIXUP.get(type_name, _NONE)


@rule
def turn(q: Array, f: Array, out: Array) -> None:
    """out = q * f in float32, quaternions x y z w."""
    x0, y0, z0, w0 = q[0], q[1], q[2], q[3]
    x1, y1, z1, w1 = f[0], f[1], f[2], f[3]
    out[0] = w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1
    out[1] = w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1
    out[2] = w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1
    out[3] = w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1


@serial
def place_frames(rows: Array, at: int, position: Array, orientation: Array, axis: Array, fixup: Array, flipped: Array, out_position: Array,
                 out_orientation: Array) -> None:  # fmt: skip
    """Frames of block rows into out rows `at` on, fixed up, sides exchanged where `flipped` (by out row).

    position (n, 2, 3), orientation (n, 2, 4), axis (n,) of the block; `fixup` (3, 4) by axis. A joint about X keeps its bits.
    """
    for i in range(rows.size):
        r, o = rows[i], at + i
        for k in range(2):
            to = 1 - k if flipped[o] else k
            for lane in range(3):
                out_position[o, to, lane] = position[r, k, lane]
            if axis[r] == 0:
                for lane in range(4):
                    out_orientation[o, to, lane] = orientation[r, k, lane]
            else:
                turn(orientation[r, k], fixup[axis[r]], out_orientation[o, to])


@serial
def sane_frames(position: Array, orientation: Array, out: Array) -> None:
    """Which frames (n, 2) PhysX takes: a finite position and a unit quaternion; a zero, infinite or NaN one is refused (spec 4.1)."""
    for i in range(out.shape[0]):
        for k in range(2):
            ok = True
            for lane in range(3):
                ok = ok and np.isfinite(position[i, k, lane])
            n2 = ZERO
            for lane in range(4):
                n2 += orientation[i, k, lane] * orientation[i, k, lane]
            out[i, k] = ok and n2 > np.float32(0.5) and n2 < np.float32(2)
