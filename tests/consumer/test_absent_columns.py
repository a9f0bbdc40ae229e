"""A hand-populated stage without optional columns: the recorded results, one test a finding (contract pages "If absent", spec 5.1)."""

from __future__ import annotations

from hand import one

FLT_MAX = 3.4028234663852886e38


def _span(record):
    return record["enabled"], record["lower"], record["upper"]


def test_finding_revolute_limit_absent():
    """Both bounds read 0: limited to [0, 0]."""
    assert _span(one("PhysicsRevoluteJoint")["limit"]) == (True, 0, 0)


def test_finding_revolute_one_bound_absent():
    """The missing bound reads 0."""
    assert _span(one("PhysicsRevoluteJoint", {"physics:lowerLimit": -180})["limit"])[2] == 0
    assert _span(one("PhysicsRevoluteJoint", {"physics:upperLimit": 180})["limit"])[1] == 0


def test_finding_prismatic_limit_absent():
    """Limited to [0, 0]."""
    assert _span(one("PhysicsPrismaticJoint")["limit"]) == (True, 0, 0)


def test_finding_d6_limit_absent():
    """A listed instance without columns is limited to [0, 0]."""
    row = one("PhysicsJoint", {}, ["PhysicsLimitAPI:transX", "PhysicsLimitAPI:rotZ"])
    assert [(r["axis"], *_span(r)) for r in row["limits"]] == [("transX", True, 0, 0), ("rotZ", True, 0, 0)]


def test_finding_spherical_cone_absent():
    """An enabled zero cone."""
    assert _span(one("PhysicsSphericalJoint")["limit"]) == (True, 0, 0)


def test_distance_bounds_absent():
    """Both start at -1: no bound."""
    row = one("PhysicsDistanceJoint")
    assert _span(row["limit"]) == (False, -1, -1)
    assert (row["minEnabled"], row["maxEnabled"]) == (False, False)


def test_finding_gear_ratio_absent():
    """Ratio 0, not the schema's 1."""
    assert one("PhysxPhysicsGearJoint")["gearRatio"] == 0


def test_finding_rack_ratio_absent():
    """Ratio 0, not the schema's 1."""
    assert one("PhysxPhysicsRackAndPinionJoint")["ratio"] == 0


def test_finding_break_force_seed():
    """FLT_MAX where the schema says inf."""
    row = one("PhysicsFixedJoint")
    assert (row["breakForce"], row["breakTorque"]) == (FLT_MAX, FLT_MAX)


def test_finding_descriptor_orientation_seed():
    """The identity, never the record's own starting value."""
    assert one("PhysicsFixedJoint")["localPose1Orientation"] == [0, 0, 0, 1]


def test_finding_distance_spring_presence():
    """The API alone does not switch the spring on."""
    row = one("PhysicsDistanceJoint", {}, ["PhysxPhysicsDistanceJointAPI"])
    assert (row["springEnabled"], row["springStiffness"], row["springDamping"]) == (False, 0, 0)


def test_finding_axis_armature_zero():
    """An explicit axis armature of 0 cannot replace the joint-level one."""
    columns = {"physxJointAxis:angular:armature": 0, "physxJoint:armature": 5}
    assert one("PhysicsRevoluteJoint", columns, ["PhysxJointAxisAPI:angular", "PhysxJointAPI"])["properties"]["armature"] == 5


def test_max_force_absent():
    """FLT_MAX."""
    assert one("PhysicsRevoluteJoint", {}, ["PhysicsDriveAPI:angular"])["drive"]["forceLimit"] == FLT_MAX


def test_velocity_caps_absent():
    """FLT_MAX, not converted."""
    schemas = ["PhysicsDriveAPI:angular", "PhysxDrivePerformanceEnvelopeAPI:angular", "PhysxJointAxisAPI:angular", "PhysxJointAPI", "NewtonJointAPI"]
    row = one("PhysicsRevoluteJoint", {}, schemas)
    assert (row["drive"]["maxActuatorVelocity"], row["properties"]["maxJointVelocity"]) == (FLT_MAX, FLT_MAX)
