"""Initial joint states (spec 6.4)."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.passes import Pass, Record, constant, record_passes
from consumer.units import angle, bounded
from ovsim.contract.joints import ROTATIONAL_INSTANCES
from ovsim.jit import at, ranged

Array = npt.NDArray[Any]


@ranged
def resolve_state(
    lo: int, hi: int, rows: Array, k: int, rotational: bool, position: Array, ps: int, velocity: Array, vs: int, state: Array, state_listed: Array
) -> None:
    """Record `k` of every row, in radians or length; infinities become FLT_MAX before the conversion (observed)."""
    for i in range(lo, hi):
        row = rows[at(i, 1)]
        state[row, k, 0] = angle(bounded(position[at(i, ps)]), rotational)
        state[row, k, 1] = angle(bounded(velocity[at(i, vs)]), rotational)
        state_listed[row, k] = 1


def state_passes(block: JointBlock, rows: Array, reader: ColumnReader) -> list[Pass]:
    """State records of one archetype's rows; an instance that is not listed is zero."""
    records = []
    for k, instance in enumerate(RECORDS.get(block.type_name, {}).get("state", ())):
        if reader.lists("PhysicsJointStateAPI", instance):
            columns = (*reader.float32(f"state:{instance}:physics:position"), *reader.float32(f"state:{instance}:physics:velocity"))
            records.append(Record(k, constant(*columns), (instance in ROTATIONAL_INSTANCES, *columns)))
    return record_passes(rows, resolve_state, records, (block.state, block.state_listed))
