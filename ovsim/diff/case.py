"""One difference with everything that a predicate may want to know about its joint."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ovsim import contract
from ovsim.contract import fields
from ovsim.diff.comparator import Difference
from ovsim.diff.sides import COLUMNAR, USD, Side
from ovsim.stage import Archetype, Ragged
from ovsim.stage import columns as col

if TYPE_CHECKING:
    from pxr import Usd

ABSENT = object()


@dataclass
class Pair:
    """The two sides, and what is asked of them again and again."""

    left: Side
    right: Side
    cache: dict[Any, Any] = field(default_factory=dict)

    @property
    def backends(self) -> bool:
        """Whether one side is the USD backend and the other columns."""
        return {self.left.backend, self.right.backend} == {USD, COLUMNAR}

    @property
    def columns(self) -> tuple[Side, ...]:
        """The sides that have a stage of columns."""
        return tuple(s for s in (self.left, self.right) if s.stage is not None)

    @property
    def usd(self) -> Side | None:
        return next((s for s in (self.left, self.right) if s.backend == USD), None)


@dataclass
class Case:
    """A difference within its pair of sides."""

    pair: Pair
    diff: Difference

    @property
    def path(self) -> str:
        return self.diff.path

    @property
    def field(self) -> str:
        return self.diff.field

    def of(self, side: Side) -> Any:
        """The difference's value on a side."""
        return self.diff.left if side is self.pair.left else self.diff.right

    def other(self, side: Side) -> Side:
        return self.pair.right if side is self.pair.left else self.pair.left

    @cached_property
    def type_name(self) -> str:
        """The joint's type token, "" when no side knows it."""
        for side in (self.pair.left, self.pair.right):
            if side.stage is not None:
                hit = side.stage.find(self.path)
                if hit is not None:
                    return hit[0].type_name
            if side.usd is not None and self.path in side.usd.joints:
                return side.usd.joints[self.path].type_name
        return ""

    @property
    def feeding(self) -> tuple[str, ...]:
        """Columns that decide the differing field: the column itself at the columns level."""
        if self.diff.level == "columns":
            return (self.field,)
        return fields.feeding(self.type_name).get(self.field, ())

    @property
    def usd_prim(self) -> Usd.Prim | None:
        """The joint's prim on the USD side."""
        usd = self.pair.usd
        if usd is None or usd.usd is None:
            return None
        joint = usd.usd.joints.get(self.path)
        return joint.prim if joint else None

    def row(self, side: Side, path: str = "") -> tuple[Archetype, int] | None:
        """The row of a prim (this joint by default) on a side with columns."""
        return side.stage.find(path or self.path) if side.stage is not None else None

    def cell(self, side: Side, column: str, path: str = "") -> Any:
        """A column's value as Python (tokens as text, relationships as lists of paths), `ABSENT` when the row has no such column."""
        hit = self.row(side, path)
        return ABSENT if hit is None else cell(hit[0], hit[1], column)

    def has(self, side: Side, column: str, path: str = "") -> bool:
        hit = self.row(side, path)
        return hit is not None and column in hit[0]

    def lists(self, side: Side, schema: str, path: str = "") -> bool:
        hit = self.row(side, path)
        return hit is not None and schema in hit[0].schemas


def cell(archetype: Archetype, row: int, column: str) -> Any:
    """One value of a column as Python, `ABSENT` when the archetype has no such column."""
    if column not in archetype:
        return ABSENT
    got = archetype.values(column)
    semantic = col.semantic(archetype.field(column))
    if isinstance(got, Ragged):
        values = got.values[got.offsets[row] : got.offsets[row + 1]]
        if semantic == col.RELATIONSHIP:
            good = values < archetype.paths.path_count
            return [archetype.paths.path_string(int(v)) if k else f"<path id {int(v)}>" for v, k in zip(values, good)]
        if semantic == col.TOKEN_ID:
            return [archetype.paths.token_string(int(v)) for v in values]
        return values.tolist()
    value = got[row]
    spec = contract.load().find(column)
    token = semantic == col.TOKEN_ID or (spec is not None and spec.semantic == col.TOKEN_ID and pa.types.is_uint64(archetype.field(column).type))
    if token and getattr(value, "ndim", 0) == 0:
        return archetype.paths.token_string(int(value)) if value < archetype.paths.token_count else f"<token id {int(value)}>"
    if semantic == col.PATH_ID:
        return archetype.paths.path_string(int(value))
    return value.tolist()
