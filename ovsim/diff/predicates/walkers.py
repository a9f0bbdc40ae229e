"""USD against columns: how the two walkers differ (spec section 9)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ovsim.contract import FLT_MAX
from ovsim.contract.joints import JOINT_TYPES, REVOLUTE
from ovsim.diff.case import Case
from ovsim.diff.comparator import ORDER
from ovsim.diff.predicates.registry import ALL, FRAME, SIDE, all_targets, nearest_body, predicate, targets

if TYPE_CHECKING:
    from pxr import Usd

_SENTINEL = 0.5e38


@predicate(("descriptors",), r"limit\.enabled")
def revolute_one_sided(case: Case) -> bool:
    """Columns limit on one usable bound, USD wants both."""
    if not case.pair.backends or case.type_name != REVOLUTE:
        return False
    side = case.pair.columns[0]
    low, high = case.cell(side, "physics:lowerLimit"), case.cell(side, "physics:upperLimit")
    if not isinstance(low, float) or not isinstance(high, float):
        return False
    usable = (math.isfinite(low) and low > -_SENTINEL, math.isfinite(high) and high < _SENTINEL)
    return usable[0] != usable[1] and case.of(side) is True


@predicate(ALL, r"")
def type_derived(case: Case) -> bool:
    """Only USD has the joint, and its schema type is none of the known tokens."""
    prim = case.usd_prim
    if prim is None or not case.pair.backends or case.pair.usd is None:
        return False
    known = (*JOINT_TYPES, *getattr(case.pair.usd, "custom_joints", ()))
    return case.of(case.pair.usd) is not None and str(prim.GetTypeName()) not in known


@predicate(ALL, r"")
def unparsed_joint(case: Case) -> bool:
    """Only columns have the joint: OpenUSD's parser failed on its prim, or on one above it."""
    usd = case.pair.usd
    if not case.pair.backends or usd is None or usd.usd is None or case.usd_prim is not None:
        return False
    return any(case.path == p or case.path.startswith(p + "/") for p in usd.usd.unparsed)


@predicate(ALL, r"")
def joint_with_material(case: Case) -> bool:
    """Only columns have the joint, and its prim lists a physics material."""
    usd = case.pair.usd
    if not case.pair.backends or usd is None or usd.usd is None or case.usd_prim is not None:
        return False
    prim = usd.usd.stage.GetPrimAtPath(case.path)
    return bool(prim) and "PhysicsMaterialAPI" in prim.GetAppliedSchemas()


@predicate(ALL, rf"|{SIDE}|rel[01]|_protoPath")
def instance_proxy(case: Case) -> bool:
    """The joint, or the prim it targets, is inside a native instance (USD) or below a prototype (columns)."""
    usd = case.pair.usd
    if not case.pair.backends or usd is None or usd.usd is None:
        return False
    if case.field == "_protoPath":
        return case.usd_prim is not None and bool(case.usd_prim.IsInstance())
    if case.field == "":
        prim = case.usd_prim
        return case.path.startswith("/__Prototype_") if prim is None else bool(prim.IsInstanceProxy())
    return any(p and p.IsInstanceProxy() for p in (usd.usd.stage.GetPrimAtPath(t) for t in targets(case)))


@predicate(ALL, r"")
def point_instancer(case: Case) -> bool:
    """Only columns have the joint: it stands below a point instancer, into which USD does not descend."""
    usd = case.pair.usd
    if not case.pair.backends or usd is None or usd.usd is None or case.usd_prim is not None:
        return False
    here = usd.usd.stage.GetPrimAtPath(case.path)
    while here and not here.IsPseudoRoot():
        if str(here.GetTypeName()) == "PointInstancer":
            return True
        here = here.GetParent()
    return False


@predicate(("descriptors",), r"(limits|drives)\.order")
def d6_list_order(case: Case) -> bool:
    """The same records with distance at the other end."""
    if not case.pair.backends or case.diff.kind != ORDER or case.pair.usd is None:
        return False
    usd, columns = case.of(case.pair.usd), case.of(case.other(case.pair.usd))
    return usd[0] == "distance" and (*usd[1:], "distance") == columns


@predicate(("descriptors",), SIDE)
def property_target(case: Case) -> bool:
    """The target is a property, not a prim."""
    return case.pair.backends and any("." in t for t in all_targets(case))


