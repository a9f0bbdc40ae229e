"""Codes of the PhysX view: what became of a joint and why, classes, motions, axes."""

from __future__ import annotations

# outcome: every joint ends as exactly one of these
CONSUMED_ROOT, ARTICULATION, STANDALONE, DROPPED, NOT_CREATED = range(5)
OUTCOMES = ("consumed-root", "articulation", "standalone", "dropped", "not-created")

# reason of an outcome that leaves no joint; the names are diagnostic codes
REASONS = (
    "",
    "joint-disabled",
    "no-bodies",
    "static-bodies",
    "same-body",
    "invalid-frame",
    "closed-loop",
    "lost-root-joint",
    "below-prototype",
    "gear-hinge-elsewhere",
    "custom-joint",
    "different-owners",
)
(
    NO_REASON,
    DISABLED,
    NO_BODIES,
    STATIC_BODIES,
    SAME_BODY,
    INVALID_FRAME,
    CLOSED_LOOP,
    LOST_ROOT,
    PROTOTYPE,
    HINGE_ELSEWHERE,
    CUSTOM,
    DIFFERENT_OWNERS,
) = range(len(REASONS))

# classes of standalone joints
PX_D6, PX_DISTANCE, PX_GEAR, PX_RACK = range(4)
CLASSES = ("PxD6Joint", "PxDistanceJoint", "PxGearJoint", "PxRackAndPinionJoint")

# motions and the axis order of a D6
LOCKED, LIMITED, FREE = range(3)
MOTIONS = ("locked", "limited", "free")
D6_AXES = ("x", "y", "z", "twist", "swing1", "swing2")
NO_SWING, CONE, PYRAMID = range(3)

# types of articulation joints, and the axes that their slots mean
FIX, PRISMATIC, REVOLUTE, REVOLUTE_UNWRAPPED, SPHERICAL = range(5)
LINK_TYPES = ("fix", "prismatic", "revolute", "revolute_unwrapped", "spherical")
LINK_AXES: tuple[tuple[str, ...], ...] = ((), ("x",), ("twist",), ("twist",), ("twist", "swing1", "swing2"))
NO_DRIVE, FORCE, ACCELERATION = range(3)
DRIVE_TYPES = ("none", "force", "acceleration")

# lanes of the value arrays
LINEAR = ("lower", "upper", "restitution", "bounceThreshold", "stiffness", "damping")
SWING = ("yLower", "yUpper", "zLower", "zUpper", "restitution", "bounceThreshold", "stiffness", "damping")
DISTANCE_LIMIT = ("value", "restitution", "bounceThreshold", "stiffness", "damping")
DRIVE = ("stiffness", "damping", "forceLimit")
DISTANCE = ("minDistance", "maxDistance", "stiffness", "damping")
MIN_DISTANCE, MAX_DISTANCE, SPRING = 1, 2, 4
LINK_AXIS = (
    "lower",
    "upper",
    "stiffness",
    "damping",
    "maxForce",
    "maxEffort",
    "maxActuatorVelocity",
    "velocityDependentResistance",
    "speedEffortGradient",
    "target",
    "velocityTarget",
    "armature",
    "maxJointVelocity",
    "staticFrictionEffort",
    "dynamicFrictionEffort",
    "viscousFrictionCoefficient",
    "position",
    "velocity",
)

# remarks on a joint that exists, bit: the diagnostic code of the same place in REMARKS
REMARKS = (
    "invalid-limit",
    "one-sided-limit",
    "reversed-limit",
    "clamped-limit",
    "invalid-drive",
    "invalid-drive-target",
    "invalid-state",
    "drive-target-wrapped",
    "invalid-friction",
    "invalid-envelope",
    "invalid-distance",
    "distance-minimum-ignored",
    "half-pyramid",
    "linear-motion-locked",
    "linear-drive-ignored",
    "linear-state-ignored",
    "limit-tuning-ignored",
    "collision-ignored",
    "reversed-parent",
    "replaced-pose",
    "inert-axis-api",
    "inert-envelope",
    "inert-state",
    "inert-joint-friction",
    "break-ignored",
    "coupling-incomplete",
    "coupling-refused",
)
BIT = {name: 1 << i for i, name in enumerate(REMARKS)}
