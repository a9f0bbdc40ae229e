"""The spring of a distance joint (spec 6.5)."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from consumer.blocks import JointBlock
from consumer.columns import ColumnReader
from consumer.passes import Pass
from consumer.units import clamp_positive
from ovsim.contract.joints import DISTANCE
from ovsim.jit import at, ranged

Array = npt.NDArray[Any]
_API, _PREFIX = "PhysxPhysicsDistanceJointAPI", "physxPhysicsDistanceJoint:"


@ranged
def resolve_spring(
    lo: int, hi: int, rows: Array, enabled: Array, es: int, stiffness: Array, ss: int, damping: Array, ds: int, spring: Array, spring_enabled: Array
) -> None:
    """Stiffness and damping clamped to [0, FLT_MAX]."""
    for i in range(lo, hi):
        row = rows[at(i, 1)]
        spring_enabled[row] = enabled[at(i, es)] != 0
        spring[row, 0] = clamp_positive(stiffness[at(i, ss)])
        spring[row, 1] = clamp_positive(damping[at(i, ds)])


def spring_passes(block: JointBlock, rows: Array, reader: ColumnReader) -> list[Pass]:
    """Springs of one archetype's rows; without the API they are off and zero, which is what the columns' defaults say."""
    if block.type_name != DISTANCE:
        return []
    listed = reader.lists(_API)
    enabled = reader.boolean(_PREFIX + "springEnabled", listed)
    gains = (*reader.float32(_PREFIX + "springStiffness", listed), *reader.float32(_PREFIX + "springDamping", listed))
    return [Pass(resolve_spring, (rows, *enabled, *gains, block.spring, block.spring_enabled))]
