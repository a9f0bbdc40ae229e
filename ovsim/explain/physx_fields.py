"""Where the value of a descriptor field shows in the PhysX view of its joint (spec section 8)."""

from __future__ import annotations

from typing import Any

_D6 = {"transX": "x", "transY": "y", "transZ": "z", "rotX": "twist", "rotY": "swing1", "rotZ": "swing2"}
_PYRAMID = {"rotY": "y", "rotZ": "z"}
_COMMON = {
    "jointEnabled": ("kind",),
    "enableCollision": ("collisionEnabled",),
    "excludedFromArticulation": ("kind",),
    "breakForce": ("breakForce",),
    "breakTorque": ("breakTorque",),
    "jointFriction": ("frictionCoefficient",),
    "gearRatio": ("ratio",),
    "ratio": ("ratio",),
    "hingePrimPath0": ("joints.0",),
    "hingePrimPath1": ("joints.1",),
    "hingePrimPath": ("joints.0",),
    "prismaticPrimPath": ("joints.1",),
    "minEnabled": ("distance.minEnabled",),
    "maxEnabled": ("distance.maxEnabled",),
    "springEnabled": ("distance.springEnabled",),
    "springStiffness": ("distance.stiffness",),
    "springDamping": ("distance.damping",),
    "axis": ("motion", "type"),
}
_RECORD = {
    "targetPosition": ("target",),
    "targetVelocity": ("velocityTarget",),
    "position": ("position",),
    "velocity": ("velocity",),
    "armature": ("armature",),
    "maxJointVelocity": ("maxJointVelocity",),
    "staticFrictionEffort": ("staticFrictionEffort",),
    "dynamicFrictionEffort": ("dynamicFrictionEffort",),
    "viscousFrictionCoefficient": ("viscousFrictionCoefficient",),
}
_DRIVES = {
    "stiffness": ("stiffness",),
    "damping": ("damping",),
    "forceLimit": ("maxForce", "forceLimit", "maxEffort"),
    "acceleration": ("type", "acceleration"),
    "maxActuatorVelocity": ("maxActuatorVelocity",),
    "velocityDependentResistance": ("velocityDependentResistance",),
    "speedEffortGradient": ("speedEffortGradient",),
}


def places(field: str) -> tuple[str, ...]:
    """Dotted names in the PhysX document where a descriptor field may show, the likeliest first; a number picks a list item."""
    if field in _COMMON:
        return _COMMON[field]
    head, _, leaf = field.rpartition(".")
    record, _, instance = head.partition(".")
    if record in ("limit", "limits"):
        return _limit(leaf, instance)
    axes = (_D6[instance],) if instance in _D6 else ("twist", "x")
    if record in ("drive", "drives"):
        if leaf in _DRIVES:
            return tuple(f"{where}.{n}" for a in axes for where in (f"axes.{a}.drive", f"drives.{a}") for n in _DRIVES[leaf])
        standalone = {"targetPosition": ("drivePosition.p", "drivePosition.q"), "targetVelocity": ("driveLinearVelocity", "driveAngularVelocity")}
        return (*(f"axes.{a}.{n}" for a in axes for n in _RECORD[leaf]), *standalone.get(leaf, ()))
    return tuple(f"axes.{a}.{n}" for a in axes for n in _RECORD.get(leaf, ()))


def _limit(leaf: str, instance: str) -> tuple[str, ...]:
    axes = (_D6[instance],) if instance in _D6 else ("twist", "x") if instance != "distance" else ()
    if leaf == "enabled":
        return (*(f"axes.{a}.motion" for a in axes), *(f"motion.{a}" for a in axes), "motion.swing1")
    if leaf in ("lower", "upper"):
        spans = [f"axes.{a}.limit" for a in axes] + [f"limits.{a}.{leaf}" for a in axes]
        if instance in _PYRAMID:
            spans.append(f"limits.pyramid.{_PYRAMID[instance]}")
        cone = ("limits.cone.yAngle", "axes.swing1.limit") if leaf == "lower" else ("limits.cone.zAngle", "axes.swing2.limit")
        distance = ("distance.minDistance",) if leaf == "lower" else ("distance.maxDistance", "limits.distance.value")
        return (*spans, *(cone if not instance else ()), *distance)
    return (*(f"limits.{a}.{leaf}" for a in axes), f"limits.cone.{leaf}", f"limits.pyramid.{leaf}", f"distance.{leaf}")


def side_places(k: int, part: str, joint: dict[str, Any], body: str | None) -> tuple[str, ...]:
    """Where side `k`'s frame (`part` p or q) or body shows: an articulation joint has a parent and a child instead of two actors."""
    if joint.get("kind") != "articulation":
        return (f"localPose{k}.{part}",) if part else (f"actor{k}",)
    end = "child" if body == joint.get("child") else "parent"
    return (f"{end}Pose.{part}",) if part else (end,)


def look(joint: dict[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """(dotted name, value) of the first place that the joint has; ("", None) when it has none."""
    for name in names:
        here: Any = joint
        for part in name.split("."):
            here = here.get(part) if isinstance(here, dict) else here[int(part)] if isinstance(here, list) and part.isdigit() else None
            if here is None:
                break
        if here is not None:
            return name, here
    return "", None
