"""Absent columns: what the parser then assumes is not what population writes (contract: "diverges"; findings about absent columns)."""

from __future__ import annotations

import math
import re
from typing import Any

from ovsim.check.context import Context
from ovsim.contract import findings

_HARMLESS = re.compile(r"physics:break(Force|Torque)|drive:\w+:physics:maxForce")  # inf and FLT_MAX reach PhysX as the same number
_SEVERITY = {"defect": "error", "fragile": "warning", "note": "info"}


def check(context: Context) -> None:
    """`absent-column`: names the value to write. An error where the absence is a recorded defect."""
    for archetype in context.stage.archetypes:
        if archetype.type_name in ("",) and not archetype.schemas:
            _units(context, archetype)
            continue
        for name, constant in context.expected(archetype).items():
            column = context.contract.on(archetype.type_name, name)
            if name in archetype or column is None or column.parser_default is None or _HARMLESS.fullmatch(name):
                continue
            default = column.parser_default(context.units)
            if default is None or same(default, constant.value):
                continue
            recorded = [f for f in findings.touching(name) if "absent" in f.id or f.id.startswith("articulation-")]
            severity = _SEVERITY[recorded[0].severity] if recorded else "warning"
            told = f" [{recorded[0].id}]" if recorded else ""
            message = f"absent, so the parser takes {default}; population writes {constant.value}: write that, or a value of your own{told}"
            context.tell("absent-column", severity, archetype, name, message)
    if context.stage.find("/") is None:
        message = "no row for / with the stage metadata: the parser assumes metres and Z up; add usd-metadata:metersPerUnit and :upAxis"
        context.out.add("missing-units", "warning", message, "/", "usd-metadata:metersPerUnit")


def _units(context: Context, archetype: Any) -> None:
    root = context.stage.find("/")
    if root is None or root[0] is not archetype:
        return
    for name, value in UNITS.items():
        if name not in archetype:
            message = f"absent, so the parser assumes metres, kilograms, Z; population writes {value}: write that, or the units of your values"
            context.tell("absent-column", "warning", archetype, name, message)


UNITS: dict[str, Any] = {"usd-metadata:metersPerUnit": 0.01, "usd-metadata:kilogramsPerUnit": 1.0, "usd-metadata:upAxis": "Y"}


def same(a: Any, b: Any) -> bool:
    """Whether two plain values mean the same; float32 rounding is forgiven."""
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b or math.isclose(a, b, rel_tol=1e-6) or (math.isnan(a) and math.isnan(b))
    return bool(a == b)
