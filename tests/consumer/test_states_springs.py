"""Joint states (spec 6.4) and distance springs (spec 6.5)."""

from __future__ import annotations

import math

import pytest
from hand import one

REVOLUTE, PRISMATIC, SPHERICAL = "PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsSphericalJoint"
DISTANCE, D6 = "PhysicsDistanceJoint", "PhysicsJoint"
SPRING = {"springEnabled": True, "springStiffness": 7, "springDamping": 3}


def state(kind, instance, listed=True):
    columns = {f"state:{instance}:physics:position": 15, f"state:{instance}:physics:velocity": -900}
    return one(kind, columns, [f"PhysicsJointStateAPI:{instance}"] * listed)


def test_vector_rev_all_state():
    """spec 6.4 vector rev_all: radians, no clamp."""
    got = state(REVOLUTE, "angular")["state"]
    assert got["enabled"]
    assert (got["position"], got["velocity"]) == pytest.approx((0.2617994, math.radians(-900)))


def test_vector_pris_art_state():
    """spec 6.4: linear as authored."""
    got = state(PRISMATIC, "linear")["state"]
    assert (got["position"], got["velocity"]) == (15, -900)


def test_spec_6_4_gate():
    """spec 6.4, 2.2: only when listed."""
    got = state(REVOLUTE, "angular", listed=False)["state"]
    assert (got["enabled"], got["position"], got["velocity"]) == (False, 0, 0)


def test_spec_6_4_d6():
    """spec 2.3: transX to rotZ, never distance, in list order."""
    columns = {f"state:{i}:physics:position": 90 for i in ("rotX", "transZ", "distance")}
    states = one(D6, columns, ["PhysicsJointStateAPI:rotX", "PhysicsJointStateAPI:transZ", "PhysicsJointStateAPI:distance"])["states"]
    assert [s["axis"] for s in states] == ["transZ", "rotX"]
    assert [s["position"] for s in states] == pytest.approx([90, math.pi / 2])


@pytest.mark.parametrize(("kind", "instance"), [(SPHERICAL, "rotX"), (SPHERICAL, "angular"), (DISTANCE, "distance"), (DISTANCE, "linear")])
def test_spec_6_4_never_read(kind, instance):
    """spec 6.4: spherical and distance joints never read a state."""
    row = state(kind, instance)
    assert row["state"] is None
    assert row["states"] is None


def spring(values, listed=True, kind=DISTANCE):
    row = one(kind, {f"physxPhysicsDistanceJoint:{n}": v for n, v in values.items()}, ["PhysxPhysicsDistanceJointAPI"] * listed)
    return row["springEnabled"], row["springStiffness"], row["springDamping"]


def test_vector_dist_spring():
    """spec 6.5 vector dist: values as authored."""
    assert spring(SPRING) == (True, 7, 3)


def test_vector_dist_neg():
    """spec 6.5 dist_neg: clamped at zero."""
    assert spring({"springEnabled": True, "springStiffness": -7, "springDamping": -3}) == (True, 0, 0)


def test_spec_6_5_gate():
    """spec 6.5: the API must be listed; without its columns the spring is off."""
    assert spring(SPRING, listed=False) == (False, 0, 0)
    assert spring({}) == (False, 0, 0)


def test_spec_6_5_distance_type_only():
    """spec 2.3: no other type reads it."""
    assert spring(SPRING, kind=PRISMATIC) == (None, None, None)


def test_vector_dist_limit_tuning():
    """spec 5.2 vectors dist, dist2: the limit's own stiffness and damping stay apart from the spring's."""
    columns = {"physics:minDistance": 1, "physics:maxDistance": 4, "physxLimit:distance:stiffness": 11, "physxLimit:distance:damping": 12}
    columns |= {f"physxPhysicsDistanceJoint:{n}": v for n, v in (("springEnabled", True), ("springStiffness", 21), ("springDamping", 22))}
    row = one(DISTANCE, columns, ["PhysxLimitAPI:distance", "PhysxPhysicsDistanceJointAPI"])
    assert (row["limit"]["stiffness"], row["limit"]["damping"]) == (11, 12)
    assert (row["springStiffness"], row["springDamping"]) == (21, 22)
