"""Drives and their performance envelopes (spec 6.1, 6.2)."""

from __future__ import annotations

import numpy as np

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.constants import FLT_MAX
from consumer.fields import ANGLE, CLAMPED_ANGLE, CLAMPED_CAP, CLAMPED_GAIN, FORCE_LIMIT, GAIN, SAME_TOKEN, Field, Lane, flag, floats
from ovsim import contract
from ovsim.contract.joints import ROTATIONAL_INSTANCES
from ovsim.jit import rule

_DRIVE = {"targetPosition": ANGLE, "targetVelocity": ANGLE, "stiffness": GAIN, "damping": GAIN, "maxForce": FORCE_LIMIT}
_ENVELOPE = {"maxActuatorVelocity": CLAMPED_CAP, "velocityDependentResistance": CLAMPED_GAIN, "speedEffortGradient": CLAMPED_ANGLE}


@rule
def force_limit(value: np.float32) -> np.float32:
    """inf and NaN mean unlimited, FLT_MAX; a negative limit is kept."""
    return value if np.isfinite(value) else FLT_MAX


def drive_fields(block: JointBlock, reader: ColumnReader) -> list[Field]:
    """Drive records of one archetype's rows; an instance that is not listed gets the parser defaults.

    Gains and targets are not clamped, envelope values are clamped to [0, FLT_MAX].
    """
    acceleration = reader.archetype.paths.find_token("acceleration")
    with_envelope = contract.load().instances("PhysxDrivePerformanceEnvelopeAPI", block.type_name)
    records, enabled, accelerations, envelopes = {}, {}, {}, {}
    for k, instance in enumerate(RECORDS.get(block.type_name, {}).get("drive", ())):
        listed = reader.lists("PhysicsDriveAPI", instance)
        envelope = listed and instance in with_envelope and reader.lists("PhysxDrivePerformanceEnvelopeAPI", instance)
        values = [(rule, f"drive:{instance}:physics:{name}", listed) for name, rule in _DRIVE.items()]
        values += [(rule, f"physxDrivePerformanceEnvelope:{instance}:{name}", envelope) for name, rule in _ENVELOPE.items()]
        records[k] = tuple(floats(rule, reader, (name,), gate, instance in ROTATIONAL_INSTANCES) for rule, name, gate in values)
        kind = reader.token(f"drive:{instance}:physics:type", listed, arrays=False)
        enabled[k], envelopes[k] = flag(listed), flag(envelope)
        accelerations[k] = (Lane(SAME_TOKEN, (kind,), token=acceleration),)
    flags = ((block.drive_listed, enabled), (block.drive_acceleration, accelerations), (block.drive_envelope, envelopes))
    return [Field(block.drive, records), *(Field(*f) for f in flags)]
