"""Drives and their performance envelopes (spec 6.1, 6.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import RECORDS, JointBlock
from consumer.columns import ColumnReader
from consumer.constants import FLT_MAX
from consumer.passes import Pass, Record, constant, record_passes
from consumer.units import angle, clamp_positive, gain, velocity_cap
from ovsim import contract
from ovsim.contract.joints import ROTATIONAL_INSTANCES
from ovsim.jit import at, ranged, rule

Array = npt.NDArray[Any]
_DRIVE = ("targetPosition", "targetVelocity", "stiffness", "damping", "maxForce")
_ENVELOPE = ("maxActuatorVelocity", "velocityDependentResistance", "speedEffortGradient")


@rule
def force_limit(value: np.float32) -> np.float32:
    """inf and NaN mean unlimited, FLT_MAX; a negative limit is kept."""
    return value if np.isfinite(value) else FLT_MAX


@ranged
def resolve_drive(
    lo: int, hi: int, rows: Array,
    k: int, rotational: bool, listed: int, envelope: int, kind: Array, ks: int, acceleration_token: int, position: Array, ps: int,
    velocity: Array, vs: int, stiffness: Array, ss: int, damping: Array, ds: int, force: Array, fs: int, cap: Array, cs: int,
    resistance: Array, rs: int, gradient: Array, gs: int, drive: Array, drive_listed: Array, drive_acceleration: Array, drive_envelope: Array,
) -> None:  # fmt: skip
    """Record `k` of every row. Gains and targets are not clamped, envelope values are clamped to [0, FLT_MAX]."""
    for i in range(lo, hi):
        row = rows[at(i, 1)]
        drive[row, k, 0] = angle(position[at(i, ps)], rotational)
        drive[row, k, 1] = angle(velocity[at(i, vs)], rotational)
        drive[row, k, 2] = gain(stiffness[at(i, ss)], rotational)
        drive[row, k, 3] = gain(damping[at(i, ds)], rotational)
        drive[row, k, 4] = force_limit(force[at(i, fs)])
        drive[row, k, 5] = velocity_cap(clamp_positive(cap[at(i, cs)]), rotational)
        drive[row, k, 6] = gain(clamp_positive(resistance[at(i, rs)]), rotational)
        drive[row, k, 7] = angle(clamp_positive(gradient[at(i, gs)]), rotational)
        drive_listed[row, k] = listed
        drive_acceleration[row, k] = acceleration_token != 0 and kind[at(i, ks)] == acceleration_token
        drive_envelope[row, k] = envelope


def drive_passes(block: JointBlock, rows: Array, reader: ColumnReader) -> list[Pass]:
    """Drive records of one archetype's rows; an instance that is not listed gets the parser defaults."""
    acceleration = np.uint64(reader.archetype.paths.find_token("acceleration"))
    with_envelope = contract.load().instances("PhysxDrivePerformanceEnvelopeAPI", block.type_name)
    records = []
    for k, instance in enumerate(RECORDS.get(block.type_name, {}).get("drive", ())):
        listed = reader.lists("PhysicsDriveAPI", instance)
        envelope = listed and instance in with_envelope and reader.lists("PhysxDrivePerformanceEnvelopeAPI", instance)
        values = [c for n in _DRIVE for c in reader.float32(f"drive:{instance}:physics:{n}", listed)]
        values += [c for n in _ENVELOPE for c in reader.float32(f"physxDrivePerformanceEnvelope:{instance}:{n}", envelope)]
        kind = reader.token(f"drive:{instance}:physics:type", listed, arrays=False)
        args = (instance in ROTATIONAL_INSTANCES, int(listed), int(envelope), *kind, acceleration, *values)
        records.append(Record(k, constant(*kind, *values), args))
    outs = (block.drive, block.drive_listed, block.drive_acceleration, block.drive_envelope)
    return record_passes(rows, resolve_drive, records, outs)
