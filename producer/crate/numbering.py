"""Small tools over integer arrays: numbers for equal rows, sorting by number, distinct values, concatenated ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.jit import serial

I64 = npt.NDArray[np.int64]


def distinct(numbers: npt.NDArray[Any]) -> list[int]:
    """Distinct values of small non-negative integers, ascending."""
    return np.flatnonzero(np.bincount(numbers)).tolist() if numbers.size else []


def spans(low: I64, count: I64) -> I64:
    """Concatenated ranges low[i] .. low[i] + count[i]."""
    total = int(count.sum())
    start = np.cumsum(count) - count
    return np.arange(total, dtype=np.int64) + np.repeat(low - start, count)


def repeated(values: npt.NDArray[Any], spread: I64 | slice) -> npt.NDArray[Any]:
    """Rows `spread` of `values` (n,) or (n, k); a full slice gives them as they are. `take` beats indexing for rows of lanes."""
    return values if isinstance(spread, slice) else values.take(spread, axis=0)


@serial
def _number(keys: I64, out: I64, table: I64, firsts: I64) -> int:
    """Number equal key rows (n, k) in the order of their first sight; `table` is an open-addressed hash table of -1s. Returns how many."""
    mask = table.size - 1
    count = 0
    for i in range(keys.shape[0]):
        h = np.int64(0)
        for j in range(keys.shape[1]):
            h = (h ^ keys[i, j]) * np.int64(-7046029254386353131)
            h ^= (h >> 29) & 0x7FFFFFFFF
        at = h & mask
        while True:
            g = table[at]
            if g < 0:
                table[at] = count
                firsts[count] = i
                out[i] = count
                count += 1
                break
            same = True
            for j in range(keys.shape[1]):
                if keys[firsts[g], j] != keys[i, j]:
                    same = False
            if same:
                out[i] = g
                break
            at = (at + 1) & mask
    return count


def numbered(keys: I64) -> tuple[I64, int]:
    """Group numbers of equal key rows, shape (n,), and how many groups there are."""
    n = keys.shape[0]
    out = np.zeros(n, np.int64)
    size = 1 << max(4, int(2 * n).bit_length())
    with np.errstate(over="ignore"):
        count = int(_number(keys, out, np.full(size, -1, np.int64), np.zeros(max(n, 1), np.int64)))
    return out, count


@serial
def _place(number: I64, start: I64, out: I64) -> None:
    for i in range(number.size):
        out[start[number[i]]] = i
        start[number[i]] += 1


def sorted_by(number: I64, count: int) -> tuple[I64, I64]:
    """Positions by group number, and where each group starts, shapes (n,), (count + 1,)."""
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(number, minlength=count))])
    out = np.empty(number.size, np.int64)
    _place(number, first[:-1].copy(), out)
    return out, first
