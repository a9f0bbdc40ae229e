"""Rows to archetypes (ARCHITECTURE, "Stage"): parts with the same type, schemas and columns become one dense record batch, in adding order.

Unlike `StageBuilder` this takes columns of any type as they are, since population publishes wrongly typed values verbatim (rule 9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.stage import Archetype, PathDictionary, Ragged
from ovsim.stage import columns as col
from ovsim.stage.archetype import PATH
from producer.values import ColumnType, encode
from producer.worlds import with_world_matrices

U8 = npt.NDArray[np.uint8]


class Cells(NamedTuple):
    """A column of some rows: NumPy storage (n,) / (n, k) / `Ragged`, or one plain value for all rows when `is_constant`.

    `provenance`: one code for all rows, or (n,) codes.
    """

    type: ColumnType
    data: Any
    provenance: int | U8
    is_constant: bool = False


class _Part(NamedTuple):
    paths: npt.NDArray[np.uint64]
    cells: Mapping[str, Cells]


_Key = tuple[str, tuple[str, ...], tuple[tuple[str, ColumnType], ...]]


class Assembler:
    """Collects parts of rows and joins them column by column."""

    def __init__(self, paths: PathDictionary) -> None:
        self.paths = paths
        self._parts: dict[_Key, list[_Part]] = {}

    def add(self, type_name: str, schemas: tuple[str, ...], paths: Sequence[int] | npt.NDArray[np.uint64], cells: Mapping[str, Cells]) -> None:
        """Rows of one type with the same (sorted) schemas; `paths` are path ids, shape (n,)."""
        names = sorted(cells)
        key = (type_name, schemas, tuple((n, cells[n].type) for n in names))
        self._parts.setdefault(key, []).append(_Part(np.asarray(paths, np.uint64), cells))

    def finish(self) -> tuple[Archetype, ...]:
        """The archetypes in the order in which their first rows came, with the world matrices that local ones do not tell."""
        return with_world_matrices(self.paths, [self._archetype(key, parts) for key, parts in self._parts.items()])

    def _archetype(self, key: _Key, parts: list[_Part]) -> Archetype:
        type_name, schemas, kinds = key
        sizes = [p.paths.size for p in parts]
        fields = [col.field(PATH, pa.uint64(), col.PATH_ID)]
        arrays = [col.dense(np.concatenate([p.paths for p in parts]))]
        provenance: dict[str, U8] = {}
        for name, type_ in kinds:
            cells = [p.cells[name] for p in parts]
            fields.append(type_.field(name))
            arrays.append(self._ragged(type_, cells, sizes) if type_.array else self._dense(type_, cells, sizes))
            provenance[name] = _codes(cells, sizes)
        schema = pa.schema(fields)
        batch = pa.RecordBatch.from_arrays([a.cast(f.type) if a.type != f.type else a for a, f in zip(arrays, schema)], schema=schema)
        return Archetype(self.paths, type_name, schemas, batch, provenance)

    def _dense(self, type_: ColumnType, cells: list[Cells], sizes: list[int]) -> pa.Array:
        total = sum(sizes)
        out = np.empty((total, type_.lanes) if type_.lanes > 1 else total, type_.dtype)
        at = 0
        for cell, n in zip(cells, sizes):
            out[at : at + n] = encode(self.paths, type_, [cell.data])[0] if cell.is_constant else cell.data
            at += n
        return col.dense(out)

    def _ragged(self, type_: ColumnType, cells: list[Cells], sizes: list[int]) -> pa.Array:
        offsets = [np.zeros(1, np.int64)]
        values = []
        base = 0
        for cell, n in zip(cells, sizes):
            part = _repeat(encode(self.paths, type_, [cell.data]), n) if cell.is_constant else cell.data
            offsets.append(part.offsets[1:] + base)
            values.append(part.values)
            base += int(part.offsets[-1])
        return col.ragged(np.concatenate(offsets), np.concatenate(values))


def _repeat(one: Any, n: int) -> Ragged:
    k = len(one.values)
    return Ragged(np.arange(n + 1, dtype=np.int64) * k, np.concatenate([one.values] * n) if k else one.values)


def _codes(cells: list[Cells], sizes: list[int]) -> U8:
    out = np.empty(sum(sizes), np.uint8)
    at = 0
    for cell, n in zip(cells, sizes):
        out[at : at + n] = cell.provenance
        at += n
    return out
