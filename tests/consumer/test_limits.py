"""Limits (spec sections 5.1 and 5.2)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hand import one

from consumer.constants import D2R

REVOLUTE, PRISMATIC, SPHERICAL = "PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsSphericalJoint"
DISTANCE, D6 = "PhysicsDistanceJoint", "PhysicsJoint"
INF, NAN, FLT_MAX = math.inf, math.nan, 3.4028234663852886e38


def bounds(kind, low, high, instance="rotX"):
    """(enabled, lower, upper) of a joint's limit; of one instance on a D6."""
    if kind == D6:
        row = one(D6, {f"limit:{instance}:physics:low": low, f"limit:{instance}:physics:high": high}, [f"PhysicsLimitAPI:{instance}"])
        (limit,) = row["limits"]
        assert limit["axis"] == instance
    else:
        limit = one(kind, {"physics:lowerLimit": low, "physics:upperLimit": high})["limit"]
    return limit["enabled"], limit["lower"], limit["upper"]


ENABLE = [
    (-30, 60, True),
    (0, 0, True),
    (30, -30, True),
    (-30, INF, True),
    (-INF, 60, True),
    (-INF, INF, False),
    (-FLT_MAX, FLT_MAX, False),
    (6e37, INF, True),
    (-INF, -6e37, True),
    (-6e37, 6e37, False),
    (-4.9e37, INF, True),
    (NAN, NAN, False),
    (NAN, 30, True),
]


@pytest.mark.parametrize("kind", [REVOLUTE, PRISMATIC, D6])
@pytest.mark.parametrize(("low", "high", "want"), ENABLE)
def test_spec_5_1_range_enable(kind, low, high, want):
    """spec 5.1 rev_low_sentinel, rev_inf_sentinel: one bound is enough, each against its own sentinel."""
    assert bounds(kind, low, high)[0] is want


@pytest.mark.parametrize(
    ("kind", "instance", "factor"), [(REVOLUTE, "", D2R), (PRISMATIC, "", 1), (D6, "rotY", D2R), (D6, "transZ", 1), (D6, "distance", 1)]
)
def test_spec_5_1_conversion(kind, instance, factor):
    """spec 5.1: degrees to radians in float32 on rotational bounds, lengths as they are."""
    _, low, high = bounds(kind, -30, 45, instance)
    assert (low, high) == (float(np.float32(-30) * np.float32(factor)), float(np.float32(45) * np.float32(factor)))


def test_spec_5_1_infinite_bounds_survive():
    """spec 5.1: inf times a factor is inf."""
    assert bounds(REVOLUTE, -INF, 60)[1] == -INF


@pytest.mark.parametrize(
    ("a0", "a1", "want"),
    [(20, 40, True), (0, 0, True), (-1, -1, False), (45, -1, False), (-1, 45, False), (INF, 10, False), (10, NAN, False), (FLT_MAX, 1, True)],
)
def test_spec_5_1_cone_enable(a0, a1, want):
    """spec 5.1: both angles finite and not negative."""
    assert one(SPHERICAL, {"physics:coneAngle0Limit": a0, "physics:coneAngle1Limit": a1})["limit"]["enabled"] is want


def test_vector_sph_valid_cone():
    """spec 5.1, 5.2 vector sph_valid_cone: radians, negative tuning clamped to zero."""
    columns = {"physics:coneAngle0Limit": 20, "physics:coneAngle1Limit": 40, "physxLimit:cone:stiffness": 5, "physxLimit:cone:damping": 3}
    columns |= {"physxLimit:cone:restitution": 0.5, "physxLimit:cone:bounceThreshold": -2}
    limit = one(SPHERICAL, columns, ["PhysxLimitAPI:cone"])["limit"]
    assert (limit["lower"], limit["upper"]) == pytest.approx((0.3490658, 0.6981317))
    assert [limit[n] for n in ("restitution", "bounceThreshold", "stiffness", "damping")] == [0.5, 0, 5, 3]


