"""Differences between two rule sets over the same columns: each switch is turned alone, and what then changes is its doing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ovsim.diff.case import Pair
from ovsim.diff.comparator import EXACT, UNEXPLAINED, Difference, compare
from ovsim.diff.sides import ColumnSide

# predicates that stand for a switch of the rule sets, or for a rule of the runtime that the pages tell otherwise
HANDLED = frozenset(
    {
        "disjoint_frames",
        "d6_in_articulation",
        "coupling_missing",
        "bound_beyond_half_turn",
        "kinematic_side",
    }
)


def apply(pair: Pair) -> bool:
    """Whether the sides are one and the same stage under two rule sets."""
    a, b = pair.left, pair.right
    return isinstance(a, ColumnSide) and isinstance(b, ColumnSide) and a.stage is b.stage and a.rules != b.rules


def explain(pair: Pair, differences: Sequence[Difference]) -> list[Difference]:
    """Each difference with the finding of the switch that makes it."""
    from consumer import rulesets as rs

    a, b = pair.left, pair.right
    assert isinstance(a, ColumnSide)
    assert isinstance(b, ColumnSide)
    assert a.stage is not None
    left, right = rs.get(a.rules), rs.get(b.rules)
    found: dict[tuple[str, str, str], str] = {}
    for switch in rs.differences(left, right):
        turned = ColumnSide(a.stage, a.label, replace(left, name=f"{left.name}+{switch}", **{switch: getattr(right, switch)}), a.custom_joints)
        for level in sorted({d.level for d in differences}):
            for d in compare(level, a.flat(level), turned.flat(level), EXACT):
                found.setdefault((level, d.path, d.field), rs.SWITCHES[switch].finding)
    return [d.explained(found.get((d.level, d.path, d.field), UNEXPLAINED)) for d in differences]
