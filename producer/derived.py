"""Values that population derives when an attribute is unauthored (producer facts, rules 11 and 15; contract pages of each component).

Which columns, on which rows and by which formula is contract data (`producer.rule == "derived"`). Population computes in float32: one division
`numerator / metersPerUnit`; a square multiplies the factor twice; the scene's friction lengths multiply by a rounded `1 / metersPerUnit`.
A metersPerUnit of zero or less counts as 1 (observed on ovstage 0.2; the pages say nothing).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ovsim import contract
from ovsim.contract import Column, Formula, Units
from ovsim.contract.joints import JOINT_TYPES

_F = np.float32
_GATES = {"PhysxRigidBodyAPI": "PhysicsRigidBodyAPI", "PhysxCollisionAPI": "PhysicsCollisionAPI"}
_SCENE = "PhysicsScene"
_RECIPROCAL = frozenset({"physxScene:frictionOffsetThreshold", "physxScene:frictionCorrelationDistance"})


def evaluate(column: Column, units: Units) -> Any:
    """The derived value of a column on a stage with these units, a float (already a float32) or a tuple."""
    formula = column.producer.value
    if formula is None:
        return None
    if formula.form not in ("ratio", "square"):
        return formula(units)
    with np.errstate(all="ignore"):
        return float(_scaled(formula, units, column.name in _RECIPROCAL))


def _scaled(formula: Formula, units: Units, reciprocal: bool) -> np.float32:
    meters = _F(1.0 if units.meters_per_unit <= 0 else units.meters_per_unit)
    if formula.form == "square":
        ratio = _F(_F(formula.numerator) / meters)
        return _F(_F(_F(formula.factor) * ratio) * ratio)
    if reciprocal:
        return _F(_F(formula.numerator) * _F(_F(1) / meters))
    return _F(_F(formula.numerator) / meters)


@lru_cache(maxsize=4096)
def columns(type_name: str, schemas: tuple[str, ...], joints: frozenset[str] = frozenset(JOINT_TYPES)) -> dict[str, Column]:
    """Derived columns of a row by concrete name: of its type, of each applied API or instance, and those written without their API."""
    out: dict[str, Column] = {}
    for component in contract.load().components.values():
        for column in component.columns:
            rule = column.producer
            if rule.rule != "derived" or (rule.only_types and type_name not in rule.only_types):
                continue
            for instance in _instances(component.name, component.kind, rule.without_api, type_name, schemas, joints):
                out[column.instance(instance)] = column
    return out


def _instances(name: str, kind: str, without_api: bool, type_name: str, schemas: tuple[str, ...], joints: frozenset[str]) -> list[str]:
    if kind == "multi_api":
        return [i for api, _, i in (s.partition(":") for s in schemas) if api == name and i]
    if kind == "type":
        colliding = not without_api or "PhysicsCollisionAPI" in schemas
        return [""] if type_name == name and colliding else []
    if name == "PhysxJointAPI":
        applies = type_name in joints
    elif name == "PhysxSceneAPI":
        applies = type_name == _SCENE
    else:
        applies = _GATES.get(name, name) in schemas
    return [""] if applies else []
