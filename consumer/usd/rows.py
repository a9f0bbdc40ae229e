"""What the USD walker sees, as rows for the parser's own kernels: OpenUSD's parsed values where it gives them, attribute reads for the rest.

So each rule of limits, drives, axes and frames stays where it is; the USD side feeds it other values: schema fallbacks instead of absent columns,
nothing where a value has the wrong type, every prim's transform.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from consumer.usd.source import UsdJoint, UsdSource
from consumer.usd.values import has_opinion, read
from ovsim import contract
from ovsim.contract import Column
from ovsim.contract.joints import D6, DISTANCE, JOINT_TYPES, PRISMATIC, REVOLUTE, SPHERICAL
from ovsim.stage import Stage, StageBuilder

DOF = {getattr(UsdPhysics.JointDOF, n[0].upper() + n[1:]): n for n in ("distance", "transX", "transY", "transZ", "rotX", "rotY", "rotZ")}
_AXIS = {UsdPhysics.Axis.X: "X", UsdPhysics.Axis.Y: "Y", UsdPhysics.Axis.Z: "Z"}
_BOUNDS = {
    REVOLUTE: ("physics:lowerLimit", "physics:upperLimit"),
    PRISMATIC: ("physics:lowerLimit", "physics:upperLimit"),
    SPHERICAL: ("physics:coneAngle0Limit", "physics:coneAngle1Limit"),
    DISTANCE: ("physics:minDistance", "physics:maxDistance"),
}
_DRIVE_INSTANCE = {REVOLUTE: "angular", PRISMATIC: "linear"}
_DRIVE = ("targetPosition", "targetVelocity", "stiffness", "damping")
_OTHER_APIS = ("PhysicsRigidBodyAPI", "PhysxArticulationAPI")
_AUTHORED_ONLY = ("physxArticulation:sleepThreshold", "physxArticulation:stabilizationThreshold")  # else the units-aware default holds
_ACTORS = ("PhysicsRigidBodyAPI", "PhysicsCollisionAPI")


def rows(source: UsdSource, custom: Sequence[str] = ()) -> Stage:
    """A stage with a row for every joint, body, collider, root, scene and relationship target that exists, and for their ancestors."""
    data = contract.load()
    builder = StageBuilder()
    root = source.stage
    builder.units(UsdGeom.GetStageMetersPerUnit(root), UsdPhysics.GetStageKilogramsPerUnit(root), str(UsdGeom.GetStageUpAxis(root)))
    groups: dict[tuple[str, tuple[str, ...], tuple[str, ...]], tuple[list[str], list[dict[str, Any]]]] = {}
    for path, prim in _prims(source).items():
        joint = source.joints.get(path)
        type_name = joint.type_name if joint else _other_type(prim, custom)
        schemas = tuple(sorted(set(map(str, prim.GetAppliedSchemas()))))
        if path in source.refused:
            schemas = tuple(s for s in schemas if s not in _ACTORS)
        values = _joint_values(joint, schemas, data) if joint else _prim_values(prim, schemas, data)
        paths, found = groups.setdefault((type_name, schemas, tuple(values)), ([], []))
        paths.append(path)
        found.append(values)
    for (type_name, schemas, names), (paths, found) in groups.items():
        builder.add(type_name, paths, {n: _column(n, [row[n] for row in found], data) for n in names}, schemas)
    return builder.finish()


def _other_type(prim: Usd.Prim, custom: Sequence[str]) -> str:
    """The type token of a prim that the walker takes for no joint, even if its type says so (below an instancer, or a material)."""
    name = str(prim.GetTypeName())
    return "Scope" if not name or name in JOINT_TYPES or name in custom else name


def _prims(source: UsdSource) -> dict[str, Usd.Prim]:
    """Prims that matter to a joint, by path, ancestors included; without the pseudo-root."""
    out: dict[str, Usd.Prim] = {}
    wanted: list[Usd.Prim] = [j.prim for j in source.joints.values()]
    for group in (source.bodies, source.colliders, source.roots, source.scenes):
        wanted += group.values()
    for joint in source.joints.values():
        for target in (joint.desc.rel0, joint.desc.rel1):
            if target != Sdf.Path.emptyPath and target.IsPrimPath():
                prim = source.stage.GetPrimAtPath(target)
                if prim:
                    wanted.append(prim)
    for prim in wanted:
        here = prim
        while here and not here.IsPseudoRoot():
            path = here.GetPath().pathString
            if path in out:
                break
            out[path] = here
            here = here.GetParent()
    return out


def _joint_values(joint: UsdJoint, schemas: Iterable[str], data: contract.Contract) -> dict[str, Any]:
    desc, prim, kind = joint.desc, joint.prim, joint.type_name
    out: dict[str, Any] = {
        "physics:jointEnabled": desc.jointEnabled,
        "physics:collisionEnabled": desc.collisionEnabled,
        "physics:excludeFromArticulation": desc.excludeFromArticulation,
        "physics:breakForce": desc.breakForce,
        "physics:breakTorque": desc.breakTorque,
    }
    for k, target in enumerate((desc.rel0, desc.rel1)):
        if target != Sdf.Path.emptyPath:
            out[f"physics:body{k}"] = [target.pathString]
    for name in ("physics:localPos0", "physics:localRot0", "physics:localPos1", "physics:localRot1"):
        _put(out, prim, name, data.find(name))
    if hasattr(desc, "axis"):
        out["physics:axis"] = _AXIS.get(desc.axis, "X")
    if kind in _BOUNDS:
        out.update(zip(_BOUNDS[kind], (desc.limit.lower, desc.limit.upper)))
    if kind == D6:
        for dof, limit in ((DOF[p.first], p.second) for p in desc.jointLimits):
            out[f"limit:{dof}:physics:low"], out[f"limit:{dof}:physics:high"] = limit.lower, limit.upper
        for dof, drive in ((DOF[p.first], p.second) for p in desc.jointDrives):
            out.update(_drive(dof, drive))
    elif kind in _DRIVE_INSTANCE and desc.drive.enabled:
        out.update(_drive(_DRIVE_INSTANCE[kind], desc.drive))
    for column in data.component(kind).columns if kind in data.components else ():
        if column.name not in out and column.name not in ("physics:body0", "physics:body1"):
            _put(out, prim, column.name, column)
    _api_values(out, prim, schemas, data)
    _ungated(out, prim, data)
    return out


def _drive(instance: str, drive: Any) -> dict[str, Any]:
    head = f"drive:{instance}:physics:"
    out: dict[str, Any] = {head + n: getattr(drive, n) for n in _DRIVE}
    out[head + "maxForce"] = drive.forceLimit
    out[head + "type"] = "acceleration" if drive.acceleration else "force"
    return out


def _prim_values(prim: Usd.Prim, schemas: tuple[str, ...], data: contract.Contract) -> dict[str, Any]:
    out: dict[str, Any] = {}
    xformable = UsdGeom.Xformable(prim)
    if xformable:
        out["omni:xform"] = np.array(xformable.GetLocalTransformation(), np.float64).reshape(16)
        out["omni:resetXformStack"] = xformable.GetResetXformStack()
    _api_values(out, prim, [s for s in schemas if s in _OTHER_APIS], data)
    _ungated(out, prim, data)
    return out


def _ungated(out: dict[str, Any], prim: Usd.Prim, data: contract.Contract) -> None:
    """Newton attributes that the parser reads wherever they stand, whether their API is listed or not."""
    _put(out, prim, "newton:velocityLimit", data.find("newton:velocityLimit"))
    attribute = prim.GetAttribute("newton:selfCollisionEnabled")
    value = attribute.Get() if attribute else None
    if isinstance(value, bool):
        out["newton:selfCollisionEnabled"] = value


def _api_values(out: dict[str, Any], prim: Usd.Prim, schemas: Iterable[str], data: contract.Contract) -> None:
    for schema in schemas:
        api, _, instance = schema.partition(":")
        if api in data.components and api != "PhysicsArticulationRootAPI":
            for column in data.component(api).columns:
                name = column.instance(instance) if instance else column.name
                if name not in out and (name not in _AUTHORED_ONLY or has_opinion(prim, name)):
                    _put(out, prim, name, column)


def _put(out: dict[str, Any], prim: Usd.Prim, name: str, column: Column | None) -> None:
    if column is None:
        return
    if column.semantic == "RELATIONSHIP_PATH_ID":
        relationship = prim.GetRelationship(name)
        targets = [t.pathString for t in relationship.GetTargets()] if relationship else []
        if targets:
            out[name] = targets
        return
    value = read(prim, name, column)
    if value is not None:
        out[name] = (*value.GetImaginary(), value.GetReal()) if isinstance(value, Gf.Quatf) else value


def _column(name: str, values: list[Any], data: contract.Contract) -> Any:
    column = data.find(name)
    if column is None or column.array or column.semantic:
        return values
    dtype = np.uint8 if column.dtype == "bool8" else np.dtype(column.dtype)
    with np.errstate(over="ignore"):
        return np.array(values, dtype)
