"""The stage: a path dictionary and its archetypes, with the queries that the parser makes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.diagnostics import Diagnostics
from ovsim.stage.archetype import Archetype
from ovsim.stage.paths import PathDictionary


@dataclass(frozen=True)
class Stage:
    """Populated prims as columns.

    `metadata` is for people and tools (source file, route and its reason, contract version), JSON values only; the consumer never reads it.
    """

    paths: PathDictionary
    archetypes: tuple[Archetype, ...]
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    metadata: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(a) for a in self.archetypes)

    def with_type(self, type_name: str) -> Iterator[Archetype]:
        """Archetypes whose type token is exactly `type_name` (no IsA: contract page PhysicsJoint)."""
        return (a for a in self.archetypes if a.type_name == type_name)

    def with_schema(self, schema: str) -> Iterator[Archetype]:
        """Archetypes that list `schema` in `usd-schemas`."""
        return (a for a in self.archetypes if schema in a.schemas)

    @cached_property
    def located(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Archetype index (-1: no row) and row number by path id, shapes (path_count,)."""
        kind = np.full(self.paths.path_count, -1, np.int32)
        row = np.zeros(self.paths.path_count, np.int64)
        for i, a in enumerate(self.archetypes):
            kind[a.path_ids] = i
            row[a.path_ids] = np.arange(len(a))
        return kind, row

    def find(self, path: str) -> tuple[Archetype, int] | None:
        """Archetype and row number of a prim path, None when it has no row."""
        got = self.paths.find(path)
        kind, row = self.located
        if not got or got >= kind.size or kind[got] < 0:
            return None
        return self.archetypes[kind[got]], int(row[got])

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write a snapshot directory, whole or not at all (SnapshotError)."""
        from ovsim.stage import snapshot

        snapshot.save(self, directory)

    @staticmethod
    def load(directory: str | os.PathLike[str]) -> Stage:
        """Open a snapshot directory, its columns memory-mapped (SnapshotError)."""
        from ovsim.stage import snapshot

        return snapshot.load(directory)

    @property
    def meters_per_unit(self) -> float | None:
        """`usd-metadata:metersPerUnit` of the pseudo-root row, None when the row or column is absent."""
        hit = self.find("/")
        if hit is None or "usd-metadata:metersPerUnit" not in hit[0]:
            return None
        return float(hit[0].values("usd-metadata:metersPerUnit")[hit[1]])
