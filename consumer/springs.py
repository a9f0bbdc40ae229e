"""The spring of a distance joint (spec 6.5)."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from numba import prange

from consumer.blocks import JointBlock
from consumer.columns import ColumnReader
from consumer.jit import kernel
from consumer.units import clamp_positive
from ovsim.contract.joints import DISTANCE

Array = npt.NDArray[Any]
_API, _PREFIX = "PhysxPhysicsDistanceJointAPI", "physxPhysicsDistanceJoint:"


@kernel
def resolve_spring(
    rows: Array, enabled: Array, es: int, stiffness: Array, ss: int, damping: Array, ds: int, spring: Array, spring_enabled: Array
) -> None:
    """Stiffness and damping clamped to [0, FLT_MAX]."""
    for i in prange(rows.size):
        row = rows[i]
        spring_enabled[row] = enabled[i * es] != 0
        spring[row, 0] = clamp_positive(stiffness[i * ss])
        spring[row, 1] = clamp_positive(damping[i * ds])


def fill_springs(block: JointBlock, rows: Array, reader: ColumnReader) -> None:
    """Springs of one archetype's rows; without the API they stay off and zero, as the block was made."""
    if block.type_name == DISTANCE and reader.lists(_API):
        enabled = reader.boolean(_PREFIX + "springEnabled")
        gains = (*reader.float32(_PREFIX + "springStiffness"), *reader.float32(_PREFIX + "springDamping"))
        resolve_spring(rows, *enabled, *gains, block.spring, block.spring_enabled)
