"""Building articulations: which bodies become links, which joints are consumed (spec 7.6).

`grow` is the depth-first loop of the parser without recursion. The parser scans all joints of the root for every link; scanning a link's own
joints in the same order gives the same result, because a joint that touches neither side of the link is skipped there anyway. Linear.
"""

from __future__ import annotations

import numpy as np

from consumer.graph import I64, MISSING, NONE, STATIC, U8, other_side, serial

# fate of a joint in the articulation pass
UNTOUCHED, ROOT_JOINT, LINK_JOINT, LOOP, LOST_ROOT = range(5)
# remarks on a joint, bits
UNSUPPORTED, PARALLEL, TAKEN_BODY = 1, 2, 4
# what became of a root key
BUILT, NO_BASE, BASE_TAKEN, BASE_NOT_DYNAMIC, KINEMATIC_ANCHOR, ROOT_NOT_IN_GRAPH = range(6)


@serial
def neighbour_groups(side: I64, offsets: I64, joints: I64) -> I64:
    """For every adjacency entry the first entry of the same list that leads to the same body, shape (entries,)."""
    group = np.empty(joints.size, np.int64)
    bodies = offsets.size - 1
    owner = np.full(bodies, -1, np.int64)
    first = np.empty(bodies, np.int64)
    for b in range(bodies):
        for e in range(offsets[b], offsets[b + 1]):
            o = other_side(side, joints[e], b)
            if o < 0:
                group[e] = e
                continue
            if owner[o] != b:
                owner[o] = b
                first[o] = e
            group[e] = first[o]
    return group


@serial
def base_of_joint(joint: int, side: I64, body_enabled: U8, absent: U8) -> tuple[int, int, int]:
    """Base body of a root joint, the static side's index (0, 1, or -1), and BUILT, NO_BASE or KINEMATIC_ANCHOR (spec 7.6 step 2)."""
    a, b = side[joint, 0], side[joint, 1]
    if NONE in (a, b):
        base = b if a == NONE else a
        return (base, -1, BUILT) if base >= 0 else (NONE, -1, NO_BASE)
    if MISSING in (a, b) or (a >= 0 and absent[a]) or (b >= 0 and absent[b]):  # observed: silently nothing
        return NONE, -1, NO_BASE
    if a == STATIC or not body_enabled[a]:
        return (b, 0, BUILT) if b >= 0 else (NONE, 0, NO_BASE)
    if b == STATIC or not body_enabled[b]:
        return a, 1, BUILT
    return NONE, -1, KINEMATIC_ANCHOR


@serial
def grow(
    base: int,
    number: int,
    side: I64,
    excluded: U8,
    articulable: U8,
    in_vector: I64,
    key: int,
    component: I64,
    usable: U8,
    offsets: I64,
    joints: I64,
    group: I64,
    in_children: U8,
    visited: I64,
    taken: I64,
    fate: U8,
    remark: U8,
    link_body: I64,
    link_parent: I64,
    link_joint: I64,
    first_link: int,
    cursor: I64,
    stack: I64,
) -> int:
    """Grow one articulation from its base link; returns the end of its links in `link_*`.

    A joint belongs to the root key when one of its sides lies in a component stamped `key` in `in_vector`. `taken[b]` is the articulation of a
    body, -1 free; `visited[b]` is stamped with `number`.
    """
    links = first_link
    link_body[links], link_parent[links], link_joint[links] = base, NONE, NONE
    taken[base] = number
    visited[base] = number
    links += 1
    cursor[base] = offsets[base]
    stack[0] = base
    top = 1
    while top:
        parent = stack[top - 1]
        e = cursor[parent]
        if e == offsets[parent + 1]:
            top -= 1
            continue
        cursor[parent] = e + 1
        j = joints[e]
        if fate[j] != UNTOUCHED or excluded[j] or not member(side, j, component, in_vector, key):
            continue
        if not articulable[j]:
            remark[j] |= UNSUPPORTED
            continue
        o = other_side(side, j, parent)
        if o < 0 or not usable[o]:
            continue
        if in_children[group[e]]:
            remark[j] |= PARALLEL
            continue
        in_children[group[e]] = 1
        if visited[o] == number:
            fate[j] = LOOP
            continue
        visited[o] = number
        if taken[o] >= 0:
            remark[j] |= TAKEN_BODY
            continue
        taken[o] = number
        fate[j] = LINK_JOINT
        link_body[links], link_parent[links], link_joint[links] = o, parent, j
        links += 1
        cursor[o] = offsets[o]
        stack[top] = o
        top += 1
    return links


@serial
def member(side: I64, joint: int, component: I64, in_vector: I64, key: int) -> bool:
    for k in range(2):
        b = side[joint, k]
        if b >= 0 and component[b] >= 0 and in_vector[component[b]] == key:
            return True
    return False