@pytest.mark.parametrize(
    ("low", "high", "want"),
    [
        (1, 4, (True, True)),
        (-1, -1, (False, False)),
        (1, -1, (True, False)),
        (-1, 2, (False, True)),
        (0, 0, (True, True)),
        (NAN, 1, (False, True)),
        (-INF, INF, (False, True)),
    ],
)
def test_spec_5_1_distance_enable(low, high, want):
    """spec 5.1: minimum and maximum each count when not negative."""
    row = one(DISTANCE, {"physics:minDistance": low, "physics:maxDistance": high})
    assert (row["minEnabled"], row["maxEnabled"]) == want
    assert row["limit"]["enabled"] is any(want)
    if not math.isnan(low):
        assert (row["limit"]["lower"], row["limit"]["upper"]) == (low, high)


def test_spec_5_2_no_conversion_and_clamp():
    """spec 5.2: tuning is not converted on a rotational limit; clamped to [0, FLT_MAX]; restitution above one passes."""
    names = ("restitution", "bounceThreshold", "stiffness", "damping")
    columns = {"physics:lowerLimit": -30, "physics:upperLimit": 60}
    values = {"restitution": 2, "bounceThreshold": 7, "stiffness": 10, "damping": INF}
    limit = one(REVOLUTE, columns | {f"physxLimit:angular:{n}": v for n, v in values.items()}, ["PhysxLimitAPI:angular"])["limit"]
    assert [limit[n] for n in names] == [2, 7, 10, FLT_MAX]


def test_spec_5_2_nan_passes():
    """spec 5.2: NaN is not clamped (observed)."""
    assert math.isnan(one(REVOLUTE, {"physxLimit:angular:stiffness": NAN}, ["PhysxLimitAPI:angular"])["limit"]["stiffness"])


def test_spec_5_2_unlisted_api_is_zero():
    """spec 5.2, 2.2: columns of an unlisted PhysxLimitAPI are inert."""
    assert one(REVOLUTE, {"physxLimit:angular:stiffness": 9})["limit"]["stiffness"] == 0


def test_spec_5_2_contact_distance_is_never_read():
    """spec 5.2: the record has no contact distance."""
    limit = one(REVOLUTE, {"physxLimit:angular:contactDistance": 9}, ["PhysxLimitAPI:angular"])["limit"]
    assert set(limit) == {"enabled", "lower", "upper", "restitution", "bounceThreshold", "stiffness", "damping"}


def test_vector_d6_lims():
    """spec 5.1 vector d6_lims: one record a listed instance, in list order, locked ones too."""
    given = {"transX": (1, -1), "transY": (-2, 3), "transZ": (-2, INF), "rotX": (-30, 40), "rotY": (-10, 20), "rotZ": (-15, 25), "distance": (0, 4)}
    columns = {f"limit:{i}:physics:{n}": v for i, pair in given.items() for n, v in zip(("low", "high"), pair)}
    columns |= {"physxLimit:rotZ:bounceThreshold": 2, "physxLimit:rotZ:stiffness": 6}
    schemas = [f"PhysicsLimitAPI:{i}" for i in reversed(given)] + ["PhysxLimitAPI:rotZ"]
    limits = one(D6, columns, schemas)["limits"]
    assert [r["axis"] for r in limits] == list(given)
    for record, (low, high) in zip(limits, given.values()):
        factor = float(D2R) if record["axis"].startswith("rot") else 1
        assert (record["lower"], record["upper"]) == pytest.approx((low * factor, high * factor))
        assert record["enabled"]
    assert (limits[5]["bounceThreshold"], limits[5]["stiffness"]) == (2, 6)


def test_spec_2_2_d6_limit_needs_its_api():
    """spec 2.2: an unlisted D6 limit makes no record, with or without PhysxLimitAPI."""
    row = one(D6, {"limit:transX:physics:low": -1, "physxLimit:transX:stiffness": 4}, ["PhysxLimitAPI:transX"])
    assert row["limits"] == []
