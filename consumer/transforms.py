"""World matrices of prims (spec 4.5 "World matrix source"; contract block `prim`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import prange

from consumer.bodies import PROPERTY
from consumer.columns import ColumnReader
from consumer.jit import kernel, readonly, serial
from ovsim.diagnostics import Diagnostics
from ovsim.stage import Stage

F64 = npt.NDArray[np.float64]
U32 = npt.NDArray[np.uint32]
U8 = npt.NDArray[np.uint8]

LOCAL, WORLD = "omni:xform", "omni:fabric:worldMatrix"
RESET = "omni:resetXformStack"
_PROPERTY = np.uint8(PROPERTY)
_FINAL = np.uint8(1)  # the stored matrix is the world matrix already


@dataclass(frozen=True)
class Transforms:
    """World matrices by path: `world[slot[path id]]`, float64 (m, 4, 3), row vectors, translation in row 3; slot 0 is the identity.

    A path without a matrix row shares the slot of its nearest ancestor that has one, so a target without a row is an identity child of its
    nearest existing ancestor. A property path is at the identity (observed).
    """

    slot: U32
    world: F64

    @classmethod
    def of(cls, stage: Stage, flags: U8, diagnostics: Diagnostics) -> Transforms:
        """`flags` are the body table's bits by path id."""
        slot = np.zeros(stage.paths.path_count, np.uint32)
        sources = []
        count = 1
        for archetype in stage.archetypes:
            reader = ColumnReader(archetype, diagnostics)
            world, local = reader.matrix(WORLD), reader.matrix(LOCAL)
            reset, _ = reader.boolean(RESET, default=False)
            if world is None and local is None and not reset.any():
                continue
            slot[archetype.path_ids] = np.arange(count, count + len(archetype), dtype=np.uint32)
            sources.append((count, len(archetype), world if world is not None else local, world is not None, reset))
            count += len(archetype)
        matrices = np.empty((count, 4, 3))
        final = np.zeros(count, np.uint8)
        matrices[0] = np.eye(4, 3)
        for first, n, values, is_world, reset in sources:
            if values is None:
                matrices[first : first + n] = np.eye(4, 3)
            else:
                affine(values, first, matrices)
            final[first : first + n] = 1 if is_world else reset
        compose_world(stage.paths.parents, flags, readonly(final), slot, matrices)
        return cls(readonly(slot), readonly(matrices))


@kernel
def affine(values: F64, first: int, out: F64) -> None:
    """Copy (n, 16) row-major matrices without their last column."""
    for i in prange(values.shape[0]):
        for r in range(4):
            for c in range(3):
                out[first + i, r, c] = values[i, 4 * r + c]


@serial
def compose_world(parents: U32, flags: U8, final: U8, slot: U32, world: F64) -> None:
    """Turn local matrices into world matrices in place, parents first, and give every path the slot of its nearest matrix row."""
    for p in range(2, parents.size):
        above = slot[parents[p]]
        own = slot[p]
        if own == 0:
            if not flags[p] & _PROPERTY:
                slot[p] = above
            continue
        if above == 0 or final[own] == _FINAL:
            continue
        for r in range(4):
            x, y, z = world[own, r, 0], world[own, r, 1], world[own, r, 2]
            for c in range(3):
                moved = x * world[above, 0, c] + y * world[above, 1, c] + z * world[above, 2, c]
                world[own, r, c] = moved + world[above, 3, c] if r == 3 else moved
