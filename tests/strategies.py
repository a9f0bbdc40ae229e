"""Hypothesis strategies: paths, column values, stages."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from consumer.blocks import RECORDS
from ovsim.contract.joints import JOINT_TYPES
from ovsim.stage import Stage, StageBuilder

_NAME = st.text("AZaz_09\u00e9\u4e2d", min_size=1, max_size=3)
_ODD = st.text("Aa0-! .#", min_size=1, max_size=3).filter(lambda t: "." not in t)
_PROPERTY = st.sampled_from(["", ".a", ".physics:mass", ".A"])


@st.composite
def paths(draw: Any, name: st.SearchStrategy[str] = _NAME) -> list[str]:
    """Prim and property paths that share ancestors."""
    names = draw(st.lists(name, min_size=1, max_size=5))
    rows = draw(st.lists(st.lists(st.sampled_from(names), min_size=1, max_size=5), max_size=20))
    return ["/" + "/".join(r) + draw(_PROPERTY) for r in rows]


def odd_paths() -> st.SearchStrategy[list[str]]:
    """Paths whose names hold bytes that sort below the separators."""
    return paths(_ODD)


FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 30.0, float("inf"), float("-inf"), float("nan"), 3.4028234663852886e38, 6e37, -6e37, 1e-40]),
    st.floats(width=32),
    st.floats(-500, 500, width=32),
)


def _floats(draw: Any, *shape: int) -> np.ndarray:
    n = int(np.prod(shape))
    return np.array(draw(st.lists(FLOATS, min_size=n, max_size=n)), np.float32).reshape(shape)


def _apis(kind: str) -> list[tuple[str, list[str]]]:
    """Every API instance that a joint type reads, with its float columns."""
    records = RECORDS[kind]
    out = [("PhysxJointAPI", ["physxJoint:jointFriction", "physxJoint:armature", "physxJoint:maxJointVelocity"])]
    out.append(("NewtonJointAPI", ["newton:velocityLimit"]))
    tuning = ("restitution", "bounceThreshold", "stiffness", "damping")
    for i in records["limit"]:
        out.append((f"PhysxLimitAPI:{i}", [f"physxLimit:{i}:{n}" for n in tuning]))
        if kind == "PhysicsJoint":
            out.append((f"PhysicsLimitAPI:{i}", [f"limit:{i}:physics:{n}" for n in ("low", "high")]))
    for i in records["drive"]:
        names = ("targetPosition", "targetVelocity", "stiffness", "damping", "maxForce")
        out.append((f"PhysicsDriveAPI:{i}", [f"drive:{i}:physics:{n}" for n in names]))
        names = ("maxActuatorVelocity", "velocityDependentResistance", "speedEffortGradient")
        out.append((f"PhysxDrivePerformanceEnvelopeAPI:{i}", [f"physxDrivePerformanceEnvelope:{i}:{n}" for n in names]))
    for i in records["state"]:
        out.append((f"PhysicsJointStateAPI:{i}", [f"state:{i}:physics:{n}" for n in ("position", "velocity")]))
    for i in records["properties"]:
        names = ("armature", "maxJointVelocity", "staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")
        out.append((f"PhysxJointAxisAPI:{i}", [f"physxJointAxis:{i}:{n}" for n in names]))
    return out


_OWN = {
    "PhysicsRevoluteJoint": ["physics:lowerLimit", "physics:upperLimit"],
    "PhysicsPrismaticJoint": ["physics:lowerLimit", "physics:upperLimit"],
    "PhysicsSphericalJoint": ["physics:coneAngle0Limit", "physics:coneAngle1Limit"],
    "PhysicsDistanceJoint": ["physics:minDistance", "physics:maxDistance"],
    "PhysxPhysicsGearJoint": ["physics:gearRatio"],
    "PhysxPhysicsRackAndPinionJoint": ["physics:ratio"],
}


@st.composite
def stages(draw: Any) -> Stage:
    """Bodies, colliders and Xforms in a small namespace, joints of every type with odd values, targets that may not exist."""
    builder = StageBuilder()
    places = draw(st.lists(st.sampled_from(["/W", "/W/a", "/W/a/b", "/W/c", "/X", "/X/y", "/X/y/z"]), unique=True, min_size=1))
    for path in sorted(places):
        schemas = draw(st.lists(st.sampled_from(["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]), unique=True))
        columns: dict[str, Any] = {}
        if draw(st.booleans()):
            columns["omni:xform"] = _floats(draw, 1, 16).astype(np.float64) if draw(st.booleans()) else np.eye(4).reshape(1, 16)
        if "PhysicsRigidBodyAPI" in schemas:
            columns["physics:rigidBodyEnabled"] = [draw(st.booleans())]
        if draw(st.booleans()):
            columns["omni:resetXformStack"] = [draw(st.booleans())]
        builder.add("Xform", [path], columns, schemas)
    targets = [*places, "/W/a/b/Nope", "/Gone", "/W/a.prop"]
    for g in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(JOINT_TYPES))
        n = draw(st.integers(1, 3))
        columns, schemas = {}, []
        for name in _OWN.get(kind, []):
            if draw(st.booleans()):
                columns[name] = _floats(draw, n)
        for api, names in _apis(kind):
            if draw(st.integers(0, 3)) == 0:
                schemas.append(api)
                columns |= {name: _floats(draw, n) for name in names if draw(st.booleans())}
        for name in ("physics:breakForce", "physics:breakTorque"):
            if draw(st.booleans()):
                columns[name] = _floats(draw, n)
        for k in "01":
            if draw(st.booleans()):
                columns[f"physics:localPos{k}"] = _floats(draw, n, 3)
            if draw(st.booleans()):
                columns[f"physics:localRot{k}"] = _floats(draw, n, 4)
            if draw(st.booleans()):
                columns[f"physics:body{k}"] = draw(st.lists(st.lists(st.sampled_from(targets), max_size=2), min_size=n, max_size=n))
        if draw(st.booleans()):
            columns["physics:axis"] = draw(st.lists(st.sampled_from(["X", "Y", "Z", "y"]), min_size=n, max_size=n))
        builder.add(kind, [f"/J{draw(st.integers(0, 9))}{'abc'[i]}{g}" for i in range(n)], columns, schemas)
    return builder.finish()
