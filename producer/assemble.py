"""Rows to archetypes (ARCHITECTURE, "Stage"): parts with the same type, schemas and columns become one dense record batch, in adding order.

Half of a big stage's cells are fallbacks. Columns that hold one value only share their memory, with each other and between archetypes: a column is
then a slice of the longest such column. Arrow columns and provenance codes are read-only, so nobody can tell.

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
from producer.spool import Spool
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
    """Collects parts of rows and joins them column by column; with a `spool`, large columns go there as they come."""

    def __init__(self, paths: PathDictionary, spool: Spool | None = None) -> None:
        self.paths = paths
        self._spool = spool
        self._parts: dict[_Key, list[_Part]] = {}
        self._same: dict[tuple[str, tuple[int, ...], bytes], npt.NDArray[Any]] = {}  # uniform columns by their value

    def add(self, type_name: str, schemas: tuple[str, ...], paths: Sequence[int] | npt.NDArray[np.uint64], cells: Mapping[str, Cells]) -> None:
        """Rows of one type with the same (sorted) schemas; `paths` are path ids, shape (n,)."""
        names = sorted(cells)
        key = (type_name, schemas, tuple((n, cells[n].type) for n in names))
        part = _Part(self._kept(np.asarray(paths, np.uint64)), {n: self._kept_cells(c) for n, c in cells.items()})
        self._parts.setdefault(key, []).append(part)

    def finish(self) -> tuple[Archetype, ...]:
        """The archetypes in the order in which their first rows came, with the world matrices that local ones do not tell."""
        items = list(self._parts.items())
        self._parts = {}
        sizes = [sum(p.paths.size for p in parts) for _, parts in items]
        made: dict[int, Archetype] = {}
        for i in sorted(range(len(items)), key=lambda i: -sizes[i]):  # the longest first: shorter uniform columns are slices of theirs
            made[i] = self._archetype(*items[i])
        return with_world_matrices(self.paths, [made[i] for i in range(len(items))])

    def _kept(self, values: Any) -> Any:
        if self._spool is None:
            return values
        if isinstance(values, Ragged):
            return Ragged(self._spool.keep(values.offsets), self._spool.keep(values.values))
        return self._spool.keep(values) if isinstance(values, np.ndarray) else values

    def _kept_cells(self, cells: Cells) -> Cells:
        if self._spool is None or cells.is_constant:
            return cells
        return cells._replace(data=self._kept(cells.data), provenance=self._kept(cells.provenance))

    def _archetype(self, key: _Key, parts: list[_Part]) -> Archetype:
        type_name, schemas, kinds = key
        sizes = [p.paths.size for p in parts]
        fields = [col.field(PATH, pa.uint64(), col.PATH_ID)]
        arrays = [col.dense(self._joined([p.paths for p in parts]))]
        provenance: dict[str, U8] = {}
        for name, type_ in kinds:
            cells = [p.cells[name] for p in parts]
            fields.append(type_.field(name))
            arrays.append(self._ragged(type_, cells, sizes) if type_.array else self._dense(type_, cells, sizes))
            provenance[name] = self._codes(cells, sizes)
        schema = pa.schema(fields)
        batch = pa.RecordBatch.from_arrays([a.cast(f.type) if a.type != f.type else a for a, f in zip(arrays, schema)], schema=schema)
        return Archetype(self.paths, type_name, schemas, batch, provenance)

    def _dense(self, type_: ColumnType, cells: list[Cells], sizes: list[int]) -> pa.Array:
        shown: list[npt.NDArray[Any]] = [np.asarray(encode(self.paths, type_, [c.data]) if c.is_constant else c.data) for c in cells]
        if all(c.is_constant for c in cells) and len({v.tobytes() for v in shown}) == 1:
            return col.dense(self._uniform(shown[0], sum(sizes)))
        if len(cells) == 1 and shown[0].dtype == type_.dtype:
            return col.dense(shown[0])
        out = np.empty((sum(sizes), type_.lanes) if type_.lanes > 1 else sum(sizes), type_.dtype)
        at = 0
        for values, n in zip(shown, sizes):
            out[at : at + n] = values
            at += n
        return col.dense(self._kept(out))

    def _uniform(self, row: npt.NDArray[Any], n: int) -> npt.NDArray[Any]:
        """Read-only column of n rows that equal the single row of `row`."""
        key = (row.dtype.str, row.shape[1:], row.tobytes())
        got = self._same.get(key)
        if got is None or len(got) < n:
            got = self._same[key] = self._spool.repeat(row, n) if self._spool else np.repeat(row, n, axis=0)
            got.flags.writeable = False
        return got[:n]

    def _codes(self, cells: list[Cells], sizes: list[int]) -> U8:
        codes = {int(c.provenance) if np.ndim(c.provenance) == 0 else -1 for c in cells}
        if len(codes) == 1 and -1 not in codes:
            return self._uniform(np.array([codes.pop()], np.uint8), sum(sizes))
        return self._joined(
            [np.full(n, c.provenance, np.uint8) if np.ndim(c.provenance) == 0 else np.asarray(c.provenance) for c, n in zip(cells, sizes)]
        )

    def _ragged(self, type_: ColumnType, cells: list[Cells], sizes: list[int]) -> pa.Array:
        parts = [_repeat(encode(self.paths, type_, [c.data]), n) if c.is_constant else c.data for c, n in zip(cells, sizes)]
        if len(parts) == 1:
            return col.ragged(*parts[0])
        bases = np.cumsum([0, *(len(p.values) for p in parts)])
        offsets = [np.zeros(1, np.int64), *(p.offsets[1:] + base for p, base in zip(parts, bases))]
        return col.ragged(self._joined(offsets), self._joined([p.values for p in parts]))

    def _joined(self, arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        joined: npt.NDArray[Any] = arrays[0] if len(arrays) == 1 else self._kept(np.concatenate(arrays))
        return joined


def _repeat(one: Any, n: int) -> Ragged:
    k = len(one.values)
    return Ragged(np.arange(n + 1, dtype=np.int64) * k, np.concatenate([one.values] * n) if k else one.values)
