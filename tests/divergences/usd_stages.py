"""Hypothesis strategy: USD stages as text, with everything on which the two backends are known to part."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ovsim.contract.joints import JOINT_TYPES as TYPES

ROT, TRANS = ("rotX", "rotY", "rotZ"), ("transX", "transY", "transZ")
_INSTANCE = {"PhysicsRevoluteJoint": "angular", "PhysicsPrismaticJoint": "linear"}
_NAMES = ("A", "b", "Z", "a1", "z10", "z8")

number = st.one_of(
    st.sampled_from(["0", "1", "-1", "30", "-30", "45", "200", "inf", "-inf", "6e37", "-6e37", "1e-3", "0.5", "nan", "3.4028235e38", "720"]),
    st.floats(-400, 400, width=32).map(lambda v: f"{v:.7g}"),
)
small = st.floats(-3, 3, width=32).map(lambda v: f"{v:.6g}")
_IDENTITY = "(1, 0, 0, 0)"
turn = st.one_of(
    st.sampled_from([_IDENTITY, "(0, 0, 0, 0)", "(1e-12, 0, 0, 0)", "(-2, 0, 0, 0)", "(0.5, 0.5, 0.5, 0.5)", "(0, 1, 0, 0)"]),
    st.tuples(small, small, small, small).map(lambda q: f"({', '.join(q)})"),
)
vector = st.tuples(small, small, small).map(lambda v: f"({', '.join(v)})")


def maybe(draw: Any, share: float = 0.5) -> bool:
    return draw(st.floats(0, 1)) < share


@st.composite
def stages(draw: Any, max_prims: int = 7, max_joints: int = 6) -> str:
    """A stage file's text."""
    prims = _tree(draw, max_prims)
    joints = [f"/W/J{n}" for n in draw(st.permutations(range(draw(st.integers(1, max_joints)))))]
    targets = [*prims, *joints[:1], "/W/Missing", f"{draw(st.sampled_from(prims))}/Gone", "/W/A.foo"] if prims else ["/W/Missing"]
    lines = ["#usda 1.0", "(", f"    metersPerUnit = {draw(st.sampled_from(['1', '0.01']))}", '    upAxis = "Z"', ")"]
    lines += ['def Xform "W"' + _apis(["PhysicsArticulationRootAPI"] if maybe(draw, 0.3) else []), "{"]
    body = _nested(draw, prims)
    text = [_joint(draw, j, targets, joints) for j in joints]
    lines += [*(body + text if maybe(draw, 0.5) else text + body), "}"]
    return "\n".join(lines) + "\n"


def _tree(draw: Any, most: int) -> list[str]:
    out: list[str] = []
    for _ in range(draw(st.integers(0, most))):
        above = draw(st.sampled_from(["/W", *out]))
        path = f"{above}/{draw(st.sampled_from(_NAMES))}"
        if path not in out and path.count("/") < 5:
            out.append(path)
    return out


def _apis(apis: list[str]) -> str:
    return f" (\n    prepend apiSchemas = [{', '.join(f'{chr(34)}{a}{chr(34)}' for a in apis)}]\n)" if apis else ""


def _nested(draw: Any, prims: list[str]) -> list[str]:
    def emit(path: str) -> list[str]:
        kind = draw(st.sampled_from(["body", "body", "body", "collider", "plain", "disabled", "kinematic", "typeless"]))
        apis = {"collider": ["PhysicsCollisionAPI"], "plain": [], "typeless": []}.get(kind, ["PhysicsRigidBodyAPI"])
        if kind == "body" and maybe(draw, 0.2):
            apis.append("PhysicsCollisionAPI")
        if maybe(draw, 0.15):
            apis += ["PhysicsArticulationRootAPI", *(["PhysxArticulationAPI"] if maybe(draw) else [])]
        name = path.rpartition("/")[2]
        type_name = "" if kind == "typeless" else "Cube " if kind == "collider" else "Xform "
        out = [f'def {type_name}"{name}"' + _apis(apis), "{"]
        if kind == "disabled":
            out.append("bool physics:rigidBodyEnabled = 0")
        if kind == "kinematic":
            out.append("bool physics:kinematicEnabled = 1")
        if "PhysxArticulationAPI" in apis and maybe(draw):
            out.append(f"float physxArticulation:sleepThreshold = {draw(st.sampled_from(['0', '0.1']))}")
        if kind != "typeless":
            out += _transform(draw)
        for child in [p for p in prims if p.rpartition("/")[0] == path]:
            out += emit(child)
        return [*out, "}"]

    return [line for top in prims if top.count("/") == 2 for line in emit(top)]


