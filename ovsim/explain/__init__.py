"""One joint, one screen: what is authored, written, assumed, resolved and built of each of its columns."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ovsim import contract
from ovsim.contract import Column, Units, fields, findings
from ovsim.contract.joints import JOINT_TYPES
from ovsim.diagnostics import Diagnostic
from ovsim.diff.case import ABSENT, cell
from ovsim.diff.comparator import UNEXPLAINED
from ovsim.diff.flat import Flat, from_arrow
from ovsim.diff.sides import OBSERVED, ColumnSide, Source, UsdSide, is_usd_file
from ovsim.errors import PathError
from ovsim.explain.physx_fields import look, places, side_places
from ovsim.files import jsonable
from ovsim.stage import PROVENANCE, Archetype, Stage

MOST_JOINTS = 2000  # stages with more are not compared with the USD backend for one joint's sake

__all__ = ["Explanation", "Line", "explain"]


@dataclass(frozen=True)
class Line:
    """One column of the joint. `None` = there is none; `authored` and `layer` only of a USD file.

    `writes` is the column's value and `source` its provenance (authored, fallback, derived, or "given" for hand-populated rows); `unit` that of
    the column, `fields` the descriptor fields it decides with their values and `converted` their unit; `physx` the value that PhysX has, and where.
    """

    column: str
    unit: str
    authored: Any
    layer: str
    fallback: Any
    writes: Any
    source: str
    default: Any
    fields: dict[str, Any]
    converted: str
    physx: Any
    physx_field: str
    findings: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """A joint explained. `active` are ids of findings that make a difference here; `physx` is the joint's interchange document, {} without one."""

    path: str
    type_name: str
    file: str
    outcome: str
    lines: tuple[Line, ...]
    active: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    physx: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """JSON values; non-finite numbers are strings."""
        return {
            "file": self.file,
            "path": self.path,
            "type": self.type_name,
            "outcome": self.outcome,
            "columns": [_json(asdict(line)) for line in self.lines],
            "findings": {i: {"happens": findings.get(i).happens, "advice": findings.get(i).advice} for i in self.active},
            "diagnostics": [asdict(d) for d in self.diagnostics],
            "physx": self.physx,
        }

    def line(self, column: str) -> Line:
        """The line of a column; KeyError when the joint has none."""
        return next((x for x in self.lines if x.column == column), None) or _missing(column)


def explain(source: Source, path: str, *, custom_joints: Sequence[str] = ()) -> Explanation:
    """Explain one joint of a stage file, snapshot or table. PathError, with near joints, when there is none; else errors of `ovsim.open_stage`."""
    from ovsim.api import open_stage

    stage = open_stage(source, custom_joints=custom_joints)
    side = ColumnSide(stage, str(source) if not isinstance(source, Stage) else "stage", OBSERVED, custom_joints)
    archetype, row = _joint(stage, path, custom_joints)
    document = _physx(side, path)
    resolved = from_arrow(side.descriptors.to_arrow())
    authored: dict[str, Any] = {}
    active: tuple[str, ...] = ()
    if is_usd_file(source):
        authored, active = _usd(source, side, path, resolved, custom_joints)
    units = _units(stage)
    lines = []
    for name in _columns(archetype):
        lines.append(_line(name, archetype, row, resolved, path, document, authored, units))
    return Explanation(
        path, archetype.type_name, side.label, _outcome(side, path), tuple(lines), active, tuple(_told(side, archetype, path)), document
    )  # fmt: skip


def _missing(column: str) -> Line:
    raise KeyError(column)


def _json(row: dict[str, Any]) -> dict[str, Any]:
    return {k: {f: jsonable(x) for f, x in v.items()} if isinstance(v, dict) else jsonable(v) for k, v in row.items()}


def _joint(stage: Stage, path: str, custom: Sequence[str]) -> tuple[Archetype, int]:
    hit = stage.find(path) if path.startswith("/") else None
    if hit is not None and hit[0].type_name in (*JOINT_TYPES, *custom):
        return hit
    joints = [p for a in stage.archetypes if a.type_name in (*JOINT_TYPES, *custom) for p in stage.paths.path_strings(a.path_ids).to_pylist()]
    what = f"{path} is a {hit[0].type_name or 'typeless prim'}, no joint" if hit is not None else f"there is no joint {path}"
    raise PathError(f"{what}; {_near(path, joints)}")


def _near(path: str, joints: list[str]) -> str:
    if not joints:
        return "the stage has no joints"
    last = path.rpartition("/")[2]
    same_name = [j for j in joints if j.rpartition("/")[2] == last]
    below = [j for j in joints if j.startswith(path.rstrip("/") + "/")]
    near = [*same_name, *below, *difflib.get_close_matches(path, joints, 5, 0.5)]
    near += [j for n in difflib.get_close_matches(last, [j.rpartition("/")[2] for j in joints], 3, 0.5) for j in joints if j.endswith("/" + n)]
    return f"did you mean {' or '.join(dict.fromkeys(near[:5]))}?" if near else f"joints are, for example, {', '.join(joints[:3])}"


def _units(stage: Stage) -> Units:
    meters = stage.meters_per_unit
    return Units(1.0 if meters is None else meters)


