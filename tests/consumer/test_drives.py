"""Drives and envelopes (spec sections 6.1, 6.2)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hand import one

from consumer.constants import D2R, R2D

REVOLUTE, PRISMATIC, D6 = "PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsJoint"
FLT_MAX = 3.4028234663852886e38
DRIVE = {"targetPosition": 45, "targetVelocity": 90, "stiffness": 10, "damping": 2, "maxForce": 7}
ENVELOPE = {"maxActuatorVelocity": 180, "velocityDependentResistance": 0.5, "speedEffortGradient": 2}
LANES = ("targetPosition", "targetVelocity", "stiffness", "damping", "forceLimit")


def drive(kind, instance, values=None, envelope=None, schemas=None):
    columns = {f"drive:{instance}:physics:{n}": v for n, v in (values or {}).items()}
    columns |= {f"physxDrivePerformanceEnvelope:{instance}:{n}": v for n, v in (envelope or {}).items()}
    if schemas is None:
        schemas = [f"PhysicsDriveAPI:{instance}"] + [f"PhysxDrivePerformanceEnvelopeAPI:{instance}"] * (envelope is not None)
    row = one(kind, columns, schemas)
    return row["drives"][0] if kind == D6 else row["drive"]


@pytest.mark.parametrize(("kind", "instance"), [(REVOLUTE, "angular"), (D6, "rotX"), (D6, "rotY"), (D6, "rotZ")])
def test_vector_rev_basic_units(kind, instance):
    """spec 6.1 vector rev_basic: rotational instances in radians, in float32."""
    got = drive(kind, instance, DRIVE)
    want = [np.float32(45) * D2R, np.float32(90) * D2R, np.float32(10) * R2D, np.float32(2) * R2D, np.float32(7)]
    assert [got[n] for n in LANES] == [float(v) for v in want]
    assert got["stiffness"] == pytest.approx(572.9578)
    assert got["damping"] == pytest.approx(114.5916)


@pytest.mark.parametrize(("kind", "instance"), [(PRISMATIC, "linear"), (D6, "transX"), (D6, "transY"), (D6, "transZ"), (D6, "distance")])
def test_vector_pris_both_units(kind, instance):
    """spec 6.1 vector pris_both: linear instances as authored."""
    assert [drive(kind, instance, DRIVE)[n] for n in LANES] == [45, 90, 10, 2, 7]


@pytest.mark.parametrize(("text", "want"), [("acceleration", True), ("force", False), ("Acceleration", False), ("bogus", False)])
def test_spec_6_1_type(text, want):
    """spec 6.1 drive_type_bogus: only the exact token "acceleration"."""
    assert drive(REVOLUTE, "angular", {"type": text})["acceleration"] is want


@pytest.mark.parametrize(("value", "want"), [(math.inf, FLT_MAX), (-math.inf, FLT_MAX), (math.nan, FLT_MAX), (-3, -3), (0, 0)])
def test_spec_6_1_force_limit(value, want):
    """spec 6.1: a force limit that is not finite is FLT_MAX, a negative one is kept."""
    assert drive(REVOLUTE, "angular", {"maxForce": value})["forceLimit"] == want


def test_spec_6_1_no_clamping():
    """spec 6.1 drive_nan: negative and NaN gains pass."""
    got = drive(PRISMATIC, "linear", {"stiffness": -5, "damping": math.nan})
    assert got["stiffness"] == -5
    assert math.isnan(got["damping"])


def test_spec_6_1_listed_without_columns():
    """spec 6.1: the API alone enables a drive, with the parser defaults."""
    got = drive(REVOLUTE, "angular")
    assert got["enabled"]
    assert [got[n] for n in LANES] == [0, 0, 0, 0, FLT_MAX]


def test_spec_2_2_unlisted_drive_is_inert():
    """spec 2.2: columns without the API."""
    got = drive(REVOLUTE, "angular", DRIVE, schemas=[])
    assert not got["enabled"]
    assert [got[n] for n in LANES] == [0, 0, 0, 0, FLT_MAX]


def test_vector_rev_all_envelope():
    """spec 6.2 vector rev_all: envelope 180 deg/s, 0.5, 2."""
    got = drive(REVOLUTE, "angular", DRIVE, ENVELOPE)
    assert got["isEnvelopeUsed"]
    assert [got[n] for n in ENVELOPE] == pytest.approx([3.14159265, 28.64789, 0.034906585])


def test_spec_6_2_linear_is_not_converted():
    """spec 6.2: the linear envelope as authored."""
    assert [drive(PRISMATIC, "linear", DRIVE, ENVELOPE)[n] for n in ENVELOPE] == [180, 0.5, 2]


def test_spec_6_2_env_default_stays_flt_max():
    """spec 6.2 env_default: FLT_MAX and inf are not converted."""
    assert drive(REVOLUTE, "angular", DRIVE, {})["maxActuatorVelocity"] == FLT_MAX
    assert drive(REVOLUTE, "angular", DRIVE, {"maxActuatorVelocity": math.inf})["maxActuatorVelocity"] == FLT_MAX


def test_spec_6_2_negative_values_are_zero():
    """spec 6.2: clamped at zero."""
    assert [drive(REVOLUTE, "angular", DRIVE, dict.fromkeys(ENVELOPE, -1))[n] for n in ENVELOPE] == [0, 0, 0]


def test_spec_6_2_envelope_needs_a_drive():
    """spec 6.2 rev_envelope_nodrive."""
    got = drive(REVOLUTE, "angular", DRIVE, ENVELOPE, ["PhysxDrivePerformanceEnvelopeAPI:angular"])
    assert not got["isEnvelopeUsed"]
    assert got["maxActuatorVelocity"] == FLT_MAX


@pytest.mark.parametrize("instance", ["transX", "distance"])
def test_spec_6_2_not_on_linear_d6_drives(instance):
    """spec 6.2, 2.3: translational D6 drives never read it."""
    assert not drive(D6, instance, DRIVE, ENVELOPE)["isEnvelopeUsed"]


def test_vector_d6_drive():
    """spec 6.1 vector d6_drive: every axis with its own unit; list order trans, rot, distance."""
    names = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance")
    columns = {}
    for k, i in enumerate(names, 1):
        for n, v in (("stiffness", k), ("damping", 1), ("targetPosition", 10 * k), ("targetVelocity", 100 * k)):
            columns[f"drive:{i}:physics:{n}"] = v
    drives = one(D6, columns, [f"PhysicsDriveAPI:{i}" for i in sorted(names)])["drives"]
    assert [d["axis"] for d in drives] == list(names)
    assert [d["stiffness"] for d in drives] == pytest.approx([1, 2, 3, 229.1831, 286.4789, 343.7747, 7])
    assert [d["damping"] for d in drives[2:4]] == pytest.approx([1, 57.29578])
    assert [d["targetVelocity"] for d in drives[3:6]] == pytest.approx([6.98132, 8.72665, 10.472], rel=1e-5)
