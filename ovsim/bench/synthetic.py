"""Synthetic stages without USD: robots of 12 joints and 13 bodies as archetypes, made column by column.

Rows hold the columns that population writes for a joint (producer facts, rules 9 to 11) and, of a body, the columns that the joint parser reads.
Every robot has the same 13 local body matrices (rotations about general axes, scales other than one) and the same 12 pairs of joint frames, which
meet in the world; every robot stands at a place and a heading of its own, and limits, gains and break limits vary from joint to joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ovsim import contract
from ovsim.contract.joints import D6, DISTANCE, FIXED, GEAR, PRISMATIC, RACK, REVOLUTE, SPHERICAL
from ovsim.stage import ROOT, PathDictionary, Stage, StageBuilder
from ovsim.stage import columns as col

Array = npt.NDArray[Any]
JOINTS, BODIES = 12, 13  # of a robot
KINDS: Mapping[str, tuple[str, ...]] = {
    "mixed": (REVOLUTE, PRISMATIC, SPHERICAL, D6, FIXED, DISTANCE),
    "fixed": (FIXED,),
    "revolute": (REVOLUTE,),
    "prismatic": (PRISMATIC,),
    "spherical": (SPHERICAL,),
    "distance": (DISTANCE,),
    "d6": (D6,),
    "gear": (GEAR,),
    "rack": (RACK,),
}
"""Kind of stage to the joint types that a robot's 12 joints go through in turn."""

_APIS: Mapping[str, tuple[str, ...]] = {
    REVOLUTE: ("PhysicsDriveAPI:angular", "PhysxJointAxisAPI:angular", "PhysxLimitAPI:angular"),
    PRISMATIC: ("PhysicsDriveAPI:linear", "PhysxJointAPI", "PhysxJointAxisAPI:linear", "PhysxLimitAPI:linear"),
    SPHERICAL: ("PhysxLimitAPI:cone",),
    DISTANCE: ("PhysxPhysicsDistanceJointAPI",),
    D6: ("PhysicsDriveAPI:rotX", "PhysicsLimitAPI:rotX", "PhysicsLimitAPI:transX", "PhysicsLimitAPI:transY", "PhysicsLimitAPI:transZ"),
}
_HEADING = 0.7  # radians from one robot's heading to the next
# values that vary over the rows: column ending to (low, high)
_SPREAD: Mapping[str, tuple[float, float]] = {
    "physics:lowerLimit": (-90.0, 0.0),
    "physics:upperLimit": (0.0, 90.0),
    "physics:coneAngle0Limit": (30.0, 40.0),
    "physics:coneAngle1Limit": (30.0, 40.0),
    "physics:minDistance": (0.0, 0.01),
    "physics:maxDistance": (0.5, 1.0),
    "physics:breakForce": (1e5, 2e5),
    "physics:breakTorque": (1e5, 2e5),
    "rotX:physics:low": (-45.0, 0.0),
    "rotX:physics:high": (0.0, 45.0),
    "physics:stiffness": (0.0, 100.0),
    "physics:damping": (0.0, 10.0),
    "physics:maxForce": (500.0, 1000.0),
    "physics:targetPosition": (0.0, 1.0),
    ":stiffness": (0.0, 50.0),
    ":damping": (0.0, 5.0),
    ":armature": (0.0, 1.0),
    ":springStiffness": (5.0, 10.0),
    ":springDamping": (0.5, 1.0),
    "physics:gearRatio": (0.5, 2.0),
    "physics:ratio": (10.0, 90.0),
}
_CONSTANT: Mapping[str, Any] = {
    "physics:low": 1.0,  # low above high locks a D6 axis
    "physics:high": -1.0,
    "physics:type": "force",
    "physxJointAxis:angular:maxJointVelocity": 100.0,
    "physxJointAxis:linear:maxJointVelocity": 100.0,
    "physxPhysicsDistanceJoint:springEnabled": True,
}


