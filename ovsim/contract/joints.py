"""Names of the joint domain: the eight joint types in the parser's order (spec section 2.1), plus registered custom tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ovsim.errors import CustomJointError

FIXED = "PhysicsFixedJoint"
REVOLUTE = "PhysicsRevoluteJoint"
PRISMATIC = "PhysicsPrismaticJoint"
SPHERICAL = "PhysicsSphericalJoint"
DISTANCE = "PhysicsDistanceJoint"
D6 = "PhysicsJoint"
GEAR = "PhysxPhysicsGearJoint"
RACK = "PhysxPhysicsRackAndPinionJoint"

JOINT_TYPES = (FIXED, REVOLUTE, PRISMATIC, SPHERICAL, DISTANCE, D6, GEAR, RACK)
D6_INSTANCES = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance")
ROTATIONAL_INSTANCES = frozenset({"angular", "rotX", "rotY", "rotZ"})

_NAME = re.compile(r"[A-Za-z_]\w*")


def custom_joint_types(names: Iterable[str]) -> tuple[str, ...]:
    """Further joint type tokens as a consumer registers them: each once, in the order of their first mention.

    CustomJointError for a single text instead of several, for what is no type name (an empty text), and for a type that the parser reads anyway:
    each would silently give other rows than were meant.
    """
    if isinstance(names, str):
        raise CustomJointError(f"custom joint types are a list of names, not one text: give [{names!r}]")
    out = tuple(dict.fromkeys(names))
    for name in out:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise CustomJointError(f"custom joint type {name!r} is no prim type name; give one like MyJoint")
        if name in JOINT_TYPES:
            raise CustomJointError(f"custom joint type {name} is one of the types that the parser reads anyway; leave it out")
    return out
