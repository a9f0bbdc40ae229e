"""Resolved lanes of a block of joints into the descriptor arrays, and the marks of its rows (`consumer.findings`)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from consumer.bodies import ROW
from consumer.findings import DISJOINT, NO_MARKS, SAME_BODY, missing_bit, sane_bit, sane_frame
from consumer.lanes import AGREE, LANE, lane
from ovsim.jit import at, inlined, rule
from ovsim.memory import prefetch

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
_ROW, _NO, _NONE, _NO_PATH = np.uint8(ROW), np.uint8(0), np.uint32(0), np.uint64(0)
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(v) for v in range(1, 8))


@inlined
def expect_rows(first: int, n: int, rows: U32, rel_out: U64, body_out: U64, position: U64, orientation: U64) -> None:
    """Ask for the cache lines that `write_rows` will write."""
    for j in range(n):
        row = rows[at(first + j, 1)]
        prefetch(rel_out, at(row, 2))
        prefetch(body_out, at(row, 2))
        prefetch(position, at(row, 3))
        prefetch(orientation, at(row, 4))


@rule
def side_marks(k: int, target: np.uint64, told: np.uint8, sane: bool) -> np.uint8:
    """Bits of one side: a target without a row, a frame that is not sane."""
    missing = (target != _NO_PATH) & (told & _ROW == _NO)
    return (NO_MARKS if sane else sane_bit(k)) | (missing_bit(k) if missing else NO_MARKS)


@inlined
def mark_rows(first: int, n: int, rows: U32, rel: U64, body: U32, told: U8, lanes: F64, baked: F32, q: F32, valid: U8, marks: U8) -> None:
    """The check's result, and the bits: frames apart, one body on both sides, targets without a row, frames that are not sane."""
    for j in range(n):
        here, there = np.uint64(j), np.uint64(j + LANE)
        same = (body[here] == body[there]) & (body[here] != _NONE)
        agree = lanes[lane(here, AGREE)] != 0.0
        bits = (NO_MARKS if agree else DISJOINT) | (SAME_BODY if same else NO_MARKS)
        for k in range(2):
            b, c, o = np.uint64(j + 3 * LANE * k), np.uint64(j + 4 * LANE * k), np.uint64(j + LANE * k)
            sane = sane_frame(baked[b], baked[lane(b, 1)], baked[lane(b, 2)], q[c], q[lane(c, 1)], q[lane(c, 2)], q[lane(c, 3)])
            bits |= side_marks(k, rel[o], told[o], sane)
        told[np.uint64(j)] = bits  # a short loop of its own, that works on several joints at once
    for j in range(n):
        row, bits = rows[at(first + j, 1)], told[np.uint64(j)]
        valid[row], marks[row] = (bits & DISJOINT) ^ DISJOINT, bits


@inlined
def pack_rows(n: int, rel: U64, body: U32, baked: F32, q: F32, pair: U64, pairs: U64, t: F32, turn: F32) -> None:
    """The lanes of a block as rows that follow each other: targets, bodies, positions, orientations of both sides."""
    for j in range(n):
        here, there, o = np.uint64(j), np.uint64(j + LANE), np.uint64(2 * j)
        pair[o], pair[o + _1] = rel[here], rel[there]
    for j in range(n):
        here, there, o = np.uint64(j), np.uint64(j + LANE), np.uint64(2 * j)
        pairs[o], pairs[o + _1] = body[here], body[there]
    for j in range(n):
        c, o = np.uint64(j), np.uint64(6 * j)
        t[o], t[o + _1], t[o + _2] = baked[c], baked[lane(c, 1)], baked[lane(c, 2)]
        t[o + _3], t[o + _4], t[o + _5] = baked[lane(c, 3)], baked[lane(c, 4)], baked[lane(c, 5)]
    for j in range(n):
        c, o = np.uint64(j), np.uint64(8 * j)
        turn[o], turn[o + _1], turn[o + _2], turn[o + _3] = q[c], q[lane(c, 1)], q[lane(c, 2)], q[lane(c, 3)]
        turn[o + _4], turn[o + _5], turn[o + _6], turn[o + _7] = q[lane(c, 4)], q[lane(c, 5)], q[lane(c, 6)], q[lane(c, 7)]


@inlined
def write_rows(
    first: int, n: int, rows: U32, pair: U64, pairs: U64, moved: U64, turns: U64, rel_out: U64, body_out: U64, position: U64, orientation: U64
) -> None:
    """Packed rows into the destination rows of a block."""
    for j in range(n):
        i, o = np.uint64(2 * j), at(rows[at(first + j, 1)], 2)
        rel_out[o], rel_out[o + _1] = pair[i], pair[i + _1]
    for j in range(n):
        i, o = np.uint64(2 * j), at(rows[at(first + j, 1)], 2)
        body_out[o], body_out[o + _1] = pairs[i], pairs[i + _1]
    for j in range(n):
        i, o = np.uint64(3 * j), at(rows[at(first + j, 1)], 3)
        position[o], position[o + _1], position[o + _2] = moved[i], moved[i + _1], moved[i + _2]
    for j in range(n):
        i, o = np.uint64(4 * j), at(rows[at(first + j, 1)], 4)
        orientation[o], orientation[o + _1] = turns[i], turns[i + _1]
        orientation[o + _2], orientation[o + _3] = turns[i + _2], turns[i + _3]
