"""Which link or joint becomes the root of an articulation when the user named none (spec 7.4 and 7.5).

`traverse` writes one link map: the depth-first order of its bodies, from which weights, root joints and the order list follow. `elect` gives the
heaviest record, or the centre of graph of a map that nothing ties to the world.
"""

from __future__ import annotations

import numpy as np

from consumer.graph import I64, NONE, U8, other_side, rule, serial, world_like

EXCLUDED_WEIGHT = 1000
ANCHOR_WEIGHT = 100_000
LINK_WEIGHT = 100

BODY_ROOT, JOINT_ROOT = 1, 2


@serial
def traverse(start: int, side: I64, excluded: U8, key: U8, offsets: I64, joints: I64, seen: I64, mark: int, order: I64, cursor: I64) -> int:
    """Depth-first order of the component of `start` (spec 7.4); returns how many bodies stand in `order`.

    `seen` (bodies,) is stamped with `mark`; `order` (bodies,) receives the bodies, `cursor` (bodies,) is scratch. Children are entered at once, in
    joint order, so the order is the one in which the real parser makes its link records.
    """
    seen[start] = mark
    order[0] = start
    count = 1
    cursor[start] = offsets[start]
    depth_stack = np.empty(16, np.int64)
    depth_stack[0] = start
    top = 1
    while top:
        b = depth_stack[top - 1]
        e = cursor[b]
        if e == offsets[b + 1]:
            top -= 1
            continue
        cursor[b] = e + 1
        j = joints[e]
        if excluded[j] or world_like(side, key, j):
            continue
        o = other_side(side, j, b)
        if seen[o] == mark:
            continue
        seen[o] = mark
        order[count] = o
        count += 1
        cursor[o] = offsets[o]
        if top == depth_stack.size:
            grown = np.empty(2 * top, np.int64)
            grown[:top] = depth_stack
            depth_stack = grown
        depth_stack[top] = o
        top += 1
    return count


@rule
def weigh(body: int, side: I64, excluded: U8, key: U8, offsets: I64, joints: I64) -> tuple[int, int]:
    """Weight of a link record and its root joint, -1 when none (spec 7.4 step 5: the last world-like joint that is not excluded)."""
    weight = 0
    root_joint = NONE
    for e in range(offsets[body], offsets[body + 1]):
        j = joints[e]
        if excluded[j]:
            weight += EXCLUDED_WEIGHT
        elif world_like(side, key, j):
            weight += ANCHOR_WEIGHT
            root_joint = j
        else:
            weight += LINK_WEIGHT
    return weight, root_joint


@serial
def heaviest(count: int, order: I64, side: I64, excluded: U8, key: U8, offsets: I64, joints: I64) -> tuple[int, int]:
    """(BODY_ROOT | JOINT_ROOT, index) of the heaviest record of a map, spec 7.5 step 1.

    Records are visited in traversal order. On a tie the candidate wins when it stands before the best in the order list; joints never stand there,
    so a body beats a joint of equal weight and the first of two joints stays.
    """
    best_kind, best, best_weight = BODY_ROOT, NONE, 0
    for i in range(count):
        weight, root_joint = weigh(order[i], side, excluded, key, offsets, joints)
        kind = BODY_ROOT if root_joint == NONE else JOINT_ROOT
        better = weight > best_weight
        if weight == best_weight and kind == BODY_ROOT:
            better = best == NONE or best_kind == JOINT_ROOT
        if better:
            best_kind, best, best_weight = kind, (order[i] if kind == BODY_ROOT else root_joint), weight
    return best_kind, best


@rule
def all_below(count: int, order: I64, start: int, end: int) -> bool:
    """Whether every body of the map `order[:count]` is `start` or lies below it in the namespace, bodies start to end - 1.

    Observed on 0.6.3, not in spec 7.5: a floating map whose first body holds all others in its subtree takes that body as root, whatever the centre.
    """
    inside = 0
    for i in range(count):
        inside += start <= order[i] < end
    return inside == count


