"""Rule sets: where the contract pages and the observed runtime disagree, as named switches (design "rule sets"; spec section 11)."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields
from types import MappingProxyType

from ovsim.errors import RulesError


@dataclass(frozen=True)
class RuleSet:
    """One set of answers to the questions on which the sources differ. Every switch has a finding (`SWITCHES`) that tells of it."""

    name: str
    disabled_body_target: str
    unresolved_target_frame: str
    disjoint_frame_check: str
    d6_articulation_limits: str
    gear_without_hinges: str
    revolute_clamp: str
    kinematic_anchor: str


@dataclass(frozen=True)
class Switch:
    """What a switch decides: its values with their meaning, the id of its finding, and where in the pipeline it acts."""

    finding: str
    level: str
    values: MappingProxyType[str, str]


def _switch(finding: str, level: str, **values: str) -> Switch:
    return Switch(finding, level, MappingProxyType(values))


SWITCHES: MappingProxyType[str, Switch] = MappingProxyType(
    {
        "disabled_body_target": _switch(
            "disabled-body-target",
            "descriptor",
            skip="a rigid body with rigidBodyEnabled false is passed over and the search goes on above it",
            static="the first prim with PhysicsRigidBodyAPI is the body, enabled or not; a disabled one is a static actor",
        ),
        "unresolved_target_frame": _switch(
            "unresolved-target-frame",
            "descriptor",
            verbatim="a target without a body leaves the authored frame as a world frame",
            reanchor="a target without a body still lifts the authored frame into the world",
        ),
        "disjoint_frame_check": _switch(
            "disjoint-frame-check",
            "descriptor",
            described="fixed and prismatic frames compare with rotations, prismatic without its axis, D6 never",
            observed="fixed and D6 compare position and rotation, revolute the two positions off its axis, prismatic and spherical the position",
        ),
        "d6_articulation_limits": _switch(
            "d6-articulation-limits",
            "physx",
            free="rotational limits of a D6 inside an articulation are dropped",
            applied="rotational limits of a D6 inside an articulation hold",
        ),
        "gear_without_hinges": _switch(
            "gear-without-hinges",
            "physx",
            none="a gear or rack without its two joints is not created",
            created="a gear or rack without its two joints is created, with a warning",
        ),
        "revolute_clamp": _switch(
            "revolute-clamp",
            "physx",
            two_pi="revolute bounds are clamped to a turn each way",
            pi="standalone revolute bounds beyond half a turn are clamped to half a turn",
        ),
        "kinematic_anchor": _switch(
            "kinematic-anchor",
            "physx",
            fixed_base="a joint to a kinematic body anchors the articulation as to the world",
            aborts="a joint to a kinematic body is elected root and then no articulation results",
        ),
    }
)

CONTRACT = "contract-0.6"
OBSERVED = "observed-0.6.3"

_SETS = MappingProxyType(
    {
        CONTRACT: RuleSet(
            CONTRACT,
            disabled_body_target="skip",
            unresolved_target_frame="verbatim",
            disjoint_frame_check="described",
            d6_articulation_limits="free",
            gear_without_hinges="none",
            revolute_clamp="two_pi",
            kinematic_anchor="fixed_base",
        ),
        OBSERVED: RuleSet(
            OBSERVED,
            disabled_body_target="static",
            unresolved_target_frame="reanchor",
            disjoint_frame_check="observed",
            d6_articulation_limits="applied",
            gear_without_hinges="created",
            revolute_clamp="pi",
            kinematic_anchor="aborts",
        ),
    }
)


def names() -> tuple[str, ...]:
    """Names of the rule sets that `get` knows."""
    return tuple(_SETS)


def get(rules: str | RuleSet) -> RuleSet:
    """The rule set of a name, or a rule set itself after its values are checked; RulesError with near names when unknown."""
    if isinstance(rules, str):
        got = _SETS.get(rules)
        if got is None:
            near = difflib.get_close_matches(rules, _SETS, 3, 0.3) or list(_SETS)
            raise RulesError(f"no rule set is called {rules!r}; did you mean {' or '.join(near)}?")
        return got
    if not isinstance(rules, RuleSet):
        raise RulesError(f"rules are a rule set or its name ({', '.join(_SETS)}), not {type(rules).__name__}")
    for f in fields(rules):
        value = getattr(rules, f.name)
        if f.name != "name" and value not in SWITCHES[f.name].values:
            raise RulesError(f"switch {f.name} is one of {', '.join(SWITCHES[f.name].values)}, not {value!r}")
    return rules


def differences(a: RuleSet, b: RuleSet) -> tuple[str, ...]:
    """Names of the switches on which two rule sets differ."""
    return tuple(n for n in SWITCHES if getattr(a, n) != getattr(b, n))
