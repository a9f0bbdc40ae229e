"""Standalone joints: spec 8.2, 5.3, 5.4 and the test vectors of its appendix, each by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from physx_hand import D6, DISTANCE, FIXED, FREE, PRISMATIC, REVOLUTE, SPHERICAL, codes, joint, near, quaternion, world

FLT_MAX = float(np.finfo(np.float32).max)
LINEAR_DEFAULT = FLT_MAX / 3
PLAIN = {"restitution": 0.0, "bounceThreshold": 0.0, "stiffness": 0.0, "damping": 0.0}


def bounds(low: float | None = None, high: float | None = None) -> dict[str, float]:
    return {k: v for k, v in (("physics:lowerLimit", low), ("physics:upperLimit", high)) if v is not None}


def limits(instance: str, low: float, high: float, **tuning: float) -> dict[str, float]:
    out = {f"limit:{instance}:physics:low": low, f"limit:{instance}:physics:high": high}
    return out | {f"physxLimit:{instance}:{k}": v for k, v in tuning.items()}


def listed(*instances: str) -> list[str]:
    return [f"{api}:{i}" for i in instances for api in ("PhysicsLimitAPI", "PhysxLimitAPI")]


def drive(instance: str, **values: Any) -> dict[str, Any]:
    return {f"drive:{instance}:physics:{k}": v for k, v in values.items()}


def motion(doc: dict[str, Any]) -> str:
    return "".join({"locked": "-", "limited": "L", "free": "F"}[m] for m in doc["motion"].values())


def test_rev_basic() -> None:
    columns = {"physics:axis": "Y", **bounds(-30, 60), "physxLimit:angular:bounceThreshold": 7.0}
    columns |= drive("angular", stiffness=10.0, damping=2.0, targetPosition=45.0, targetVelocity=90.0)
    doc = joint(REVOLUTE, columns, ["PhysxLimitAPI:angular", "PhysicsDriveAPI:angular"])
    assert doc["class"] == "PxD6Joint"
    assert motion(doc) == "---L--"
    assert doc["localPose0"]["q"] == quaternion(0, 0, math.sqrt(0.5), math.sqrt(0.5))
    assert doc["limits"]["twist"] == {**PLAIN, "lower": near(-0.5235988), "upper": near(1.047198), "bounceThreshold": 7.0}
    assert doc["drives"] == {"twist": {"stiffness": near(572.9578), "damping": near(114.5916), "forceLimit": FLT_MAX, "acceleration": False}}
    assert doc["drivePosition"]["q"] == quaternion(0.382683, 0, 0, 0.92388)
    assert doc["driveAngularVelocity"] == near([-1.570796, 0, 0])


def test_pris_both() -> None:
    columns = {"physics:axis": "Z", **bounds(-2, 5)}
    columns |= drive("linear", type="acceleration", stiffness=10.0, damping=1.0, targetPosition=2.0, targetVelocity=3.0, maxForce=7.0)
    doc = joint(PRISMATIC, columns, ["PhysicsDriveAPI:linear"])
    assert motion(doc) == "L-----"
    assert doc["localPose0"]["q"] == quaternion(0, -math.sqrt(0.5), 0, math.sqrt(0.5))
    assert doc["limits"] == {"x": {**PLAIN, "lower": -2.0, "upper": 5.0}}
    assert doc["drives"] == {"x": {"stiffness": 10.0, "damping": 1.0, "forceLimit": 7.0, "acceleration": True}}
    assert doc["drivePosition"]["p"] == [2.0, 0.0, 0.0]
    assert doc["driveLinearVelocity"] == [3.0, 0.0, 0.0]


def test_sph_valid_cone() -> None:
    columns = {"physics:coneAngle0Limit": 20.0, "physics:coneAngle1Limit": 40.0}
    tuning = {"stiffness": 5.0, "damping": 3.0, "restitution": 0.5, "bounceThreshold": -2.0}
    doc = joint(SPHERICAL, columns | {f"physxLimit:cone:{k}": v for k, v in tuning.items()}, ["PhysxLimitAPI:cone"])
    assert motion(doc) == "---FLL"
    cone = {"yAngle": near(0.3490658), "zAngle": near(0.6981317), "restitution": 0.5, "bounceThreshold": 0.0, "stiffness": 5.0, "damping": 3.0}
    assert doc["limits"] == {"cone": cone}


def test_d6_lims() -> None:
    columns = limits("transX", 1, -1) | limits("transY", -2, 3) | limits("transZ", -2, math.inf) | limits("rotX", -30, 40)
    columns |= limits("rotY", -10, 20, bounceThreshold=1.0) | limits("rotZ", -15, 25, bounceThreshold=2.0, stiffness=6.0)
    doc = joint(D6, columns, listed("transX", "transY", "transZ", "rotX", "rotY", "rotZ"))
    assert motion(doc) == "-LLLLL"
    assert doc["limits"]["y"] == {**PLAIN, "lower": -2.0, "upper": 3.0}
    assert doc["limits"]["z"] == {**PLAIN, "lower": near(-LINEAR_DEFAULT), "upper": near(LINEAR_DEFAULT), "bounceThreshold": 2.0}
    assert doc["limits"]["twist"] == {**PLAIN, "lower": near(-0.5235988), "upper": near(0.6981317)}
    pyramid = {"y": near([-0.1745329, 0.3490659]), "z": near([-0.2617994, 0.4363323])}
    assert doc["limits"]["pyramid"] == {**PLAIN, **pyramid, "bounceThreshold": 2.0, "stiffness": 6.0}


def test_d6_drive() -> None:
    instances = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
    columns: dict[str, Any] = {}
    for k, i in enumerate(instances, 1):
        columns |= drive(i, stiffness=float(k), damping=1.0, targetPosition=10.0 * k, targetVelocity=100.0 * k)
    doc = joint(D6, columns, [f"PhysicsDriveAPI:{i}" for i in instances])
    stiffness = [doc["drives"][a]["stiffness"] for a in ("x", "y", "z", "twist", "swing1", "swing2")]
    assert stiffness == near([1, 2, 3, 229.1831, 286.4789, 343.7747])
    assert doc["drives"]["twist"]["damping"] == near(57.29578)
    assert doc["drivePosition"] == {"p": [10.0, 20.0, 30.0], "q": quaternion(0.069881, 0.498914, 0.300647, 0.809823)}
    assert doc["driveLinearVelocity"] == [100.0, 200.0, 300.0]
    assert doc["driveAngularVelocity"] == pytest.approx([-6.98132, -8.72665, -10.472], rel=1e-5)


def test_dist() -> None:
    spring = "physxPhysicsDistanceJoint:"
    columns = {"physics:minDistance": 1.0, "physics:maxDistance": 4.0, "physxLimit:distance:stiffness": 11.0, "physxLimit:distance:damping": 12.0}
    columns |= {spring + "springEnabled": True, spring + "springStiffness": 21.0, spring + "springDamping": 22.0}
    doc = joint(DISTANCE, columns, ["PhysxLimitAPI:distance", "PhysxPhysicsDistanceJointAPI"])
    want = {"minEnabled": True, "maxEnabled": True, "springEnabled": True, "minDistance": 1.0, "maxDistance": 4.0, "stiffness": 21.0, "damping": 22.0}
    assert doc["distance"] == want


def test_dist2() -> None:
    columns = {"physics:maxDistance": 0.0, "physxLimit:distance:stiffness": 11.0, "physxLimit:distance:damping": 12.0}
    doc = joint(DISTANCE, columns, ["PhysxLimitAPI:distance"])
    want = {
        "minEnabled": False,
        "maxEnabled": True,
        "springEnabled": False,
        "minDistance": 0.0,
        "maxDistance": 0.0,
        "stiffness": 11.0,
        "damping": 12.0,
    }
    assert doc["distance"] == want


@pytest.mark.parametrize(
    ("low", "high", "want"),
    [
        (-30, math.inf, (-0.5235988, math.pi)),  # rev_oneside: an infinite bound is clamped
        (math.nan, 30, (-math.pi, 0.5235988)),  # NaN counts as unlimited
        (-180.01, 180.01, (math.radians(-180.01), math.radians(180.01))),  # rev_limit_180
        (-180.02, 180.02, (-math.pi, math.pi)),
        (-720, 720, (-math.pi, math.pi)),
        (30, -30, (-math.pi / 2, math.pi / 2)),  # rev_Z: reversed keeps the default
        (400, 500, (-math.pi / 2, math.pi / 2)),
        (190, 200, (-math.pi / 2, math.pi / 2)),  # only the upper bound is clamped, which reverses the pair
    ],
)
def test_revolute_bounds(low: float, high: float, want: tuple[float, float]) -> None:
    twist = joint(REVOLUTE, bounds(low, high))["limits"]["twist"]
    assert [twist["lower"], twist["upper"]] == near(list(want))


def test_nan_pair_is_free() -> None:
    assert motion(joint(REVOLUTE, bounds(math.nan, math.nan))) == "---F--"


def test_absent_bounds_lock_at_zero() -> None:
    assert joint(REVOLUTE)["limits"]["twist"] == {**PLAIN, "lower": 0.0, "upper": 0.0}
    assert joint(PRISMATIC)["limits"]["x"] == {**PLAIN, "lower": 0.0, "upper": 0.0}


@pytest.mark.parametrize(("low", "high"), [(-2, math.inf), (5, -5), (math.nan, 3)])
def test_pris_swapped_and_one_sided_are_effectively_free(low: float, high: float) -> None:
    doc = joint(PRISMATIC, bounds(low, high))
    assert motion(doc) == "L-----"
    assert doc["limits"]["x"] == {**PLAIN, "lower": near(-LINEAR_DEFAULT), "upper": near(LINEAR_DEFAULT), "bounceThreshold": 2.0}


@pytest.mark.parametrize(("meters", "bounce"), [(1.0, 2.0), (0.01, 200.0), (0.001, 2000.0)])
def test_default_bounce_follows_the_length_scale(meters: float, bounce: float) -> None:
    assert joint(PRISMATIC, bounds(5, -5), meters_per_unit=meters)["limits"]["x"]["bounceThreshold"] == near(bounce)
    assert joint(REVOLUTE, bounds(5, -5), meters_per_unit=meters)["limits"]["twist"]["bounceThreshold"] == 0.5


@pytest.mark.parametrize(("a", "b"), [(0, 20), (180, 20), (200, 20), (0, 0)])
def test_sph_zero_and_sph_180_keep_the_default_cone(a: float, b: float) -> None:
    doc = joint(SPHERICAL, {"physics:coneAngle0Limit": float(a), "physics:coneAngle1Limit": float(b)})
    assert motion(doc) == "---FLL"
    assert doc["limits"]["cone"] == {**PLAIN, "yAngle": near(math.pi / 2), "zAngle": near(math.pi / 2), "bounceThreshold": 0.5}


@pytest.mark.parametrize("tuning", [{"restitution": 2.0}, {"stiffness": 1.0, "damping": math.nan}, {"bounceThreshold": math.nan}])
def test_invalid_tuning_refuses_the_limit(tuning: dict[str, float]) -> None:
    doc = joint(REVOLUTE, bounds(-1, 1) | {f"physxLimit:angular:{k}": v for k, v in tuning.items()}, ["PhysxLimitAPI:angular"])
    assert doc["limits"]["twist"] == {**PLAIN, "lower": near(-math.pi / 2), "upper": near(math.pi / 2), "bounceThreshold": 0.5}


def test_d6_none() -> None:
    doc = joint(D6)
    assert motion(doc) == "FFFFFF"
    assert doc["limits"] == {}


@pytest.mark.parametrize(
    ("instance", "low", "high", "want"),
    [
        ("transX", 1, -1, "-FFFFF"),
        ("rotX", math.inf, -math.inf, "FFF-FF"),  # d6_inf_swapped: locks though not enabled
        ("rotY", 6e37, -6e37, "FFFF-F"),
        ("rotX", 0, 0, "FFFLFF"),  # d6_equal
        ("transY", -math.inf, math.inf, "FFFFFF"),
        ("rotX", math.nan, math.nan, "FFFFFF"),
    ],
)
def test_d6_motion(instance: str, low: float, high: float, want: str) -> None:
    assert motion(joint(D6, limits(instance, low, high), [f"PhysicsLimitAPI:{instance}"])) == want


def test_d6_rotz_only_has_half_a_pyramid() -> None:
    doc = joint(D6, limits("rotZ", -10, 20), ["PhysicsLimitAPI:rotZ"])
    assert motion(doc) == "FFFFFL"
    assert doc["limits"]["pyramid"] == {**PLAIN, "y": [0.0, 0.0], "z": near([-0.1745329, 0.3490659])}


def test_d6_onesided_rot_keeps_the_default_pyramid() -> None:
    doc = joint(D6, limits("rotY", -20, math.inf) | limits("rotZ", -5, 6), ["PhysicsLimitAPI:rotY", "PhysicsLimitAPI:rotZ"])
    default = near([-math.pi / 2, math.pi / 2])
    assert doc["limits"]["pyramid"] == {**PLAIN, "y": default, "z": default, "bounceThreshold": 0.5}


def test_d6_twist_is_clamped_to_a_turn() -> None:
    twist = joint(D6, limits("rotX", -400, math.inf), ["PhysicsLimitAPI:rotX"])["limits"]["twist"]
    assert [twist["lower"], twist["upper"]] == near([-6.283185, 6.283185])


def test_d6_distance_limits_free_axes() -> None:
    columns = limits("distance", 0, 3, stiffness=2.0, damping=1.0, restitution=0.5, bounceThreshold=1.0) | limits("transX", 1, -1)
    doc = joint(D6, columns, listed("distance", "transX"))
    assert motion(doc) == "-LLFFF"
    assert doc["limits"]["distance"] == {"value": 3.0, "restitution": 0.0, "bounceThreshold": 0.0, "stiffness": 2.0, "damping": 1.0}
    assert doc["limits"]["y"]["lower"] == near(-LINEAR_DEFAULT)


def test_d6_dist_unauth_limits_the_axes_anyway() -> None:
    doc = joint(D6, limits("distance", -math.inf, math.inf), ["PhysicsLimitAPI:distance"])
    assert motion(doc) == "LLLFFF"
    assert "distance" not in doc["limits"]


@pytest.mark.parametrize("bad", [{"stiffness": -1.0}, {"damping": math.nan}, {"maxForce": -4.0}, {"stiffness": math.inf}])
def test_invalid_drive_drives_nothing_but_keeps_its_target(bad: dict[str, float]) -> None:
    columns = FREE | drive("angular", targetPosition=90.0, **{"stiffness": 1.0, **bad})
    doc = joint(REVOLUTE, columns, ["PhysicsDriveAPI:angular"])
    assert doc["drives"] == {}
    assert doc["drivePosition"]["q"] == quaternion(math.sqrt(0.5), 0, 0, math.sqrt(0.5))


def test_non_finite_targets_are_refused_apart() -> None:
    columns = drive("rotX", targetPosition=math.nan, stiffness=1.0) | drive("transX", targetPosition=4.0, targetVelocity=7.0)
    doc = joint(D6, columns, ["PhysicsDriveAPI:rotX", "PhysicsDriveAPI:transX"])
    assert doc["drivePosition"] == {"p": [0.0, 0.0, 0.0], "q": [0.0, 0.0, 0.0, 1.0]}
    assert doc["driveLinearVelocity"] == [7.0, 0.0, 0.0]
    assert list(doc["drives"]) == ["twist"]


@pytest.mark.parametrize(("force", "want"), [(math.nan, FLT_MAX), (-math.inf, FLT_MAX), (math.inf, FLT_MAX), (-3.0, -3.0), (0.0, 0.0)])
def test_breakneg(force: float, want: float) -> None:
    assert joint(FIXED, {"physics:breakForce": force})["breakForce"] == want


@pytest.mark.parametrize(("low", "want"), [(math.inf, 0.0), (-1.0, 0.0), (2.0, 2.0)])
def test_dist_neg_and_infinite(low: float, want: float) -> None:
    distance = joint(DISTANCE, {"physics:minDistance": low})["distance"]
    assert distance["minEnabled"] == (low >= 0)
    assert distance["minDistance"] == want


def test_sph_y_and_sph_z_frames() -> None:
    assert joint(SPHERICAL, {"physics:axis": "Y"})["localPose0"]["q"] == quaternion(0.5, 0.5, 0.5, 0.5)
    assert joint(SPHERICAL, {"physics:axis": "Z"})["localPose0"]["q"] == quaternion(0.5, -0.5, 0.5, 0.5)


def test_standalone_apis_are_inert_and_told_of() -> None:
    schemas = ["PhysxJointAxisAPI:angular", "PhysxDrivePerformanceEnvelopeAPI:angular", "PhysicsDriveAPI:angular", "PhysicsJointStateAPI:angular"]
    columns = {**FREE, "physxJoint:jointFriction": 0.5, "state:angular:physics:position": 3.0}
    hand = world().joint("/R/J", REVOLUTE, columns, [*schemas, "PhysxJointAPI"], "/R/A", "/R/B")
    assert {"inert-axis-api", "inert-envelope", "inert-state", "inert-joint-friction"} <= codes(hand)


@pytest.mark.parametrize(
    ("kind", "columns", "schemas", "want"),
    [
        (REVOLUTE, bounds(30, -30), [], {"invalid-limit", "reversed-limit"}),
        (REVOLUTE, bounds(-30, math.inf), [], {"clamped-limit", "one-sided-limit"}),
        (PRISMATIC, bounds(-2, math.inf), [], {"invalid-limit", "one-sided-limit"}),
        (D6, limits("rotZ", -1, 1), ["PhysicsLimitAPI:rotZ"], {"half-pyramid"}),
        (D6, limits("distance", 1, 3), ["PhysicsLimitAPI:distance"], {"distance-minimum-ignored"}),
        (REVOLUTE, FREE | drive("angular", stiffness=-1.0), ["PhysicsDriveAPI:angular"], {"invalid-drive"}),
        (REVOLUTE, FREE | drive("angular", targetVelocity=math.nan), ["PhysicsDriveAPI:angular"], {"invalid-drive-target"}),
        (DISTANCE, {"physics:minDistance": math.inf}, [], {"invalid-distance"}),
    ],
)
def test_diagnostics(kind: str, columns: dict[str, float], schemas: list[str], want: set[str]) -> None:
    hand = world().joint("/R/J", kind, columns, schemas, "/R/A", "/R/B")
    assert want <= codes(hand)
