"""World matrices of a live stage: which of them say what the local matrices do not.

ovstage's population writes `omni:fabric:worldMatrix` on every row with a transform, and simulated poses go there. The parser takes a row's own world
matrix first and composes `omni:xform` otherwise, passing over ancestors without a matrix (spec 4.5 "World matrix source"). Below such an ancestor
(a Scope, a joint) population's matrix lacks what stands above it, so there the column matters; elsewhere the local matrices say the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.stage.paths import ROOT

LOCAL, WORLD, RESET = "omni:xform", "omni:fabric:worldMatrix", "omni:resetXformStack"
SAME = 1e-9  # relative to the greatest entry of the matrix: another order of multiplication, not another place
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


def composed(parents: npt.NDArray[Any], own: tuple[U64, npt.NDArray[Any]], local: tuple[U64, npt.NDArray[Any]], resets: U64) -> Bool:
    """Whether each world matrix equals the composed local ones, shape (n,); False for a path without a local matrix.

    `parents` by path id; `own` the path ids (n,) and world matrices (n, 16), `local` those of the local matrices (m, 16), row-major with the
    translation last; `resets` the paths whose transform stack is reset.
    """
    row = np.full(parents.size, -1, np.int64)
    row[local[0]] = np.arange(local[0].size)
    world = _worlds(parents.astype(np.int64), row, local, resets)
    at = row[own[0]]
    given, known = own[1].reshape(-1, 16), world[np.maximum(at, 0)] if world.size else np.zeros((at.size, 16))
    bound = SAME * np.maximum(1.0, np.abs(known).max(axis=1, keepdims=True, initial=0.0))
    with np.errstate(invalid="ignore"):
        same = (np.abs(given - known) <= bound) | (given == known) | (np.isnan(given) & np.isnan(known))
    return np.asarray((at >= 0) & same.all(axis=1), np.bool_)


def _worlds(parents: I64, row: I64, local: tuple[U64, npt.NDArray[Any]], resets: U64) -> F64:
    """World matrices (m, 16) as the parser composes them, parents first, one product a level."""
    world: F64 = local[1].reshape(-1, 4, 4).astype(np.float64)
    above = _above(parents, row, local[0].astype(np.int64), resets)
    depth = _depths(above)
    order = np.argsort(depth, kind="stable")
    with np.errstate(all="ignore"):
        for level in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)[1:]:
            world[level] = world[level] @ world[above[level]]
    return world.reshape(-1, 16)


def _above(parents: I64, row: I64, placed: I64, resets: U64) -> I64:
    """Row of the nearest ancestor with a matrix of each placed path, -1 for none or where the stack is reset."""
    cut = np.zeros(parents.size, np.bool_)
    cut[resets] = True
    at = np.where(cut[placed], 0, parents[placed])
    while True:
        climb = (at > ROOT) & (row[at] < 0)
        if not climb.any():
            return np.where(at > ROOT, row[at], -1)
        at[climb] = parents[at[climb]]


def _depths(above: I64) -> I64:
    """How many rows each row stands on; steps double, so depth costs its logarithm."""
    out, up = (above >= 0).astype(np.int64), above.copy()
    while (up >= 0).any():
        has = up >= 0
        out[has] += out[up[has]]
        up = np.where(has, up[up], -1)
    return out
