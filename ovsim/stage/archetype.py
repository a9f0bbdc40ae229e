"""Archetypes: the prims with the same type, the same applied schemas and the same columns, as one dense record batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.stage import columns as col
from ovsim.stage.paths import PathDictionary

AUTHORED, FALLBACK, DERIVED = 0, 1, 2
PROVENANCE = ("authored", "fallback", "derived")
PATH = "usd-path"
PRIM_TYPE = "usd-prim-type"
SCHEMAS = "usd-schemas"
UNTYPED = "__ovstage_population_untyped__"


@dataclass(frozen=True)
class Archetype:
    """Rows of one kind.

    `type_name` is "" for the pseudo-root's row only; `schemas` are sorted by name; `batch` holds `usd-path` (uint64) first and then the columns
    by name, no nulls; `provenance` maps a column to a uint8 array of `AUTHORED`/`FALLBACK`/`DERIVED` codes and may lack columns.
    """

    paths: PathDictionary
    type_name: str
    schemas: tuple[str, ...]
    batch: pa.RecordBatch
    provenance: Mapping[str, npt.NDArray[np.uint8]] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.batch.num_rows

    @property
    def path_ids(self) -> npt.NDArray[np.uint64]:
        """Path ids, shape (n,), uint64, read-only."""
        return self.batch.column(0).to_numpy(zero_copy_only=True)

    @property
    def names(self) -> list[str]:
        """Column names, without `usd-path`."""
        return self.batch.schema.names[1:]

    def __contains__(self, name: str) -> bool:
        return self.batch.schema.get_field_index(name) > 0

    def field(self, name: str) -> pa.Field:
        return self.batch.schema.field(name)

    def column(self, name: str) -> pa.Array:
        """Arrow array of a column; KeyError when absent."""
        return self.batch.column(self.batch.schema.get_field_index(name)) if name in self else _absent(name)

    def values(self, name: str) -> npt.NDArray[Any] | col.Ragged:
        """Read-only NumPy view of a column without a copy; KeyError when absent."""
        return col.view(self.column(name))

    def lists(self, schema: str) -> bool:
        """Whether the rows list this applied schema (`API` or `API:instance`)."""
        return schema in self.schemas

    def table(self) -> pa.Table:
        """The rows with `usd-prim-type` and `usd-schemas` written out as columns, as the real table has them."""
        n = len(self)
        out = pa.Table.from_batches([self.batch])
        if self.type_name:
            ids = np.full(n, self.paths.token(self.type_name), np.uint64)
            out = out.append_column(col.field(PRIM_TYPE, pa.uint64(), col.TOKEN_ID), col.dense(ids))
        if self.schemas:
            row = self.paths.token_many(self.schemas)
            lists = col.ragged(np.arange(n + 1) * row.size, np.tile(row, n))
            out = out.append_column(col.field(SCHEMAS, lists.type, col.TOKEN_ID), lists)
        return out

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)


def _absent(name: str) -> pa.Array:
    raise KeyError(name)
