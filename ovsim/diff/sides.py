"""What stands on each side of a comparison: a USD stage as its own backend sees it, columns under a rule set, or a saved table of results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ovsim.diff import columns, flat, physx
from ovsim.diff.flat import Flat
from ovsim.errors import DiffError
from ovsim.stage import Stage

if TYPE_CHECKING:
    from consumer import Descriptors, RuleSet
    from consumer.physx import PhysxView
    from consumer.usd import UsdSource

USD, COLUMNAR = "usd", "columnar"
OBSERVED = "observed-0.6.3"
USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
Source = str | os.PathLike[str] | Stage


class Side:
    """One side. `backend` is `USD`, `COLUMNAR` or "table"; `levels` are those that it can give."""

    backend = "table"
    levels: tuple[str, ...] = ()
    stage: Stage | None = None
    usd: UsdSource | None = None
    descriptors: Descriptors | None = None
    rules = ""

    def __init__(self, label: str) -> None:
        self.label = label
        self._made: dict[str, Flat] = {}

    def flat(self, level: str) -> Flat:
        """The joints of this side at one level, made once."""
        if level not in self._made:
            self._made[level] = self._make(level)
        return self._made[level]

    def _make(self, level: str) -> Flat:
        raise NotImplementedError


class ColumnSide(Side):
    """Columns (population's, a snapshot's, a table's) under a rule set."""

    backend = COLUMNAR
    levels = ("columns", "descriptors", "physx")

    def __init__(self, stage: Stage, label: str, rules: str | RuleSet = OBSERVED, custom_joints: Sequence[str] = ()) -> None:
        from consumer import rulesets

        super().__init__(label)
        self.rule_set = rulesets.get(rules)
        self.stage, self.rules, self.custom_joints = stage, self.rule_set.name, tuple(custom_joints)

    @cached_property
    def descriptors(self) -> Descriptors:  # type: ignore[override]
        import consumer

        assert self.stage is not None
        return consumer.resolve(self.stage, rules=self.rule_set, custom_types=self.custom_joints)

    @cached_property
    def view(self) -> PhysxView:
        from ovsim.diff.described import described_view

        assert self.stage is not None
        return described_view(self.stage, self.descriptors, self.rule_set)

    def _make(self, level: str) -> Flat:
        assert self.stage is not None
        if level == "columns":
            return columns.of_stage(self.stage, self.custom_joints)
        if level == "descriptors":
            return flat.from_arrow(self.descriptors.to_arrow(), self.label)
        if self.rules == OBSERVED:
            return physx.of_view(self.view)
        from ovsim.diff.described import amend

        return amend(physx.of_view(self.view), self.view, self.rule_set)


class UsdSide(Side):
    """A USD stage through the USD backend."""

    backend = USD
    rules = USD
    levels = ("columns", "descriptors", "physx")

    def __init__(self, usd: UsdSource, label: str, custom_joints: Sequence[str] = ()) -> None:
        super().__init__(label)
        self.usd, self.custom_joints = usd, tuple(custom_joints)

    @cached_property
    def _resolved(self) -> tuple[UsdSource, Stage, Descriptors]:
        from consumer.usd.resolve import resolve_with_rows

        assert self.usd is not None
        return resolve_with_rows(self.usd, self.custom_joints)

    @cached_property
    def descriptors(self) -> Descriptors:  # type: ignore[override]
        return self._resolved[2]

    @cached_property
    def view(self) -> PhysxView:
        from consumer.usd.view import view_of

        return view_of(*self._resolved)

    def _make(self, level: str) -> Flat:
        from consumer.usd.attributes import joint_attributes

        assert self.usd is not None
        if level == "columns":
            return columns.of_attributes(joint_attributes(self.usd))
        if level == "physx":
            return physx.of_view(self.view)
        out = flat.from_arrow(self.descriptors.to_arrow(), self.label)
        for name in ("limits.order", "drives.order"):
            if name in out.columns:
                out.columns[name].values = flat.objects(_distance_first(v) for v in out.columns[name].values)
        return out


class TableSide(Side):
    """A saved table of descriptors (`ovsim resolve --out`): rows with a `path` column and no columns of a stage."""

    levels = ("descriptors",)

    def __init__(self, table: pa.Table, label: str) -> None:
        super().__init__(label)
        self._flat = flat.from_arrow(table, label)

    def _make(self, level: str) -> Flat:
        return self._flat


def _distance_first(order: Any) -> Any:
    """The D6 lists of the USD backend begin with distance (spec 2.3)."""
    if not isinstance(order, tuple) or "distance" not in order:
        return order
    return ("distance", *(a for a in order if a != "distance"))


def is_usd_file(source: Source) -> bool:
    """Whether a source is a USD stage file, by its name."""
    return not isinstance(source, Stage) and Path(source).suffix.lower() in USD_SUFFIXES


def make(source: Source, how: str, custom_joints: Sequence[str] = (), shared: Stage | None = None) -> Side:
    """A side: `how` is `usd`, `columnar` (rules observed-0.6.3) or the name of a rule set; `shared` spares a second population of the same source.

    DiffError when `how` does not suit the source; errors of opening it as `ovsim.open_stage`.
    """
    from ovsim import tables
    from ovsim.api import open_stage

    label = f"{'stage' if isinstance(source, Stage) else source} ({how})"
    if how == USD:
        from consumer.usd import UsdSource

        if isinstance(source, Stage) or not is_usd_file(source):
            raise DiffError(f"the usd backend reads stage files ({', '.join(USD_SUFFIXES)}); {label} has columns only")
        return UsdSide(UsdSource.open(source, custom_joints), label, custom_joints)
    rules = OBSERVED if how == COLUMNAR else how
    if not isinstance(source, Stage) and Path(source).is_file() and tables.is_table(source):
        table = tables.read_table(source)
        if "localPose0Position" in table.schema.names and not any(":" in n for n in table.schema.names):
            return TableSide(table, label)
    return ColumnSide(shared if shared is not None else open_stage(source, custom_joints=custom_joints), label, rules, custom_joints)
