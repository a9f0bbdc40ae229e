"""Articulation joints: spec 8.3 and the test vectors of its appendix, each by name."""

from __future__ import annotations

import math
from typing import Any

import pytest
from physx_hand import D6, DISTANCE, FIXED, FREE, PRISMATIC, REVOLUTE, SPHERICAL, codes, document, joint, near, quaternion, world

LANES = ("rotX", "rotY", "rotZ")


def state(instance: str, position: float, velocity: float) -> dict[str, float]:
    return {f"state:{instance}:physics:position": position, f"state:{instance}:physics:velocity": velocity}


def rev_all(flipped: bool) -> dict[str, Any]:
    columns: dict[str, Any] = {"physics:axis": "Z", "physics:lowerLimit": -30.0, "physics:upperLimit": 60.0}
    drive = {"stiffness": 2.0, "damping": 3.0, "targetPosition": 20.0, "targetVelocity": 10.0, "maxForce": 8.0}
    columns |= {f"drive:angular:physics:{k}": v for k, v in drive.items()}
    columns |= state("angular", 15.0, 25.0)
    envelope = {"maxActuatorVelocity": 180.0, "speedEffortGradient": 2.0, "velocityDependentResistance": 0.5}
    columns |= {f"physxDrivePerformanceEnvelope:angular:{k}": v for k, v in envelope.items()}
    axis = {"armature": 0.01, "maxJointVelocity": 90.0, "staticFrictionEffort": 5.0, "dynamicFrictionEffort": 3.0, "viscousFrictionCoefficient": 0.1}
    columns |= {f"physxJointAxis:angular:{k}": v for k, v in axis.items()}
    columns["physxJoint:jointFriction"] = 0.7
    apis = ("PhysicsDriveAPI", "PhysicsJointStateAPI", "PhysxDrivePerformanceEnvelopeAPI", "PhysxJointAxisAPI")
    return joint(REVOLUTE, columns, [*(f"{a}:angular" for a in apis), "PhysxJointAPI"], articulated=True, flipped=flipped)


def test_rev_all() -> None:
    doc = rev_all(False)
    assert (doc["type"], doc["parent"], doc["child"], doc["articulation"]) == ("revolute_unwrapped", "/R/A", "/R/B", "/R")
    assert doc["parentPose"]["q"] == quaternion(0, -math.sqrt(0.5), 0, math.sqrt(0.5))
    assert doc["frictionCoefficient"] == near(0.7)
    axis = doc["axes"]["twist"]
    assert axis["motion"] == "limited"
    assert axis["limit"] == near([-0.5235988, 1.0471976])
    assert axis["drive"] == {
        "type": "force",
        "stiffness": near(114.5916),
        "damping": near(171.8873),
        "maxForce": 0.0,
        "maxEffort": 8.0,
        "maxActuatorVelocity": near(math.pi),
        "velocityDependentResistance": near(28.647890),
        "speedEffortGradient": near(0.0349066),
    }
    want = {
        "target": 0.3490659,
        "velocityTarget": 0.1745329,
        "position": 0.2617994,
        "velocity": 0.4363323,
        "armature": 0.01,
        "maxJointVelocity": 1.570796,
    }
    assert {k: axis[k] for k in want} == near(want)
    assert [axis[k] for k in ("staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")] == near([5, 3, 5.729578])


def test_rev_all_flip() -> None:
    doc, straight = rev_all(True), rev_all(False)
    axis, other = doc["axes"]["twist"], straight["axes"]["twist"]
    assert (doc["parent"], doc["child"]) == ("/R/A", "/R/B")
    assert axis["limit"] == near([-1.0471976, 0.5235988])
    for name in ("target", "velocityTarget", "position", "velocity"):
        assert axis[name] == near(-other[name])
    assert axis["drive"] == other["drive"]
    assert axis["armature"] == other["armature"]


