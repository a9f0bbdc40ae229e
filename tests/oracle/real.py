"""What the real system makes of stages: run by the python that has ovstage and ovphysx, never imported by the tests.

usage: python real.py < file names, one a line  >  one JSON document a line:
    {"file", "prims": {path: {column: value}}, "physx": {"articulations", "joints"}, "log": [message, ...]} or {"file", "error"}
All stages pass through one process; a stage costs some 20 ms.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import ovd
import ovphysx
import ovstage
from ovphysx import OmniPvdDestination, PhysX, PhysXConfig
from ovstage import AttributeSemantic

FLT_MAX = 3.4028234663852886e38
D6_AXES = ("x", "y", "z", "twist", "swing1", "swing2")
LINK_AXES = ("twist", "swing1", "swing2", "x", "y", "z")
MOTION = ("locked", "limited", "free")
DRIVE_TYPE = ("force", "acceleration", "none")
LINK_JOINT = ("fix", "prismatic", "revolute", "revolute_unwrapped", "spherical", "undefined")
LINK_DRIVE = {
    "stiffness": "driveStiffness",
    "damping": "driveDamping",
    "maxForce": "driveMaxForce",
    "maxEffort": "driveMaxEffort",
    "maxActuatorVelocity": "driveMaxActuatorVelocity",
    "velocityDependentResistance": "driveVelocityDependentResistance",
    "speedEffortGradient": "driveSpeedEffortGradient",
}
LINK_AXIS = {
    "target": "driveTarget",
    "velocityTarget": "driveVelocity",
    "armature": "armature",
    "maxJointVelocity": "maxJointDofVelocity",
    "staticFrictionEffort": "staticFrictionEffort",
    "dynamicFrictionEffort": "dynamicFrictionEffort",
    "viscousFrictionCoefficient": "viscousFrictionCoefficient",
    "position": "jointPosition",
    "velocity": "jointVelocity",
}
TUNING = ("restitution", "bounceThreshold", "stiffness", "damping")
STRUCTURAL = {"usd-path", "usd-parent", "usd-children"}
DERIVED = {"omni:fabric:worldMatrix"}
ALIAS = {"omni:fabric:localMatrix": "omni:xform", "omni:fabric:resetXformStack": "omni:resetXformStack"}
TOKENS = {"usd-prim-type", "usd-schemas", "usd-metadata:upAxis"}


def register() -> None:
    """Register the PhysX and Newton schemas with population."""
    found = [str(ovphysx.codeless_schema_root())]
    newton = importlib.util.find_spec("newton_usd_schemas")
    if newton and newton.origin:
        found.append(str(Path(newton.origin).parent))
    ovstage.population.register_usd_schemas(found)


def populate(file: str) -> Any:
    stage = ovstage.Stage("oracle")
    ovstage.population.open_usd(stage, file, ordinal=1, domains=ovstage.PopulationDomain.PHYSICS)
    stage.advance_write_floor(ordinal=1).wait()
    return stage


# -- columns ------------------------------------------------------------------------------------------------------


class Columns:
    """Every row and column of a stage as plain values."""

    def __init__(self, stage: Any) -> None:
        self.stage, self.paths = stage, ovstage.PathDictionary(stage)

    def read(self) -> dict[str, dict[str, Any]]:
        prims: dict[str, dict[str, Any]] = {}
        query = self.stage.query()
        query.wait()
        hidden = [self.paths.intern_token(n) for n in ("usd-prim-type", "usd-schemas", "_protoPath")]
        try:
            for token in sorted(set(query.result().attributes) | set(hidden)):
                name = self.paths.token_to_string(token)
                if name not in STRUCTURAL | DERIVED:
                    self._column(query, token, name, prims)
        finally:
            query.release().wait()
        return {p: dict(sorted(r.items())) for p, r in sorted(prims.items())}

    def _column(self, query: Any, token: int, name: str, prims: dict[str, dict[str, Any]]) -> None:
        read = self.stage.read_attributes(query, [token], ovstage.OrdinalRange.latest(1))
        read.wait()
        try:
            for group in read.groups():
                with group:
                    paths = self.paths.get_paths(group.prim_list)
                    for i in range(group.prim_count):
                        path = self.paths.path_to_string(paths[group.prim_index(i)])
                        prims.setdefault(path, {})[ALIAS.get(name, name)] = self._value(group, i, name)
        finally:
            read.release().wait()

    def _value(self, group: Any, i: int, name: str) -> Any:
        row = group.data_row_index(i)
        dtype = group.tensor(row if group.is_array else 0).dtype
        lanes = int(dtype.lanes)
        array = np.array(group.array(row) if group.is_array else group.array(0)[row * lanes : (row + 1) * lanes])
        if int(dtype.code) == 2 and int(dtype.bits) == 16:
            array = array.view(np.float16).astype(np.float64)
        semantic = group.raw.semantic
        value: Any
        if semantic == AttributeSemantic.TOKEN_ID or name in TOKENS:
            value = [self.paths.token_to_string(int(t)) if t else "" for t in array]
        elif semantic == AttributeSemantic.RELATIONSHIP_PATH_ID or name == "_protoPath":
            value = [self.paths.path_to_string(int(p)) for p in array]
        else:
            value = array.reshape(-1, lanes).tolist() if lanes > 1 and group.is_array else array.tolist()
        return value[0] if not group.is_array and len(value) == 1 else value


# -- PhysX objects ------------------------------------------------------------------------------------------------


def pose(t: list[float] | None) -> dict[str, list[float]] | None:
    return None if t is None else {"p": t[4:7], "q": t[0:4]}


class Objects:
    """The joints and articulations of a recording as the interchange document has them."""

    def __init__(self, recording: ovd.Recording, types: dict[str, str]) -> None:
        self.r, self.types = recording, types

    def name(self, handle: int) -> str | None:
        obj = self.r.objects.get(handle)
        return (obj.get("name") or obj.name or None) if handle and obj else None

    def flags(self, obj: ovd.Object, attribute: str) -> list[str]:
        got = obj.attributes.get(attribute)
        return self.r.names(*got) if got else []

    def document(self) -> dict[str, Any]:
        joints: dict[str, Any] = {}
        articulations: dict[str, Any] = {}
        for obj in self.r.objects.values():
            cls, name = self.r.class_name(obj), self.name(obj.handle) or hex(obj.handle)
            if cls == "PxArticulationReducedCoordinate":
                links = [self.name(h) for h in obj.lists.get("links", [])]
                articulations.setdefault(name, []).append({"fixBase": "eFIX_BASE" in self.flags(obj, "articulationFlags"), "links": links})
            elif cls == "PxArticulationJointReducedCoordinate":
                joints.setdefault(name, []).append(self.link_joint(obj))
            elif self.r.is_a(obj, "PxJoint"):
                joints.setdefault(name, []).append(self.standalone(obj, cls, self.types.get(name, "")))
        single = lambda d: {k: v[0] if len(v) == 1 else v for k, v in sorted(d.items())}
        return {"articulations": single(articulations), "joints": single(joints)}

    def standalone(self, obj: ovd.Object, cls: str, usd_type: str) -> dict[str, Any]:
        g = obj.get
        out = {
            "kind": "standalone",
            "class": cls,
            "actor0": self.name(g("actor0")),
            "actor1": self.name(g("actor1")),
            "localPose0": pose(g("actor0LocalPose")),
            "localPose1": pose(g("actor1LocalPose")),
            "breakForce": g("breakForce"),
            "breakTorque": g("breakTorque"),
            "collisionEnabled": "eCOLLISION_ENABLED" in self.flags(obj, "constraintFlags"),
        }
        if cls == "PxD6Joint":
            out.update(self.d6(obj, usd_type))
        elif cls == "PxDistanceJoint":
            flags = self.flags(obj, "jointFlags")
            on = {
                k: f in flags
                for k, f in zip(("minEnabled", "maxEnabled", "springEnabled"), ("eMIN_DISTANCE_ENABLED", "eMAX_DISTANCE_ENABLED", "eSPRING_ENABLED"))
            }
            out["distance"] = {**on, **{k: g(k) for k in ("minDistance", "maxDistance", "stiffness", "damping")}}
        else:
            coupled = g("hinges") if cls == "PxGearJoint" else g("joints")
            listed = coupled if isinstance(coupled, list) else [coupled]
            out.update(ratio=g("ratio"), joints=None if coupled is None else [self.name(h) for h in listed])
        return out

    def d6(self, obj: ovd.Object, usd_type: str) -> dict[str, Any]:
        g = obj.get
        motion = {a: MOTION[m] for a, m in zip(D6_AXES, g("motions"))}
        tuned = lambda prefix, **lead: {**lead, **{t: g(prefix + t[0].upper() + t[1:]) for t in TUNING}}
        limits: dict[str, Any] = {}
        for i, a in enumerate("xyz"):
            if motion[a] == "limited":
                names = ("lower", "upper", *TUNING)
                limits[a] = {t: g("linearLimit" + t[0].upper() + t[1:])[i] for t in names}
        if motion["twist"] == "limited":
            limits["twist"] = tuned("twistLimit", lower=g("twistLimitLower"), upper=g("twistLimitUpper"))
        if "limited" in (motion["swing1"], motion["swing2"]):
            p = "pyramidSwingLimit"
            cone = usd_type == "PhysicsSphericalJoint"
            limits["cone" if cone else "pyramid"] = (
                tuned("swingLimit", yAngle=g("swingLimitYAngle"), zAngle=g("swingLimitZAngle"))
                if cone
                else tuned(p, y=[g(p + "YAngleMin"), g(p + "YAngleMax")], z=[g(p + "ZAngleMin"), g(p + "ZAngleMax")])
            )
        if g("distanceLimitValue") != FLT_MAX:
            limits["distance"] = tuned("distanceLimit", value=g("distanceLimitValue"))
        drives = {}
        for a in ("X", "Y", "Z", "Twist", "Swing1", "Swing2", "Swing", "Slerp"):
            drive = self.r.objects.get(g("drive" + a) or 0)
            if drive is None:
                continue
            flags = self.flags(drive, "flags")
            if drive.get("stiffness") or drive.get("damping") or drive.get("forceLimit") != FLT_MAX or flags:
                numbers = {k: drive.get(k) for k in ("stiffness", "damping", "forceLimit")}
                drives[a.lower()] = {**numbers, "acceleration": "eACCELERATION" in flags}
        return {
            "motion": motion,
            "limits": limits,
            "drives": drives,
            "drivePosition": pose(g("drivePosition")),
            "driveLinearVelocity": g("driveLinVelocity"),
            "driveAngularVelocity": g("driveAngVelocity"),
        }

    def link_joint(self, obj: ovd.Object) -> dict[str, Any]:
        g = obj.get
        child = self.r.objects.get(g("childLink") or 0)
        type_ = LINK_JOINT[g("type")]
        axes: dict[str, Any] = {}
        for i, a in enumerate(LINK_AXES if type_ != "fix" else ()):
            motion = MOTION[g("motion")[i]]
            if motion == "locked" and not (type_ == "spherical" and a in ("swing1", "swing2")):
                continue
            axes[a] = {"motion": motion}
            if motion == "limited":
                axes[a]["limit"] = [g("limitLow")[i], g("limitHigh")[i]]
            drive = DRIVE_TYPE[g("driveType")[i]]
            if drive != "none":
                axes[a]["drive"] = {"type": drive, **{k: g(v)[i] for k, v in LINK_DRIVE.items()}}
            axes[a].update({k: g(v)[i] for k, v in LINK_AXIS.items()})
        return {
            "kind": "articulation",
            "type": type_,
            "articulation": self.name(child.get("articulation")) if child else None,
            "parent": self.name(g("parentLink")),
            "child": self.name(g("childLink")),
            "parentPose": {"p": g("parentTranslation"), "q": g("parentRotation")},
            "childPose": {"p": g("childTranslation"), "q": g("childRotation")},
            "frictionCoefficient": g("frictionCoefficient"),
            "axes": axes,
        }


# -- one process, many stages -------------------------------------------------------------------------------------


class Capture:
    """File descriptors 1 and 2 redirected to a file: the runtime logs there."""

    def __enter__(self) -> Capture:
        sys.stdout.flush()
        self.file = tempfile.TemporaryFile()
        self.saved = [os.dup(f) for f in (1, 2)]
        for f in (1, 2):
            os.dup2(self.file.fileno(), f)
        return self

    def __exit__(self, *_: object) -> None:
        for f, saved in zip((1, 2), self.saved):
            os.dup2(saved, f)
            os.close(saved)
        self.file.seek(0)
        text = self.file.read().decode("utf-8", "replace")
        self.lines = [re.sub(r", FILE .*", "", x) for x in text.splitlines() if x.strip()]
        self.file.close()


def plain(x: Any) -> Any:
    if isinstance(x, float):
        return x if math.isfinite(x) else "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return [plain(v) for v in x] if isinstance(x, list) else x


def wait(px: Any, operation: Any) -> None:
    if operation is not None:
        px.wait_op(operation)


def examine(px: Any, file: str, scratch: str) -> dict[str, Any]:
    stage = populate(file)
    try:
        prims = Columns(stage).read()
        wait(px, px.attach_ovstage(stage, read_ordinal=1))
        try:
            px.wait_all()
            px.start_recording(OmniPvdDestination.file(scratch))
            px.stop_recording()
        finally:
            wait(px, px.detach_ovstage())
    finally:
        stage.destroy()
    recording = ovd.Recording(Path(scratch).read_bytes())
    types = {p: r.get("usd-prim-type", "") for p, r in prims.items()}
    return {"file": file, "prims": prims, "physx": Objects(recording, types).document()}


def main() -> None:
    out = os.fdopen(os.dup(1), "w")
    with Capture():
        register()
        PhysX.set_cpu_mode(True)
        px = PhysX(config=PhysXConfig(omnipvd_recording_capable=True))
    with tempfile.TemporaryDirectory() as scratch:
        for line in sys.stdin:
            file = line.strip()
            capture = Capture()
            try:
                with capture:
                    document = examine(px, file, scratch + "/stage.ovd")
            except Exception as e:
                document = {"file": file, "error": f"{type(e).__name__}: {e}"}
            document["log"] = capture.lines
            out.write(json.dumps(plain(document)) + "\n")
            out.flush()
        with Capture():
            px.destroy()


if __name__ == "__main__":
    main()
