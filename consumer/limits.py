"""Limits: which bounds count as limits, their units, their tuning (spec section 5.1, 5.2)."""

from __future__ import annotations

import numpy as np

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.constants import SENTINEL, ZERO
from consumer.fields import ANGLE, CLAMP, CONE, RANGE, SPAN, Field, Lane, flag, floats
from ovsim.contract.joints import D6, DISTANCE, PRISMATIC, REVOLUTE, ROTATIONAL_INSTANCES, SPHERICAL
from ovsim.jit import rule

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


def limit_fields(block: JointBlock, reader: ColumnReader) -> list[Field]:
    """Limit records of one archetype's rows; a D6 instance that is not listed is zero.

    Bounds in radians or length, four tuning values clamped to [0, FLT_MAX] and not converted; whether a bound counts is decided on the authored ones.
    """
    if block.type_name not in BOUNDS:
        return []
    low, high, enabled = BOUNDS[block.type_name]
    records, listed, counts = {}, {}, {}
    for k, instance in enumerate(RECORDS[block.type_name]["limit"]):
        if block.type_name == D6 and not reader.lists("PhysicsLimitAPI", instance):
            continue
        tuned = reader.lists("PhysxLimitAPI", instance)
        bounds = (reader.float32(low.format(instance)), reader.float32(high.format(instance)))
        tuning = (floats(CLAMP, reader, (f"physxLimit:{instance}:{name}",), tuned) for name in _TUNING)
        records[k] = (*(Lane(ANGLE, (b,), instance in _ROTATIONAL) for b in bounds), *tuning)
        listed[k], counts[k] = flag(True), (Lane(enabled, bounds),)
    return [Field(block.limit, records), Field(block.limit_listed, listed), Field(block.limit_enabled, counts)]
