"""Rule sets and their switches."""

from __future__ import annotations

import dataclasses

import pytest
from hand import one

import consumer
from consumer import rulesets
from ovsim.errors import RulesError
from ovsim.stage import StageBuilder


def test_names():
    assert rulesets.names() == ("contract-0.6", "observed-0.6.3")


def test_default_is_the_contract():
    assert consumer.resolve(StageBuilder().finish()).rules == "contract-0.6"


@pytest.mark.parametrize("name", ["contract-0.7", "observed", "", "zzz"])
def test_unknown_name_tells_near_ones(name):
    with pytest.raises(RulesError, match=r"contract-0\.6|observed-0\.6\.3"):
        consumer.resolve(StageBuilder().finish(), rules=name)


def test_not_a_rule_set():
    with pytest.raises(RulesError, match="not int"):
        rulesets.get(6)  # type: ignore[arg-type]


def test_every_switch_differs_and_has_a_finding():
    """Each switch is a question on which the two sets disagree."""
    pages, observed = (rulesets.get(n) for n in rulesets.names())
    assert rulesets.differences(pages, observed) == tuple(rulesets.SWITCHES)
    assert {f.name for f in dataclasses.fields(pages)} == {"name", *rulesets.SWITCHES}
    assert len({s.finding for s in rulesets.SWITCHES.values()}) == len(rulesets.SWITCHES)


def test_own_rule_set():
    """A single switch turned by hand."""
    own = dataclasses.replace(rulesets.get("contract-0.6"), name="mine", disabled_body_target="static")
    assert consumer.resolve(StageBuilder().finish(), own).rules == "mine"
    with pytest.raises(RulesError, match="disabled_body_target is one of skip, static"):
        rulesets.get(dataclasses.replace(own, disabled_body_target="maybe"))


def test_physx_switches_do_not_touch_descriptors():
    """What only the PhysX view asks leaves the descriptors alone."""
    columns = {"physics:lowerLimit": -1000.0, "physics:upperLimit": 1000.0}
    assert one("PhysicsRevoluteJoint", columns, rules="contract-0.6") == one("PhysicsRevoluteJoint", columns, rules="observed-0.6.3")
