"""Which descriptor field each column of a joint becomes (spec sections 1 to 6), in the field names of the descriptors' Arrow table.

Records of a typed joint are `limit.lower`, those of a D6 `limits.rotX.lower`; `properties` are `jointProperties.rotX...` on D6 and spherical joints.
"""

from __future__ import annotations

from functools import lru_cache

from ovsim.contract.joints import D6, D6_INSTANCES, DISTANCE, GEAR, PRISMATIC, RACK, REVOLUTE, ROTATIONAL_INSTANCES, SPHERICAL

COMMON = {
    "physics:jointEnabled": ("jointEnabled",),
    "physics:collisionEnabled": ("enableCollision",),
    "physics:excludeFromArticulation": ("excludedFromArticulation",),
    "physics:breakForce": ("breakForce",),
    "physics:breakTorque": ("breakTorque",),
    "physics:body0": ("rel0", "body0", "localPose0Position", "localPose0Orientation"),
    "physics:body1": ("rel1", "body1", "localPose1Position", "localPose1Orientation"),
    "physics:localPos0": ("localPose0Position",),
    "physics:localPos1": ("localPose1Position",),
    "physics:localRot0": ("localPose0Orientation",),
    "physics:localRot1": ("localPose1Orientation",),
    "physxJoint:jointFriction": ("jointFriction",),
}
_BOUNDS = {
    REVOLUTE: ("physics:lowerLimit", "physics:upperLimit"),
    PRISMATIC: ("physics:lowerLimit", "physics:upperLimit"),
    SPHERICAL: ("physics:coneAngle0Limit", "physics:coneAngle1Limit"),
    DISTANCE: ("physics:minDistance", "physics:maxDistance"),
}
_SINGLE = {REVOLUTE: "angular", PRISMATIC: "linear"}
_LIMIT_INSTANCE = {**_SINGLE, SPHERICAL: "cone", DISTANCE: "distance"}
_TUNING = ("restitution", "bounceThreshold", "stiffness", "damping")
_DRIVE = {
    "targetPosition": "targetPosition",
    "targetVelocity": "targetVelocity",
    "stiffness": "stiffness",
    "damping": "damping",
    "maxForce": "forceLimit",
    "type": "acceleration",
}
_ENVELOPE = ("maxActuatorVelocity", "velocityDependentResistance", "speedEffortGradient")
_PROPERTIES = ("armature", "maxJointVelocity", "staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")
_SEEDS = {"physxJoint:armature": "armature", "physxJoint:maxJointVelocity": "maxJointVelocity", "newton:velocityLimit": "maxJointVelocity"}
_STATES = ("position", "velocity")


@lru_cache
def fed(joint_type: str) -> dict[str, tuple[str, ...]]:
    """Column name to the descriptor fields that it decides, of one joint type; columns that the type does not read are missing."""
    out = dict(COMMON)
    if joint_type in (REVOLUTE, PRISMATIC, SPHERICAL):
        out["physics:axis"] = ("axis",)
    _limits(out, joint_type)
    axes = ("rotX", "rotY", "rotZ")
    for instance in (_SINGLE[joint_type],) if joint_type in _SINGLE else D6_INSTANCES if joint_type == D6 else ():
        head = "drive" if joint_type != D6 else f"drives.{instance}"
        out |= {f"drive:{instance}:physics:{c}": (f"{head}.{f}",) for c, f in _DRIVE.items()}
        if joint_type != D6 or instance in axes:
            out |= {f"physxDrivePerformanceEnvelope:{instance}:{c}": (f"{head}.{c}",) for c in _ENVELOPE}
        if instance != "distance":
            state = "state" if joint_type != D6 else f"states.{instance}"
            out |= {f"state:{instance}:physics:{c}": (f"{state}.{c}",) for c in _STATES}
    heads = [("properties", _SINGLE[joint_type])] if joint_type in _SINGLE else [(f"jointProperties.{a}", a) for a in axes]
    if joint_type in (*_SINGLE, D6, SPHERICAL):
        for head, instance in heads:
            out |= {f"physxJointAxis:{instance}:{c}": (f"{head}.{c}",) for c in _PROPERTIES}
        for column, field in _SEEDS.items():
            out[column] = tuple(f"{head}.{field}" for head, _ in heads)
    if joint_type == DISTANCE:
        out |= {f"physxPhysicsDistanceJoint:{n}": (n,) for n in ("springEnabled", "springStiffness", "springDamping")}
    if joint_type == GEAR:
        out |= {"physics:hinge0": ("hingePrimPath0",), "physics:hinge1": ("hingePrimPath1",), "physics:gearRatio": ("gearRatio",)}
    if joint_type == RACK:
        out |= {"physics:hinge": ("hingePrimPath",), "physics:prismatic": ("prismaticPrimPath",), "physics:ratio": ("ratio",)}
    return out


def _limits(out: dict[str, tuple[str, ...]], joint_type: str) -> None:
    if joint_type in _BOUNDS:
        flags = ("limit.enabled", "minEnabled") if joint_type == DISTANCE else ("limit.enabled",)
        upper_flags = ("limit.enabled", "maxEnabled") if joint_type == DISTANCE else flags
        low, high = _BOUNDS[joint_type]
        out[low], out[high] = ("limit.lower", *flags), ("limit.upper", *upper_flags)
        out |= {f"physxLimit:{_LIMIT_INSTANCE[joint_type]}:{c}": (f"limit.{c}",) for c in _TUNING}
    if joint_type == D6:
        for instance in D6_INSTANCES:
            head = f"limits.{instance}"
            out[f"limit:{instance}:physics:low"] = (f"{head}.lower", f"{head}.enabled")
            out[f"limit:{instance}:physics:high"] = (f"{head}.upper", f"{head}.enabled")
            out |= {f"physxLimit:{instance}:{c}": (f"{head}.{c}",) for c in _TUNING}


@lru_cache
def feeding(joint_type: str) -> dict[str, tuple[str, ...]]:
    """The inverse of `fed`: descriptor field to the columns that decide it."""
    out: dict[str, tuple[str, ...]] = {}
    for column, fields in fed(joint_type).items():
        for field in fields:
            out[field] = (*out.get(field, ()), column)
    return out


def is_rotational(instance: str) -> bool:
    """Whether values of an instance are angles: angular, cone, rotX, rotY, rotZ."""
    return instance in ROTATIONAL_INSTANCES or instance == "cone"


def motion(joint_type: str, column: str) -> str:
    """ "rotational", "linear" or "" (no unit that depends on it): which of the contract's units a column of this joint type has."""
    if column in (*_BOUNDS[REVOLUTE], *_BOUNDS[SPHERICAL]) and joint_type in (REVOLUTE, PRISMATIC, SPHERICAL):
        return "linear" if joint_type == PRISMATIC else "rotational"
    parts = column.split(":")
    if len(parts) >= 3:
        return "rotational" if is_rotational(parts[1]) else "linear"
    if column.startswith(("physxJoint:", "newton:")):
        return "linear" if joint_type == PRISMATIC else "rotational"
    return ""
