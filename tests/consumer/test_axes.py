"""Axis properties and their seeds (spec section 6.3)."""

from __future__ import annotations

import math

import pytest
from hand import one

REVOLUTE, PRISMATIC, SPHERICAL, D6 = "PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsSphericalJoint", "PhysicsJoint"
FLT_MAX, NAN, INF = 3.4028234663852886e38, math.nan, math.inf
JOINT, NEWTON = "PhysxJointAPI", "NewtonJointAPI"


def properties(kind=REVOLUTE, instance="angular", own=None, joint=None, newton=None, listed=None):
    columns = {f"physxJointAxis:{instance}:{n}": v for n, v in (own or {}).items()}
    columns |= {f"physxJoint:{n}": v for n, v in (joint or {}).items()}
    columns |= {f"newton:{n}": v for n, v in (newton or {}).items()}
    apis = [f"PhysxJointAxisAPI:{instance}"] * (own is not None) + [JOINT] * (joint is not None) + [NEWTON] * (newton is not None)
    row = one(kind, columns, apis if listed is None else listed)
    return row["properties"] if "jointProperties" not in row or row["jointProperties"] is None else row["jointProperties"]


@pytest.mark.parametrize(
    ("own", "joint", "want"),
    [
        ({"armature": 0.25}, {"armature": 5}, 0.25),
        ({"armature": 0}, {"armature": 5}, 5),
        ({"armature": -1}, {"armature": 5}, 5),
        ({"armature": NAN}, {"armature": 5}, 5),
        ({}, {"armature": 5}, 5),
        (None, {"armature": 5}, 5),
        (None, {"armature": -5}, 0),
        ({"armature": 0.25}, None, 0.25),
        (None, None, 0),
    ],
)
def test_spec_6_3_armature(own, joint, want):
    """spec 6.3 rev_jointapi_axisapi0: only a positive axis value replaces the seed."""
    assert properties(own=own, joint=joint)["armature"] == want


CAPS = [
    ({"maxJointVelocity": 90}, {"maxJointVelocity": 180}, {"velocityLimit": 360}, 90),
    ({"maxJointVelocity": 0}, {"maxJointVelocity": 180}, {"velocityLimit": 360}, 0),
    ({"maxJointVelocity": FLT_MAX}, {"maxJointVelocity": 180}, {"velocityLimit": 360}, 180),
    ({"maxJointVelocity": INF}, {"maxJointVelocity": INF}, {"velocityLimit": 360}, 360),
    ({"maxJointVelocity": NAN}, {"maxJointVelocity": NAN}, {"velocityLimit": 360}, 360),
    (None, {"maxJointVelocity": 180}, {"velocityLimit": 360}, 180),
    (None, None, {"velocityLimit": 360}, 360),
    (None, None, {"velocityLimit": INF}, FLT_MAX),
    (None, None, {"velocityLimit": -INF}, 0),
    ({"maxJointVelocity": -90}, None, None, 0),
    (None, {"maxJointVelocity": -90}, None, 0),
    ({}, {}, {}, FLT_MAX),
    (None, None, None, FLT_MAX),
]


@pytest.mark.parametrize(("own", "joint", "newton", "want"), CAPS)
def test_spec_6_3_velocity_cap_chain(own, joint, newton, want):
    """spec 6.3 axis_vel_0, newton_physxjoint_vel: axis, then joint, then Newton, then FLT_MAX; radians, FLT_MAX as it is; negative is zero."""
    got = properties(own=own, joint=joint, newton=newton)["maxJointVelocity"]
    assert got == (FLT_MAX if want == FLT_MAX else pytest.approx(math.radians(want)))
    linear = properties(PRISMATIC, "linear", own, joint, newton)["maxJointVelocity"]
    assert linear == want


def test_spec_6_3_newton_nan_passes():
    """Observed: NaN as Newton's limit reaches the joint."""
    assert math.isnan(properties(newton={"velocityLimit": NAN})["maxJointVelocity"])


def test_spec_6_3_newton_needs_no_api():
    """Observed (recorded stage newton_gate): newton:velocityLimit is read wherever the column is, NewtonJointAPI listed or not."""
    assert properties(newton={"velocityLimit": 360}, listed=[])["maxJointVelocity"] == pytest.approx(2 * math.pi)
    assert properties(own={"maxJointVelocity": 90}, newton={"velocityLimit": 360}, listed=[])["maxJointVelocity"] == pytest.approx(2 * math.pi)


def test_vector_rev_jointapi_unapplied():
    """spec 2.2 rev_jointapi_unapplied: physxJoint columns without PhysxJointAPI are inert."""
    got = properties(joint={"armature": 5, "maxJointVelocity": 180}, listed=[])
    assert (got["armature"], got["maxJointVelocity"]) == (0, FLT_MAX)


def test_spec_6_3_other_newton_values_are_not_read():
    """spec 6.3 T20: newton:armature, friction and damping."""
    got = properties(newton={"armature": 5, "friction": 4, "damping": 3})
    assert [got[n] for n in ("armature", "staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")] == [0, 0, 0, 0]


FRICTION = {"staticFrictionEffort": 5, "dynamicFrictionEffort": 3, "viscousFrictionCoefficient": 0.1}


def test_vector_rev_all_friction():
    """spec 6.3 vector rev_all: efforts as they are, viscous friction per radian."""
    assert [properties(own=FRICTION)[n] for n in FRICTION] == pytest.approx([5, 3, 5.72958])
    assert [properties(PRISMATIC, "linear", FRICTION)[n] for n in FRICTION] == pytest.approx([5, 3, 0.1])


def test_spec_6_3_friction_clamps_at_zero():
    """spec 6.3: clamp to [0, FLT_MAX]."""
    assert [properties(own=dict.fromkeys(FRICTION, -1))[n] for n in FRICTION] == [0, 0, 0]


@pytest.mark.parametrize("kind", [SPHERICAL, D6])
def test_spec_1_3_three_records_with_seeds(kind):
    """spec 1.3, 6.3 d6_axis_mix: always rotX, rotY, rotZ; unlisted ones carry the joint-level seeds."""
    got = properties(kind, "rotY", {"armature": 2, "maxJointVelocity": 90}, {"armature": 5, "maxJointVelocity": 180})
    assert [r["axis"] for r in got] == ["rotX", "rotY", "rotZ"]
    assert [r["listed"] for r in got] == [False, True, False]
    assert [r["armature"] for r in got] == [5, 2, 5]
    assert [r["maxJointVelocity"] for r in got] == pytest.approx([math.pi, math.pi / 2, math.pi])


def test_vector_wrong_instance():
    """spec 2.3 wrong_instance: rotX on a revolute is inert."""
    got = properties(REVOLUTE, "rotX", {"armature": 2})
    assert got["armature"] == 0
