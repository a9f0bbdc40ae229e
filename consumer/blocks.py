"""Descriptor storage: one block of row-layout arrays a joint type (spec section 1; design "Descriptors")."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ovsim.diagnostics import Diagnostics
from ovsim.stage import PathDictionary

if TYPE_CHECKING:
    import pyarrow as pa

F32 = npt.NDArray[np.float32]
U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

# lanes of the record arrays
LIMIT = ("lower", "upper", "restitution", "bounceThreshold", "stiffness", "damping")
DRIVE = (
    "targetPosition",
    "targetVelocity",
    "stiffness",
    "damping",
    "forceLimit",
    "maxActuatorVelocity",
    "velocityDependentResistance",
    "speedEffortGradient",
)
STATE = ("position", "velocity")
PROPERTIES = ("armature", "maxJointVelocity", "staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")


@dataclass
class JointBlock:
    """All joints of one type, rows in path order.

    n rows; L, D, S, P count the limit, drive, state and axis-property records of the type (0 when it reads none; see `RECORDS`).
    Path ids are uint64, 0 = none or world. Rotational values are radians, linear ones stage length.
    """

    type_name: str
    path: U64  # (n,)
    rel: U64  # (n, 2) first relationship target, unresolved
    body: U64  # (n, 2) resolved body, 0 = world
    position: F32  # (n, 2, 3) body scale baked in
    orientation: F32  # (n, 2, 4) x y z w
    enabled: U8  # (n,)
    collision: U8  # (n,)
    excluded: U8  # (n,)
    residual: U8  # (n,) PhysxResidualReportingAPI listed
    valid_frames: U8  # (n,) spec 4.7
    break_force: F32  # (n, 2) force, torque
    friction: F32  # (n,) joint friction coefficient
    axis: U8  # (n,) 0 X, 1 Y, 2 Z
    limit: F32  # (n, L, 6) lanes LIMIT
    limit_listed: U8  # (n, L) 1 for typed joints; whether PhysicsLimitAPI:<i> is listed on a D6
    limit_enabled: U8  # (n, L); of a distance joint bit 0 = min enabled, bit 1 = max enabled
    drive: F32  # (n, D, 8) lanes DRIVE
    drive_listed: U8  # (n, D)
    drive_acceleration: U8  # (n, D)
    drive_envelope: U8  # (n, D)
    state: F32  # (n, S, 2) lanes STATE
    state_listed: U8  # (n, S)
    properties: F32  # (n, P, 5) lanes PROPERTIES
    properties_listed: U8  # (n, P) whether PhysxJointAxisAPI:<i> is listed
    spring: F32  # (n, 2) distance joints: stiffness, damping
    spring_enabled: U8  # (n,)
    coupled: U64  # (n, 2) gear: hinge0, hinge1; rack: hinge, prismatic; 0 = none
    ratio: F32  # (n,) gear and rack, as authored

    def __len__(self) -> int:
        return int(self.path.size)


# records a type reads: instance names of limits, drives, states, properties, in list order (spec 2.3)
_T, _R = ("transX", "transY", "transZ"), ("rotX", "rotY", "rotZ")
RECORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "PhysicsFixedJoint": {"limit": (), "drive": (), "state": (), "properties": ()},
    "PhysicsRevoluteJoint": {"limit": ("angular",), "drive": ("angular",), "state": ("angular",), "properties": ("angular",)},
    "PhysicsPrismaticJoint": {"limit": ("linear",), "drive": ("linear",), "state": ("linear",), "properties": ("linear",)},
    "PhysicsSphericalJoint": {"limit": ("cone",), "drive": (), "state": (), "properties": _R},
    "PhysicsDistanceJoint": {"limit": ("distance",), "drive": (), "state": (), "properties": ()},
    "PhysicsJoint": {"limit": (*_T, *_R, "distance"), "drive": (*_T, *_R, "distance"), "state": (*_T, *_R), "properties": _R},
    "PhysxPhysicsGearJoint": {"limit": (), "drive": (), "state": (), "properties": ()},
    "PhysxPhysicsRackAndPinionJoint": {"limit": (), "drive": (), "state": (), "properties": ()},
}


@dataclass
class Descriptors:
    """Resolved joints: blocks in type order (spec 2.1), custom tokens last; the global joint index is block offset + row."""

    paths: PathDictionary
    blocks: tuple[JointBlock, ...]
    rules: str
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    metadata: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(b) for b in self.blocks)

    def block(self, type_name: str) -> JointBlock | None:
        return next((b for b in self.blocks if b.type_name == type_name), None)

    def to_arrow(self, paths: str = "string") -> pa.Table:
        """One row a joint, in order; `paths` as "string" or "id" (uint64). Columns and units: `consumer.arrow.schema`."""
        from consumer.arrow import to_table

        return to_table(self, paths)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)
