"""Resolves a random stage and writes every array's bytes; run once jitted and once interpreted by `test_jit_agrees`."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np

import consumer
from consumer.blocks import RECORDS
from ovsim.contract.joints import JOINT_TYPES
from ovsim.stage import StageBuilder

SPECIAL = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3.4028234663852886e38, 6e37, -6e37, 1e-40, 1e-24, 1e30, 180], np.float32)


def values(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Ordinary numbers with special ones among them."""
    out = rng.normal(size=shape).astype(np.float32) * 50
    pick = rng.random(shape) < 0.2
    out[pick] = rng.choice(SPECIAL, int(pick.sum()))
    return out


def api_columns(kind: str) -> dict[str, list[str]]:
    """Float columns of every API instance that a type reads."""
    out = {"PhysxJointAPI": ["physxJoint:jointFriction", "physxJoint:armature", "physxJoint:maxJointVelocity"]}
    out["NewtonJointAPI"] = ["newton:velocityLimit"]
    out["PhysxPhysicsDistanceJointAPI"] = [f"physxPhysicsDistanceJoint:spring{n}" for n in ("Stiffness", "Damping")]
    own = ("armature", "maxJointVelocity", "staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")
    for i in RECORDS[kind]["limit"]:
        out[f"PhysxLimitAPI:{i}"] = [f"physxLimit:{i}:{n}" for n in ("restitution", "bounceThreshold", "stiffness", "damping")]
        out[f"PhysicsLimitAPI:{i}"] = [f"limit:{i}:physics:{n}" for n in ("low", "high")]
    for i in RECORDS[kind]["drive"]:
        drive = ("targetPosition", "targetVelocity", "stiffness", "damping", "maxForce")
        envelope = ("maxActuatorVelocity", "velocityDependentResistance", "speedEffortGradient")
        out[f"PhysicsDriveAPI:{i}"] = [f"drive:{i}:physics:{n}" for n in drive]
        out[f"PhysxDrivePerformanceEnvelopeAPI:{i}"] = [f"physxDrivePerformanceEnvelope:{i}:{n}" for n in envelope]
    for i in RECORDS[kind]["state"]:
        out[f"PhysicsJointStateAPI:{i}"] = [f"state:{i}:physics:{n}" for n in ("position", "velocity")]
    for i in RECORDS[kind]["properties"]:
        out[f"PhysxJointAxisAPI:{i}"] = [f"physxJointAxis:{i}:{n}" for n in own]
    return out


def stage(seed: int):
    """Nested bodies with shear, mirrors and special numbers; joints of every type."""
    rng = np.random.default_rng(seed)
    builder = StageBuilder()
    places: list[str] = []
    for i in range(30):
        path = f"{rng.choice(places) if places and rng.random() < 0.6 else ''}/p{i}"
        local = np.eye(4)
        local[:3] = rng.normal(size=(3, 4)) * [1, 1, 1, 0]
        local[3, :3] = rng.normal(size=3) * 10
        if rng.random() < 0.2:
            local[:3, :3] = np.diag(rng.choice([1, 2, -1, 0, 1e-6], 3))
        schemas = [a for a in ("PhysicsRigidBodyAPI", "PhysicsCollisionAPI") if rng.random() < 0.4]
        columns = {"omni:xform": local.reshape(1, 16), "omni:resetXformStack": [bool(rng.random() < 0.1)]}
        if "PhysicsRigidBodyAPI" in schemas:
            columns["physics:rigidBodyEnabled"] = [bool(rng.random() < 0.8)]
        builder.add("Xform", [path], columns, schemas)
        places.append(path)
    targets = [*places, "/Nope", places[3] + "/gone", places[0] + ".prop", "/J_0_0_0"]
    bounds = ("lowerLimit", "upperLimit", "coneAngle0Limit", "coneAngle1Limit", "minDistance", "maxDistance", "gearRatio", "ratio", "breakForce")
    for k, kind in enumerate(JOINT_TYPES):
        for g in range(3):
            n = 12
            columns = {f"physics:{b}": values(rng, n) for b in bounds if rng.random() < 0.7}
            columns["physics:axis"] = rng.choice(["X", "Y", "Z"], n).tolist()
            for s in "01":
                columns[f"physics:localPos{s}"] = values(rng, n, 3)
                columns[f"physics:localRot{s}"] = values(rng, n, 4)
                columns[f"physics:body{s}"] = [[str(rng.choice(targets))] * int(rng.integers(0, 3)) for _ in range(n)]
            schemas = []
            for api, names in api_columns(kind).items():
                if rng.random() < 0.6:
                    schemas.append(api)
                    columns |= {name: values(rng, n) for name in names if rng.random() < 0.8}
            builder.add(kind, [f"/J_{rng.integers(9)}_{k}_{g * n + i}" for i in range(n)], columns, schemas)
    return builder.finish()


def main(out: str) -> None:
    arrays = {}
    for seed in range(3):
        for rules in ("contract-0.6", "observed-0.6.3"):
            for block in consumer.resolve(stage(seed), rules).blocks:
                for f in dataclasses.fields(block):
                    if f.name != "type_name":
                        arrays[f"{seed}/{rules}/{block.type_name}/{f.name}"] = getattr(block, f.name)
    np.savez(out, **arrays)


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main(sys.argv[1])
