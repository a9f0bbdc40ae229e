"""One prim, one screen: what is authored, written, assumed, resolved and built of each of its columns, and what the prim is to PhysX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ovsim.contract import Units, findings
from ovsim.contract.joints import JOINT_TYPES
from ovsim.diagnostics import Diagnostic
from ovsim.diff.comparator import UNEXPLAINED
from ovsim.diff.flat import Flat, from_arrow
from ovsim.diff.sides import OBSERVED, ColumnSide, Source, UsdSide, is_usd_file
from ovsim.errors import PathError
from ovsim.explain.lines import Line, Subject, lines
from ovsim.explain.near import near
from ovsim.explain.role import facts, joint_document, joint_index, joint_outcome
from ovsim.files import jsonable
from ovsim.stage import Archetype, Stage

MOST_JOINTS = 2000  # stages with more are not compared with the USD backend for one joint's sake

__all__ = ["Explanation", "Line", "explain"]


@dataclass(frozen=True)
class Explanation:
    """A prim explained.

    `outcome`: what becomes of it in PhysX, in a few words. `active` are ids of findings that make a difference here; `physx` is the joint's
    interchange document, {} without one; `facts` what a prim that is no joint is: its `link`, its `joints`, its `articulations` with their links and
    `settings`. `notes` say what was left out of the answer.
    """

    path: str
    type_name: str
    file: str
    outcome: str
    lines: tuple[Line, ...]
    active: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    physx: dict[str, Any] = field(default_factory=dict)
    schemas: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """JSON values; non-finite numbers are strings."""
        return {
            "file": self.file,
            "path": self.path,
            "type": self.type_name,
            "schemas": list(self.schemas),
            "outcome": self.outcome,
            "facts": jsonable(self.facts),
            "columns": [_json(asdict(line)) for line in self.lines],
            "findings": {i: {"happens": findings.get(i).happens, "advice": findings.get(i).advice} for i in self.active},
            "diagnostics": [asdict(d) for d in self.diagnostics],
            "notes": list(self.notes),
            "physx": self.physx,
        }

    def line(self, column: str) -> Line:
        """The line of a column; KeyError when the prim has none."""
        for line in self.lines:
            if line.column == column:
                return line
        raise KeyError(column)


def explain(source: Source, path: str, *, custom_joints: Sequence[str] = (), stage: Stage | None = None) -> Explanation:
    """Explain one prim of a stage file, snapshot or table: a joint, or a body, a root, a shape, whatever has a row.

    `stage` spares a second population of the same source. PathError, with near paths, when the stage has no such row; else errors of
    `ovsim.open_stage`.
    """
    from ovsim.api import open_stage

    held = open_stage(source, custom_joints=custom_joints) if stage is None else stage
    hit = held.find(path) if path.startswith("/") else None
    if hit is None:
        raise PathError(_no_row(source, held, path, custom_joints))
    archetype, row = hit
    side = ColumnSide(held, str(source) if not isinstance(source, Stage) else "stage", OBSERVED, custom_joints)
    index = joint_index(side.view, path)
    joint = joint_document(side.view, index, path) if index >= 0 else {}
    resolved = from_arrow(side.descriptors.to_arrow().slice(index, 1)) if index >= 0 else Flat([])
    authored: dict[str, Any] = {}
    active: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    if is_usd_file(source):
        authored, active, notes = _usd(source, side, path, index >= 0, custom_joints)
    outcome, more = (joint_outcome(side.view, index), {}) if index >= 0 else facts(side.view, path, archetype.type_name)
    found = lines(Subject(archetype, row, path, resolved, joint, authored, _units(held)))
    told = tuple(_told(side, archetype, path))
    return Explanation(path, archetype.type_name, side.label, outcome, found, active, told, joint, archetype.schemas, more, notes)


def _json(row: dict[str, Any]) -> dict[str, Any]:
    return {k: {f: jsonable(x) for f, x in v.items()} if isinstance(v, dict) else jsonable(v) for k, v in row.items()}


def _no_row(source: Source, stage: Stage, path: str, custom: Sequence[str]) -> str:
    """Why there is nothing to explain, and what may have been meant."""
    joints: list[str] = []
    others: list[str] = []
    for a in stage.archetypes:
        into = joints if a.type_name in (*JOINT_TYPES, *custom) else others
        into += stage.paths.path_strings(a.path_ids).to_pylist()
    if is_usd_file(source) and path.startswith("/"):
        from pxr import Sdf

        from consumer.usd import UsdSource

        assert not isinstance(source, Stage)
        usd = UsdSource.open(source, custom)  # a prim lives as long as its stage
        prim = usd.stage.GetPrimAtPath(path) if Sdf.Path.IsValidPathString(path) else None
        if prim:
            return f"{path} is a {prim.GetTypeName() or 'typeless prim'} that population writes no row for; {near(path, joints, others)}"
    return f"there is no row {path}; {near(path, joints, others)}"


def _units(stage: Stage) -> Units:
    meters = stage.meters_per_unit
    return Units(1.0 if meters is None else meters)


def _usd(
    source: Source, side: ColumnSide, path: str, joint: bool, custom: Sequence[str]
) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:  # fmt: skip
    """Authored opinions of the prim, the findings by which the USD backend sees a joint otherwise, and what was left out."""
    from consumer.usd import UsdSource
    from ovsim.diff import compare_sides
    from ovsim.explain.opinions import opinions

    assert not isinstance(source, Stage)
    usd = UsdSource.open(source, custom)
    known = usd.joints.get(path)
    prim = known.prim if known else usd.stage.GetPrimAtPath(path)
    authored = opinions(prim) if prim else {}
    if not joint:
        return authored, (), ()
    if len(side.view) > MOST_JOINTS:
        note = f"{len(side.view)} joints: not compared with the USD backend here; `ovsim diff` tells what differs at this joint"
        return authored, (), (note,)
    found = compare_sides(UsdSide(usd, side.label, custom), side, levels=("columns", "descriptors", "physx"), related=True)
    return authored, tuple(dict.fromkeys(d.finding for d in found.differences if d.path == path and d.finding != UNEXPLAINED)), ()


def _told(side: ColumnSide, archetype: Archetype, path: str) -> Iterable[Diagnostic]:
    """Diagnostics about the prim, those about its whole kind included."""
    from ovsim.check import check

    assert side.stage is not None
    for d in check(side.stage, custom_joints=side.custom_joints, view=side.view):
        if d.path == path:
            yield d
        elif d.path and d.path.startswith("/") and "rows of this kind" in d.message:
            hit = side.stage.find(d.path)
            if hit is not None and hit[0] is archetype:
                yield d
