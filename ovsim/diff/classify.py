"""Gives each difference its finding, or leaves it unexplained.

Columns and descriptors: the first finding, in the order of the data below, whose predicate holds. PhysX: a difference is explained by what explains
the descriptor fields that it is made of, or, where articulations are concerned, by what differs in the same connected group of joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ovsim.contract import findings
from ovsim.diff import rulesets
from ovsim.diff.cascade import explain_coupled, explain_derived, explain_physx
from ovsim.diff.case import Case, Pair
from ovsim.diff.comparator import UNEXPLAINED, Difference
from ovsim.diff.predicates import PREDICATES, Predicate
from ovsim.errors import ContractError

# asked first to last: the more particular cause before the more general one
_ORDER = (
    "instance-proxy",
    "point-instancer",
    "joint-with-material",
    "unparsed-joint",
    "type-derived",
    "blocked-attribute",
    "authored-type",
    "velocity-sentinel",
    "derived-column",
    "limit-contact-distance",
    "envelope-unknown-instance",
    "break-force-seed",
)


@lru_cache
def asked() -> tuple[tuple[str, Predicate], ...]:
    """(finding id, predicate) in the order of asking. ContractError when a finding names a predicate that does not exist."""
    data = findings.load()
    ids = [*_ORDER, *(i for i in data if i not in _ORDER)]
    out = []
    for finding in ids:
        name = data[finding].predicate
        if name is None or name in rulesets.HANDLED or name in CASCADED:
            continue
        if name not in PREDICATES:
            raise ContractError(f"finding {finding} names the predicate {name}, which does not exist")
        out.append((finding, PREDICATES[name]))
    return tuple(out)


CASCADED = frozenset({"visiting_order", "competing_roots"})


def classify(pair: Pair, differences: Sequence[Difference]) -> list[Difference]:
    """The differences with their findings, in the same order; all levels of one comparison go in one call, for descriptors explain PhysX."""
    pair.cache.clear()
    if rulesets.apply(pair):
        return rulesets.explain(pair, differences)
    first = [d if d.level == "physx" else explain(pair, d) for d in differences]
    rounds = [first]  # a gear may couple a gear; caches know each round by the identity of its list, so all are kept
    while True:
        found = [d for d in first if d.level == "descriptors"]
        rounds.append(found)
        more = [explain_derived(pair, d, found) if d.level == "descriptors" and d.finding == UNEXPLAINED else d for d in first]
        if all(a is b for a, b in zip(more, first)):
            break
        first = more
    below = [d for d in first if d.level == "descriptors"]
    out = [explain_physx(pair, d, below) if d.level == "physx" else d for d in first]
    out = [explain_coupled(pair, d, out) if d.level == "physx" and d.finding == UNEXPLAINED else d for d in out]
    return [explain(pair, d) if d.level == "physx" and d.finding == UNEXPLAINED else d for d in out]


def explain(pair: Pair, difference: Difference) -> Difference:
    """One difference with the first finding whose predicate holds."""
    case = Case(pair, difference)
    for finding, predicate in asked():
        if difference.level in predicate.levels and predicate.fields.fullmatch(difference.field) and predicate.holds(case):
            return difference.explained(finding)
    return difference
