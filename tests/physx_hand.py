"""PhysX documents of small hand-built stages: bodies /R/A at the origin and /R/B at (3, 0, 0), a joint /R/J between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hand import RIGID, Hand, matrix

from consumer.physx import PhysxView, physx_document, physx_view

ROOT_API = "PhysicsArticulationRootAPI"
FIXED, REVOLUTE, PRISMATIC, SPHERICAL = "PhysicsFixedJoint", "PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsSphericalJoint"
DISTANCE, D6, GEAR, RACK = "PhysicsDistanceJoint", "PhysicsJoint", "PhysxPhysicsGearJoint", "PhysxPhysicsRackAndPinionJoint"
FREE = {"physics:lowerLimit": -np.inf, "physics:upperLimit": np.inf}
Doc = dict[str, Any]


def quaternion(*xyzw: float) -> Any:
    return pytest.approx(list(xyzw), abs=2e-6)


def near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-6, abs=1e-6)


def world(articulated: bool = False, meters_per_unit: float = 1.0) -> Hand:
    """/R with bodies A and B, the root API on /R when articulated."""
    hand = Hand()
    hand.builder.units(meters_per_unit, 1.0, "Z")
    hand.prim("/R", np.eye(4), [ROOT_API] if articulated else [])
    return hand.body("/R/A").body("/R/B", matrix((3, 0, 0)))


def view_of(hand: Hand) -> PhysxView:
    return physx_view(hand.stage())


def document(hand: Hand) -> Doc:
    """The document with every articulation; where a root has just one, without the list, so that tests name it directly."""
    doc = physx_document(view_of(hand), "", every=True)
    doc["articulations"] = {root: several[0] if len(several) == 1 else several for root, several in doc["articulations"].items()}
    return doc


def joint(
    kind: str,
    columns: Mapping[str, Any] | None = None,
    schemas: Sequence[str] = (),
    articulated: bool = False,
    flipped: bool = False,
    meters_per_unit: float = 1.0,
) -> Doc:
    """The document of /R/J between A and B (B and A when flipped)."""
    sides = ("/R/B", "/R/A") if flipped else ("/R/A", "/R/B")
    hand = world(articulated, meters_per_unit).joint("/R/J", kind, columns, schemas, *sides)
    got: Doc = document(hand)["joints"]["/R/J"]
    return got


def codes(hand: Hand, path: str = "/R/J") -> set[str]:
    """Diagnostic codes of one prim."""
    return {d.code for d in view_of(hand).diagnostics if d.path == path}


def graph(
    bodies: Sequence[str],
    joints: Mapping[str, tuple[str, str, str]],
    roots: Sequence[str],
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    statics: Sequence[str] = (),
) -> Hand:
    """Bodies, joints (path: type, body0, body1; "" = none) and root-API prims; missing ancestors become Xforms. `columns` by path."""
    columns = columns or {}
    hand = Hand()
    rows: dict[str, tuple[str, list[str]]] = {}
    for path in (*bodies, *statics, *joints, *roots):
        here = path
        while here:
            rows.setdefault(here, ("Xform", []))
            here = here.rpartition("/")[0]
    for path in bodies:
        rows[path][1].append(RIGID)
    for path in statics:
        rows[path][1].append("PhysicsCollisionAPI")
    for path in roots:
        rows[path][1].append(ROOT_API)
    for path, (_, schemas) in rows.items():
        if path in joints:
            kind, a, b = joints[path]
            hand.joint(path, kind, columns.get(path), schemas, a or None, b or None)
        else:
            hand.prim(path, np.eye(4), schemas, columns.get(path), "Cube" if path in statics else "Xform")
    return hand
