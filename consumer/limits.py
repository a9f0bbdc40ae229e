"""Limits: which bounds count as limits, their units, their tuning (spec section 5.1, 5.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.constants import SENTINEL, ZERO
from consumer.passes import Pass, Record, constant, record_passes
from consumer.units import angle, clamp_positive
from ovsim.contract.joints import D6, DISTANCE, PRISMATIC, REVOLUTE, ROTATIONAL_INSTANCES, SPHERICAL
from ovsim.jit import at, ranged, rule

Array = npt.NDArray[Any]
RANGE, CONE, SPAN = range(3)  # how a pair of bounds is enabled

# joint type: bounds columns (with the instance for D6), enable rule
BOUNDS: dict[str, tuple[str, str, int]] = {
    REVOLUTE: ("physics:lowerLimit", "physics:upperLimit", RANGE),
    PRISMATIC: ("physics:lowerLimit", "physics:upperLimit", RANGE),
    SPHERICAL: ("physics:coneAngle0Limit", "physics:coneAngle1Limit", CONE),
    DISTANCE: ("physics:minDistance", "physics:maxDistance", SPAN),
    D6: ("limit:{}:physics:low", "limit:{}:physics:high", RANGE),
}
_TUNING = ("restitution", "bounceThreshold", "stiffness", "damping")
_ROTATIONAL = ROTATIONAL_INSTANCES | {"cone"}


@rule
def range_enabled(low: np.float32, high: np.float32) -> bool:
    """One real bound is enough; each is compared with its own sentinel only."""
    return (np.isfinite(low) and low > -SENTINEL) or (np.isfinite(high) and high < SENTINEL)


@rule
def cone_enabled(angle0: np.float32, angle1: np.float32) -> bool:
    """Both angles finite and not negative."""
    return np.isfinite(angle0) and np.isfinite(angle1) and angle0 >= ZERO and angle1 >= ZERO


@rule
def span_enabled(minimum: np.float32, maximum: np.float32) -> int:
    """Bit 0: the minimum counts, bit 1: the maximum counts; a negative one does not."""
    return (1 if minimum >= ZERO else 0) + (2 if maximum >= ZERO else 0)


@rule
def enabled_bits(how: int, low: np.float32, high: np.float32) -> int:
    """The value of `limit_enabled` for a pair of authored bounds."""
    if how == RANGE:
        return 1 if range_enabled(low, high) else 0
    if how == CONE:
        return 1 if cone_enabled(low, high) else 0
    return span_enabled(low, high)


@ranged
def resolve_limit(
    lo: int, hi: int, rows: Array,
    k: int, how: int, rotational: bool, listed: int, low: Array, ls: int, high: Array, hs: int, restitution: Array, rs: int,
    bounce: Array, bs: int, stiffness: Array, ss: int, damping: Array, ds: int, limit: Array, limit_listed: Array, limit_enabled: Array,
) -> None:  # fmt: skip
    """Record `k` of every row: bounds in radians or length, four tuning values clamped to [0, FLT_MAX] and not converted."""
    for i in range(lo, hi):
        row = rows[at(i, 1)]
        lower, upper = low[at(i, ls)], high[at(i, hs)]
        limit[row, k, 0] = angle(lower, rotational)
        limit[row, k, 1] = angle(upper, rotational)
        limit[row, k, 2] = clamp_positive(restitution[at(i, rs)])
        limit[row, k, 3] = clamp_positive(bounce[at(i, bs)])
        limit[row, k, 4] = clamp_positive(stiffness[at(i, ss)])
        limit[row, k, 5] = clamp_positive(damping[at(i, ds)])
        limit_listed[row, k] = listed
        limit_enabled[row, k] = enabled_bits(how, lower, upper)


def limit_passes(block: JointBlock, rows: Array, reader: ColumnReader) -> list[Pass]:
    """Limit records of one archetype's rows; a D6 instance that is not listed is zero."""
    if block.type_name not in BOUNDS:
        return []
    low, high, how = BOUNDS[block.type_name]
    records = []
    for k, instance in enumerate(RECORDS[block.type_name]["limit"]):
        if block.type_name == D6 and not reader.lists("PhysicsLimitAPI", instance):
            continue
        tuned = reader.lists("PhysxLimitAPI", instance)
        columns = [*reader.float32(low.format(instance)), *reader.float32(high.format(instance))]
        columns += [c for name in _TUNING for c in reader.float32(f"physxLimit:{instance}:{name}", tuned)]
        records.append(Record(k, constant(*columns), (how, instance in _ROTATIONAL, 1, *columns)))
    return record_passes(rows, resolve_limit, records, (block.limit, block.limit_listed, block.limit_enabled))
