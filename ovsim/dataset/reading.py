"""Reading a dataset: its tables as pyarrow datasets, the parts that count and no others."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.dataset as pads

from ovsim.dataset.layout import Layout, Settings
from ovsim.dataset.schemas import schema, tables


class Dataset:
    """A dataset opened for reading. What it shows is the state at each call; a run that writes meanwhile adds whole stages only."""

    def __init__(self, where: str | os.PathLike[str]) -> None:
        """`where`: directory or URI; DatasetError when it is no ovsim dataset."""
        self._layout = Layout.open(where)

    @property
    def settings(self) -> Settings:
        """Level, rules, route and custom joint types that it was made with."""
        return self._layout.settings

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of its tables."""
        return tables(self._layout.settings.level)

    def files(self, table: str) -> list[str]:
        """Paths of a table's Parquet files in the dataset's file system; DatasetError for an unknown table."""
        return self._layout.files(table)

    def scan(self, table: str) -> pads.Dataset:
        """A table as a `pyarrow.dataset.Dataset`: lazy, with filters and column choice, larger than memory if need be."""
        files = self.files(table)
        if not files:
            return pads.InMemoryDataset(schema(table).empty_table())
        return pads.dataset(files, schema=schema(table), format="parquet", filesystem=self._layout.storage.fs)

    def table(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """A whole table in memory, ordered by file; rows of a file keep their order."""
        want = list(columns) if columns is not None else schema(table).names
        got = self.scan(table).to_table(columns=[*want, *(["file"] if "file" not in want else [])], use_threads=True)
        order = pa.compute.sort_indices(got["file"])  # stable
        return got.take(order).select(want)

    def __repr__(self) -> str:
        return f"Dataset({self._layout.storage.uri!r}, level={self.settings.level!r})"
