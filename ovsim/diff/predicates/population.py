"""USD against columns: what population writes (population facts, rules 8, 9, 11, 13, 15)."""

from __future__ import annotations

import math

import numpy as np

from ovsim import contract
from ovsim.check.columns import expected_type, same_storage
from ovsim.contract import FLT_MAX
from ovsim.diff.case import Case
from ovsim.diff.predicates.registry import predicate
from ovsim.stage import columns as col


@predicate(("descriptors",), r".+")
def blocked_attribute(case: Case) -> bool:
    """A deciding attribute is blocked in USD and has no column."""
    prim = case.usd_prim
    if prim is None or not case.pair.backends:
        return False
    side = case.pair.columns[0]
    names = [n for n in _deciding(case) if prim.HasAttribute(n)]
    return any(prim.GetAttribute(n).GetResolveInfo().ValueIsBlocked() and not case.has(side, n) for n in names)


def _deciding(case: Case) -> tuple[str, ...]:
    if case.field == "validBodyTransformations":
        return ("physics:localPos0", "physics:localPos1", "physics:localRot0", "physics:localRot1", "physics:axis")
    return case.feeding


@predicate(("columns", "descriptors"), r".+")
def authored_type(case: Case) -> bool:
    """A deciding column is stored with another type than the contract's, as it was authored."""
    if not case.pair.backends:
        return False
    hit = case.row(case.pair.columns[0])
    if hit is None:
        return False
    data = contract.load()
    for name in _deciding(case):
        column = data.find(name)
        if column is not None and not column.array and name in hit[0]:
            stored = hit[0].field(name)
            wrong = not same_storage(stored.type, expected_type(column)) or (column.semantic == col.TOKEN_ID and not col.semantic(stored))
            if wrong or not _readable(case, name, column):
                return True
    return False


def _readable(case: Case, name: str, column: contract.Column) -> bool:
    """Whether USD's typed read finds the authored value; types that store alike, such as float4 and quatf, do not read alike."""
    from consumer.usd.values import readable

    attribute = case.usd_prim.GetAttribute(name) if case.usd_prim else None
    return not attribute or readable(attribute, column)


@predicate(("columns",), r"physxJoint:maxJointVelocity|physxJointAxis:.*:maxJointVelocity|physxDrivePerformanceEnvelope:.*:maxActuatorVelocity")
def velocity_sentinel(case: Case) -> bool:
    """FLT_MAX on one side, nothing or inf on the other."""
    values = {case.diff.left, case.diff.right}
    return np.float32(FLT_MAX) in {np.float32(v) for v in values if v is not None} and (None in values or math.inf in values)


@predicate(("columns",), r".+")
def derived_value(case: Case) -> bool:
    """A column that population computes where USD has no opinion."""
    column = contract.load().find(case.field)
    prim = case.usd_prim
    if column is None or column.producer.rule != "derived" or prim is None or not case.pair.backends:
        return False
    attribute = prim.GetAttribute(case.field)
    return not attribute or not attribute.HasAuthoredValue()


@predicate(("columns",), r"usd-schemas")
def unlisted_schema(case: Case) -> bool:
    """Everything that only USD lists is unknown to it as a schema."""
    prim, usd = case.usd_prim, case.pair.usd
    if prim is None or usd is None or not case.pair.backends:
        return False
    here, there = set(case.of(usd) or ()), set(case.of(case.other(usd)) or ())
    known = set(map(str, prim.GetAppliedSchemas()))
    return there <= here and bool(here - there) and not (here - there) & known
