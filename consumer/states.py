"""Initial joint states (spec 6.4)."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from numba import prange

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.jit import kernel
from consumer.units import angle, bounded
from ovsim.contract.joints import ROTATIONAL_INSTANCES

Array = npt.NDArray[Any]


@kernel
def resolve_state(
    rows: Array, k: int, rotational: bool, position: Array, ps: int, velocity: Array, vs: int, state: Array, state_listed: Array
) -> None:
    """Record `k` of every row, in radians or length; infinities become FLT_MAX before the conversion (observed)."""
    for i in prange(rows.size):
        row = rows[i]
        state[row, k, 0] = angle(bounded(position[i * ps]), rotational)
        state[row, k, 1] = angle(bounded(velocity[i * vs]), rotational)
        state_listed[row, k] = 1


def fill_states(block: JointBlock, rows: Array, reader: ColumnReader) -> None:
    """State records of one archetype's rows; an instance that is not listed stays zero, as the block was made."""
    for k, instance in enumerate(RECORDS.get(block.type_name, {}).get("state", ())):
        if reader.lists("PhysicsJointStateAPI", instance):
            position = reader.float32(f"state:{instance}:physics:position")
            velocity = reader.float32(f"state:{instance}:physics:velocity")
            resolve_state(rows, k, instance in ROTATIONAL_INSTANCES, *position, *velocity, block.state, block.state_listed)
