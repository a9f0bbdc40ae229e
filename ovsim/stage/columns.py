"""Column types: NumPy or Python values to dense Arrow columns, and read-only views back (design: "Stage: archetypes, no nulls")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.errors import ColumnError
from ovsim.stage.paths import PathDictionary

TOKEN_ID = "TOKEN_ID"
PATH_ID = "PATH_ID"
RELATIONSHIP = "RELATIONSHIP_PATH_ID"
SEMANTIC = b"semantic"


class Ragged(NamedTuple):
    """A list column as NumPy: `offsets` int64 (n + 1,), `values` (offsets[-1],) or (offsets[-1], k)."""

    offsets: npt.NDArray[np.int64]
    values: npt.NDArray[Any]


def field(name: str, type_: pa.DataType, semantic: str = "") -> pa.Field:
    """Arrow field of a column, its id semantic in the metadata."""
    return pa.field(name, type_, nullable=False, metadata={SEMANTIC: semantic.encode()} if semantic else None)


def semantic(f: pa.Field) -> str:
    """Id semantic of a field: TOKEN_ID, PATH_ID, RELATIONSHIP_PATH_ID or ""."""
    return (f.metadata or {}).get(SEMANTIC, b"").decode()


def dense(values: npt.NDArray[Any]) -> pa.Array:
    """Arrow array over NumPy memory without a copy: (n,) a primitive, (n, k) a fixed_size_list; bool becomes uint8."""
    a = np.ascontiguousarray(values)
    if a.dtype == np.bool_:
        a = a.view(np.uint8)
    if a.ndim == 1:
        return pa.array(a)
    if a.ndim != 2:
        raise ColumnError(f"a column is (n,) or (n, k), not of shape {a.shape}")
    return pa.FixedSizeListArray.from_arrays(pa.array(a.reshape(-1)), a.shape[1])


def ragged(offsets: npt.ArrayLike, values: npt.NDArray[Any]) -> pa.Array:
    """Arrow large_list over `values[offsets[i]:offsets[i + 1]]`; offsets ascend from 0 (ColumnError otherwise)."""
    o = np.ascontiguousarray(offsets, np.int64)
    if o.size == 0 or o[0] != 0 or o[-1] != len(values) or np.any(np.diff(o) < 0):
        raise ColumnError(f"list offsets must ascend from 0 to {len(values)}")
    return pa.LargeListArray.from_arrays(pa.array(o), dense(values))


def relationship(paths: PathDictionary, targets: Sequence[Sequence[str]]) -> pa.Array:
    """Relationship column from lists of path strings, one list a row."""
    offsets = np.cumsum([0, *(len(t) for t in targets)], dtype=np.int64)
    flat = np.fromiter((paths.path(p) for row in targets for p in row), np.uint64)
    return ragged(offsets, flat)


def view(array: pa.Array) -> npt.NDArray[Any] | Ragged:
    """Read-only NumPy view of a dense column without a copy; lists come as `Ragged`."""
    t = array.type
    if pa.types.is_large_list(t) or pa.types.is_list(t):
        offsets = array.offsets.to_numpy(zero_copy_only=True).astype(np.int64, copy=False)
        base = int(offsets[0]) if offsets.size else 0
        values = view(array.values)
        if isinstance(values, Ragged):
            raise ColumnError("lists of lists are not columns")
        return Ragged(offsets - base if base else offsets, values[base : int(offsets[-1])] if offsets.size else values)
    if pa.types.is_fixed_size_list(t):
        flat = array.flatten().to_numpy(zero_copy_only=True)
        return flat.reshape(len(array), t.list_size)
    return array.to_numpy(zero_copy_only=True)


def take(array: pa.Array, rows: npt.NDArray[np.int64]) -> pa.Array:
    """Rows of a column in the given order, as a new dense column."""
    return array.take(pa.array(rows))
