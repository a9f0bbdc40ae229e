"""Relationship targets inside a repeated block: each repetition's prims target the repetition's own copy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ovsim.jit import serial
from producer.crate.library import Library
from producer.crate.namespace import Namespace

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]


class Copies:
    """The blocks of one namespace as joined tables; `path_of` (n,) path ids of composed prims."""

    def __init__(self, library: Library, space: Namespace, path_of: I64) -> None:
        self._library, self._block, self._path_of = library, space.block, path_of
        none = np.zeros(0, np.int64)
        blocks = space.blocks
        shifts = [none if b.shift is None else b.shift for b in blocks]
        shifts_from = np.cumsum([0, *(s.size for s in shifts)])[:-1]
        shifts_from[[b.shift is None for b in blocks]] = -1
        self._tables = (
            np.array([b.base for b in blocks], np.int64),
            np.cumsum([0, *(b.rows.size for b in blocks)]),
            np.concatenate([none, *(b.rows for b in blocks)]),
            shifts_from,
            np.concatenate([none, *shifts]),
        )

    def settle(self, number: int, prim: I64, item: I64, at: I64, ids: I64, found: I64) -> Bool:
        """Of the targets `at` (indices into the other arrays), those that lie in the block of their prim; fills their path ids and composed prims.

        `prim`: composed prims that have the targets `item` (path indices of layer `number`). Returns which of `at` were settled, shape of `at`.
        """
        done = np.zeros(at.size, bool)
        row_of, base = self._library.layers[number].row_of, self._library.base[number]
        _settle(self._block, *self._tables, row_of, base, self._path_of, prim, item, at, ids, found, done)
        return done


@serial
def _settle(
    block: I32,
    base: I64,
    rows_from: I64,
    rows: I64,
    shifts_from: I64,
    shifts: I64,
    row_of: I32,
    first_row: int,
    path_of: I64,
    prim: I64,
    item: I64,
    at: I64,
    ids: I64,
    found: I64,
    done: npt.NDArray[np.bool_],
) -> None:
    """Settle the targets `at` of prims in blocks: fill `ids` and `found`, and tell in `done` (one an element of `at`) which were settled."""
    for i in range(at.size):
        p = prim[at[i]]
        b = np.int64(block[p])
        row = np.int64(row_of[item[at[i]]])
        if b < 0 or row < 0:
            continue
        lo, end = rows_from[b], rows_from[b + 1]
        size = end - lo
        turn = (p - base[b]) // size
        row += first_row
        if shifts_from[b] >= 0:
            row -= shifts[shifts_from[b] + turn]
        start, high = lo, end
        while lo < high:
            mid = (lo + high) >> 1
            if rows[mid] < row:
                lo = mid + 1
            else:
                high = mid
        if lo < end and rows[lo] == row:
            target = base[b] + turn * size + (lo - start)
            found[at[i]] = target
            ids[at[i]] = path_of[target]
            done[i] = True
