"""PhysX level: what the runtime refuses, drops or defaults, and articulation settings (spec 5.3, 7.6, 8.3, 11)."""

from __future__ import annotations

import math
from typing import Any

from ovsim.contract.joints import D6, PRISMATIC, REVOLUTE, SPHERICAL
from ovsim.diff.case import Case
from ovsim.diff.predicates.registry import FRAME, predicate, targets
from ovsim.diff.sides import COLUMNAR, Side

_LIMIT_FIELDS = r"type|motion\..*|limits\..*|axes\.[^.]*\.(motion|limit)"
_DROPPED = 3  # consumer.physx.codes.DROPPED


def _view(side: Side) -> Any:
    return getattr(side, "view", None)


def _bounds(case: Case) -> list[tuple[float, float]]:
    """Enabled limits of the joint, as (lower, upper) of every record on either side."""
    out = []
    for side in (case.pair.left, case.pair.right):
        if "descriptors" not in side.levels:
            continue
        flat = side.flat("descriptors")
        for name in flat.columns:
            if name.endswith(".lower") and name.startswith("limit"):
                low, high = flat.get(case.path, name), flat.get(case.path, name[:-5] + "upper")
                if isinstance(low, float) and isinstance(high, float):
                    out.append((low, high))
    return out


@predicate(("physx",), _LIMIT_FIELDS)
def limit_reversed(case: Case) -> bool:
    """A typed joint's lower bound is above its upper one on a side."""
    return not case.pair.backends and case.type_name in (REVOLUTE, PRISMATIC) and any(low > high for low, high in _bounds(case))


@predicate(("physx",), _LIMIT_FIELDS)
def limit_one_sided(case: Case) -> bool:
    """One bound is infinite and the other is not, on a side."""
    wanted = case.type_name in (REVOLUTE, PRISMATIC, D6) and not case.pair.backends
    return wanted and any(math.isfinite(low) != math.isfinite(high) for low, high in _bounds(case))


@predicate(("physx",), _LIMIT_FIELDS)
def cone_out_of_range(case: Case) -> bool:
    """A half-angle that PhysX does not take, on a side that enables its cone."""
    if case.type_name != SPHERICAL or case.pair.backends:
        return False
    return any(a >= 0 and b >= 0 and (a in (0, math.inf) or b in (0, math.inf) or max(a, b) >= math.pi) for a, b in _bounds(case))


@predicate(("physx",), r"axes\.[^.]*\.(static|dynamic)FrictionEffort")
def friction_order(case: Case) -> bool:
    """The dynamic effort is above the static one on a side."""
    for side in case.pair.columns:
        hit = case.row(side)
        for schema in hit[0].schemas if hit else ():
            api, _, instance = schema.partition(":")
            if api == "PhysxJointAxisAPI":
                static, dynamic = (case.cell(side, f"physxJointAxis:{instance}:{n}FrictionEffort") for n in ("static", "dynamic"))
                if isinstance(dynamic, float) and dynamic > (static if isinstance(static, float) else 0.0):
                    return True
    return False


@predicate(("physx",), r"")
def loop_joint(case: Case) -> bool:
    """The joint closes a loop on the side that lacks it."""
    for side in (case.pair.left, case.pair.right):
        view = _view(side)
        if view is not None and case.of(side) is None and case.path.startswith("/"):
            at = view.graph.path == view.descriptors.paths.find(case.path)
            if at.any() and view.outcome[at][0] == _DROPPED:
                return True
    return False


@predicate(("physx",), r"")
def nested_roots(case: Case) -> bool:
    """An articulation that one side lacks because its root stands below another root there."""
    return _refused(case, ("nested-root",))


@predicate(("physx",), r"")
def empty_root(case: Case) -> bool:
    """An articulation that one side lacks because nothing hangs below its root there."""
    return _refused(case, ("",))


def _refused(case: Case, reasons: tuple[str, ...]) -> bool:
    from consumer.physx.stage_graph import REFUSALS

    root = _root(case)
    for side in (case.pair.left, case.pair.right):
        view = _view(side)
        if not root or view is None or case.of(side) is not None:
            continue
        at = view.graph.candidates == view.descriptors.paths.find(root)
        if at.any() and REFUSALS[int(view.graph.refusal[at][0])] in reasons:
            return True
    return False


@predicate(("descriptors",), FRAME)
def zero_matrix(case: Case) -> bool:
    """A target's matrix is all zeros on a side."""
    for side in case.pair.columns:
        for target in targets(case):
            got = case.cell(side, "omni:xform", target)
            if isinstance(got, list) and not any(got):
                return True
    return False


def _root(case: Case) -> str:
    return case.path.partition(" ")[2]


@predicate(("physx",), r"stabilizationThreshold")
def stabilization_default(case: Case) -> bool:
    """One side of two column stages lacks the column, so the parser's own coefficient holds there."""
    sides = case.pair.columns
    return len(sides) == 2 and len({case.has(s, "physxArticulation:stabilizationThreshold", _root(case)) for s in sides}) == 2


@predicate(("physx",), r"(sleep|stabilization)Threshold")
def thresholds_raw(case: Case) -> bool:
    """Columns hold the schema's unscaled value where USD has no opinion, or only one of two column stages has the column."""
    name = f"physxArticulation:{case.field}"
    root = _root(case)
    if not case.pair.backends:
        sides = case.pair.columns
        return len(sides) == 2 and len({case.has(s, name, root) for s in sides}) == 2
    from consumer.usd.values import has_opinion

    usd = case.pair.usd
    side = next(s for s in case.pair.columns if s.backend == COLUMNAR)
    prim = usd.usd.stage.GetPrimAtPath(root) if usd is not None and usd.usd is not None else None
    return bool(prim) and case.has(side, name, root) and not has_opinion(prim, name)
