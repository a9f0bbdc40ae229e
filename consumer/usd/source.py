"""A USD stage as the USD walker sees it: one namespace traversal and OpenUSD's own physics parser (spec section 9)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pxr import Sdf, Tf, Usd, UsdGeom, UsdPhysics

from consumer.usd.schemas import register
from ovsim.contract.joints import D6, DISTANCE, FIXED, GEAR, PRISMATIC, RACK, REVOLUTE, SPHERICAL
from ovsim.errors import SourceError

_KIND = UsdPhysics.ObjectType
TYPE_OF = {
    _KIND.FixedJoint: FIXED,
    _KIND.RevoluteJoint: REVOLUTE,
    _KIND.PrismaticJoint: PRISMATIC,
    _KIND.SphericalJoint: SPHERICAL,
    _KIND.DistanceJoint: DISTANCE,
    _KIND.D6Joint: D6,
}


@dataclass
class UsdJoint:
    """One joint of the traversal: the type token that it counts as (a derived type counts as its base), the prim and OpenUSD's descriptor."""

    type_name: str
    prim: Usd.Prim
    desc: Any


@dataclass
class UsdSource:
    """An open stage with its joints, bodies and roots; dicts are in namespace order, keys are path strings.

    Prims inside native instances appear at their instance's paths (instance proxies). `refused` names the bodies that the walker sees and does not
    create, with the finding that tells of it: dynamic ones at instance proxies, and ones nested in another body without a transform reset.
    """

    stage: Usd.Stage
    joints: dict[str, UsdJoint] = field(default_factory=dict)
    bodies: dict[str, Usd.Prim] = field(default_factory=dict)
    colliders: dict[str, Usd.Prim] = field(default_factory=dict)
    roots: dict[str, Usd.Prim] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, source: str | os.PathLike[str] | Usd.Stage, custom_types: Sequence[str] = ()) -> UsdSource:
        """Open and traverse a stage file, or an open stage; `custom_types` are further joint type tokens. SourceError when it cannot be read."""
        register()
        stage = source if isinstance(source, Usd.Stage) else open_stage(source)
        out = cls(stage)
        out._traverse()
        out._parse(custom_types)
        return out

    def _traverse(self) -> None:
        for prim in Usd.PrimRange(self.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
            apis = prim.GetAppliedSchemas()
            if not apis:
                continue
            path = prim.GetPath().pathString
            if "PhysicsRigidBodyAPI" in apis:
                self.bodies[path] = prim
            if "PhysicsCollisionAPI" in apis:
                self.colliders[path] = prim
            if "PhysicsArticulationRootAPI" in apis:
                self.roots[path] = prim
        self._refuse()

    def _refuse(self) -> None:
        for path, prim in self.bodies.items():
            api = UsdPhysics.RigidBodyAPI(prim)
            enabled, kinematic = api.GetRigidBodyEnabledAttr().Get(), api.GetKinematicEnabledAttr().Get()
            if prim.IsInstanceProxy() and enabled and not kinematic:
                self.refused[path] = "instance-proxy"
            elif self._nested(prim):
                self.refused[path] = "nested-body"

    def _nested(self, prim: Usd.Prim) -> bool:
        """Whether an enabled body encloses this one and no transform reset stands between (spec 3.3)."""
        here = prim
        while here and not here.IsPseudoRoot():
            xformable = UsdGeom.Xformable(here)
            if xformable and xformable.GetResetXformStack():
                return False
            here = here.GetParent()
            outer = self.bodies.get(here.GetPath().pathString) if here else None
            if outer is not None and UsdPhysics.RigidBodyAPI(outer).GetRigidBodyEnabledAttr().Get():
                return True
        return False

    def _parse(self, custom_types: Sequence[str]) -> None:
        custom = UsdPhysics.UsdPhysicsCustomTokens()
        custom.jointTokens = list(dict.fromkeys((GEAR, RACK, *custom_types)))
        found: dict[str, UsdJoint] = {}
        parsed = UsdPhysics.UsdPhysicsLoadStageFromPrimRange(self.stage, [Sdf.Path("/")], [], custom, [])
        for kind, (paths, descs) in parsed.items():
            type_name = TYPE_OF.get(kind)
            if type_name is None and kind != _KIND.CustomJoint:
                continue
            for path, desc in zip(paths, descs):
                prim = self.stage.GetPrimAtPath(path)
                found[path.pathString] = UsdJoint(type_name or str(prim.GetTypeName()), prim, desc)
        if not found:
            return
        if len(found) == 1:
            self.joints = found
            return
        for prim in Usd.PrimRange(self.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
            joint = found.get(prim.GetPath().pathString)
            if joint is not None:
                self.joints[prim.GetPath().pathString] = joint


def open_stage(where: str | os.PathLike[str]) -> Usd.Stage:
    """Open a stage file with all its payloads; SourceError when it is missing or USD refuses it."""
    register()
    file = Path(where)
    if not file.is_file():
        raise SourceError(f"{file} does not exist or is not a file; give a USD stage file")
    try:
        stage = Usd.Stage.Open(str(file), Usd.Stage.LoadAll)
    except Tf.ErrorException as e:
        raise SourceError(f"USD cannot open {file}: {_first_line(e)}") from e
    if stage is None:
        raise SourceError(f"USD cannot open {file}; is it a stage file?")
    return stage


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
