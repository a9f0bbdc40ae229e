"""USD files of the suite's robots, for the phases and peers that start from a file. Needs pxr; run as a module in a process of its own.

Shapes: `flat` authors every robot in one layer, `cloned` references one robot file, `joints` is flat with one group of bodies that all robots share,
so that the cost of the joints stands alone.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ovsim.bench.synthetic import BODIES, JOINTS, KINDS
from ovsim.contract.joints import D6, DISTANCE, PRISMATIC, REVOLUTE, SPHERICAL

if TYPE_CHECKING:
    from pxr import Sdf

SHAPES = ("flat", "cloned", "joints")
Draw = Callable[[], float]


def file_name(shape: str, joints: int) -> str:
    """Name of the stage file of a shape and size."""
    return f"{shape}_{joints}.usdc"


def write(shape: str, joints: int, out: Path, seed: int = 0) -> int:
    """Write a stage file with at least `joints` joints, whole robots; returns their number. ValueError for an unknown shape."""
    from pxr import Gf, Sdf

    if shape not in SHAPES:
        raise ValueError(f"shape is one of {', '.join(SHAPES)}, not {shape!r}")
    draw = random.Random(seed).random
    robots = -(-joints // JOINTS)
    side = max(1, int(math.sqrt(robots)))
    layer = Sdf.Layer.CreateAnonymous(".usdc")
    model = out.with_name(f"{out.stem}_robot.usdc")
    if shape == "cloned":
        source = Sdf.Layer.CreateAnonymous(".usdc")
        with Sdf.ChangeBlock():
            _robot(source, "Robot", draw)
        source.defaultPrim = "Robot"
        source.Export(str(model))
    with Sdf.ChangeBlock():
        world = _world(layer)
        shared = None
        if shape == "joints":
            group = Sdf.PrimSpec(world, "bodies", Sdf.SpecifierDef, "Xform")
            for k in range(BODIES):
                _body(group, k, draw)
            shared = group.path
        for i in range(robots):
            at = Gf.Vec3d(3 * (i % side), 3 * (i // side), 0)
            if shape == "cloned":
                env = Sdf.PrimSpec(world, f"env_{i}", Sdf.SpecifierDef, "Xform")
                reference = Sdf.Reference(f"./{model.name}", "/Robot")
                env.SetInfo("references", Sdf.ReferenceListOp.Create(prependedItems=[reference]))
            else:
                env = _robot(world, f"env_{i}", draw, shared)
            _attribute(env, "xformOp:translate", "double3", at)
            _attribute(env, "xformOpOrder", "token[]", ["xformOp:translate"], True)
    layer.Export(str(out))
    return robots * JOINTS


def _attribute(prim: Sdf.PrimSpec, name: str, type_name: str, value: Any, uniform: bool = False) -> None:
    from pxr import Sdf

    variability = Sdf.VariabilityUniform if uniform else Sdf.VariabilityVarying
    Sdf.AttributeSpec(prim, name, Sdf.ValueTypeNames.Find(type_name), variability).default = value


def _apply(prim: Sdf.PrimSpec, names: list[str]) -> None:
    from pxr import Sdf

    prim.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=names))


def _world(layer: Sdf.Layer) -> Sdf.PrimSpec:
    from pxr import Gf, Sdf

    world = Sdf.PrimSpec(layer, "World", Sdf.SpecifierDef, "Xform")
    layer.defaultPrim = "World"
    layer.pseudoRoot.SetInfo("upAxis", "Z")
    layer.pseudoRoot.SetInfo("metersPerUnit", 1.0)
    scene = Sdf.PrimSpec(world, "physicsScene", Sdf.SpecifierDef, "PhysicsScene")
    _attribute(scene, "physics:gravityDirection", "vector3f", Gf.Vec3f(0, 0, -1))
    _attribute(scene, "physics:gravityMagnitude", "float", 9.81)
    return world


def _robot(parent: Any, name: str, draw: Draw, shared: Sdf.Path | None = None) -> Sdf.PrimSpec:
    from pxr import Sdf

    robot = Sdf.PrimSpec(parent, name, Sdf.SpecifierDef, "Xform")
    for k in range(0 if shared else BODIES):
        _body(robot, k, draw)
    types = KINDS["mixed"]
    for j in range(JOINTS):
        _joint(robot, shared or robot.path, j, types[j % len(types)], draw)
    return robot


def _body(parent: Sdf.PrimSpec, k: int, draw: Draw) -> None:
    from pxr import Gf, Sdf

    cube = k % 2 == 0
    prim = Sdf.PrimSpec(parent, f"link_{k}", Sdf.SpecifierDef, "Cube" if cube else "Xform")
    _apply(prim, ["PhysicsRigidBodyAPI", "PhysicsMassAPI", *(["PhysicsCollisionAPI"] if cube else [])])
    _attribute(prim, "xformOp:translate", "double3", Gf.Vec3d(0, 0, 0.5 + 0.3 * k))
    _attribute(prim, "xformOpOrder", "token[]", ["xformOp:translate"], True)
    _attribute(prim, "physics:mass", "float", 1.0 + draw())
    shape = prim
    if not cube:
        shape = Sdf.PrimSpec(prim, "collider", Sdf.SpecifierDef, "Cube")
        _apply(shape, ["PhysicsCollisionAPI"])
    _attribute(shape, "size", "double", 0.2)


def _joint(robot: Sdf.PrimSpec, bodies: Sdf.Path, j: int, type_name: str, draw: Draw) -> None:
    from pxr import Gf, Sdf

    prim = Sdf.PrimSpec(robot, f"joint_{j}", Sdf.SpecifierDef, type_name)
    turn, x = draw(), 0.01 * draw()
    for k in (0, 1):
        rel = Sdf.RelationshipSpec(prim, f"physics:body{k}", False, Sdf.VariabilityVarying)
        rel.targetPathList.explicitItems = [bodies.AppendChild(f"link_{j + k}")]
        _attribute(prim, f"physics:localPos{k}", "point3f", Gf.Vec3f(x, 0, 0.15 - 0.3 * k))
        _attribute(prim, f"physics:localRot{k}", "quatf", Gf.Quatf(math.cos(turn), math.sin(turn), 0, 0))
    if j % 2 == 0:
        _attribute(prim, "physics:breakForce", "float", 1e5 * (1 + draw()))
        _attribute(prim, "physics:breakTorque", "float", 1e5)
    if type_name in (REVOLUTE, PRISMATIC, SPHERICAL):
        _attribute(prim, "physics:axis", "token", "XYZ"[j // 2 % 3], True)
    floats, apis = _details(type_name, draw)
    for name, value in floats.items():
        _attribute(prim, name, "float", value)
    if type_name == DISTANCE:
        _attribute(prim, "physxPhysicsDistanceJoint:springEnabled", "bool", True)
    if apis:
        _apply(prim, apis)


def _details(type_name: str, draw: Draw) -> tuple[dict[str, float], list[str]]:
    """Authored floats and applied APIs of a joint type."""
    floats: dict[str, float] = {}
    apis: list[str] = []
    drive = {REVOLUTE: "angular", PRISMATIC: "linear", D6: "rotX"}.get(type_name)
    limit = {REVOLUTE: "angular", PRISMATIC: "linear", SPHERICAL: "cone"}.get(type_name)
    if type_name in (REVOLUTE, PRISMATIC):
        floats.update({"physics:lowerLimit": -draw(), "physics:upperLimit": draw()})
        floats.update({f"physxJointAxis:{drive}:armature": draw(), f"physxJointAxis:{drive}:maxJointVelocity": 100 + draw()})
        apis.append(f"PhysxJointAxisAPI:{drive}")
    if type_name == SPHERICAL:
        floats.update({"physics:coneAngle0Limit": 30 + 10 * draw(), "physics:coneAngle1Limit": 30.0})
    if type_name == D6:
        for axis in ("transX", "transY", "transZ"):
            floats.update({f"limit:{axis}:physics:low": 1.0, f"limit:{axis}:physics:high": -1.0})
        floats.update({"limit:rotX:physics:low": -45 * draw(), "limit:rotX:physics:high": 45.0})
        apis += [f"PhysicsLimitAPI:{axis}" for axis in ("transX", "transY", "transZ", "rotX")]
    if type_name == DISTANCE:
        floats.update({"physics:minDistance": 0.01 * draw(), "physics:maxDistance": 0.5})
        floats.update({"physxPhysicsDistanceJoint:springStiffness": 10.0, "physxPhysicsDistanceJoint:springDamping": 1.0})
        apis.append("PhysxPhysicsDistanceJointAPI")
    if drive:
        gains = {"stiffness": 100 * draw(), "damping": 10 * draw(), "maxForce": 1000.0, "targetPosition": draw()}
        floats.update({f"drive:{drive}:physics:{n}": v for n, v in gains.items()})
        apis.append(f"PhysicsDriveAPI:{drive}")
    if limit:
        floats.update({f"physxLimit:{limit}:stiffness": 50 * draw(), f"physxLimit:{limit}:damping": 5 * draw()})
        apis.append(f"PhysxLimitAPI:{limit}")
    return floats, apis


if __name__ == "__main__":
    print(write(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
