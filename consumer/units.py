"""Unit conversions, each a named rule in float32 (spec sections 5.1, 6; contract "conversion")."""

from __future__ import annotations

import numpy as np

from consumer.constants import D2R, FLT_MAX, R2D, ZERO
from ovsim.jit import rule


@rule
def deg_to_rad(value: np.float32) -> np.float32:
    """Degrees (also per second, per torque) to radians; inf and NaN survive."""
    return value * D2R


@rule
def per_deg_to_per_rad(value: np.float32) -> np.float32:
    """A gain per degree (stiffness, damping, resistance) to the same gain per radian."""
    return value * R2D


@rule
def angle(value: np.float32, rotational: bool) -> np.float32:
    """A position, velocity or bound: degrees to radians on a rotational instance, stage length as it is on a linear one."""
    return deg_to_rad(value) if rotational else value


@rule
def gain(value: np.float32, rotational: bool) -> np.float32:
    """A gain: per degree to per radian on a rotational instance, per length as it is on a linear one."""
    return per_deg_to_per_rad(value) if rotational else value


@rule
def velocity_cap(value: np.float32, rotational: bool) -> np.float32:
    """A velocity cap: FLT_MAX means none and is never converted (spec 6.2, 6.3)."""
    return value if value >= FLT_MAX else angle(value, rotational)


@rule
def clamp_positive(value: np.float32) -> np.float32:
    """Clamped to [0, FLT_MAX]; NaN passes (observed)."""
    if value < ZERO:
        return ZERO
    if value > FLT_MAX:
        return FLT_MAX
    return value


@rule
def bounded(value: np.float32) -> np.float32:
    """Clamped to [-FLT_MAX, FLT_MAX]: only infinities change; NaN passes (observed)."""
    if value > FLT_MAX:
        return FLT_MAX
    if value < -FLT_MAX:
        return -FLT_MAX
    return value
