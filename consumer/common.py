"""Columns that every joint type reads alike: flags, break limits, joint friction, axis (spec 1.1, 1.3)."""

from __future__ import annotations

from consumer.blocks import JointBlock
from consumer.columns import ColumnReader
from consumer.fields import AXIS, CLAMP, TRUTH, Field, Lane, flag, floats, raw
from ovsim.contract.joints import PRISMATIC, REVOLUTE, SPHERICAL
from ovsim.jit import readonly, rule

_AXIS_TYPES = frozenset({REVOLUTE, PRISMATIC, SPHERICAL})


@rule
def axis_code(token: int, y_token: int, z_token: int) -> int:
    """0 X, 1 Y, 2 Z: only the tokens "Y" and "Z" are known, case and all; everything else is X. Id 0 stands for a token nobody interned."""
    if token == 0:
        return 0
    if token == y_token:
        return 1
    return 2 if token == z_token else 0


def common_fields(block: JointBlock, reader: ColumnReader) -> list[Field]:
    """The common fields of one archetype's rows.

    Break limits pass as they are, negative and infinite ones too; friction is clamped to [0, FLT_MAX].
    """
    paths = reader.archetype.paths
    y, z = paths.find_token("Y"), paths.find_token("Z")
    friction = floats(CLAMP, reader, ("physxJoint:jointFriction",), reader.lists("PhysxJointAPI"))
    axis = Lane(AXIS, (reader.token("physics:axis", block.type_name in _AXIS_TYPES),), token=y, other=z)
    return [
        Field(block.path, {0: (raw((readonly(reader.archetype.path_ids), 1)),)}),
        Field(block.enabled, {0: (Lane(TRUTH, (reader.boolean("physics:jointEnabled"),)),)}),
        Field(block.collision, {0: (Lane(TRUTH, (reader.boolean("physics:collisionEnabled"),)),)}),
        Field(block.excluded, {0: (Lane(TRUTH, (reader.boolean("physics:excludeFromArticulation"),)),)}),
        Field(block.residual, {0: flag(reader.lists("PhysxResidualReportingAPI"))}),
        Field(block.break_force, {0: (raw(reader.float32("physics:breakForce")), raw(reader.float32("physics:breakTorque")))}),
        Field(block.friction, {0: (friction,)}),
        Field(block.axis, {0: (axis,)}),
    ]
