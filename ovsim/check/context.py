"""What the checks share: a stage with its contract, what population would write, and how findings are told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ovsim import contract
from ovsim.contract import Units
from ovsim.contract.joints import JOINT_TYPES
from ovsim.diagnostics import Diagnostics
from ovsim.stage import AUTHORED, ROOT, Archetype, Ragged, Stage

if TYPE_CHECKING:
    from producer.plan import Constant, Planner

MOST = 50  # rows of one code and archetype that are told one by one


@dataclass
class Context:
    """One stage under check; `custom_joints` are further joint type tokens."""

    stage: Stage
    custom_joints: tuple[str, ...] = ()
    out: Diagnostics = field(default_factory=Diagnostics)

    @cached_property
    def contract(self) -> contract.Contract:
        return contract.load()

    @cached_property
    def joint_types(self) -> tuple[str, ...]:
        return (*JOINT_TYPES, *self.custom_joints)

    @cached_property
    def units(self) -> Units:
        """Stage units: the metadata row with USD's fallbacks, as population writes it; without a row those that the parser assumes."""
        hit = self.stage.find("/")
        meters, up = (1.0, "Z") if hit is None else (0.01, "Y")
        if hit is not None:
            archetype, row = hit
            if "usd-metadata:metersPerUnit" in archetype:
                meters = float(archetype.values("usd-metadata:metersPerUnit")[row])
            if "usd-metadata:upAxis" in archetype:
                up = self.stage.paths.token_string(int(archetype.values("usd-metadata:upAxis")[row]))
        return Units(meters, up)

    @cached_property
    def planner(self) -> Planner:
        from producer import schemas
        from producer.plan import Planner

        return Planner(schemas.load(), self.units, frozenset(self.custom_joints))

    def expected(self, archetype: Archetype) -> dict[str, Constant]:
        """Columns that population writes on such rows with nothing authored, with their values; {} for rows that carry only a transform."""
        from producer.plan import RowKind
        from producer.selection import Role

        if not archetype.type_name and not archetype.schemas:
            return {}
        if not self.planner.is_member(archetype.type_name, archetype.schemas):
            return {}
        return dict(self.planner.plan(RowKind(archetype.type_name, archetype.schemas, Role.MEMBER), {}).constants)

    def joints(self) -> Iterator[Archetype]:
        """Archetypes of joints."""
        return (a for a in self.stage.archetypes if a.type_name in self.joint_types)

    def numbers(self, archetype: Archetype, name: str) -> npt.NDArray[Any] | None:
        """A numeric column (n,) or (n, k) as float64; None when absent or no numbers."""
        if name not in archetype:
            return None
        got = archetype.values(name)
        if isinstance(got, Ragged) or got.dtype.kind not in "fiu" or got.dtype == np.uint64:  # ids are no numbers
            return None
        return got.astype(np.float64)

    def written(self, archetype: Archetype, name: str) -> bool:
        """Whether somebody wrote the column on purpose: hand-populated rows know no provenance and count as written."""
        codes = archetype.provenance.get(name)
        return codes is None or bool((codes == AUTHORED).any())

    def tell(self, code: str, severity: str, archetype: Archetype, column: str, message: str, rows: npt.NDArray[Any] | None = None) -> None:
        """One diagnostic for a whole archetype, or one a row when `rows` (bool (n,) or indices) is given."""
        if rows is None:
            n = len(archetype)
            if n:
                more = f" ({n} rows of this kind, this is the first)" if n > 1 else ""
                self.out.add(code, severity, message + more, self._path(archetype, 0), column)
            return
        at = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        for row in at[:MOST]:
            self.out.add(code, severity, message, self._path(archetype, int(row)), column)
        if at.size > MOST:
            self.out.add(code, severity, f"{at.size - MOST} more {archetype.type_name} rows: {message}", "", column)

    def _path(self, archetype: Archetype, row: int) -> str:
        return self.stage.paths.path_string(int(archetype.path_ids[row]))

    @cached_property
    def has_row(self) -> npt.NDArray[np.bool_]:
        """Whether a path id has a row, shape (path_count,)."""
        got = self.stage.located[0] >= 0
        got[ROOT] = True
        return got
