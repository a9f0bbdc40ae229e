"""Rows where nothing is created: below a prototype of a native instance, or below a point instancer (observed)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.jit import serial
from ovsim.stage import Archetype, Stage

Array = npt.NDArray[Any]
PROTOTYPE_API, INSTANCER = "PrototypeRootAPI", "PointInstancer"


def rows_of(archetypes: Iterable[Archetype]) -> Array:
    """Path ids of all rows, int64."""
    return np.concatenate([*(a.path_ids for a in archetypes), np.empty(0, np.uint64)]).astype(np.int64)


def hidden_paths(stage: Stage) -> Array:
    """Whether a path lies at or below a prototype root or below (not at) a point instancer, by path id, uint8."""
    roots, instancers = rows_of(stage.with_schema(PROTOTYPE_API)), rows_of(stage.with_type(INSTANCER))
    if not roots.size and not instancers.size:
        return np.zeros(stage.paths.path_count, np.uint8)
    return below_prototypes(stage.paths.parents, roots, instancers)


@serial
def below_prototypes(parents: Array, roots: Array, instancers: Array) -> Array:
    """Which paths lie at or below one of the roots, or below (not at) an instancer, by path id, uint8; parents have smaller ids."""
    inside, holds = np.zeros(parents.size, np.uint8), np.zeros(parents.size, np.uint8)
    inside[roots] = 1
    holds[instancers] = 1
    for p in range(2, parents.size):
        if inside[parents[p]] or holds[parents[p]]:
            inside[p] = 1
    return inside
