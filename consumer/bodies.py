"""Bodies: what each prim is to a joint, and which body a relationship target resolves to (spec section 3).

A path's parent always has a smaller id, so one ascending pass over the path dictionary resolves every path at once: no walk, no recursion,
no cycle, whatever the depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from consumer.columns import ColumnReader
from consumer.jit import readonly, serial
from consumer.rulesets import RuleSet
from ovsim.diagnostics import Diagnostics
from ovsim.stage import PathDictionary, Stage

ROW, RIGID_BODY, ENABLED, KINEMATIC, COLLIDER, PROPERTY = 1, 2, 4, 8, 16, 32  # bits of `BodyTable.flags`
_RIGID_BODY, _ENABLED, _COLLIDER, _PROPERTY = (np.uint8(v) for v in (RIGID_BODY, ENABLED, COLLIDER, PROPERTY))
_NONE, _PASSED_OVER, _ROOT = np.uint32(0), np.uint32(0xFFFFFFFF), 1

Ids = npt.ArrayLike


@dataclass(frozen=True)
class BodyTable:
    """Facts about prims by path id; every array is indexed by path id and has shape (path_count,).

    `flags` uint8: bits ROW (the prim has a row), RIGID_BODY, ENABLED (rigidBodyEnabled), KINEMATIC, COLLIDER, PROPERTY (a property path).
    `body` uint32: path id of the body that a relationship target resolves to, 0 = none (spec 3.1).
    """

    paths: PathDictionary
    flags: npt.NDArray[np.uint8]
    body: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, stage: Stage, rules: RuleSet, diagnostics: Diagnostics | None = None) -> BodyTable:
        """The table of a stage; a rule set that skips disabled bodies looks for the next enabled one above (switch disabled_body_target)."""
        flags = _flags(stage, Diagnostics() if diagnostics is None else diagnostics)
        body = np.zeros(flags.size, np.uint32)
        outermost_collider = np.zeros(flags.size, np.uint32)
        resolve_bodies(stage.paths.parents, readonly(flags), rules.disabled_body_target == "skip", body, outermost_collider)
        return cls(stage.paths, readonly(flags), readonly(body))

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

    def resolve(self, targets: Ids) -> npt.NDArray[np.uint64]:
        """Path ids of the bodies of relationship targets, same shape, 0 = none."""
        return self.body[np.asarray(targets, np.int64)].astype(np.uint64)

    @property
    def rigid_bodies(self) -> npt.NDArray[np.uint64]:
        """Path ids of all prims with PhysicsRigidBodyAPI, ascending ids (not path order), shape (n,)."""
        return np.flatnonzero(self.flags & _RIGID_BODY).astype(np.uint64)


def _flags(stage: Stage, diagnostics: Diagnostics) -> npt.NDArray[np.uint8]:
    flags = np.zeros(stage.paths.path_count, np.uint8)
    for archetype in stage.archetypes:
        reader = ColumnReader(archetype, diagnostics)
        rigid, collider = reader.lists("PhysicsRigidBodyAPI"), reader.lists("PhysicsCollisionAPI")
        value = np.uint8(ROW | RIGID_BODY * rigid | COLLIDER * collider)
        if not rigid:
            flags[archetype.path_ids] = value
            continue
        enabled, _ = reader.boolean("physics:rigidBodyEnabled")
        kinematic, _ = reader.boolean("physics:kinematicEnabled")
        row = np.where(enabled != 0, np.uint8(ENABLED), np.uint8(0)) | np.where(kinematic != 0, np.uint8(KINEMATIC), np.uint8(0))
        flags[archetype.path_ids] = value | row.astype(np.uint8)
    is_property = np.fromiter((t.startswith(".") for t in stage.paths.token_strings()), np.bool_, stage.paths.token_count)
    if is_property.any():
        flags[is_property[stage.paths.names]] |= np.uint8(PROPERTY)
    return flags


@serial
def resolve_bodies(
    parents: npt.NDArray[np.uint32],
    flags: npt.NDArray[np.uint8],
    skip_disabled: bool,
    body: npt.NDArray[np.uint32],
    outermost_collider: npt.NDArray[np.uint32],
) -> None:
    """Fill `body` (zeros) by path id: the nearest rigid body at or above, else the outermost collider, else 0 (spec 3.1).

    A property path resolves to nothing: observed, its prim is not looked at. The pseudo-root is never a body. A rule set that passes over disabled
    bodies passes over their colliders too.
    """
    # first pass keeps the nearest rigid body in `body`, the second fills what is left with colliders
    for p in range(_ROOT + 1, parents.size):
        above = parents[p]
        f = flags[p]
        if f & _PROPERTY:
            continue
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
