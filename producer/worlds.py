"""World matrices where the local ones do not tell them (observed on ovstage 0.2; spec 4.5 "World matrix source").

Population composes `omni:fabric:worldMatrix` from a row's local matrix and its parent's world matrix, and a parent without a matrix (a Scope, a
typeless prim, a joint) counts as the identity: what stands above it is lost to everything below. The parser takes a row's own world matrix first, and
composes local matrices across such parents when there is none. So the column matters exactly below a parent without a matrix that stands under a
transform; only those rows get it here. It is derived: no contract column, and everywhere else the local matrices say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.stage import ROOT, Archetype, PathDictionary
from ovsim.stage import columns as col
from ovsim.stage.archetype import DERIVED

LOCAL, WORLD, RESET = "omni:xform", "omni:fabric:worldMatrix", "omni:resetXformStack"
_TYPE = pa.list_(pa.float64(), 16)
_IDENTITY = np.eye(4)
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


def with_world_matrices(paths: PathDictionary, archetypes: Sequence[Archetype]) -> tuple[Archetype, ...]:
    """The archetypes, with `omni:fabric:worldMatrix` on the rows whose local matrices tell another world matrix than population's."""
    placed = [a for a in archetypes if len(a) and _is_matrix(a)]
    parents = paths.parents.astype(np.int64)
    has, resets, moves = (np.zeros(paths.path_count, np.bool_) for _ in range(3))
    for a in placed:
        has[a.path_ids] = True
        resets[a.path_ids] = _resets(a)
    above = np.where((parents > ROOT) & ~resets, parents, 0)
    cut = has & (above > 0) & ~has[above]
    if not cut.any():
        return tuple(archetypes)
    for a in placed:
        moves[a.path_ids] = (_locals(a) != _IDENTITY).any(axis=(1, 2))
    lost = cut & _reached(above, moves)[above]
    joined = np.where(has & has[above], above, 0)
    lost = _reached(joined, lost)
    if not lost.any():
        return tuple(archetypes)
    worlds = _worlds(np.flatnonzero(lost), joined, placed, paths.path_count)
    return tuple(part for a in archetypes for part in _parted(a, lost, worlds))


def _is_matrix(a: Archetype) -> bool:
    return LOCAL in a and a.field(LOCAL).type.equals(_TYPE)


def _locals(a: Archetype) -> npt.NDArray[np.float64]:
    values: Any = a.values(LOCAL)
    return np.asarray(values).reshape(-1, 4, 4)


def _resets(a: Archetype) -> Any:
    return a.values(RESET) if RESET in a else False


def _reached(above: I64, marked: Bool) -> Bool:
    """Whether a path or one that it stands on is marked; `above` by path id, 0 ends. Steps double, so depth costs its logarithm."""
    out, up = marked.copy(), above.copy()
    out[0] = False
    while up.any():
        out |= out[up]
        up = up[up]
    return out


def _steps(above: I64) -> I64:
    """How many paths each path stands on."""
    out, up = (above > 0).astype(np.int64), above.copy()
    while up.any():
        out += out[up]
        up = up[up]
    return out


def _worlds(lost: I64, joined: I64, placed: list[Archetype], count: int) -> tuple[I64, npt.NDArray[np.float64]]:
    """(row by path id, world matrices (n, 4, 4)) of the lost rows, parents first."""
    row = np.full(count, -1, np.int64)
    row[lost] = np.arange(lost.size)
    world = np.empty((lost.size, 4, 4))
    for a in placed:
        at = row[a.path_ids]
        world[at[at >= 0]] = _locals(a)[at >= 0]
    steps = _steps(np.where(row[joined] >= 0, joined, 0))[lost]
    order = np.argsort(steps, kind="stable")
    for level in np.split(order, np.flatnonzero(np.diff(steps[order])) + 1)[1:]:
        world[level] = world[level] @ world[row[joined[lost[level]]]]
    return row, world


def _parted(a: Archetype, lost: Bool, worlds: tuple[I64, npt.NDArray[np.float64]]) -> list[Archetype]:
    """The rows without and the rows with a world matrix."""
    mask = lost[a.path_ids]
    if not mask.any():
        return [a]
    row, world = worlds
    values = world[row[a.path_ids[mask]]].reshape(-1, 16)
    batch = a.batch.filter(pa.array(mask))
    names = a.names
    at = 1 + int(np.searchsorted(names, WORLD))
    batch = batch.add_column(at, col.field(WORLD, _TYPE), col.dense(values).cast(_TYPE))
    provenance = {n: p[mask] for n, p in a.provenance.items()} | {WORLD: np.full(len(values), DERIVED, np.uint8)}
    found = replace(a, batch=batch, provenance=provenance)
    if mask.all():
        return [found]
    rest = {n: p[~mask] for n, p in a.provenance.items()}
    return [replace(a, batch=a.batch.filter(pa.array(~mask)), provenance=rest), found]