def _columns(archetype: Archetype) -> list[str]:
    """Columns that the row has or that the parser would read of it, the type's own first, then by API."""
    data = contract.load()
    kind = archetype.type_name if archetype.type_name in data.components else "PhysicsJoint"
    names = [c.name for c in data.columns_of(kind)]
    for schema in archetype.schemas:
        api, _, instance = schema.partition(":")
        if api in data.components:
            names += [c.instance(instance) for c in data.component(api).columns]
    return list(dict.fromkeys([*names, *archetype.names]))


def _line(
    name: str, archetype: Archetype, row: int, resolved: Flat, path: str, joint: dict[str, Any], authored: dict[str, Any], units: Units
) -> Line:  # fmt: skip
    column = contract.load().on(archetype.type_name, name)
    value = cell(archetype, row, name)
    opinion = authored.get(name)
    decided = {f: resolved.get(path, f) for f in fields.fed(archetype.type_name).get(name, ()) if resolved.get(path, f) is not None}
    where, built = _built(name, decided, joint, resolved, path)
    unit, converted = _unit(archetype.type_name, name, column)
    codes = archetype.provenance.get(name)
    return Line(
        column=name,
        unit=unit,
        authored=opinion.value if opinion else None,
        layer=opinion.layer if opinion else "",
        fallback=column.raw_fallback if column else None,
        writes=None if value is ABSENT else tuple(value) if isinstance(value, list) else value,
        source="" if value is ABSENT else PROVENANCE[int(codes[row])] if codes is not None else "given",
        default=column.parser_default(units) if column and column.parser_default else None,
        fields=decided,
        converted=converted,
        physx=built,
        physx_field=where,
        findings=tuple(f.id for f in findings.touching(name) if _concerns(f, archetype)),
    )


def _concerns(finding: findings.Finding, archetype: Archetype) -> bool:
    """Whether a finding is about joints of this type, all joints or prims, or an API that the joint lists."""
    listed = {s.partition(":")[0] for s in archetype.schemas}
    return not {archetype.type_name, "PhysicsJoint", "prim", *listed}.isdisjoint(finding.components)


def _built(name: str, decided: dict[str, Any], joint: dict[str, Any], resolved: Flat, path: str) -> tuple[str, Any]:
    if not joint:
        return "", None
    for k in (0, 1):
        body = resolved.get(path, f"body{k}")
        if name == f"physics:body{k}":
            return look(joint, side_places(k, "", joint, body))
        if name in (f"physics:localPos{k}", f"physics:localRot{k}"):
            return look(joint, side_places(k, "p" if "Pos" in name else "q", joint, body))
    for f in decided:
        where, value = look(joint, places(f))
        if where:
            return where, value
    return "", None


def _unit(joint_type: str, name: str, column: Column | None) -> tuple[str, str]:
    """Unit of the column and of the descriptor field, "" when they have none; degrees become radians."""
    if column is None:
        return "", ""
    motion = fields.motion(joint_type, name)
    unit = column.unit.get("all") or column.unit.get(motion) or next((u for k, u in column.unit.items() if motion and motion in k), "")
    unit = "" if unit == "none" else unit
    if motion == "linear" or not column.conversion:
        return unit, unit
    return unit, unit.replace("deg", "rad")


def _physx(side: ColumnSide, path: str) -> dict[str, Any]:
    from consumer.physx import physx_document

    return physx_document(side.view, side.label)["joints"].get(path, {})


def _outcome(side: ColumnSide, path: str) -> str:
    from consumer.physx import codes

    view = side.view
    at = np.flatnonzero(view.graph.path == view.descriptors.paths.find(path))
    if not at.size:
        return ""
    outcome, reason = codes.OUTCOMES[int(view.outcome[at[0]])], codes.REASONS[int(view.reason[at[0]])]
    return f"{outcome} ({reason})" if reason else outcome


def _usd(source: Source, side: ColumnSide, path: str, resolved: Flat, custom: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Authored opinions of the joint, and the findings by which the USD backend sees it otherwise."""
    from consumer.usd import UsdSource
    from ovsim.diff import compare_sides
    from ovsim.explain.opinions import opinions

    assert not isinstance(source, Stage)
    usd = UsdSource.open(source, custom)
    joint = usd.joints.get(path)
    prim = joint.prim if joint else usd.stage.GetPrimAtPath(path)
    authored = opinions(prim) if prim else {}
    if len(resolved.paths) > MOST_JOINTS:
        return authored, ()
    found = compare_sides(UsdSide(usd, side.label, custom), side, levels=("columns", "descriptors", "physx"), related=True)
    return authored, tuple(dict.fromkeys(d.finding for d in found.differences if d.path == path and d.finding != UNEXPLAINED))


def _told(side: ColumnSide, archetype: Archetype, path: str) -> Iterable[Diagnostic]:
    """Diagnostics about the joint, those about its whole kind included."""
    from ovsim.check import check

    assert side.stage is not None
    for d in check(side.stage, custom_joints=side.custom_joints):
        if d.path == path:
            yield d
        elif d.path and d.path.startswith("/") and "rows of this kind" in d.message:
            hit = side.stage.find(d.path)
            if hit is not None and hit[0] is archetype:
                yield d
