"""One line a column: what is authored, written, assumed, resolved and built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ovsim import contract
from ovsim.contract import Column, Units, fields, findings
from ovsim.contract.joints import JOINT_TYPES
from ovsim.diff.case import ABSENT, cell
from ovsim.diff.flat import Flat
from ovsim.explain.physx_fields import look, places, side_places
from ovsim.stage import PROVENANCE, Archetype


@dataclass(frozen=True)
class Line:
    """One column of the prim. `None` = there is none; `authored` and `layer` only of a USD file.

    `writes` is the column's value and `source` its provenance (authored, fallback, derived, or "given" for hand-populated rows); `unit` that of
    the column, `fields` the descriptor fields it decides with their values and `converted` their unit; `physx` the value that PhysX has, and where.
    The last four are empty on a prim that is no joint.
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
class Subject:
    """The row that is explained: its archetype and row, its joint's resolved fields and PhysX document ({} for none), its authored opinions."""

    archetype: Archetype
    row: int
    path: str
    resolved: Flat
    joint: dict[str, Any]
    authored: dict[str, Any]
    units: Units


def lines(subject: Subject) -> tuple[Line, ...]:
    """A line for each column that the row has, or that its type and APIs declare: the type's own first, then by API."""
    return tuple(_line(subject, name) for name in _columns(subject.archetype))


def _columns(archetype: Archetype) -> list[str]:
    data = contract.load()
    kind = archetype.type_name
    names = [c.name for c in data.columns_of(kind)] if kind in data.components else []
    for schema in archetype.schemas:
        api, _, instance = schema.partition(":")
        if api in data.components:
            names += [c.instance(instance) for c in data.component(api).columns]
    return list(dict.fromkeys([*names, *archetype.names]))


def _line(s: Subject, name: str) -> Line:
    column = contract.load().on(s.archetype.type_name, name)
    value = cell(s.archetype, s.row, name)
    opinion = s.authored.get(name)
    decided = {f: v for f in fields.fed(s.archetype.type_name).get(name, ()) if (v := s.resolved.get(s.path, f)) is not None}
    where, built = _built(name, decided, s)
    unit, converted = _unit(s.archetype.type_name, name, column)
    codes = s.archetype.provenance.get(name)
    return Line(
        column=name,
        unit=unit,
        authored=opinion.value if opinion else None,
        layer=opinion.layer if opinion else "",
        fallback=column.raw_fallback if column else None,
        writes=_plain(value, column),
        source="" if value is ABSENT else PROVENANCE[int(codes[s.row])] if codes is not None else "given",
        default=column.parser_default(s.units) if column and column.parser_default else None,
        fields=decided,
        converted=converted,
        physx=built,
        physx_field=where,
        findings=tuple(f.id for f in findings.touching(name) if _concerns(f, s.archetype)),
    )


def _plain(value: Any, column: Column | None) -> Any:
    """A cell for people: bool8 is true or false, lists are tuples, an absent column is None."""
    if value is ABSENT:
        return None
    if column is not None and column.dtype == "bool8" and value in (0, 1):
        return bool(value)
    return tuple(value) if isinstance(value, list) else value


def _concerns(finding: findings.Finding, archetype: Archetype) -> bool:
    """Whether a finding is about prims of this type, all joints or prims, or an API that the prim lists."""
    listed = {s.partition(":")[0] for s in archetype.schemas}
    joint = {"PhysicsJoint"} if archetype.type_name in JOINT_TYPES else set()
    return not {archetype.type_name, "prim", *joint, *listed}.isdisjoint(finding.components)


def _built(name: str, decided: dict[str, Any], s: Subject) -> tuple[str, Any]:
    if not s.joint:
        return "", None
    for k in (0, 1):
        body = s.resolved.get(s.path, f"body{k}")
        if name == f"physics:body{k}":
            return look(s.joint, side_places(k, "", s.joint, body))
        if name in (f"physics:localPos{k}", f"physics:localRot{k}"):
            return look(s.joint, side_places(k, "p" if "Pos" in name else "q", s.joint, body))
    for f in decided:
        where, value = look(s.joint, places(f))
        if where:
            return where, value
    return "", None


def _unit(prim_type: str, name: str, column: Column | None) -> tuple[str, str]:
    """Unit of the column and of the descriptor field, "" when they have none; degrees become radians."""
    if column is None:
        return "", ""
    motion = fields.motion(prim_type, name)
    unit = column.unit.get("all") or column.unit.get(motion) or next((u for k, u in column.unit.items() if motion and motion in k), "")
    unit = "" if unit == "none" else unit
    if motion == "linear" or not column.conversion:
        return unit, unit
    return unit, unit.replace("deg", "rad")
