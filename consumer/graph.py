"""The joint graph of a stage as index arrays: adjacency in joint order and connected components (spec 7.1).

A joint side is a body index (>= 0, position in the body list: every rigid body, ascending path), `NONE` (the world), `STATIC` (an actor that is
no rigid body) or `MISSING` (one without an actor: below a prototype or a point instancer, or a collider of a type that makes no shape).
Everything here is linear in joints + bodies and iterative.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ovsim.jit import rule, serial

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]

NONE = -1
STATIC = -2
MISSING = -3


@rule
def other_side(side: I64, joint: int, body: int) -> int:
    """The side of `joint` that faces `body`; the body itself when both sides are the same."""
    if side[joint, 0] == body:
        return side[joint, 1]
    return side[joint, 0]


@serial
def adjacency(side: I64, enabled: U8, bodies: int) -> tuple[I64, I64]:
    """CSR lists of the enabled joints of every rigid body, in joint order, body0 side first (spec 7.1).

    side (n, 2) int64, enabled (n,) uint8; returns offsets (bodies + 1,) and joints (offsets[-1],), both int64. A joint whose two sides are the
    same body is listed twice.
    """
    offsets = np.zeros(bodies + 1, np.int64)
    for j in range(side.shape[0]):
        if enabled[j]:
            for k in range(2):
                if side[j, k] >= 0:
                    offsets[side[j, k] + 1] += 1
    for b in range(bodies):
        offsets[b + 1] += offsets[b]
    at = offsets[:bodies].copy()
    joints = np.empty(offsets[bodies], np.int64)
    for j in range(side.shape[0]):
        if enabled[j]:
            for k in range(2):
                b = side[j, k]
                if b >= 0:
                    joints[at[b]] = j
                    at[b] += 1
    return offsets, joints


@serial
def key_bodies(offsets: I64, linkable: U8) -> U8:
    """Which bodies have an adjacency entry of the graph: linkable and with at least one enabled joint (spec 7.1), shape (bodies,)."""
    key = np.zeros(linkable.size, np.uint8)
    for b in range(linkable.size):
        if linkable[b] and offsets[b + 1] > offsets[b]:
            key[b] = 1
    return key


@rule
def world_like(side: I64, key: U8, joint: int) -> bool:
    """Whether a side of the joint is none, static, disabled or kinematic: such a joint anchors a link to the world (spec 7.1)."""
    a, b = side[joint, 0], side[joint, 1]
    return a < 0 or b < 0 or not key[a] or not key[b]


@serial
def components(side: I64, excluded: U8, key: U8, offsets: I64, joints: I64) -> tuple[I64, I64, U8]:
    """Connected components over the joints that a traversal follows: not excluded, not world-like (spec 7.4).

    Returns component (bodies,) int64, -1 for a body that is no key; the body count a component; and whether a component holds a world-like joint
    that is not excluded (then its root is a joint or the heaviest link, never the centre: spec 7.5).
    """
    bodies = key.size
    component = np.full(bodies, -1, np.int64)
    sizes = np.zeros(bodies, np.int64)
    fixed = np.zeros(bodies, np.uint8)
    stack = np.empty(bodies, np.int64)
    count = 0
    for start in range(bodies):
        if not key[start] or component[start] >= 0:
            continue
        component[start] = count
        stack[0] = start
        top = 1
        while top:
            top -= 1
            b = stack[top]
            sizes[count] += 1
            for e in range(offsets[b], offsets[b + 1]):
                j = joints[e]
                if excluded[j]:
                    continue
                if world_like(side, key, j):
                    fixed[count] = 1
                    continue
                o = other_side(side, j, b)
                if component[o] < 0:
                    component[o] = count
                    stack[top] = o
                    top += 1
        count += 1
    return component, sizes[:count].copy(), fixed[:count].copy()
