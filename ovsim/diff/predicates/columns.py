"""Columns against columns: what is absent on one side, and what does not matter (contract pages)."""

from __future__ import annotations

import math

import numpy as np

from ovsim import contract
from ovsim.check.absent import same
from ovsim.contract import FLT_MAX, Units, findings
from ovsim.contract.joints import D6, GEAR, PRISMATIC, RACK, REVOLUTE, SPHERICAL
from ovsim.diff.case import Case
from ovsim.diff.comparator import LEFT_ONLY, RIGHT_ONLY
from ovsim.diff.predicates.registry import FRAME, predicate

_D2R = math.pi / 180


def _lacking(case: Case, columns: tuple[str, ...]) -> bool:
    """Whether a column among those that feed the field is absent on one side and not on the other (a USD side always has a value)."""
    feeding = [c for c in case.feeding if c in columns]
    with_rows = [s for s in case.pair.columns if case.row(s) is not None]
    if case.pair.backends:
        return any(not case.has(s, c) for s in with_rows for c in feeding)
    return len(with_rows) == 2 and any(case.has(with_rows[0], c) != case.has(with_rows[1], c) for c in feeding)


def _columns_of(finding: str, case: Case) -> tuple[str, ...]:
    return tuple(c for c in case.feeding if findings.get(finding).touches(c))


@predicate(("columns",), r".+")
def absent_equals_default(case: Case) -> bool:
    """A column stands on one side only, and holds just what the parser assumes without it."""
    if case.diff.kind not in (LEFT_ONLY, RIGHT_ONLY):
        return False
    column = contract.load().on(case.type_name, case.field)
    value = case.diff.left if case.diff.right is None else case.diff.right
    return column is not None and column.parser_default is not None and same(column.parser_default(Units()), value)


@predicate(("columns", "descriptors"), r"limit\..*|physics:(lower|upper)Limit")
def revolute_bound_absent(case: Case) -> bool:
    """A hinge bound has no column on one side."""
    return case.type_name == REVOLUTE and _lacking(case, ("physics:lowerLimit", "physics:upperLimit"))


@predicate(("columns", "descriptors"), r"limit\..*|physics:(lower|upper)Limit")
def prismatic_bound_absent(case: Case) -> bool:
    """A slider bound has no column on one side."""
    return case.type_name == PRISMATIC and _lacking(case, ("physics:lowerLimit", "physics:upperLimit"))


@predicate(("columns", "descriptors"), r"limits\..*|limit:.*:physics:(low|high)")
def d6_bound_absent(case: Case) -> bool:
    """A bound of a D6 instance has no column on one side."""
    return case.type_name == D6 and _lacking(case, _columns_of("d6-limit-absent", case))


@predicate(("columns", "descriptors"), r"limit\..*|physics:coneAngle[01]Limit")
def cone_absent(case: Case) -> bool:
    """A half-angle has no column on one side."""
    return case.type_name == SPHERICAL and _lacking(case, ("physics:coneAngle0Limit", "physics:coneAngle1Limit"))


@predicate(("columns", "descriptors"), r"gearRatio|physics:gearRatio")
def gear_ratio_absent(case: Case) -> bool:
    """The ratio has no column on one side."""
    return case.type_name == GEAR and _lacking(case, ("physics:gearRatio",))


@predicate(("columns", "descriptors"), r"ratio|physics:ratio")
def rack_ratio_absent(case: Case) -> bool:
    """The ratio has no column on one side."""
    return case.type_name == RACK and _lacking(case, ("physics:ratio",))


@predicate(("columns", "descriptors"), r"break(Force|Torque)|physics:break(Force|Torque)")
def break_force_seed(case: Case) -> bool:
    """FLT_MAX where no column stands, inf on the other side."""
    values = {case.diff.left, case.diff.right}
    if case.diff.level == "columns":
        return values == {None, math.inf}
    return math.inf in values and any(v is not None and np.float32(v) == np.float32(FLT_MAX) for v in values) and _lacking(case, case.feeding)


@predicate(("columns", "descriptors"), r"localPose[01]Orientation|physics:localRot[01]")
def lanes_w_first(case: Case) -> bool:
    """The same four lanes, w first on one side."""
    left, right = case.diff.left, case.diff.right
    if case.pair.backends or not isinstance(left, tuple) or not isinstance(right, tuple) or len(left) != 4 or len(right) != 4:
        return False
    a, b = np.array(left), np.array(right)
    return bool(np.allclose(np.roll(a, 1), b, atol=1e-6) or np.allclose(np.roll(b, 1), a, atol=1e-6))


@predicate(("descriptors",), r"localPose[01]Orientation")
def orientation_seed(case: Case) -> bool:
    """A half turn about X on a side that has no rotation column, identity on the other."""
    if case.pair.backends:
        return False
    k = case.field[len("localPose")]
    for side in (case.pair.left, case.pair.right):
        bare = side.stage is None or not case.has(side, f"physics:localRot{k}")
        if bare and case.of(side) == (1.0, 0.0, 0.0, 0.0) and case.of(case.other(side)) == (0.0, 0.0, 0.0, 1.0):
            return True
    return False


@predicate(("columns", "descriptors"), rf"{FRAME}|physics:local(Pos|Rot)[01]")
def gear_frames(case: Case) -> bool:
    """Frames of a gear never reach PhysX."""
    return case.type_name == GEAR and not case.pair.backends


@predicate(("columns", "descriptors"), rf"{FRAME}|physics:local(Pos|Rot)[01]")
def rack_frames(case: Case) -> bool:
    """Frames of a rack never reach PhysX."""
    return case.type_name == RACK and not case.pair.backends


@predicate(("descriptors",), r".*\.restitution")
def restitution_above_one(case: Case) -> bool:
    """One side clamps restitution to 1, the other passes it on."""
    low, high = sorted(v if isinstance(v, float) else math.nan for v in (case.diff.left, case.diff.right))
    return low == 1.0 and high > 1.0


@predicate(("descriptors",), r"(limit|limits\.rot[XYZ])\.bounceThreshold")
def bounce_unit(case: Case) -> bool:
    """One side converts an angular bounce threshold to radians."""
    left, right = case.diff.left, case.diff.right
    if not isinstance(left, float) or not isinstance(right, float) or case.type_name not in (REVOLUTE, SPHERICAL, D6) or 0 in (left, right):
        return False
    return math.isclose(left * _D2R, right, rel_tol=1e-5) or math.isclose(right * _D2R, left, rel_tol=1e-5)


@predicate(("columns",), r"physxLimit:.*:contactDistance")
def contact_distance_column(case: Case) -> bool:
    """A column that nobody reads."""
    return True


@predicate(("columns",), r"physxDrivePerformanceEnvelope:.*")
def unread_instance_column(case: Case) -> bool:
    """An envelope instance that no joint type reads."""
    known = contract.load().component("PhysxDrivePerformanceEnvelopeAPI").instances
    return case.field.split(":")[1] not in {i for names in known.values() for i in names}
