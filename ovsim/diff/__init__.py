"""Comparison of any two of: a USD stage through its own backend, columns under a rule set, another stage, a snapshot, a table."""

from __future__ import annotations

from collections.abc import Sequence

from ovsim.diff.case import Pair
from ovsim.diff.classify import classify as explain_all
from ovsim.diff.columns import unpublished
from ovsim.diff.comparator import DEFAULT, EXACT, LEFT_ONLY, LEVELS, RIGHT_ONLY, Difference, Tolerance
from ovsim.diff.comparator import compare as compare_flat
from ovsim.diff.result import Comparison
from ovsim.diff.sides import COLUMNAR, USD, Side, Source, is_usd_file, make
from ovsim.errors import DiffError

__all__ = ["DEFAULT", "EXACT", "LEVELS", "Comparison", "Difference", "Tolerance", "compare", "compare_sides"]


def compare(
    left: Source,
    right: Source | None = None,
    *,
    between: tuple[str, str] | None = None,
    levels: Sequence[str] | None = None,
    tolerance: Tolerance = DEFAULT,
    custom_joints: Sequence[str] = (),
) -> Comparison:
    """Compare two sources, or one source with itself seen in two ways.

    `between`: how each side is seen, `usd`, `columnar` or a rule set's name. One USD file alone: ("usd", "columnar"); one snapshot or table alone:
    ("contract-0.6", "observed-0.6.3"); two sources: columnar both. `levels`: of `LEVELS`; descriptors and physx by default, as far as both sides have
    them. DiffError when the sides do not fit, have no level or no joint in common; opening errors as `ovsim.open_stage`.
    """
    alone = right is None or right is left
    if between is None:
        between = (COLUMNAR, COLUMNAR) if not alone else (USD, COLUMNAR) if is_usd_file(left) else ("contract-0.6", "observed-0.6.3")
    a = make(left, between[0], custom_joints)
    b = make(left if right is None else right, between[1], custom_joints, shared=a.stage if alone else None)
    return compare_sides(a, b, levels=levels, tolerance=tolerance, related=alone)


def compare_sides(
    left: Side, right: Side, *, levels: Sequence[str] | None = None, tolerance: Tolerance = DEFAULT, related: bool = False
) -> Comparison:  # fmt: skip
    """Compare two sides; `related` tells that they come from one source, where joints may well share no path."""
    chosen = _levels(left, right, levels)
    joints: dict[str, tuple[int, int]] = {}
    found: list[Difference] = []
    for level in chosen:
        a, b = left.flat(level), right.flat(level)
        joints[level] = (len(a.paths), len(b.paths))
        if level != "physx" and not related and a.paths and b.paths and not any(p in b.row for p in a.paths):
            raise DiffError(
                f"no joint in common: {left.label} has {len(a.paths)} such as {a.paths[0]}, {right.label} has {len(b.paths)} such as {b.paths[0]};"
                " joints are matched by their paths"
            )
        here = compare_flat(level, a, b, tolerance)
        if level == "columns" and USD in (left.backend, right.backend):
            only_usd = LEFT_ONLY if left.backend == USD else RIGHT_ONLY
            here = [d for d in here if d.kind != only_usd or not unpublished(d)]
        found += here
    order = {level: i for i, level in enumerate(LEVELS)}
    done = sorted(explain_all(Pair(left, right), found), key=lambda d: (order[d.level], d.path, d.field))
    return Comparison(left, right, chosen, tolerance, joints, done)


def _levels(left: Side, right: Side, wanted: Sequence[str] | None) -> tuple[str, ...]:
    both = [level for level in LEVELS if level in left.levels and level in right.levels]
    if not both:
        raise DiffError(f"{left.label} has {', '.join(left.levels)}, {right.label} has {', '.join(right.levels)}: no level in common")
    if wanted is None:
        return tuple(level for level in both if level != "columns") or tuple(both)
    unknown = [level for level in wanted if level not in LEVELS]
    if unknown:
        raise DiffError(f"no level is called {unknown[0]!r}; levels are {', '.join(LEVELS)}")
    lacking = [level for level in wanted if level not in both]
    if lacking:
        raise DiffError(
            f"the level {lacking[0]} is missing on a side: {left.label} has {', '.join(left.levels)}, {right.label} {', '.join(right.levels)}"
        )
    # PhysX differences are explained by those of the descriptors
    return tuple(level for level in LEVELS if level in wanted)
