"""Named unit conversions, each with an angular and a linear value (spec 5.1, 6)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from consumer import units
from consumer.constants import D2R, FLT_MAX, R2D

F = np.float32


def test_deg_to_rad():
    assert units.deg_to_rad(F(90)) == F(90) * D2R == pytest.approx(math.pi / 2)
    assert math.isinf(units.deg_to_rad(F(np.inf)))


def test_per_deg_to_per_rad():
    assert units.per_deg_to_per_rad(F(2)) == F(2) * R2D == pytest.approx(114.59156)


@pytest.mark.parametrize("value", [-30.0, 45.5])
def test_angle(value):
    assert units.angle(F(value), True) == F(value) * D2R
    assert units.angle(F(value), False) == F(value)


@pytest.mark.parametrize("value", [-3.0, 10.0])
def test_gain(value):
    assert units.gain(F(value), True) == F(value) * R2D
    assert units.gain(F(value), False) == F(value)


def test_velocity_cap():
    assert units.velocity_cap(F(180), True) == pytest.approx(math.pi)
    assert units.velocity_cap(F(180), False) == 180
    assert units.velocity_cap(FLT_MAX, True) == FLT_MAX
    assert math.isnan(units.velocity_cap(F(np.nan), True))


def test_clamp_positive():
    assert [units.clamp_positive(F(v)) for v in (-1, 0, 2, np.inf, -np.inf)] == [0, 0, 2, FLT_MAX, 0]
    assert math.isnan(units.clamp_positive(F(np.nan)))


def test_constants_are_float32():
    """spec 0: the float32 constants, bit for bit."""
    assert all(type(c) is np.float32 for c in (D2R, R2D, FLT_MAX))
    assert [int(c.view(np.uint32)) for c in (D2R, R2D, FLT_MAX)] == [0x3C8EFA35, 0x42652EE1, 0x7F7FFFFF]
