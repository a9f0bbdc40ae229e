"""The spring of a distance joint (spec 6.5)."""

from __future__ import annotations

from consumer.blocks import JointBlock
from consumer.columns import ColumnReader
from consumer.fields import CLAMP, TRUTH, Field, Lane, floats
from ovsim.contract.joints import DISTANCE

_API, _PREFIX = "PhysxPhysicsDistanceJointAPI", "physxPhysicsDistanceJoint:"


def spring_fields(block: JointBlock, reader: ColumnReader) -> list[Field]:
    """Springs of one archetype's rows, stiffness and damping clamped to [0, FLT_MAX]; without the API off and zero, as the columns' defaults say."""
    if block.type_name != DISTANCE:
        return []
    listed = reader.lists(_API)
    gains = tuple(floats(CLAMP, reader, (_PREFIX + name,), listed) for name in ("springStiffness", "springDamping"))
    enabled = (Lane(TRUTH, (reader.boolean(_PREFIX + "springEnabled", listed),)),)
    return [Field(block.spring, {0: gains}), Field(block.spring_enabled, {0: enabled})]
