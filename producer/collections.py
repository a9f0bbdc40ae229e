"""Collections that population resolves (observed on ovstage 0.2).

The opaque `collection:<name>` of a physics schema comes out as a relationship to the prims in the collection that carry one of the schemas that it is
about, in path order; instances are not entered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PREFIX = "collection:"
ABOUT = {
    "collection:colliders": frozenset({"PhysicsCollisionAPI"}),
    "collection:quasistaticactors": frozenset({"PhysicsCollisionAPI", "PhysicsRigidBodyAPI"}),
}


def members(prim: Any, column: str, schemas_of: Callable[[Any], tuple[str, ...]]) -> list[str]:
    """Paths of the prims that the collection of `prim` resolves to."""
    from pxr import Usd

    collection = Usd.CollectionAPI(prim, column[len(PREFIX) :])
    stage = prim.GetStage()
    paths = Usd.CollectionAPI.ComputeIncludedPaths(collection.ComputeMembershipQuery(), stage, Usd.PrimDefaultPredicate)
    found = ((p.pathString, stage.GetPrimAtPath(p)) for p in paths if p.IsPrimPath())
    return sorted(text for text, member in found if member and not ABOUT[column].isdisjoint(schemas_of(member)))
