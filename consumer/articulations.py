"""Articulations of a stage from index arrays: accepted roots, election, building (spec section 7).

Cost: linear in joints + bodies for trees (chains, stars, many robots) and for cyclic components whose root is given or anchored; a floating cyclic
component without a named root costs bodies * joints of that one component (see `consumer.election.centre`). Root prims whose subtrees share one
component traverse it once each. No recursion anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from consumer import building as bd
from consumer.election import BODY_ROOT, JOINT_ROOT, all_below, centre, heaviest, heaviest_by_rank, traverse
from consumer.graph import I64, NONE, U8, adjacency, components, key_bodies, serial

ELECT = 0  # the root prim names no root: one is elected in each component below it


@dataclass(frozen=True)
class JointGraph:
    """n joints in joint order over m bodies in path order.

    side (n, 2) int64: body index, `graph.NONE` or `graph.STATIC`; enabled, excluded, articulable (n,) uint8, the last 0 for types that no
    articulation can hold (distance, gear, rack, custom); body_enabled, body_kinematic (m,) uint8; body_end (m,) int64: the bodies of index
    b to body_end[b] - 1 are body b and those below it in the namespace. body_absent (m,) uint8, or of length 0 for none: bodies of the graph where
    PhysX has no actor, so that nothing is built of them (observed of bodies without a scene and of those at no finite place).
    """

    side: I64
    enabled: U8
    excluded: U8
    articulable: U8
    body_enabled: U8
    body_kinematic: U8
    body_end: I64
    body_absent: U8 = field(default_factory=lambda: np.zeros(0, np.uint8))


@dataclass(frozen=True)
class Roots:
    """k accepted root prims in ascending path order.

    kind (k,): `ELECT`, `BODY_ROOT` (index = body) or `JOINT_ROOT` (index = joint); begin, end (k,): the range of the body list in which maps start
    (the search base and its descendants). All int64.
    """

    kind: I64
    index: I64
    begin: I64
    end: I64


@dataclass(frozen=True)
class Articulations:
    """Result over index arrays.

    fate (n,) uint8: `building.UNTOUCHED`, `ROOT_JOINT`, `LINK_JOINT`, `LOOP`, `LOST_ROOT`; remark (n,) uint8 bits `UNSUPPORTED`, `PARALLEL`,
    `TAKEN_BODY`. Articulations in the order of creation: root (a,) index into `Roots`, fixed (a,) uint8, root_joint (a,) -1 none, anchor (a,) the
    static side (0, 1) of the root joint or -1, first_link (a + 1,). Links in the order of creation: link_body, link_parent (body index, -1 the
    base), link_joint (-1 the base). body_articulation (m,) -1 none. Keys: key_root, key_kind, key_index, key_result (`building.BUILT`, ...), a row
    a root key.
    """

    fate: U8
    remark: U8
    root: I64
    fixed: U8
    root_joint: I64
    anchor: I64
    first_link: I64
    link_body: I64
    link_parent: I64
    link_joint: I64
    body_articulation: I64
    key_root: I64
    key_kind: I64
    key_index: I64
    key_result: I64


def articulate(graph: JointGraph, roots: Roots, visit_rank: npt.ArrayLike = ()) -> Articulations:
    """Articulations of the graph under the given roots, processed from the last to the first (spec 7.6). Arrays as the dataclasses say.

    `visit_rank` (m,): a rank a body by which an election visits its records; empty for the order of the traversal.
    """
    return Articulations(
        *_articulate(
            _c(graph.side, np.int64).reshape(-1, 2),
            _c(graph.enabled, np.uint8),
            _c(graph.excluded, np.uint8),
            _c(graph.articulable, np.uint8),
            _c(graph.body_enabled, np.uint8),
            _c(graph.body_kinematic, np.uint8),
            _c(graph.body_end, np.int64),
            _c(graph.body_absent if len(graph.body_absent) else np.zeros(len(graph.body_enabled)), np.uint8),
            _c(roots.kind, np.int64),
            _c(roots.index, np.int64),
            _c(roots.begin, np.int64),
            _c(roots.end, np.int64),
            _c(visit_rank, np.int64),
        )
    )


def _c(a: npt.ArrayLike, dtype: type) -> npt.NDArray[Any]:
    return np.array(a, dtype, order="C")


@serial
def _articulate(
    side: I64,
    enabled: U8,
    excluded: U8,
    articulable: U8,
    body_enabled: U8,
    body_kinematic: U8,
    body_end: I64,
    absent: U8,
    root_kind: I64,
    root_index: I64,
    root_begin: I64,
    root_end: I64,
    visit_rank: I64,
) -> tuple[npt.NDArray[Any], ...]:
    n, m, k = side.shape[0], body_enabled.size, root_kind.size
    offsets, joints = adjacency(side, enabled, m)
    linkable = body_enabled & (1 - body_kinematic)
    usable = body_enabled & (1 - absent)
    key = key_bodies(offsets, linkable)
    component, sizes, anchored = components(side, excluded, key, offsets, joints)
    group = bd.neighbour_groups(side, offsets, joints)
    free = sizes.copy()
    in_vector, reached = np.full(sizes.size, -1, np.int64), np.full(sizes.size, -1, np.int64)
    seen = np.full(m, -1, np.int64)
    visited = np.full(m, -1, np.int64)
    taken = np.full(m, -1, np.int64)
    local = np.full(m, -1, np.int64)
    order, cursor, stack = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    in_children = np.zeros(joints.size, np.uint8)
    fate, remark = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    link_body, link_parent, link_joint = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    links = 0
    room = m + k  # subtrees of accepted roots are disjoint, and each component below a root is counted once a root
    key_root, key_kind, key_index, key_result = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    keys = 0
    art_root, art_joint, art_anchor, first_link = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64), np.zeros(m + 1, np.int64)
    fixed = np.zeros(m, np.uint8)
    arts = 0
    mark = 0
    for r in range(k - 1, -1, -1):
        first_key = keys
        if root_kind[r] != ELECT:
            key_root[keys], key_kind[keys], key_index[keys], key_result[keys] = r, root_kind[r], root_index[r], bd.BUILT
            keys += 1
        for start in range(root_begin[r], root_end[r]):
            c = component[start]
            if c < 0 or reached[c] == r:
                continue
            reached[c] = r
            in_vector[c] = first_key if root_kind[r] != ELECT else keys  # a named root owns all maps, an elected one its own (observed)
            if root_kind[r] != ELECT:
                continue
            kind, index, result = BODY_ROOT, start, bd.BASE_TAKEN
            if free[c] or anchored[c]:  # else every possible base is taken, whoever wins
                count = traverse(start, side, excluded, key, offsets, joints, seen, mark, order, cursor)
                mark += 1
                result = bd.BUILT
                if anchored[c]:
                    if visit_rank.size:
                        kind, index = heaviest_by_rank(count, order, visit_rank, side, excluded, key, offsets, joints)
                    else:
                        kind, index = heaviest(count, order, side, excluded, key, offsets, joints)
                elif not all_below(count, order, start, body_end[start]):
                    index = centre(count, order, side, offsets, joints, local)
            key_root[keys], key_kind[keys], key_index[keys], key_result[keys] = r, kind, index, result
            keys += 1
        for i in range(first_key, keys):
            if key_result[i] != bd.BUILT:
                continue
            base, anchor = key_index[i], -1
            is_joint = key_kind[i] == JOINT_ROOT
            if is_joint:
                j = key_index[i]
                if not enabled[j] or not bd.member(side, j, component, in_vector, i):
                    key_result[i] = bd.ROOT_NOT_IN_GRAPH
                    continue
                base, anchor, key_result[i] = bd.base_of_joint(j, side, body_enabled, absent)
                if key_result[i] != bd.BUILT:
                    continue
                if taken[base] >= 0 or not usable[base]:
                    if fate[j] == bd.UNTOUCHED:
                        fate[j] = bd.LOST_ROOT
                    key_result[i] = bd.BASE_TAKEN if taken[base] >= 0 else bd.BASE_NOT_DYNAMIC
                    continue
                fate[j] = bd.ROOT_JOINT
            elif taken[base] >= 0 or not usable[base]:
                key_result[i] = bd.BASE_TAKEN if taken[base] >= 0 else bd.BASE_NOT_DYNAMIC
                continue
            art_root[arts], art_anchor[arts], fixed[arts] = r, anchor, is_joint
            art_joint[arts] = key_index[i] if is_joint else NONE
            end = bd.grow(
                base, arts, side, excluded, articulable, in_vector, i, component, usable, offsets, joints, group, in_children,
                visited, taken, fate, remark, link_body, link_parent, link_joint, links, cursor, stack,
            )  # fmt: skip
            for x in range(links, end):
                if component[link_body[x]] >= 0:
                    free[component[link_body[x]]] -= 1
            links = end
            arts += 1
            first_link[arts] = links
    return (
        fate, remark, art_root[:arts].copy(), fixed[:arts].copy(), art_joint[:arts].copy(), art_anchor[:arts].copy(),
        first_link[: arts + 1].copy(), link_body[:links].copy(), link_parent[:links].copy(), link_joint[:links].copy(), taken,
        key_root[:keys].copy(), key_kind[:keys].copy(), key_index[:keys].copy(), key_result[:keys].copy(),
    )  # fmt: skip
