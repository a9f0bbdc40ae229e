"""The world matrix of a path, from the tables of `consumer.transforms` (spec 4.5 "World matrix source").

A prim's own world matrix comes first, else its local matrix times that of the nearest ancestor that has one, which may be composed already or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.bodies import MOST_STEPS, PROPERTY
from consumer.decompose import Mat3, Vec3, multiply, transform
from ovsim.jit import ranged, rule

F64 = npt.NDArray[np.float64]
U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]
U8 = npt.NDArray[np.uint8]
Affine = tuple[Mat3, Vec3]

SHIFT, ROW_BITS = np.uint32(30), np.uint32((1 << 30) - 1)  # slot: column + 1, or 0 for the table; row in it
_PROPERTY, _NO = np.uint8(PROPERTY), np.uint8(0)
_ROOT, _NONE, _ONE, _TWO = np.uint32(1), np.uint32(0), np.uint32(1), np.uint32(2)
_IDENTITY: Affine = ((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


@rule
def nearest_row(path: Any, parents: U32, flags: U8, slot: U32) -> np.uint32:
    """The path itself or its nearest ancestor with a local matrix, 0 when there is none. A property's path stands beside its prim (observed)."""
    here = np.uint32(path)
    while here > _ROOT:
        if flags[here] & _PROPERTY:
            here = parents[parents[here]]
            continue
        if slot[here] != _NONE:
            return here
        here = parents[here]
    return here if here == _ROOT and slot[here] != _NONE else _NONE


@rule
def stored(values: F64, row: Any) -> Affine:
    """A matrix of a column, without its last column."""
    return (
        (
            values[row, 0],
            values[row, 1],
            values[row, 2],
            values[row, 4],
            values[row, 5],
            values[row, 6],
            values[row, 8],
            values[row, 9],
            values[row, 10],
        ),
        (values[row, 12], values[row, 13], values[row, 14]),
    )


@rule
def tabled(table: F64, row: Any) -> Affine:
    """A matrix of the table."""
    return (
        (
            table[row, 0, 0], table[row, 0, 1], table[row, 0, 2],
            table[row, 1, 0], table[row, 1, 1], table[row, 1, 2],
            table[row, 2, 0], table[row, 2, 1], table[row, 2, 2],
        ),
        (table[row, 3, 0], table[row, 3, 1], table[row, 3, 2]),
    )  # fmt: skip


@rule
def upon(local: Affine, above: Affine) -> Affine:
    """World matrix of a prim: its local one times its parent's world matrix."""
    to = transform(local[1], above[0])
    home = above[1]
    return multiply(local[0], above[0]), (to[0] + home[0], to[1] + home[1], to[2] + home[2])


@rule
def own_matrix(here: Any, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64) -> tuple[bool, Affine]:
    """(it is composed already, the local or composed matrix of this path's row)."""
    code = slot[here]
    column, row = code >> SHIFT, code & ROW_BITS
    if column == _NONE:
        return ready[row] != _NO, tabled(table, row)
    if column == _ONE:
        return False, stored(v0, row)
    if column == _TWO:
        return False, stored(v1, row)
    return False, stored(v2, row)


@rule
def own_row(path: Any, own: U32) -> np.uint32:
    """The row of the table with the path's own world matrix, 0 without."""
    return own[path] if own.size > 1 else _NONE


@rule
def world_matrix(path: Any, parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64, own: U32) -> tuple[bool, Affine]:
    """(there is one, the world matrix of a path); the identity when there is none."""
    whole = own_row(path, own)
    if whole != _NONE:
        return True, tabled(table, whole)
    here = nearest_row(path, parents, flags, slot)
    if here == _NONE:
        return False, _IDENTITY
    done, local = own_matrix(here, slot, table, ready, v0, v1, v2)
    if done:
        return True, local
    above = nearest_row(parents[here], parents, flags, slot)
    if above == _NONE:
        return True, local
    code = slot[above]
    if code <= ROW_BITS and ready[code]:
        return True, upon(local, tabled(table, code))
    return True, upon(local, chained(above, parents, flags, slot, table, ready, v0, v1, v2))


@rule
def chained(path: Any, parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64) -> Affine:
    """World matrix of a path with a row, composed from the first ancestor down that needs no other."""
    chain = np.empty(MOST_STEPS + 2, np.uint32)
    n = 0
    here = np.uint32(path)
    while here != _NONE:
        chain[n] = here
        n += 1
        done, out = own_matrix(here, slot, table, ready, v0, v1, v2)
        if done:
            break
        here = nearest_row(parents[here], parents, flags, slot)
    done, out = own_matrix(chain[n - 1], slot, table, ready, v0, v1, v2)
    for k in range(n - 2, -1, -1):
        _, local = own_matrix(chain[k], slot, table, ready, v0, v1, v2)
        out = upon(local, out)
    return out


@ranged
def world_matrices(
    lo: int, hi: int, ids: U64, parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64, own: U32,
    out: F64,
) -> None:  # fmt: skip
    """World matrices of paths."""
    for i in range(lo, hi):
        _, m = world_matrix(ids[i], parents, flags, slot, table, ready, v0, v1, v2, own)
        for r in range(3):
            for c in range(3):
                out[i, r, c] = m[0][3 * r + c]
            out[i, 3, r] = m[1][r]
