"""Columns that every joint type reads alike: flags, break limits, joint friction, axis (spec 1.1, 1.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import JointBlock
from consumer.columns import ColumnReader
from consumer.passes import Pass
from consumer.units import clamp_positive
from ovsim.contract.joints import PRISMATIC, REVOLUTE, SPHERICAL
from ovsim.jit import at, ranged, readonly, rule

Array = npt.NDArray[Any]
_AXIS_TYPES = frozenset({REVOLUTE, PRISMATIC, SPHERICAL})


@rule
def axis_code(token: int, y_token: int, z_token: int) -> int:
    """0 X, 1 Y, 2 Z: only the tokens "Y" and "Z" are known, case and all; everything else is X. Id 0 stands for a token nobody interned."""
    if token == 0:
        return 0
    if token == y_token:
        return 1
    return 2 if token == z_token else 0


@ranged
def resolve_common(
    lo: int, hi: int, rows: Array,
    path: Array, enabled: Array, es: int, collision: Array, cs: int, excluded: Array, xs: int, residual: int, force: Array,
    fs: int, torque: Array, ts: int, friction: Array, js: int, axis: Array, axs: int, y_token: int, z_token: int, path_out: Array,
    enabled_out: Array, collision_out: Array, excluded_out: Array, residual_out: Array, break_out: Array, friction_out: Array, axis_out: Array,
) -> None:  # fmt: skip
    """Break limits pass as they are, negative and infinite ones too; friction is clamped to [0, FLT_MAX]."""
    for i in range(lo, hi):
        row = rows[at(i, 1)]
        path_out[row] = path[at(i, 1)]
        enabled_out[row] = enabled[at(i, es)] != 0
        collision_out[row] = collision[at(i, cs)] != 0
        excluded_out[row] = excluded[at(i, xs)] != 0
        residual_out[row] = residual
        break_out[row, 0] = force[at(i, fs)]
        break_out[row, 1] = torque[at(i, ts)]
        friction_out[row] = clamp_positive(friction[at(i, js)])
        axis_out[row] = axis_code(axis[at(i, axs)], y_token, z_token)


def common_passes(block: JointBlock, rows: Array, reader: ColumnReader) -> list[Pass]:
    """The common fields of one archetype's rows."""
    paths = reader.archetype.paths
    args = (
        rows,
        readonly(reader.archetype.path_ids),
        *reader.boolean("physics:jointEnabled"),
        *reader.boolean("physics:collisionEnabled"),
        *reader.boolean("physics:excludeFromArticulation"),
        int(reader.lists("PhysxResidualReportingAPI")),
        *reader.float32("physics:breakForce"),
        *reader.float32("physics:breakTorque"),
        *reader.float32("physxJoint:jointFriction", reader.lists("PhysxJointAPI")),
        *reader.token("physics:axis", block.type_name in _AXIS_TYPES),
        np.uint64(paths.find_token("Y")),
        np.uint64(paths.find_token("Z")),
        block.path,
        block.enabled,
        block.collision,
        block.excluded,
        block.residual,
        block.break_force,
        block.friction,
        block.axis,
    )
    return [Pass(resolve_common, args)]
