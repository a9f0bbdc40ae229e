"""Per-articulation settings read from the root prim (spec 1.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.columns import ColumnReader
from consumer.constants import FLT_MAX
from consumer.physx.stage_graph import PHYSX_API
from ovsim.diagnostics import Diagnostics
from ovsim.stage import Ragged, Stage

Array = npt.NDArray[Any]
_SELF, _NEWTON_SELF = "physxArticulation:enabledSelfCollisions", "newton:selfCollisionEnabled"
_ITERATIONS = {"solverPositionIterationCount": (32, 1), "solverVelocityIterationCount": (1, 0)}
_THRESHOLDS = {"sleepThreshold": np.float32(5e-5), "stabilizationThreshold": np.float32(1e-2)}
MOST_ITERATIONS = 255


def articulation_settings(stage: Stage, roots: Array, length_scale: np.float32) -> dict[str, Array]:
    """Settings by name, arrays of shape (roots.size,): iteration counts int32, thresholds float32 (length^2/s^2), selfCollision uint8.

    `roots` are path ids of rows. Counts are clamped to [1, 255] and [0, 255], thresholds to [0, FLT_MAX]; a default threshold scales with
    (10 * `length_scale`)^2, an authored or published one does not.
    """
    out: dict[str, Array] = {n: np.full(roots.size, default, np.int32) for n, (default, _) in _ITERATIONS.items()}
    scale = np.float32(10) * length_scale
    with np.errstate(over="ignore", invalid="ignore"):
        out |= {n: np.full(roots.size, factor * scale * scale, np.float32) for n, factor in _THRESHOLDS.items()}
    out["selfCollision"] = np.ones(roots.size, np.uint8)
    kind, row = stage.located
    for k in np.unique(kind[roots]):
        archetype = stage.archetypes[k]
        at = np.flatnonzero(kind[roots] == k)
        rows = row[roots[at]]
        listed = archetype.lists(PHYSX_API)
        for name, (_, least) in _ITERATIONS.items():
            column = f"physxArticulation:{name}"
            if listed and column in archetype:
                values = archetype.values(column)
                if not isinstance(values, Ragged) and values.dtype == np.int32 and values.ndim == 1:
                    out[name][at] = np.clip(values[rows], least, MOST_ITERATIONS)
        for name in _THRESHOLDS:
            if listed and f"physxArticulation:{name}" in archetype:
                values, step = ColumnReader(archetype, Diagnostics()).float32(f"physxArticulation:{name}", default=out[name][at[0]])
                out[name][at] = np.clip(values[rows * step], 0, FLT_MAX)
        name = _SELF if listed and _SELF in archetype else _NEWTON_SELF
        if name in archetype:
            values = archetype.values(name)
            if not isinstance(values, Ragged) and values.dtype in (np.uint8, np.bool_) and values.ndim == 1:
                out["selfCollision"][at] = values[rows]
    return out
