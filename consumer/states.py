"""Initial joint states (spec 6.4)."""

from __future__ import annotations

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.fields import BOUNDED_ANGLE, Field, Lane, flag
from ovsim.contract.joints import ROTATIONAL_INSTANCES


def state_fields(block: JointBlock, reader: ColumnReader) -> list[Field]:
    """State records of one archetype's rows, in radians or length; an instance that is not listed is zero.

    Infinities become FLT_MAX before the conversion (observed).
    """
    records, flags = {}, {}
    for k, instance in enumerate(RECORDS.get(block.type_name, {}).get("state", ())):
        if reader.lists("PhysicsJointStateAPI", instance):
            columns = (reader.float32(f"state:{instance}:physics:{name}") for name in ("position", "velocity"))
            records[k] = tuple(Lane(BOUNDED_ANGLE, (column,), instance in ROTATIONAL_INSTANCES) for column in columns)
            flags[k] = flag(True)
    return [Field(block.state, records), Field(block.state_listed, flags)]