@pytest.mark.parametrize(("flipped", "sign", "limit"), [(False, 1, [-2.0, 5.0]), (True, -1, [-5.0, 2.0])])
def test_pris_art(flipped: bool, sign: int, limit: list[float]) -> None:
    columns = {"physics:lowerLimit": -2.0, "physics:upperLimit": 5.0, **state("linear", 1.0, 0.0)}
    columns |= {"drive:linear:physics:targetPosition": 3.0, "drive:linear:physics:targetVelocity": 4.0}
    doc = joint(PRISMATIC, columns, ["PhysicsDriveAPI:linear", "PhysicsJointStateAPI:linear"], articulated=True, flipped=flipped)
    axis = doc["axes"]["x"]
    assert doc["type"] == "prismatic"
    assert axis["limit"] == limit
    assert [axis["target"], axis["velocityTarget"], axis["position"]] == [3.0 * sign, 4.0 * sign, 1.0 * sign]


def d6_art(flipped: bool) -> dict[str, Any]:
    columns = {"limit:rotX:physics:low": -30.0, "limit:rotX:physics:high": 40.0, "limit:rotY:physics:low": 10.0, "limit:rotY:physics:high": -20.0}
    columns |= {"limit:rotZ:physics:low": -15.0, "limit:rotZ:physics:high": math.inf}
    return joint(D6, columns, [f"PhysicsLimitAPI:{i}" for i in LANES], articulated=True, flipped=flipped)


def test_d6_art() -> None:
    doc = d6_art(False)
    assert doc["type"] == "spherical"
    assert [doc["axes"][a]["motion"] for a in ("twist", "swing1", "swing2")] == ["limited", "locked", "limited"]
    assert doc["axes"]["twist"]["limit"] == near([-0.5235988, 0.6981317])
    assert doc["axes"]["swing2"]["limit"] == [0.0, 0.0]


def test_d6_art_flip() -> None:
    doc = d6_art(True)
    assert doc["axes"]["twist"]["limit"] == near([-0.6981317, 0.5235988])
    assert doc["axes"]["swing1"]["motion"] == "locked"


def test_locked_twist_is_left_out() -> None:
    columns = {"limit:rotX:physics:low": 1.0, "limit:rotX:physics:high": -1.0}
    assert list(joint(D6, columns, ["PhysicsLimitAPI:rotX"], articulated=True)["axes"]) == ["swing1", "swing2"]


def test_sph_limits() -> None:
    columns = {"physics:axis": "Y", "physics:coneAngle0Limit": 20.0, "physics:coneAngle1Limit": 40.0}
    doc = joint(SPHERICAL, columns, articulated=True)
    assert doc["parentPose"]["q"] == quaternion(0.5, 0.5, 0.5, 0.5)
    assert doc["childPose"]["q"] == quaternion(0.5, 0.5, 0.5, 0.5)
    assert doc["axes"]["twist"]["motion"] == "free"
    assert doc["axes"]["swing1"]["limit"] == near([-0.3490658, 0.3490658])
    assert doc["axes"]["swing2"]["limit"] == near([-0.6981317, 0.6981317])


def test_sph_zero_is_accepted_in_an_articulation() -> None:
    doc = joint(SPHERICAL, {"physics:coneAngle0Limit": 0.0, "physics:coneAngle1Limit": 180.0}, articulated=True)
    assert doc["axes"]["swing1"]["limit"] == [0.0, 0.0]
    assert doc["axes"]["swing2"]["limit"] == near([-math.pi, math.pi])


@pytest.mark.parametrize(
    ("low", "high", "want"),
    [
        (30, -30, [0.0, 0.0]),  # rev_swapped_lim
        (-30, math.inf, [0.0, 0.0]),  # rev_onesided
        (math.nan, 30, [0.0, 0.0]),
        (-720, 720, [-12.566371, 12.566371]),  # art_rev_720: the unwrapped type takes any bound
        (190, 200, [3.3161256, 3.4906585]),
    ],
)
def test_revolute_bounds(low: float, high: float, want: list[float]) -> None:
    doc = joint(REVOLUTE, {"physics:lowerLimit": low, "physics:upperLimit": high}, articulated=True)
    assert doc["type"] == "revolute_unwrapped"
    assert doc["axes"]["twist"]["limit"] == near(want)


