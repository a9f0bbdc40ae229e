"""A USD stage as the USD walker sees it: one namespace traversal and OpenUSD's own physics parser (spec section 9)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pxr import Sdf, Tf, Usd, UsdGeom, UsdPhysics

from consumer.usd.schemas import register
from ovsim import complaints
from ovsim.contract.joints import D6, DISTANCE, FIXED, GEAR, PRISMATIC, RACK, REVOLUTE, SPHERICAL, custom_joint_types
from ovsim.errors import SourceError

_PRIM = re.compile(r"<(/[^>.]*)")
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
    `unparsed` names prims on which OpenUSD's parser fails, with its complaint; `mended` tells that some transform stack does not read.
    """

    stage: Usd.Stage
    joints: dict[str, UsdJoint] = field(default_factory=dict)
    bodies: dict[str, Usd.Prim] = field(default_factory=dict)
    colliders: dict[str, Usd.Prim] = field(default_factory=dict)
    roots: dict[str, Usd.Prim] = field(default_factory=dict)
    scenes: dict[str, Usd.Prim] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    unparsed: dict[str, str] = field(default_factory=dict)
    mended: bool = False

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
            if prim.GetTypeName() == "PhysicsScene":
                self.scenes[prim.GetPath().pathString] = prim
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

    def readable_transforms(self) -> AbstractContextManager[None]:
        """A context in which transforms read, should the stage hold stacks that USD refuses."""
        return mended_transforms(self.stage) if self.mended else nullcontext()

    def _load(self, custom: UsdPhysics.UsdPhysicsCustomTokens) -> dict[Any, Any]:
        """OpenUSD's parser over the stage. Where it stumbles, the prims that its complaint names are left out and the rest is parsed again; transform
        stacks that do not read are mended in the session layer. SourceError when nothing helps."""
        left_out: list[str] = []
        while True:
            try:
                with self.readable_transforms():
                    return UsdPhysics.UsdPhysicsLoadStageFromPrimRange(self.stage, [Sdf.Path("/")], left_out, custom, [])
            except Tf.ErrorException as e:
                named = [p for p in dict.fromkeys(_PRIM.findall(str(e))) if p not in left_out and self.stage.GetPrimAtPath(p)]
                if not named and self.mended:
                    raise SourceError(f"OpenUSD's physics parser fails on this stage: {first_line(e)}") from e
                self.mended = not named or self.mended
                left_out += named
                self.unparsed |= dict.fromkeys(named, first_line(e))

    def _parse(self, custom_types: Sequence[str]) -> None:
        custom = UsdPhysics.UsdPhysicsCustomTokens()
        custom.jointTokens = [GEAR, RACK, *custom_joint_types(custom_types)]
        found: dict[str, UsdJoint] = {}
        parsed = self._load(custom)
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


@contextmanager
def mended_transforms(stage: Usd.Stage) -> Iterator[None]:
    """While it lasts, transform stacks name no operation that USD cannot read: an override in the session layer leaves those out."""
    session = stage.GetSessionLayer()
    made: list[Sdf.Path] = []
    for prim in Usd.PrimRange(stage.GetPseudoRoot()):
        xformable = UsdGeom.Xformable(prim)
        order = xformable.GetXformOpOrderAttr().Get() if xformable else None
        if not order or _reads(xformable):
            continue
        kept = [name for name in order if name == "!resetXformStack!" or _known_op(prim, str(name))]
        spec = Sdf.CreatePrimInLayer(session, prim.GetPath())
        if "xformOpOrder" not in spec.attributes:
            attribute = Sdf.AttributeSpec(spec, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
            attribute.default = kept
            made.append(prim.GetPath())
    try:
        yield
    finally:
        for path in made:
            spec = session.GetPrimAtPath(path)
            del spec.properties["xformOpOrder"]
            session.ScheduleRemoveIfInert(spec)


def _reads(xformable: UsdGeom.Xformable) -> bool:
    try:
        UsdGeom.XformCache().GetLocalTransformation(xformable.GetPrim())
    except Tf.ErrorException:
        return False
    return True


def _known_op(prim: Usd.Prim, name: str) -> bool:
    attribute = prim.GetAttribute(name.removeprefix("!invert!"))
    try:
        return bool(attribute) and bool(UsdGeom.XformOp(attribute))
    except Tf.ErrorException:
        return False


def open_stage(where: str | os.PathLike[str]) -> Usd.Stage:
    """Open a stage file with all its payloads; SourceError when it is missing or USD refuses it."""
    register()
    file = Path(where)
    if not file.is_file():
        raise SourceError(f"{file} does not exist or is not a file; give a USD stage file")
    try:
        stage = Usd.Stage.Open(str(file), Usd.Stage.LoadAll)
    except Tf.ErrorException as e:
        raise SourceError(f"USD cannot open {file}: {complaints.reason(e, str(file))}") from e
    if stage is None:
        raise SourceError(f"USD cannot open {file}; is it a stage file?")
    return stage


def first_line(error: Exception) -> str:
    """The first thing that USD says."""
    return next(filter(None, map(complaints.text, error.args)), type(error).__name__)
