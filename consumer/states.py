"""Initial joint states (spec 6.4)."""

from __future__ import annotations

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.fields import BOUNDED_ANGLE, Field, flag, floats
from ovsim.contract.joints import ROTATIONAL_INSTANCES


def state_fields(block: JointBlock, reader: ColumnReader) -> list[Field]:
    """State records of one archetype's rows, in radians or length; an instance that is not listed is zero.

    Infinities become FLT_MAX before the conversion (observed).
    """
    records, flags = {}, {}
    for k, instance in enumerate(RECORDS.get(block.type_name, {}).get("state", ())):
        if reader.lists("PhysicsJointStateAPI", instance):
            names = (f"state:{instance}:physics:{name}" for name in ("position", "velocity"))
            records[k] = tuple(floats(BOUNDED_ANGLE, reader, (name,), True, instance in ROTATIONAL_INSTANCES) for name in names)
            flags[k] = flag(True)
    return [Field(block.state, records), Field(block.state_listed, flags)]
