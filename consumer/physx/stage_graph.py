"""From a stage and its descriptors to the index arrays of `consumer.articulations` (spec 7.1 to 7.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.articulations import ELECT, JointGraph, Roots
from consumer.blocks import Descriptors
from consumer.bodies import COLLIDER, RIGID_BODY, SHAPE, BodyTable
from consumer.columns import ColumnReader
from consumer.election import BODY_ROOT, JOINT_ROOT
from consumer.graph import MISSING, NONE, STATIC
from consumer.physx.owners import Owners
from consumer.prototypes import below_prototypes, hidden_paths
from ovsim.contract.joints import D6, FIXED, PRISMATIC, REVOLUTE, SPHERICAL
from ovsim.diagnostics import Diagnostics
from ovsim.jit import serial
from ovsim.stage import Stage

Array = npt.NDArray[Any]
ROOT_API, PHYSX_API = "PhysicsArticulationRootAPI", "PhysxArticulationAPI"
ARTICULABLE = frozenset((FIXED, REVOLUTE, PRISMATIC, SPHERICAL, D6))

# why a root prim with the API makes no articulation of its own
ACCEPTED, NESTED, SWITCHED_OFF, ON_DISABLED_BODY, ON_KINEMATIC_BODY, BOTH_SIDES_WORLD = range(6)
REFUSALS = ("", "nested-root", "root-switched-off", "root-on-disabled-body", "root-on-kinematic-body", "root-joint-without-bodies")


@dataclass(frozen=True)
class StageGraph:
    """Index arrays with the paths behind them.

    path (n,), side_path (n, 2) uint64 in joint order; type_index, row (n,): block and row of a joint; body_path (m,) uint64 in path order, body_at
    by path id (-1 none); joint_at by path id; prototype by path id, uint8; candidates (c,) root prims in path order with refusal (c,) uint8;
    root_path (k,) the accepted ones, as in `roots`.
    """

    graph: JointGraph
    roots: Roots
    path: Array
    side_path: Array
    type_index: Array
    row: Array
    body_path: Array
    body_at: Array
    joint_at: Array
    prototype: Array
    candidates: Array
    refusal: Array
    root_path: Array


def stage_graph(stage: Stage, descriptors: Descriptors, bodies: BodyTable, ranks: Array, owners: Owners | None = None) -> StageGraph:
    """Index arrays of a stage; rows below a native-instancing prototype or a point instancer take no part (observed: nothing is created there)."""
    paths = stage.paths
    blocks = descriptors.blocks

    def cat(name: str, dtype: type) -> Array:
        return np.concatenate([getattr(b, name) for b in blocks] or [np.empty(0, dtype)])

    path = cat("path", np.uint64).astype(np.uint64)
    side_path = np.concatenate([b.body for b in blocks] or [np.empty((0, 2), np.uint64)])
    type_index = np.repeat(np.arange(len(blocks), dtype=np.int64), [len(b) for b in blocks])
    row = np.concatenate([np.arange(len(b), dtype=np.int64) for b in blocks] or [np.empty(0, np.int64)])
    prototype = hidden_paths(stage)
    body_path = bodies.rigid_bodies
    homeless = np.zeros(paths.path_count, np.bool_) if owners is None else owners.homeless
    body_path = body_path[prototype[body_path] == 0]
    body_path = body_path[np.argsort(ranks[body_path], kind="stable")]
    last = last_rank(paths.parents, ranks)
    body_at = np.full(paths.path_count, STATIC, np.int64)
    body_at[0] = NONE
    flags = bodies.flags
    rigid, collides, shapes = ((flags & np.uint8(bit)) != 0 for bit in (RIGID_BODY, COLLIDER, SHAPE))
    body_at[prototype.astype(bool) | (homeless & ~rigid) | (collides & ~rigid & ~shapes)] = MISSING  # a collider that does not act
    body_at[body_path] = np.arange(body_path.size)
    outside = prototype[path] == 0
    joint_at = np.full(paths.path_count, NONE, np.int64)
    joint_at[path[outside]] = np.flatnonzero(outside)
    articulable = np.array([b.type_name in ARTICULABLE for b in blocks], np.uint8)[type_index] if blocks else np.empty(0, np.uint8)
    graph = JointGraph(
        body_at[side_path],
        cat("enabled", np.uint8) & outside,
        cat("excluded", np.uint8),
        articulable,
        bodies.enabled(body_path).astype(np.uint8),
        bodies.kinematic(body_path).astype(np.uint8),
        np.searchsorted(ranks[body_path], last[body_path], "right"),
        (homeless | _unplaced(stage))[body_path].astype(np.uint8),
    )
    candidates, off = _candidates(stage, prototype, ranks)
    refusal = np.zeros(candidates.size, np.uint8)
    mark_nested(ranks[candidates], last[candidates], refusal)
    refusal[(refusal == ACCEPTED) & off] = SWITCHED_OFF
    is_body = body_at[candidates] >= 0
    refusal[(refusal == ACCEPTED) & is_body & ~bodies.enabled(candidates)] = ON_DISABLED_BODY
    refusal[(refusal == ACCEPTED) & is_body & bodies.kinematic(candidates)] = ON_KINEMATIC_BODY
    joint = joint_at[candidates]
    sides = np.where((joint >= 0)[:, None], side_path[joint] if path.size else np.zeros((candidates.size, 2), np.uint64), np.uint64(1))
    open_joint = (joint >= 0) & ~is_body & (sides == 0).any(axis=1)
    refusal[(refusal == ACCEPTED) & open_joint & (sides == 0).all(axis=1)] = BOTH_SIDES_WORLD
    keep = refusal == ACCEPTED
    kind = np.where(is_body, BODY_ROOT, np.where(open_joint, JOINT_ROOT, ELECT))[keep]
    index = np.where(is_body, body_at[candidates], np.where(open_joint, joint, NONE))[keep]
    base = np.where(open_joint, sides.max(axis=1), candidates)[keep]
    body_rank = ranks[body_path]
    begin = np.searchsorted(body_rank, ranks[base], "left")
    end = np.searchsorted(body_rank, last[base], "right")
    roots = Roots(kind.astype(np.int64), index.astype(np.int64), begin.astype(np.int64), end.astype(np.int64))
    return StageGraph(
        graph, roots, path, side_path, type_index, row, body_path, body_at, joint_at, prototype, candidates, refusal, candidates[keep]
    )  # fmt: skip


def _unplaced(stage: Stage) -> npt.NDArray[np.bool_]:
    """Paths at or below a local matrix that is not finite, by path id: PhysX refuses their poses (observed)."""
    bad = [np.empty(0, np.uint64)]
    for archetype in stage.archetypes:
        values = ColumnReader(archetype, Diagnostics()).matrix("omni:xform")
        if values is not None and not np.isfinite(values).all():
            bad.append(archetype.path_ids[~np.isfinite(values).all(axis=1)])
    roots = np.concatenate(bad).astype(np.int64)
    if not roots.size:
        return np.zeros(stage.paths.path_count, np.bool_)
    return below_prototypes(stage.paths.parents, roots, roots[:0]).astype(np.bool_)


def _candidates(stage: Stage, prototype: Array, ranks: Array) -> tuple[Array, Array]:
    """Prims with the root API in path order, and whether `physxArticulation:articulationEnabled` switches each off."""
    ids, off = [np.empty(0, np.uint64)], [np.empty(0, np.bool_)]
    silent = Diagnostics()
    for archetype in stage.with_schema(ROOT_API):
        reader = ColumnReader(archetype, silent)
        enabled, _ = reader.boolean("physxArticulation:articulationEnabled", archetype.lists(PHYSX_API))
        ids.append(archetype.path_ids)
        off.append(np.broadcast_to(enabled == 0, archetype.path_ids.size))
    path, is_off = np.concatenate(ids), np.concatenate(off)
    keep = prototype[path] == 0
    path, is_off = path[keep], is_off[keep]
    order = np.argsort(ranks[path], kind="stable")
    return path[order], is_off[order]


@serial
def last_rank(parents: Array, ranks: Array) -> Array:
    """Greatest rank in the subtree of each path, by path id."""
    last = ranks.copy()
    for p in range(parents.size - 1, 1, -1):
        above = parents[p]
        last[above] = max(last[above], last[p])
    return last


@serial
def mark_nested(rank: Array, last: Array, refusal: Array) -> None:
    """Mark candidates below an accepted one; they come in path order, so the latest accepted one decides (spec 7.2)."""
    end = -1
    for i in range(rank.size):
        if rank[i] <= end:
            refusal[i] = NESTED
        else:
            end = last[i]
