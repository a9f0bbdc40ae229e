"""Canaries of the rule sets: what the pages say against what was observed, switch by switch."""

from __future__ import annotations

import math

import pytest
from bench_stages import BOTH, IDENTITY, at, by_hand, findings_of, rule_sets, scene

from consumer.rulesets import SWITCHES

ROOT = ["PhysicsArticulationRootAPI"]


def _disabled():
    rows = scene(("/W/J", "PhysicsFixedJoint", BOTH, ()))
    rows["/W/A"] = ("Xform", {"omni:xform": IDENTITY, "physics:rigidBodyEnabled": False}, ["PhysicsRigidBodyAPI"])
    return by_hand(rows)


def _site():
    place = IDENTITY.copy()
    place[12:15] = (5, 6, 7)
    return by_hand(scene(("/W/S", "Xform", {"omni:xform": place}, ()), ("/W/J", "PhysicsFixedJoint", {**BOTH, "physics:body0": ["/W/S"]}, ())))


def _disjoint():
    return by_hand(scene(("/W/J", "PhysicsJoint", {**BOTH, "physics:localPos0": (1, 0, 0)}, ())))


def _d6():
    columns = {**BOTH, "limit:rotX:physics:low": -30.0, "limit:rotX:physics:high": 40.0}
    return by_hand(scene(("/W/J", "PhysicsJoint", columns, ["PhysicsLimitAPI:rotX"]), root=ROOT))


def _gear():
    return by_hand(scene(("/W/J", "PhysxPhysicsGearJoint", {**BOTH, "physics:gearRatio": 2.0}, ())))


def _wide():
    return by_hand(scene(("/W/J", "PhysicsRevoluteJoint", {**BOTH, "physics:lowerLimit": -270.0, "physics:upperLimit": 200.0}, ())))


def _kinematic():
    rows = scene(("/W/J", "PhysicsFixedJoint", BOTH, ()), root=ROOT)
    rows["/W/A"] = ("Xform", {"omni:xform": IDENTITY, "physics:kinematicEnabled": True}, ["PhysicsRigidBodyAPI"])
    return by_hand(rows)


CASES = {
    "disabled_body_target": (_disabled, "body0", "descriptors", None, "/W/A"),
    "unresolved_target_frame": (_site, "localPose0Position", "descriptors", (0, 0, 0), (5, 6, 7)),
    "disjoint_frame_check": (_disjoint, "validBodyTransformations", "descriptors", True, False),
    "d6_articulation_limits": (_d6, "axes.twist.motion", "physx", "free", "limited"),
    "gear_without_hinges": (_gear, "", "physx", None, "/W/J"),
    "revolute_clamp": (_wide, "limits.twist.lower", "physx", pytest.approx(math.radians(-270)), pytest.approx(-math.pi)),
    "kinematic_anchor": (_kinematic, "", "physx", None, "/W/J"),
}


@pytest.mark.parametrize("switch", CASES)
def test_switch(switch):
    """The switch's finding explains its difference, and no other finding takes part."""
    make, field, level, pages, observed = CASES[switch]
    found = rule_sets(make())
    finding = SWITCHES[switch].finding
    assert findings_of(found) == {finding}
    there = at(found, "/W/J", field, level)
    assert (there.left, there.right) == (pages, observed)


def test_every_switch_has_a_case():
    """A new switch needs its canary."""
    assert set(CASES) == set(SWITCHES)


def test_rule_sets_agree_without_a_cause():
    """A plain driven hinge is the same under both."""
    columns = {**BOTH, "physics:lowerLimit": -30.0, "physics:upperLimit": 30.0, "drive:angular:physics:stiffness": 4.0}
    stage = by_hand(scene(("/W/J", "PhysicsRevoluteJoint", columns, ["PhysicsDriveAPI:angular"]), root=ROOT))
    assert rule_sets(stage).differences == []