def _transform(draw: Any) -> list[str]:
    ops, out = [], []
    if maybe(draw, 0.2):
        ops.append("!resetXformStack!")
    if maybe(draw):
        out.append(f"double3 xformOp:translate = {draw(vector)}")
        ops.append("xformOp:translate")
    if maybe(draw, 0.3):
        out.append(f"quatf xformOp:orient = {draw(st.sampled_from([_IDENTITY, '(0.5, 0.5, 0.5, 0.5)', '(0.9, 0.1, 0.2, 0.3)']))}")
        ops.append("xformOp:orient")
    if maybe(draw, 0.3):
        out.append(f"float3 xformOp:scale = {draw(st.sampled_from(['(2, 3, 4)', '(2, 2, 2)', '(-1, 1, 1)', '(1, 1, 2)']))}")
        ops.append("xformOp:scale")
    if ops:
        out.append(f"uniform token[] xformOpOrder = [{', '.join(f'{chr(34)}{o}{chr(34)}' for o in ops)}]")
    return out


def _joint(draw: Any, path: str, targets: list[str], joints: list[str]) -> str:
    kind = draw(st.sampled_from(TYPES))
    apis: list[str] = []
    lines: list[str] = []
    for k in (0, 1):
        if maybe(draw, 0.85):
            chosen = draw(st.lists(st.sampled_from(targets), min_size=1, max_size=2, unique=True))
            if maybe(draw, 0.8):
                chosen = chosen[:1]
            lines.append(f"rel physics:body{k} = [{', '.join(f'<{t}>' for t in chosen)}]")
        if maybe(draw):
            lines.append(_value(draw, "point3f", f"physics:localPos{k}", vector, "point3d"))
        if maybe(draw):
            lines.append(_value(draw, "quatf", f"physics:localRot{k}", turn, "quatd"))
    for name, share in (("jointEnabled = 0", 0.1), ("excludeFromArticulation = 1", 0.15), ("collisionEnabled = 1", 0.1)):
        if maybe(draw, share):
            lines.append(f"bool physics:{name}")
    if maybe(draw, 0.2):
        lines.append(_value(draw, "float", "physics:breakForce", number, "double"))
    if maybe(draw, 0.1):
        apis.append("PhysicsArticulationRootAPI")
    lines += _own(draw, kind, joints)
    _records(draw, kind, apis, lines)
    name = path.rpartition("/")[2]
    return "\n".join([f'def {kind} "{name}"' + _apis(apis), "{", *lines, "}"])


def _value(draw: Any, usd_type: str, name: str, values: Any, other: str) -> str:
    """A value, now and then of another type, blocked, or only sampled."""
    how = draw(st.integers(0, 19))
    if how == 0:
        return f"{usd_type} {name} = None"
    if how == 1:
        return f"{usd_type} {name}.timeSamples = {{ 0: {draw(values)} }}"
    return f"{other if how == 2 else usd_type} {name} = {draw(values)}"


