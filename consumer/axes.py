"""Axis properties: armature, velocity cap and friction of each axis, with their joint-level seeds (spec 6.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.constants import FLT_MAX, ZERO
from consumer.passes import Pass, Record, constant, record_passes
from consumer.units import clamp_positive, gain, velocity_cap
from ovsim.contract.joints import ROTATIONAL_INSTANCES
from ovsim.jit import at, ranged, rule

Array = npt.NDArray[Any]
_OWN = ("armature", "maxJointVelocity", "staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")


@rule
def axis_armature(own: np.float32, joint: np.float32) -> np.float32:
    """Only a strictly positive armature of the axis replaces the joint-level one."""
    return clamp_positive(own) if own > ZERO else clamp_positive(joint)


@rule
def axis_velocity_cap(own: np.float32, joint: np.float32, newton: np.float32) -> np.float32:
    """The first of axis, joint and Newton with an opinion. Below FLT_MAX is one, 0 too; inf and NaN are none, but Newton's NaN passes (observed)."""
    if own < FLT_MAX:
        return clamp_positive(own)
    if joint < FLT_MAX:
        return clamp_positive(joint)
    return clamp_positive(newton)


@ranged
def resolve_axis(
    lo: int, hi: int, rows: Array,
    k: int, rotational: bool, listed: int, armature: Array, as_: int, cap: Array, cs: int, static: Array, ss: int, dynamic: Array,
    ds: int, viscous: Array, vs: int, joint_armature: Array, jas: int, joint_cap: Array, jcs: int, newton_cap: Array, ncs: int,
    properties: Array, properties_listed: Array,
) -> None:  # fmt: skip
    """Record `k` of every row, in radians on a rotational axis."""
    for i in range(lo, hi):
        row = rows[at(i, 1)]
        properties[row, k, 0] = axis_armature(armature[at(i, as_)], joint_armature[at(i, jas)])
        properties[row, k, 1] = velocity_cap(axis_velocity_cap(cap[at(i, cs)], joint_cap[at(i, jcs)], newton_cap[at(i, ncs)]), rotational)
        properties[row, k, 2] = clamp_positive(static[at(i, ss)])
        properties[row, k, 3] = clamp_positive(dynamic[at(i, ds)])
        properties[row, k, 4] = gain(clamp_positive(viscous[at(i, vs)]), rotational)
        properties_listed[row, k] = listed


def axis_passes(block: JointBlock, rows: Array, reader: ColumnReader) -> list[Pass]:
    """Axis properties of one archetype's rows; an instance that is not listed carries the joint-level seeds."""
    instances = RECORDS.get(block.type_name, {}).get("properties", ())
    if not instances:
        return []
    joint_level = reader.lists("PhysxJointAPI")
    seeds = (
        *reader.float32("physxJoint:armature", joint_level),
        *reader.float32("physxJoint:maxJointVelocity", joint_level),
        *reader.float32("newton:velocityLimit"),  # no gate: read wherever the column is (observed)
    )
    records = []
    for k, instance in enumerate(instances):
        listed = reader.lists("PhysxJointAxisAPI", instance)
        columns = (*(c for n in _OWN for c in reader.float32(f"physxJointAxis:{instance}:{n}", listed)), *seeds)
        records.append(Record(k, constant(*columns), (instance in ROTATIONAL_INSTANCES, int(listed), *columns)))
    return record_passes(rows, resolve_axis, records, (block.properties, block.properties_listed))
