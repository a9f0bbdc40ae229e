"""Axis properties: armature, velocity cap and friction of each axis, with their joint-level seeds (spec 6.3)."""

from __future__ import annotations

import numpy as np

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.constants import FLT_MAX, ZERO
from consumer.fields import ARMATURE, AXIS_CAP, CLAMP, CLAMPED_GAIN, Field, Lane, flag, floats
from consumer.units import clamp_positive
from ovsim.contract.joints import ROTATIONAL_INSTANCES
from ovsim.jit import rule

_SEEDED = ("armature", "maxJointVelocity")  # with a joint-level value for axes that have none
_OWN = {"staticFrictionEffort": CLAMP, "dynamicFrictionEffort": CLAMP, "viscousFrictionCoefficient": CLAMPED_GAIN}


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


def axis_fields(block: JointBlock, reader: ColumnReader) -> list[Field]:
    """Axis properties of one archetype's rows, in radians on a rotational axis; an instance that is not listed carries the joint-level seeds."""
    instances = RECORDS.get(block.type_name, {}).get("properties", ())
    if not instances:
        return []
    joint_level = reader.lists("PhysxJointAPI")
    joint_armature = reader.float32("physxJoint:armature", joint_level)
    joint_cap = reader.float32("physxJoint:maxJointVelocity", joint_level)
    newton_cap = reader.float32("newton:velocityLimit")  # no gate: read wherever the column is (observed)
    records, flags = {}, {}
    for k, instance in enumerate(instances):
        listed, rotational = reader.lists("PhysxJointAxisAPI", instance), instance in ROTATIONAL_INSTANCES
        armature, cap = (reader.float32(f"physxJointAxis:{instance}:{n}", listed) for n in _SEEDED)
        records[k] = (
            Lane(ARMATURE, (armature, joint_armature)),
            Lane(AXIS_CAP, (cap, joint_cap, newton_cap), rotational),
            *(floats(rule, reader, (f"physxJointAxis:{instance}:{n}",), listed, rotational) for n, rule in _OWN.items()),
        )
        flags[k] = flag(listed)
    return [Field(block.properties, records), Field(block.properties_listed, flags)]