def test_pris_onesided_locks() -> None:
    doc = joint(PRISMATIC, {"physics:lowerLimit": -2.0, "physics:upperLimit": math.inf}, articulated=True)
    assert doc["axes"]["x"]["limit"] == [0.0, 0.0]


@pytest.mark.parametrize(("high", "want"), [(200.0, [0.0, 0.0]), (180.0, [0.0, math.pi])])
def test_art_d6_200(high: float, want: list[float]) -> None:
    columns = {"limit:rotX:physics:low": 0.0, "limit:rotX:physics:high": high}
    assert joint(D6, columns, ["PhysicsLimitAPI:rotX"], articulated=True)["axes"]["twist"]["limit"] == near(want)


@pytest.mark.parametrize(("target", "want"), [(725.0, 0.0872660), (360.0, 0.0), (-800.0, -1.3962631), (math.nan, 0.0), (math.inf, 0.0)])
def test_rev_drive_big(target: float, want: float) -> None:
    doc = joint(REVOLUTE, {**FREE, "drive:angular:physics:targetPosition": target}, ["PhysicsDriveAPI:angular"], articulated=True)
    assert doc["type"] == "revolute"
    assert doc["axes"]["twist"]["target"] == near(want)


def test_limited_target_is_not_wrapped() -> None:
    columns = {"physics:lowerLimit": -10.0, "physics:upperLimit": 10.0, "drive:angular:physics:targetPosition": -800.0}
    doc = joint(REVOLUTE, columns, ["PhysicsDriveAPI:angular"], articulated=True)
    assert doc["axes"]["twist"]["target"] == near(-13.962634)


@pytest.mark.parametrize(("position", "want"), [(200.0, 3.4906585), (400.0, 0.0), (math.nan, 0.0), (math.inf, 0.0)])
def test_state_rev_wrap(position: float, want: float) -> None:
    doc = joint(REVOLUTE, {**FREE, **state("angular", position, 0.0)}, ["PhysicsJointStateAPI:angular"], articulated=True)
    assert doc["axes"]["twist"]["position"] == near(want)


def test_state_beyond_the_limit_is_kept() -> None:
    columns = {"physics:lowerLimit": -10.0, "physics:upperLimit": 10.0, **state("angular", 400.0, 0.0)}
    doc = joint(REVOLUTE, columns, ["PhysicsJointStateAPI:angular"], articulated=True)
    assert doc["axes"]["twist"]["position"] == near(6.981317)