@predicate(("descriptors",), SIDE)
def missing_target(case: Case) -> bool:
    """The target prim does not exist."""
    usd = case.pair.usd
    if not case.pair.backends or usd is None or usd.usd is None:
        return False
    return any(not usd.usd.stage.GetPrimAtPath(t) for t in targets(case))


@predicate(("descriptors",), SIDE)
def unpopulated_target(case: Case) -> bool:
    """The target prim exists and has no row."""
    usd = case.pair.usd
    if not case.pair.backends or usd is None or usd.usd is None:
        return False
    side, stage = case.pair.columns[0], usd.usd.stage
    return any(case.row(side, t) is None and stage.GetPrimAtPath(t) and not stage.GetPrimAtPath(t).IsInstanceProxy() for t in targets(case))


@predicate(("descriptors",), rf"{FRAME}|validBodyTransformations")
def transform_gap(case: Case) -> bool:
    """A prim above the target has no transform and stands below one that has."""
    usd = case.pair.usd
    if not case.pair.backends or usd is None or usd.usd is None:
        return False
    return any(_gap(usd.usd.stage.GetPrimAtPath(t.partition(".")[0])) for t in all_targets(case))


def _gap(prim: Usd.Prim) -> bool:
    from pxr import UsdGeom

    bare = False
    here = prim.GetParent() if prim else None
    while here and not here.IsPseudoRoot():
        if not UsdGeom.Xformable(here):
            bare = True
        elif bare:
            return True
        here = here.GetParent()
    return False


@predicate(("descriptors",), SIDE)
def disabled_body(case: Case) -> bool:
    """The nearest body at or above the target is disabled."""
    if not case.pair.backends:
        return False
    side = case.pair.columns[0]
    found = [nearest_body(case, side, t) for t in targets(case)]
    return any(b and case.cell(side, "physics:rigidBodyEnabled", b) in (0, False) for b in found)


@predicate(("descriptors",), FRAME)
def target_without_body(case: Case) -> bool:
    """The target resolves to no body and the rules keep the authored frame."""
    if not case.pair.backends:
        return False
    side = case.pair.columns[0]
    return side.rules == "contract-0.6" and any(not nearest_body(case, side, t) for t in targets(case))


@predicate(("descriptors",), r"localPose[01]Orientation|validBodyTransformations")
def tiny_quaternion(case: Case) -> bool:
    """The authored rotation has a length below 1e-10: identity on the USD side, something else on the other."""
    if not case.pair.backends:
        return False
    for name in ("physics:localRot0", "physics:localRot1"):
        q = case.cell(case.pair.columns[0], name)
        related = case.field == "validBodyTransformations" or name[-1] in case.field
        if related and isinstance(q, list) and float(np.linalg.norm(np.array(q, np.float64))) < 1e-10:
            return True
    return False


@predicate(("descriptors",), r"validBodyTransformations")
def nested_body(case: Case) -> bool:
    """A side's body is one that USD refuses because another body encloses it."""
    usd = case.pair.usd
    if not case.pair.backends or usd is None or usd.usd is None:
        return False
    return any(usd.usd.refused.get(nearest_body(case, case.pair.columns[0], t)) == "nested-body" for t in targets(case))


@predicate(("descriptors",), r"(properties|jointProperties\.rot[XYZ])\.armature")
def axis_armature_zero(case: Case) -> bool:
    """USD has an authored axis armature that is not positive, over a joint-level one."""
    return case.pair.backends and _usd_opinion(case, r"physxJointAxis:.*:armature", lambda v: not v > 0)


@predicate(("descriptors",), r"(properties|jointProperties\.rot[XYZ])\.maxJointVelocity")
def joint_velocity_inf(case: Case) -> bool:
    """USD has an authored infinite axis velocity, over another opinion."""
    return case.pair.backends and _usd_opinion(case, r"physxJointAxis:.*:maxJointVelocity", lambda v: not v < FLT_MAX)


def _usd_opinion(case: Case, pattern: str, test: Callable[[float], bool]) -> bool:
    from consumer.usd.values import has_opinion

    prim = case.usd_prim
    names = [c for c in case.feeding if re.fullmatch(pattern, c)]
    return prim is not None and any(has_opinion(prim, n) and test(prim.GetAttribute(n).Get()) for n in names)
