"""The PhysX view of a USD stage: the runtime's rules over the USD walker's descriptors, in the USD walker's orders (spec section 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Usd

from consumer.articulations import Articulations, Roots, articulate
from consumer.blocks import Descriptors
from consumer.bodies import BodyTable
from consumer.election import JOINT_ROOT
from consumer.order import path_ranks
from consumer.physx.stage_graph import StageGraph
from consumer.physx.view import PhysxView, build_view
from consumer.rulesets import OBSERVED, get
from consumer.usd.resolve import Openable, resolve_with_rows
from consumer.usd.source import UsdSource
from ovsim.stage import ROOT, PathDictionary, Stage

I64 = npt.NDArray[np.int64]


def physx_view(source: Openable, custom_types: Sequence[str] = ()) -> PhysxView:
    """What the runtime would build from the USD walker's descriptors.

    Joints and bodies go in namespace order, an election visits its records by ascending path, and of competing roots the first by path wins. Bodies
    that the walker refuses (dynamic ones at instance proxies, nested ones without a reset) have no actor: such a side counts as the world, also in
    the view's `descriptors`. Arguments as `consumer.usd.resolve`.
    """
    return view_of(*resolve_with_rows(source, custom_types))


def view_of(opened: UsdSource, stage: Stage, resolved: Descriptors) -> PhysxView:
    """`physx_view` of what `resolve_with_rows` gave; the descriptors are not changed."""
    ranks = namespace_ranks(opened.stage, stage.paths)
    namespace = np.argsort(resolved.metadata["namespace"], kind="stable")
    by_path = path_ranks(stage.paths).astype(np.int64)
    bodies = BodyTable.of(stage, get(OBSERVED))
    refused = np.array([stage.paths.path(p) for p in opened.refused], np.uint64)
    blocks = tuple(replace(b, body=np.where(np.isin(b.body, refused), np.uint64(0), b.body)) for b in resolved.blocks)
    descriptors = replace(resolved, blocks=blocks)
    return build_view(stage, descriptors, bodies, ranks, lambda graph: _articulate(graph, namespace, by_path))


def namespace_ranks(stage: Usd.Stage, paths: PathDictionary) -> npt.NDArray[np.uint32]:
    """Traversal position of every path id, shape (path_count,), uint32; a path without a prim has its parent's."""
    ranks = np.zeros(paths.path_count, np.uint32)
    for i, prim in enumerate(Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies())):
        found = paths.find(prim.GetPath().pathString)
        if found:
            ranks[found] = i + 1
    parents = paths.parents
    for path in range(ROOT + 1, ranks.size):
        if ranks[path] == 0:
            ranks[path] = ranks[parents[path]]
    return ranks


def _articulate(g: StageGraph, order: I64, by_path: I64) -> Articulations:
    """`articulate` with the joints in the given order and the roots ascending, its result in the graph's own indices."""
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    graph = g.graph
    moved = replace(graph, **{f.name: getattr(graph, f.name)[order] for f in fields(graph) if not f.name.startswith("body_")})
    first_last = np.argsort(by_path[g.root_path], kind="stable")[::-1]
    kind, index = g.roots.kind[first_last], g.roots.index[first_last].copy()
    joints = kind == JOINT_ROOT
    index[joints] = place[index[joints]]
    built = articulate(moved, Roots(kind, index, g.roots.begin[first_last], g.roots.end[first_last]), by_path[g.body_path])
    key_index = built.key_index.copy()
    key_index[built.key_kind == JOINT_ROOT] = order[built.key_index[built.key_kind == JOINT_ROOT]]
    return replace(
        built,
        fate=built.fate[place],
        remark=built.remark[place],
        root=first_last[built.root],
        root_joint=_back(built.root_joint, order),
        link_joint=_back(built.link_joint, order),
        key_root=first_last[built.key_root],
        key_index=key_index,
    )


def _back(joints: Any, order: I64) -> I64:
    """Joint indices in the graph's own order; -1 stays."""
    if not order.size:
        return np.asarray(joints, np.int64)
    return np.where(joints >= 0, order[np.maximum(joints, 0)], joints)
