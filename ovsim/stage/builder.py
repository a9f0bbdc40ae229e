"""Rows by hand or from the producer: type, paths, schemas, columns as NumPy, Arrow or Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim import contract
from ovsim.diagnostics import Diagnostics
from ovsim.errors import ColumnError, PathError
from ovsim.stage import columns as col
from ovsim.stage.archetype import PATH, Archetype
from ovsim.stage.convert import to_column
from ovsim.stage.paths import ROOT, PathDictionary
from ovsim.stage.stage import Stage

_Key = tuple[str, tuple[str, ...], tuple[tuple[str, pa.DataType, str], ...]]
Provenance = Mapping[str, npt.NDArray[np.uint8]]


class StageBuilder:
    """Collects rows and makes a `Stage`.

    Every `add` gives rows of one type with the same schemas and columns; equal kinds are joined into one archetype in the order of their adding.
    """

    def __init__(self, paths: PathDictionary | None = None) -> None:
        self.paths = paths or PathDictionary()
        self.diagnostics = Diagnostics()
        self.metadata: dict[str, Any] = {"contract": contract.VERSION}
        self._parts: dict[_Key, list[tuple[pa.RecordBatch, Provenance]]] = {}

    def add(
        self,
        type_name: str,
        paths: Sequence[str] | npt.NDArray[np.uint64],
        columns: Mapping[str, Any] | None = None,
        schemas: Sequence[str] = (),
        provenance: Provenance | None = None,
    ) -> None:
        """Add rows.

        `paths`: prim path strings, or path ids (n,) uint64 of this builder's dictionary. `columns`: name to (n,) / (n, k) NumPy arrays, Arrow arrays
        (stored as they are), lists; tokens as strings, relationships as lists of path strings a row. Values are brought to the contract's type;
        ColumnError when they do not fit, PathError for malformed paths.
        """
        ids = self._ids(paths)
        arrays = {n: to_column(self.paths, n, v, ids.size) for n, v in sorted((columns or {}).items())}
        fields = [col.field(PATH, pa.uint64(), col.PATH_ID)]
        fields += [f for f, _ in arrays.values()]
        batch = pa.record_batch([col.dense(ids), *(a for _, a in arrays.values())], schema=pa.schema(fields))
        kind = tuple((f.name, f.type, col.semantic(f)) for f in fields[1:])
        self._parts.setdefault((type_name, tuple(sorted(schemas)), kind), []).append((batch, provenance or {}))

    def units(self, meters_per_unit: float = 0.01, kilograms_per_unit: float = 1.0, up_axis: str = "Y") -> None:
        """Add the row of `/` with the stage metadata (contract block stage_units; the defaults are USD's)."""
        self.add(
            "",
            np.array([ROOT], np.uint64),
            {
                "usd-metadata:metersPerUnit": [meters_per_unit],
                "usd-metadata:kilogramsPerUnit": [kilograms_per_unit],
                "usd-metadata:upAxis": [up_axis],
            },
        )

    def finish(self) -> Stage:
        """The stage. PathError when a path has two rows; rows without their ancestors' rows are kept and told of in `diagnostics`."""
        archetypes = tuple(self._archetype(key, parts) for key, parts in self._parts.items())
        stage = Stage(self.paths, archetypes, self.diagnostics, self.metadata)
        self._check_rows(stage)
        return stage

    def _ids(self, paths: Sequence[str] | npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        if isinstance(paths, np.ndarray) and paths.dtype.kind in "ui":
            ids = np.ascontiguousarray(paths, np.uint64)
            if ids.size and (int(ids.max()) >= self.paths.path_count or int(ids.min()) < ROOT):
                raise PathError("a row's path id is not in this builder's dictionary")
            return ids
        return np.fromiter((self.paths.path(p) for p in paths), np.uint64)

    def _archetype(self, key: _Key, parts: list[tuple[pa.RecordBatch, Provenance]]) -> Archetype:
        type_name, schemas, _ = key
        if len(parts) == 1:
            return Archetype(self.paths, type_name, schemas, parts[0][0], dict(parts[0][1]))
        batch = pa.Table.from_batches([b for b, _ in parts]).combine_chunks().to_batches()[0]
        shared = set.intersection(*(set(p) for _, p in parts))
        provenance = {n: np.concatenate([p[n] for _, p in parts]) for n in sorted(shared)}
        return Archetype(self.paths, type_name, schemas, batch, provenance)

    def _check_rows(self, stage: Stage) -> None:
        ids = np.concatenate([a.path_ids for a in stage.archetypes]) if stage.archetypes else np.empty(0, np.uint64)
        count = np.bincount(ids.astype(np.int64), minlength=self.paths.path_count)
        if ids.size and int(count.max()) > 1:
            twice = self.paths.path_string(int(np.argmax(count > 1)))
            raise PathError(f"{twice} has {int(count.max())} rows; a prim has one row, give all its columns in one add")
        parents = self.paths.parents[ids.astype(np.int64)]
        orphans = ids[(parents > ROOT) & (count[parents] == 0)]
        for path in self.paths.path_strings(orphans).to_pylist():
            lost = path.rpartition("/")[0]
            self.diagnostics.add("missing-ancestor", "warning", f"{lost} has no row, so its transform counts as identity; add a row for it", path)


def ragged_token_column(paths: PathDictionary, rows: Sequence[Sequence[str]]) -> pa.Array:
    """List column of token ids from lists of texts, one list a row."""
    offsets = np.cumsum([0, *(len(r) for r in rows)], dtype=np.int64)
    return col.ragged(offsets, paths.token_many(t for r in rows for t in r))


__all__ = ["ColumnError", "StageBuilder", "ragged_token_column"]