def synthetic_stage(joints: int, kind: str = "mixed", seed: int = 0) -> Stage:
    """A stage with at least `joints` joints, rounded up to whole robots; `kind` is one of `KINDS` (ValueError otherwise, and below 1 joint)."""
    if kind not in KINDS:
        raise ValueError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
    if joints < 1:
        raise ValueError(f"a stage has at least 1 joint, not {joints}")
    robots = -(-joints // JOINTS)
    builder = StageBuilder()
    builder.units(1.0, 1.0, "Z")
    world, robot, first = _paths(builder.paths, robots)
    identity = np.eye(4).reshape(1, 16)
    builder.add("Xform", world, {"omni:xform": identity, "omni:resetXformStack": np.zeros(1, np.uint8)})
    builder.add("Xform", robot, {"omni:xform": _places(robots), "omni:resetXformStack": np.zeros(robots, np.uint8)})
    _bodies(builder, first, robots)
    rng = np.random.default_rng(seed)
    types = KINDS[kind]
    for k, type_name in enumerate(types):
        _joints(builder, type_name, np.arange(k, JOINTS, len(types)), first, rng)
    stage = builder.finish()
    stage.metadata.update(source=f"synthetic {kind}", robots=robots, joints=robots * JOINTS)
    return stage


def _paths(paths: PathDictionary, robots: int) -> tuple[Array, Array, Array]:
    """Ids of /World, of the robots, and of each robot's first body; bodies and then joints follow it."""
    world = np.array([paths.path("/World")], np.uint64)
    assert int(world[0]) > ROOT
    names = pc.binary_join_element_wise("env", pc.cast(pa.array(np.arange(robots)), pa.string()), "_").to_pylist()
    env = paths.token_many(names)
    below = paths.token_many([f"link_{b}" for b in range(BODIES)] + [f"joint_{j}" for j in range(JOINTS)])
    stride = 1 + BODIES + JOINTS
    start = paths.path_count
    robot = start + stride * np.arange(robots, dtype=np.uint64)
    parent = np.repeat(robot, stride).reshape(robots, stride)
    parent[:, 0] = world[0]
    name = np.empty((robots, stride), np.uint64)
    name[:, 0] = env
    name[:, 1:] = below
    paths.append(parent.reshape(-1), name.reshape(-1))
    return world, robot, robot + np.uint64(1)


def _rotation(axis: Array, turn: Array) -> Array:
    """Rotation matrices (n, 3, 3) for row vectors, about unit axes (n, 3) by angles (n,)."""
    x, y, z = axis.T
    half = turn / 2
    q = np.stack([x * np.sin(half), y * np.sin(half), z * np.sin(half), np.cos(half)], 1)
    return _matrix_of(q)


def _matrix_of(q: Array) -> Array:
    x, y, z, w = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
        [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
        [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def _links() -> tuple[Array, Array, Array]:
    """Of the 13 bodies: rotation quaternions (13, 4), scales (13,), positions (13, 3), the same in every robot."""
    k = np.arange(BODIES)
    axis = np.stack([np.sin(1.0 + k), np.cos(1.0 + k), np.ones(BODIES)], 1)
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    half = 0.15 + 0.1 * k
    q = np.concatenate([axis * np.sin(half)[:, None], np.cos(half)[:, None]], 1)
    scale = np.where(k % 3 == 1, 2.0, np.where(k % 3 == 2, 0.5, 1.0))
    return q, scale, np.stack([np.zeros(BODIES), np.zeros(BODIES), 0.5 + 0.3 * k], 1)


def _places(robots: int) -> Array:
    side = max(1, int(np.sqrt(robots)))
    i = np.arange(robots)
    out = np.zeros((robots, 4, 4))
    out[:, :3, :3] = _rotation(np.broadcast_to([0.0, 0.0, 1.0], (robots, 3)), _HEADING * i)
    out[:, 3, 0], out[:, 3, 1], out[:, 3, 3] = 3.0 * (i % side), 3.0 * (i // side), 1.0
    return out.reshape(robots, 16)


def _bodies(builder: StageBuilder, first: Array, robots: int) -> None:
    q, scale, position = _links()
    local = np.zeros((BODIES, 4, 4))
    local[:, :3, :3] = _matrix_of(q) * scale[:, None, None]
    local[:, 3, :3], local[:, 3, 3] = position, 1.0
    for type_name, schemas, which in (
        ("Cube", ("PhysicsCollisionAPI", "PhysicsMassAPI", "PhysicsRigidBodyAPI"), np.arange(0, BODIES, 2)),
        ("Xform", ("PhysicsMassAPI", "PhysicsRigidBodyAPI"), np.arange(1, BODIES, 2)),
    ):
        n = robots * which.size
        columns = {
            "omni:xform": np.tile(local[which].reshape(-1, 16), (robots, 1)),
            "omni:resetXformStack": np.zeros(n, np.uint8),
            "physics:rigidBodyEnabled": np.ones(n, np.uint8),
            "physics:kinematicEnabled": np.zeros(n, np.uint8),
        }
        builder.add(type_name, (first[:, None] + which.astype(np.uint64)).reshape(-1), columns, schemas)


def _frames(j: Array) -> dict[str, Array]:
    """Local frames of joints `j` on both sides, float32; in the robot the joint stands between its bodies, turned like the robot."""
    q, scale, position = _links()
    out = {}
    for k, body in enumerate((j, j + 1)):
        at = (position[j] + position[j + 1]) / 2 - position[body]
        back = _matrix_of(q[body]).transpose(0, 2, 1)
        out[f"physics:localPos{k}"] = (np.einsum("ni,nij->nj", at, back) / scale[body][:, None]).astype(np.float32)
        out[f"physics:localRot{k}"] = (q[body] * [-1, -1, -1, 1]).astype(np.float32)
    return out


def _joints(builder: StageBuilder, type_name: str, which: Array, first: Array, rng: np.random.Generator) -> None:
    """The joints `which` of every robot as one archetype, robot by robot."""
    robots, n = first.size, first.size * which.size
    at = first[:, None]
    apis = _APIS.get(type_name, ())
    columns: dict[str, Any] = {k: np.tile(v, (robots, 1)) for k, v in _frames(which).items()}
    for k in (0, 1):
        columns[f"physics:body{k}"] = _targets((at + (which + k).astype(np.uint64)).reshape(-1))
    neighbours = [(which + JOINTS - 1) % JOINTS, (which + 1) % JOINTS]
    hinges = {GEAR: ("physics:hinge0", "physics:hinge1"), RACK: ("physics:hinge", "physics:prismatic")}.get(type_name, ())
    for name, near in zip(hinges, neighbours):
        columns[name] = _targets((at + (BODIES + near).astype(np.uint64)).reshape(-1))
    known = contract.load()
    declared = [c.name for c in known.columns_of(type_name)]
    for api in apis:
        component, _, instance = api.partition(":")
        declared += [c.instance(instance) for c in known.columns_of(component)]
    for name in (*declared, "physxJoint:maxJointVelocity"):
        spec = known.find(name)
        if spec is not None and name not in columns and not spec.array:
            columns[name] = _column(builder.paths, name, spec, n, rng)
    paths = (at + (BODIES + which).astype(np.uint64)).reshape(-1)
    builder.add(type_name, paths, columns, apis)


def _column(paths: PathDictionary, name: str, spec: contract.Column, n: int, rng: np.random.Generator) -> Any:
    span = next((s for end, s in _SPREAD.items() if name.endswith(end)), None)
    if span is not None and not name.startswith("limit:trans"):
        return (span[0] + (span[1] - span[0]) * rng.random(n, dtype=np.float32)).astype(np.float32)
    value = next((v for end, v in _CONSTANT.items() if name.endswith(end)), spec.raw_fallback)
    if name == "physxJoint:maxJointVelocity":
        value = contract.FLT_MAX
    if spec.semantic == col.TOKEN_ID:
        choices = paths.token_many("XYZ" if name == "physics:axis" else [str(value)])
        return np.resize(choices, n)
    return np.full(n, value, np.uint8 if spec.dtype == "bool8" else np.float32)


def _targets(ids: Array) -> pa.Array:
    """One target a row."""
    return col.ragged(np.arange(ids.size + 1), ids)
