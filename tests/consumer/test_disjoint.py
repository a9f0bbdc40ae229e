"""The disjoint-frame check (spec 4.7) as the pages' sources describe it and as 0.6.3 was observed to do it."""

from __future__ import annotations

import math

import pytest
from hand import Hand, matrix

FIXED, REVOLUTE, PRISMATIC = "PhysicsFixedJoint", "PhysicsRevoluteJoint", "PhysicsPrismaticJoint"
SPHERICAL, DISTANCE, D6 = "PhysicsSphericalJoint", "PhysicsDistanceJoint", "PhysicsJoint"
OFF = {"x": (3.01, 0, 0), "y": (3, 0.01, 0), "z": (3, 0, 0.01)}
TURN = (0.1, 0, 0, 1.0)


def valid(kind, rules, position=(3, 0, 0), q0=(0, 0, 0, 1), q1=(0, 0, 0, 1), axis="X", a=None, b=None):
    hand = Hand().body("/A", a).body("/B", matrix((3, 0, 0)) if b is None else b)
    columns = {"physics:localPos0": position, "physics:localRot0": q0, "physics:localRot1": q1, "physics:axis": axis}
    hand.joint("/J", kind, columns, body0="/A", body1="/B")
    return hand.rows(rules)["/J"]["validBodyTransformations"]


# joint type: (position off per world axis with joint axis X, rotation off) -> does the check object?
OBSERVED = {
    FIXED: ("xyz", True),
    REVOLUTE: ("yz", False),
    PRISMATIC: ("xyz", False),
    SPHERICAL: ("xyz", False),
    DISTANCE: ("", False),
    D6: ("xyz", True),
}
DESCRIBED = {
    FIXED: ("xyz", True),
    REVOLUTE: ("xyz", False),
    PRISMATIC: ("yz", True),
    SPHERICAL: ("xyz", False),
    DISTANCE: ("", False),
    D6: ("", False),
}


@pytest.mark.parametrize("kind", OBSERVED)
@pytest.mark.parametrize(("rules", "table"), [("observed-0.6.3", OBSERVED), ("contract-0.6", DESCRIBED)])
def test_spec_4_7_what_is_compared(kind, rules, table):
    """spec 4.7, finding disjoint-frame-check."""
    positions, rotation = table[kind]
    assert valid(kind, rules)
    for lane, position in OFF.items():
        assert valid(kind, rules, position) == (lane not in positions), lane
    assert valid(kind, rules, q0=TURN) == (not rotation)


@pytest.mark.parametrize(("axis", "free"), [("X", "x"), ("Y", "y"), ("Z", "z")])
def test_spec_4_7_axis_is_a_world_axis(axis, free):
    """spec 4.7: the lane left out is the world's, whatever the frames' own rotation (observed on a revolute)."""
    half = math.sqrt(0.5)
    for turn in ((0, 0, 0, 1), (0, half, 0, half), (half, 0, 0, half)):
        for lane, position in OFF.items():
            assert valid(REVOLUTE, "observed-0.6.3", position, turn, turn, axis) == (lane == free)


@pytest.mark.parametrize(("off", "want"), [(0.00099, True), (0.0011, False)])
def test_spec_4_7_tolerance(off, want):
    """spec 4.7: tolerance 0.001."""
    assert valid(FIXED, "observed-0.6.3", (3 + off, 0, 0)) == want


def test_spec_4_7_position_by_length_revolute_by_lane():
    """Observed: 0.0008 in each lane is 0.0014 away for a fixed joint, but every lane is close for a revolute."""
    position = (3.0008, 0.0008, 0.0008)
    assert not valid(FIXED, "observed-0.6.3", position)
    assert valid(REVOLUTE, "observed-0.6.3", position)


def test_spec_4_7_opposite_quaternions_are_the_same_rotation():
    """Observed: q and -q agree."""
    q = (0, 0, math.sin(0.3), math.cos(0.3))
    assert valid(FIXED, "observed-0.6.3", q0=q, q1=tuple(-v for v in q))


def test_spec_4_7_scale_is_divided_out():
    """spec 4.7: the baked position goes through the body's matrix without its scale."""
    assert valid(FIXED, "observed-0.6.3", (1.5, 0, 0), a=matrix(scale=(2, 3, 4)))


def test_spec_4_7_mirrored_body_turns():
    """spec 4.7: a mirrored body's rotation is half a turn about X, so a fixed joint objects (observed)."""
    assert not valid(FIXED, "observed-0.6.3", (-1.5, 0, 0), a=matrix(scale=(-2, 3, 4)))


def test_disjoint_frames_become_diagnostics():
    """A mismatch is a warning row, summed up beyond a hundred."""
    import numpy as np

    import consumer
    from ovsim.stage import StageBuilder

    builder = StageBuilder()
    n = 150
    columns = {"physics:localPos0": np.tile(np.float32([1, 0, 0]), (n, 1))}
    builder.add(FIXED, [f"/J{i}" for i in range(n)], columns)
    found = [d for d in consumer.resolve(builder.finish()).diagnostics if d.code == "disjoint-frames"]
    assert len(found) == 101
    assert found[0].path == "/J0"
    assert found[-1].message.startswith("50 more")
