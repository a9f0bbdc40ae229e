"""Fields of every joint (spec 1.1), the axis token (spec 1.3), gates (spec 2.2)."""

from __future__ import annotations

import math

import pytest
from hand import one

from ovsim.contract.joints import JOINT_TYPES

REVOLUTE = "PhysicsRevoluteJoint"
FLT_MAX = 3.4028234663852886e38


@pytest.mark.parametrize("kind", [*JOINT_TYPES])
def test_spec_1_1_defaults(kind):
    """spec 1.1: every default of the common descriptor."""
    row = one(kind)
    assert row["type"] == kind
    assert [row[n] for n in ("rel0", "rel1", "body0", "body1")] == [None] * 4
    for k in "01":
        assert row[f"localPose{k}Position"] == [0, 0, 0]
        assert row[f"localPose{k}Orientation"] == [0, 0, 0, 1]
    assert (row["jointEnabled"], row["enableCollision"], row["excludedFromArticulation"]) == (True, False, False)
    assert (row["breakForce"], row["breakTorque"], row["jointFriction"]) == (FLT_MAX, FLT_MAX, 0)
    assert (row["validBodyTransformations"], row["enableResidualReporting"]) == (True, False)


def test_spec_1_1_flags():
    """spec 1.1: the authored values."""
    row = one(REVOLUTE, {"physics:jointEnabled": False, "physics:collisionEnabled": True, "physics:excludeFromArticulation": True})
    assert (row["jointEnabled"], row["enableCollision"], row["excludedFromArticulation"]) == (False, True, True)


@pytest.mark.parametrize("value", [12.5, 0.0, -1.0, math.inf, -math.inf])
def test_spec_1_1_break_limits_pass(value):
    """spec 1.1 breakneg: no clamp."""
    row = one(REVOLUTE, {"physics:breakForce": value, "physics:breakTorque": value + 1})
    assert (row["breakForce"], row["breakTorque"]) == (value, value + 1)


@pytest.mark.parametrize("kind", [*JOINT_TYPES])
@pytest.mark.parametrize(("value", "want"), [(0.7, 0.7), (-1, 0), (math.inf, FLT_MAX)])
def test_spec_1_1_friction_on_every_type(kind, value, want):
    """spec 1.1, 2.3: jointFriction is read for every type, clamped to [0, FLT_MAX]."""
    assert one(kind, {"physxJoint:jointFriction": value}, ["PhysxJointAPI"])["jointFriction"] == pytest.approx(want)


def test_spec_2_2_friction_gate():
    """spec 2.2: PhysxJointAPI must be listed."""
    assert one(REVOLUTE, {"physxJoint:jointFriction": 0.7})["jointFriction"] == 0


def test_spec_1_1_residual_reporting():
    """spec 1.1: presence of the API."""
    assert one(REVOLUTE, {}, ["PhysxResidualReportingAPI"])["enableResidualReporting"]


@pytest.mark.parametrize(("text", "want"), [("X", "X"), ("Y", "Y"), ("Z", "Z"), ("y", "X"), ("Q", "X"), ("", "X")])
def test_spec_1_3_axis_tokens(text, want):
    """spec 1.3 axis_lower: only "Y" and "Z" are known."""
    for kind in (REVOLUTE, "PhysicsPrismaticJoint", "PhysicsSphericalJoint"):
        assert one(kind, {"physics:axis": text})["axis"] == want


def test_spec_1_3_only_three_types_have_an_axis():
    """spec 1.3: the others have none."""
    assert one("PhysicsFixedJoint", {"physics:axis": "Y"})["axis"] is None


def test_custom_joint_has_common_fields_only():
    """spec 1.3: a custom token reads bodies, frames, flags, friction."""
    from hand import Hand

    hand = Hand().body("/A")
    hand.joint("/J", "MyJoint", {"physics:localPos0": (1, 2, 3), "physics:lowerLimit": 5.0, "physxJoint:jointFriction": 2.0}, ["PhysxJointAPI"], "/A")
    row = hand.rows(custom=("MyJoint",))["/J"]
    assert (row["type"], row["body0"], row["localPose0Position"], row["jointFriction"]) == ("MyJoint", "/A", [1, 2, 3], 2)
    assert [row[n] for n in ("limit", "drive", "state", "properties", "limits", "jointProperties", "axis")] == [None] * 7
