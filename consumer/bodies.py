"""Bodies: what each prim is to a joint, and which body a relationship target resolves to (spec section 3).

A path's body is found by walking up from it. In a dictionary deeper than `MOST_STEPS` one ascending pass resolves every path at once instead, since a
path's parent always has a smaller id: no recursion, no cycle, and no work that grows with the square of the depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.buffers import Buffers
from consumer.columns import ColumnReader
from consumer.light import clear, light
from consumer.order import path_depth, property_paths
from consumer.passes import Pass, Runner, Work
from consumer.rulesets import RuleSet
from ovsim.diagnostics import Diagnostics
from ovsim.jit import at, ranged, readonly, rule, serial
from ovsim.stage import PathDictionary, Stage

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]
ROW, RIGID_BODY, ENABLED, KINEMATIC, COLLIDER, PROPERTY, SHAPE = 1, 2, 4, 8, 16, 32, 64  # bits of `BodyTable.flags`
_RIGID_BODY, _ENABLED, _KINEMATIC, _COLLIDER, _PROPERTY, _NO = (np.uint8(v) for v in (RIGID_BODY, ENABLED, KINEMATIC, COLLIDER, PROPERTY, 0))
_NONE, _PASSED_OVER, _ROOT = np.uint32(0), np.uint32(0xFFFFFFFF), np.uint32(1)
_NOTHING = readonly(np.zeros(1, np.uint8))
MOST_STEPS = 128
AT_ONCE = 1024  # rows whose bits are put together at once

SHAPES = frozenset(("Capsule", "Cone", "Cube", "Cylinder", "Mesh", "Plane", "Sphere"))
"""Types whose collider becomes a shape; one of another type gets no actor, whatever its values (observed)."""

Ids = npt.ArrayLike


@dataclass(frozen=True)
class BodyTable:
    """Facts about prims by path id.

    `flags` uint8 (path_count,): bits ROW (the prim has a row), RIGID_BODY, ENABLED (rigidBodyEnabled), KINEMATIC, COLLIDER, PROPERTY (a property
    path), SHAPE (the type is one of `SHAPES`).
    `skip_disabled`: the rule set looks for the next enabled body above a disabled one (switch disabled_body_target).
    """

    paths: PathDictionary
    flags: npt.NDArray[np.uint8]
    skip_disabled: bool

    @classmethod
    def of(
        cls, stage: Stage, rules: RuleSet, diagnostics: Diagnostics | None = None, runner: Runner | None = None, buffers: Buffers | None = None
    ) -> BodyTable:
        """The table of a stage. With `buffers` it is good until their next use."""
        found = Diagnostics() if diagnostics is None else diagnostics
        flags = _flags(stage, found, runner or Runner.of(None, None), buffers or Buffers())
        return cls(stage.paths, readonly(flags), rules.disabled_body_target == "skip")

    @cached_property
    def deep(self) -> bool:
        """Whether the dictionary is too deep to walk up from each path."""
        return path_depth(self.paths) > MOST_STEPS

    @cached_property
    def body(self) -> npt.NDArray[np.uint32]:
        """Path id of the body that each path resolves to as a relationship target, 0 = none, shape (path_count,), uint32 (spec 3.1)."""
        body = np.zeros(self.flags.size, np.uint32)
        outermost_collider = np.zeros(self.flags.size, np.uint32)
        resolve_bodies(self.paths.parents, self.flags, self.skip_disabled, body, outermost_collider)
        return readonly(body)

    def has(self, ids: Ids, bits: int) -> npt.NDArray[np.bool_]:
        """Whether the prims of these path ids (any shape) have all the given bits; False for id 0."""
        want = np.uint8(bits)
        return (self.flags[np.asarray(ids, np.int64)] & want) == want

    def rigid_body(self, ids: Ids) -> npt.NDArray[np.bool_]:
        """Whether PhysicsRigidBodyAPI is listed, enabled or not."""
        return self.has(ids, RIGID_BODY)

    def enabled(self, ids: Ids) -> npt.NDArray[np.bool_]:
        """Whether the prim is a rigid body with rigidBodyEnabled."""
        return self.has(ids, RIGID_BODY | ENABLED)

    def kinematic(self, ids: Ids) -> npt.NDArray[np.bool_]:
        """Whether the prim is an enabled rigid body with kinematicEnabled."""
        return self.has(ids, RIGID_BODY | ENABLED | KINEMATIC)

    def dynamic(self, ids: Ids) -> npt.NDArray[np.bool_]:
        """Whether the prim is an enabled rigid body that is not kinematic: "linkable" in the articulation graph (spec 3.3, 7.1)."""
        return self.enabled(ids) & ~self.has(ids, KINEMATIC)

    def collider(self, ids: Ids) -> npt.NDArray[np.bool_]:
        """Whether PhysicsCollisionAPI is listed."""
        return self.has(ids, COLLIDER)

    def acts(self, ids: Ids) -> npt.NDArray[np.bool_]:
        """Whether PhysX has an actor for the prim: a rigid body, enabled or not, or a collider of a type that makes a shape (spec 3.3, observed)."""
        return self.rigid_body(ids) | self.has(ids, COLLIDER | SHAPE)

    def resolve(self, targets: Ids) -> npt.NDArray[np.uint64]:
        """Path ids of the bodies of relationship targets, same shape, 0 = none."""
        return self.body[np.asarray(targets, np.int64)].astype(np.uint64)

    @property
    def rigid_bodies(self) -> npt.NDArray[np.uint64]:
        """Path ids of all prims with PhysicsRigidBodyAPI, ascending ids (not path order), shape (n,)."""
        return np.flatnonzero(self.flags & _RIGID_BODY).astype(np.uint64)


def _flags(stage: Stage, diagnostics: Diagnostics, runner: Runner, buffers: Buffers) -> U8:
    flags = buffers.empty("bodies.flags", (stage.paths.path_count,), np.uint8)
    work = []
    for archetype in stage.archetypes:
        reader = ColumnReader(archetype, diagnostics)
        rigid, collider = reader.lists("PhysicsRigidBodyAPI"), reader.lists("PhysicsCollisionAPI")
        value = ROW | RIGID_BODY * rigid | COLLIDER * collider | SHAPE * (archetype.type_name in SHAPES)
        args: list[Any] = []
        for name, bit in (("physics:rigidBodyEnabled", ENABLED), ("physics:kinematicEnabled", KINEMATIC)):
            values, step = reader.boolean(name) if rigid else (_NOTHING, 0)
            value |= 0 if step else bit * int(values[0] != 0)
            args += [values, step]
        work.append(Work(len(archetype), [Pass(flag_rows, (readonly(archetype.path_ids), value, *args, flags))]))
    clear(runner, flags)
    light(runner, sum(w.rows for w in work)).run(work)
    flags[property_paths(stage.paths)] |= _PROPERTY
    return flags


@ranged
def flag_rows(lo: int, hi: int, ids: U64, value: int, enabled: U8, es: int, kinematic: U8, ks: int, flags: U8) -> None:
    """Bits of the rows of one archetype; `value` holds those that are the same for all."""
    if not es and not ks:
        for i in range(lo, hi):
            flags[ids[at(i, 1)]] = value
        return
    own = np.empty(AT_ONCE, np.uint8)
    for first in range(lo, hi, AT_ONCE):
        n = min(AT_ONCE, hi - first)
        for j in range(n):
            own[j] = value
        if es:
            for j in range(n):
                own[j] |= _ENABLED if enabled[at(first + j, 1)] else _NO
        if ks:
            for j in range(n):
                own[j] |= _KINEMATIC if kinematic[at(first + j, 1)] else _NO
        for j in range(n):
            flags[ids[at(first + j, 1)]] = own[j]


@rule
def nearest_body(path: int, parents: npt.NDArray[np.uint32], flags: npt.NDArray[np.uint8], skip_disabled: bool) -> np.uint32:
    """The nearest rigid body at or above a path, else the outermost collider, else 0 (spec 3.1).

    A property path stands beside its prim: observed, the prim itself is not looked at, the one above it is. The pseudo-root is never a body. A rule
    set that passes over disabled bodies passes over their colliders too.
    """
    outer = _NONE
    here = np.uint32(path)
    while here > _ROOT:
        f = flags[here]
        if f & _PROPERTY:
            here = parents[parents[here]]
            continue
        if f & _RIGID_BODY:
            if not skip_disabled or f & _ENABLED:
                return here
            outer = _NONE
        elif f & _COLLIDER:
            outer = here
        here = parents[here]
    return outer


@serial
def resolve_bodies(
    parents: npt.NDArray[np.uint32],
    flags: npt.NDArray[np.uint8],
    skip_disabled: bool,
    body: npt.NDArray[np.uint32],
    outermost_collider: npt.NDArray[np.uint32],
) -> None:
    """Fill `body` (zeros) by path id: the nearest rigid body at or above, else the outermost collider, else 0 (spec 3.1).

    A property path stands beside its prim: observed, the prim itself is not looked at, the one above it is. The pseudo-root is never a body. A rule
    set that passes over disabled bodies passes over their colliders too.
    """
    # first pass keeps the nearest rigid body in `body`, the second fills what is left with colliders
    for p in range(_ROOT + 1, parents.size):
        above = parents[p]
        f = flags[p]
        if f & _PROPERTY:
            above = parents[above]
        outer = outermost_collider[above]
        passed_over = skip_disabled and f & _RIGID_BODY and not f & _ENABLED
        if outer == _NONE and passed_over:
            outer = _PASSED_OVER
        elif outer == _NONE and f & _COLLIDER:
            outer = np.uint32(p)
        outermost_collider[p] = outer
        if f & _RIGID_BODY and not passed_over:
            body[p] = p
        else:
            body[p] = body[above]
    for p in range(_ROOT + 1, parents.size):
        if body[p] == _NONE and outermost_collider[p] != _PASSED_OVER:
            body[p] = outermost_collider[p]
