"""Axis properties: armature, velocity cap and friction of each axis, with their joint-level seeds (spec 6.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import prange

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.constants import FLT_MAX, ZERO
from consumer.jit import kernel, rule
from consumer.units import clamp_positive, gain, velocity_cap
from ovsim.contract.joints import ROTATIONAL_INSTANCES

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


@kernel
def resolve_axis(
    rows: Array, k: int, rotational: bool, listed: int, armature: Array, as_: int, cap: Array, cs: int, static: Array, ss: int, dynamic: Array,
    ds: int, viscous: Array, vs: int, joint_armature: Array, jas: int, joint_cap: Array, jcs: int, newton_cap: Array, ncs: int,
    properties: Array, properties_listed: Array,
) -> None:  # fmt: skip
    """Record `k` of every row, in radians on a rotational axis."""
    for i in prange(rows.size):
        row = rows[i]
        properties[row, k, 0] = axis_armature(armature[i * as_], joint_armature[i * jas])
        properties[row, k, 1] = velocity_cap(axis_velocity_cap(cap[i * cs], joint_cap[i * jcs], newton_cap[i * ncs]), rotational)
        properties[row, k, 2] = clamp_positive(static[i * ss])
        properties[row, k, 3] = clamp_positive(dynamic[i * ds])
        properties[row, k, 4] = gain(clamp_positive(viscous[i * vs]), rotational)
        properties_listed[row, k] = listed


def fill_axes(block: JointBlock, rows: Array, reader: ColumnReader) -> None:
    """Axis properties of one archetype's rows; an instance that is not listed carries the joint-level seeds."""
    instances = RECORDS.get(block.type_name, {}).get("properties", ())
    if not instances:
        return
    joint_level = reader.lists("PhysxJointAPI")
    seeds = (
        *reader.float32("physxJoint:armature", joint_level),
        *reader.float32("physxJoint:maxJointVelocity", joint_level),
        *reader.float32("newton:velocityLimit", reader.lists("NewtonJointAPI")),
    )
    for k, instance in enumerate(instances):
        listed = reader.lists("PhysxJointAxisAPI", instance)
        own = [c for n in _OWN for c in reader.float32(f"physxJointAxis:{instance}:{n}", listed)]
        resolve_axis(
            rows, k, instance in ROTATIONAL_INSTANCES, int(listed), *own, *seeds, block.properties, block.properties_listed
        )  # fmt: skip