@pytest.mark.parametrize("efforts", [(1.0, 2.0), (math.nan, 2.0)])
def test_friction_order(efforts: tuple[float, float]) -> None:
    columns = {**FREE, "physxJointAxis:angular:staticFrictionEffort": efforts[0], "physxJointAxis:angular:dynamicFrictionEffort": efforts[1]}
    columns["physxJointAxis:angular:viscousFrictionCoefficient"] = 3.0
    axis = joint(REVOLUTE, columns, ["PhysxJointAxisAPI:angular"], articulated=True)["axes"]["twist"]
    assert [axis[k] for k in ("staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("bad", [{"maxForce": -5.0}, {"maxActuatorVelocity": math.nan}])
def test_invalid_envelope_refuses_the_drive_but_not_its_target(bad: dict[str, float]) -> None:
    columns = {**FREE, "drive:angular:physics:stiffness": 1.0, "drive:angular:physics:targetPosition": 30.0}
    for name, value in bad.items():
        columns[("drive:angular:physics:" if name == "maxForce" else "physxDrivePerformanceEnvelope:angular:") + name] = value
    axis = joint(REVOLUTE, columns, ["PhysicsDriveAPI:angular", "PhysxDrivePerformanceEnvelopeAPI:angular"], articulated=True)["axes"]["twist"]
    assert "drive" not in axis
    assert axis["target"] == near(0.5235988)


def test_env_default() -> None:
    doc = joint(REVOLUTE, FREE, ["PhysicsDriveAPI:angular", "PhysxDrivePerformanceEnvelopeAPI:angular"], articulated=True)
    drive = doc["axes"]["twist"]["drive"]
    assert [drive["maxForce"], drive["maxEffort"], drive["maxActuatorVelocity"]] == [0.0, pytest.approx(3.4028235e38), pytest.approx(3.4028235e38)]


def test_rev_envelope_nodrive() -> None:
    assert "drive" not in joint(REVOLUTE, FREE, ["PhysxDrivePerformanceEnvelopeAPI:angular"], articulated=True)["axes"]["twist"]


def test_fixed_joint_has_friction_and_no_axes() -> None:
    doc = joint(FIXED, {"physxJoint:jointFriction": 3.0}, ["PhysxJointAPI"], articulated=True)
    assert (doc["type"], doc["frictionCoefficient"], doc["axes"]) == ("fix", 3.0, {})


def test_refused_poses_are_replaced() -> None:
    """Observed: a zero quaternion leaves the world pose of the child as parent pose, the identity as child pose."""
    zero = (0.0, 0.0, 0.0, 0.0)
    columns = {**FREE, "physics:localRot0": zero, "physics:localRot1": zero, "physics:localPos0": (1.0, 0.0, 0.0)}
    doc = joint(REVOLUTE, columns, articulated=True)
    assert doc["parentPose"] == {"p": [3.0, 0.0, 0.0], "q": [0.0, 0.0, 0.0, 1.0]}
    assert doc["childPose"] == {"p": [0.0, 0.0, 0.0], "q": [0.0, 0.0, 0.0, 1.0]}


def test_distance_joint_stays_standalone() -> None:
    hand = world(articulated=True).joint("/R/J", DISTANCE, {}, (), "/R/A", "/R/B")
    assert document(hand)["joints"]["/R/J"]["kind"] == "standalone"
    assert "unsupported-in-articulation" in codes(hand)


@pytest.mark.parametrize(
    ("kind", "columns", "schemas", "want"),
    [
        (REVOLUTE, {"physics:lowerLimit": 3.0, "physics:upperLimit": -3.0}, [], {"invalid-limit", "reversed-limit"}),
        (REVOLUTE, {**FREE, "drive:angular:physics:targetPosition": 725.0}, ["PhysicsDriveAPI:angular"], {"drive-target-wrapped"}),
        (REVOLUTE, {**FREE, "physics:collisionEnabled": True, "physics:breakForce": 3.0}, [], {"collision-ignored", "break-ignored"}),
        (REVOLUTE, {**FREE, **state("angular", 400.0, 0.0)}, ["PhysicsJointStateAPI:angular"], {"invalid-state"}),
        (D6, state("transX", 1.0, 1.0), ["PhysicsDriveAPI:transX", "PhysicsJointStateAPI:transX"], {"linear-drive-ignored", "linear-state-ignored"}),
        (D6, {}, [], {"linear-motion-locked"}),
        (REVOLUTE, {"physxLimit:angular:stiffness": 3.0}, ["PhysxLimitAPI:angular"], {"limit-tuning-ignored"}),
        (REVOLUTE, {**FREE, "physxJointAxis:angular:dynamicFrictionEffort": 3.0}, ["PhysxJointAxisAPI:angular"], {"invalid-friction"}),
        (
            REVOLUTE,
            {**FREE, "drive:angular:physics:maxForce": -1.0},
            ["PhysicsDriveAPI:angular", "PhysxDrivePerformanceEnvelopeAPI:angular"],
            {"invalid-envelope"},
        ),
        (REVOLUTE, {**FREE, "physics:localRot0": (0.0, 0.0, 0.0, 0.0)}, [], {"replaced-pose"}),
    ],
)
def test_diagnostics(kind: str, columns: dict[str, Any], schemas: list[str], want: set[str]) -> None:
    assert want <= codes(world(articulated=True).joint("/R/J", kind, columns, schemas, "/R/A", "/R/B"))


def test_reversed_parent_is_told() -> None:
    assert "reversed-parent" in codes(world(articulated=True).joint("/R/J", REVOLUTE, FREE, (), "/R/B", "/R/A"))
