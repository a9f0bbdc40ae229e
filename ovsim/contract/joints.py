"""Names of the joint domain: the eight joint types in the parser's order (spec section 2.1), plus registered custom tokens."""

from __future__ import annotations

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