@serial
def heaviest_by_rank(count: int, order: I64, rank: I64, side: I64, excluded: U8, key: U8, offsets: I64, joints: I64) -> tuple[int, int]:
    """As `heaviest`, with the records visited by ascending `rank` of their bodies: the USD walker's order (spec 9).

    Ties still go to the candidate that stands earlier in the order list, which a later visit may now be.
    """
    ranks = np.empty(count, np.int64)
    for i in range(count):
        ranks[i] = rank[order[i]]
    best_kind, best, best_weight, best_at = BODY_ROOT, NONE, 0, -1
    for i in np.argsort(ranks):
        weight, root_joint = weigh(order[i], side, excluded, key, offsets, joints)
        kind = BODY_ROOT if root_joint == NONE else JOINT_ROOT
        better = weight > best_weight
        if weight == best_weight and kind == BODY_ROOT:
            better = best == NONE or best_kind == JOINT_ROOT or i < best_at
        if better:
            best_kind, best, best_weight, best_at = kind, (order[i] if kind == BODY_ROOT else root_joint), weight, i
    return best_kind, best


@serial
def centre(count: int, order: I64, side: I64, offsets: I64, joints: I64, local: I64) -> int:
    """Centre of graph of the map `order[:count]` (spec 7.5 step 2), a body index.

    The least eccentric link; ties go to more children (length of the joint list, duplicates and world included), then to the earlier one. Distances
    are depths of a depth-first walk over the joint lists, excluded joints included. In a tree these are plain distances: O(bodies + joints). With
    cycles, also those closed by excluded joints, they differ from shortest paths and each link needs a walk of its own: O(bodies * joints) of
    that one map. `local` (bodies,) is scratch, -1 everywhere before and after.
    """
    for i in range(count):
        local[order[i]] = i
    near, first = _neighbours(count, order, side, offsets, joints, local)
    eccentricity = _tree_eccentricity(count, first, near) if near.size == 2 * (count - 1) else _walk_eccentricity(count, first, near)
    best = 0
    for i in range(1, count):
        more = offsets[order[i] + 1] - offsets[order[i]] > offsets[order[best] + 1] - offsets[order[best]]
        if eccentricity[i] < eccentricity[best] or (eccentricity[i] == eccentricity[best] and more):
            best = i
    for i in range(count):
        local[order[i]] = -1
    return order[best]


@serial
def _neighbours(count: int, order: I64, side: I64, offsets: I64, joints: I64, local: I64) -> tuple[I64, I64]:
    """Distinct neighbours of each link inside the map, by first appearance in its joint list: values and offsets (count + 1,)."""
    total = 0
    for i in range(count):
        total += offsets[order[i] + 1] - offsets[order[i]]
    near = np.empty(total, np.int64)
    first = np.zeros(count + 1, np.int64)
    seen = np.full(count, -1, np.int64)
    at = 0
    for i in range(count):
        b = order[i]
        seen[i] = i
        for e in range(offsets[b], offsets[b + 1]):
            o = other_side(side, joints[e], b)
            if o >= 0 and local[o] >= 0 and seen[local[o]] != i:
                seen[local[o]] = i
                near[at] = local[o]
                at += 1
        first[i + 1] = at
    return near[:at].copy(), first


@serial
def _distances(start: int, first: I64, near: I64, distance: I64, queue: I64) -> int:
    """Breadth-first distances in a tree; returns the farthest link."""
    distance[:] = -1
    distance[start] = 0
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        i = queue[head]
        head += 1
        for e in range(first[i], first[i + 1]):
            o = near[e]
            if distance[o] < 0:
                distance[o] = distance[i] + 1
                queue[tail] = o
                tail += 1
    return queue[tail - 1]


@serial
def _tree_eccentricity(count: int, first: I64, near: I64) -> I64:
    """Eccentricities of a tree: the larger of the distances to the two ends of a longest path."""
    queue = np.empty(count, np.int64)
    a, b = np.empty(count, np.int64), np.empty(count, np.int64)
    end = _distances(0, first, near, a, queue)
    other_end = _distances(end, first, near, a, queue)
    _distances(other_end, first, near, b, queue)
    return np.maximum(a, b)


@serial
def _walk_eccentricity(count: int, first: I64, near: I64) -> I64:
    """Greatest depth of the depth-first walk from each link, neighbours in list order."""
    out = np.zeros(count, np.int64)
    seen = np.full(count, -1, np.int64)
    cursor = np.empty(count, np.int64)
    stack = np.empty(count, np.int64)
    for start in range(count):
        seen[start] = start
        cursor[start] = first[start]
        stack[0] = start
        top, deepest = 1, 1
        while top:
            i = stack[top - 1]
            e = cursor[i]
            if e == first[i + 1]:
                top -= 1
                continue
            cursor[i] = e + 1
            o = near[e]
            if seen[o] != start:
                seen[o] = start
                cursor[o] = first[o]
                stack[top] = o
                top += 1
                deepest = max(deepest, top)
        out[start] = deepest - 1
    return out
