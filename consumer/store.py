"""Resolved lanes of a block of joints into the descriptor arrays, and the marks of its rows (`consumer.findings`)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from consumer.bodies import ROW
from consumer.findings import DISJOINT, NO_MARKS, SAME_BODY, missing_bit, sane_bit, sane_frame
from ovsim.jit import at, serial

F32 = npt.NDArray[np.float32]
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
_ROW, _NO, _NONE, _NO_PATH = np.uint8(ROW), np.uint8(0), np.uint32(0), np.uint64(0)


@serial
def mark_lanes(n: int, rel: U64, body: U32, told: U8, t: F32, q: F32, agree: U8, mark: U8) -> None:
    """Bits of n joints: frames apart, one body on both sides, targets without a row, frames that are not sane."""
    b0, b1 = body[0], body[1]
    for j in range(n):
        same = (b0[j] == b1[j]) & (b0[j] != _NONE)
        mark[j] = (NO_MARKS if agree[j] else DISJOINT) | (SAME_BODY if same else NO_MARKS)
    for k in range(2):
        target, f, insane, missing = rel[k], told[k], sane_bit(k), missing_bit(k)
        tx, ty, tz, x, y, z, w = t[k, 0], t[k, 1], t[k, 2], q[k, 0], q[k, 1], q[k, 2], q[k, 3]
        for j in range(n):
            bits = NO_MARKS if sane_frame(tx[j], ty[j], tz[j], x[j], y[j], z[j], w[j]) else insane
            mark[j] |= bits | (missing if (target[j] != _NO_PATH) & (f[j] & _ROW == _NO) else NO_MARKS)


@serial
def write_rows(
    first: int, n: int, rows: U32, rel: U64, body: U32, t: F32, q: F32, agree: U8, mark: U8,
    rel_out: U64, body_out: U64, position: F32, orientation: F32, valid: U8, marks: U8,
) -> None:  # fmt: skip
    """Both sides, the check's result and the marks into the destination rows of a block, few arrays at a time."""
    for j in range(n):
        row = rows[at(first + j, 1)]
        valid[row], marks[row] = agree[j], mark[j]
    r0, r1, b0, b1 = rel[0], rel[1], body[0], body[1]
    for j in range(n):
        row = rows[at(first + j, 1)]
        rel_out[row, 0], rel_out[row, 1] = r0[j], r1[j]
        body_out[row, 0], body_out[row, 1] = b0[j], b1[j]
    for j in range(n):
        row = rows[at(first + j, 1)]
        position[row, 0, 0], position[row, 0, 1], position[row, 0, 2] = t[0, 0, j], t[0, 1, j], t[0, 2, j]
        position[row, 1, 0], position[row, 1, 1], position[row, 1, 2] = t[1, 0, j], t[1, 1, j], t[1, 2, j]
    for j in range(n):
        row = rows[at(first + j, 1)]
        for k in range(2):
            for lane in range(4):
                orientation[row, k, lane] = q[k, lane, j]