def _own(draw: Any, kind: str, joints: list[str]) -> list[str]:
    out = []
    if kind in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsSphericalJoint") and maybe(draw):
        out.append(f"uniform token physics:axis = {chr(34)}{draw(st.sampled_from('XYZy'))}{chr(34)}")
    bounds = {
        "PhysicsRevoluteJoint": ("lowerLimit", "upperLimit"),
        "PhysicsPrismaticJoint": ("lowerLimit", "upperLimit"),
        "PhysicsSphericalJoint": ("coneAngle0Limit", "coneAngle1Limit"),
        "PhysicsDistanceJoint": ("minDistance", "maxDistance"),
    }
    for name in bounds.get(kind, ()):
        if maybe(draw, 0.6):
            out.append(_value(draw, "float", f"physics:{name}", number, "double"))
    if kind == "PhysxPhysicsGearJoint":
        out += [f"rel physics:hinge{k} = <{draw(st.sampled_from(joints))}>" for k in (0, 1) if maybe(draw, 0.8)]
        out += [_value(draw, "float", "physics:gearRatio", number, "double")] if maybe(draw) else []
    if kind == "PhysxPhysicsRackAndPinionJoint":
        out += [f"rel physics:{n} = <{draw(st.sampled_from(joints))}>" for n in ("hinge", "prismatic") if maybe(draw, 0.8)]
        out += [_value(draw, "float", "physics:ratio", number, "double")] if maybe(draw) else []
    return out


def _records(draw: Any, kind: str, apis: list[str], lines: list[str]) -> None:
    def api(name: str, columns: dict[str, str], share: float = 0.3) -> None:
        if maybe(draw, share):
            apis.append(name)
        elif not maybe(draw, 0.1):
            return
        for column, usd_type in columns.items():
            if maybe(draw, 0.6):
                if usd_type == "token":
                    lines.append(f"uniform token {column} = {chr(34)}{draw(st.sampled_from(['force', 'acceleration', 'x']))}{chr(34)}")
                else:
                    lines.append(_value(draw, usd_type, column, number, "double"))

    d6 = kind == "PhysicsJoint"
    instances = [_INSTANCE[kind]] if kind in _INSTANCE else [*TRANS, *ROT, "distance"] if d6 else ["angular"] if maybe(draw, 0.1) else []
    for i in draw(st.lists(st.sampled_from(instances), max_size=3, unique=True)) if instances else ():
        if d6:
            api(f"PhysicsLimitAPI:{i}", {f"limit:{i}:physics:{n}": "float" for n in ("low", "high")}, 0.6)
        drive = {f"drive:{i}:physics:{n}": "float" for n in ("targetPosition", "targetVelocity", "stiffness", "damping", "maxForce")}
        api(f"PhysicsDriveAPI:{i}", {**drive, f"drive:{i}:physics:type": "token"})
        names = ("maxActuatorVelocity", "velocityDependentResistance", "speedEffortGradient")
        api(f"PhysxDrivePerformanceEnvelopeAPI:{i}", {f"physxDrivePerformanceEnvelope:{i}:{n}": "float" for n in names}, 0.2)
        api(f"PhysicsJointStateAPI:{i}", {f"state:{i}:physics:{n}": "float" for n in ("position", "velocity")}, 0.2)
    tuned = {"PhysicsSphericalJoint": "cone", "PhysicsDistanceJoint": "distance", **_INSTANCE}.get(kind, "rotX" if d6 else "")
    if tuned:
        names = ("restitution", "bounceThreshold", "stiffness", "damping")
        api(f"PhysxLimitAPI:{tuned}", {f"physxLimit:{tuned}:{n}": "float" for n in names}, 0.2)
    for i in ROT if kind in ("PhysicsSphericalJoint", "PhysicsJoint") else [_INSTANCE[kind]] if kind in _INSTANCE else ():
        names = ("armature", "maxJointVelocity", "staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")
        api(f"PhysxJointAxisAPI:{i}", {f"physxJointAxis:{i}:{n}": "float" for n in names}, 0.2)
    api("PhysxJointAPI", {f"physxJoint:{n}": "float" for n in ("armature", "maxJointVelocity", "jointFriction")}, 0.2)
    api("NewtonJointAPI", {"newton:velocityLimit": "float"}, 0.15)
    if kind == "PhysicsDistanceJoint":
        api(
            "PhysxPhysicsDistanceJointAPI", {"physxPhysicsDistanceJoint:springStiffness": "float", "physxPhysicsDistanceJoint:springDamping": "float"}
        )
