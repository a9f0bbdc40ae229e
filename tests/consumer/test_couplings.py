"""Gear and rack joints (spec 1.3; bodies derived from the coupled joints: contract page of the gear joint, observed)."""

from __future__ import annotations

import numpy as np
import pytest
from hand import Hand

from consumer import resolve, resolve_batches
from consumer.physx import physx_document, physx_view

GEAR, RACK, REVOLUTE = "PhysxPhysicsGearJoint", "PhysxPhysicsRackAndPinionJoint", "PhysicsRevoluteJoint"


def gear(kind=GEAR, names=("physics:hinge0", "physics:hinge1"), body0=None, body1=None, targets=("/H0", "/H1"), columns=None):
    hand = Hand().body("/A").body("/B").body("/C")
    hand.joint("/H0", REVOLUTE, body0="/C", body1="/A").joint("/H1", REVOLUTE, body0="/B")
    coupled = {n: [t] for n, t in zip(names, targets) if t is not None}
    hand.joint("/J", kind, coupled | (columns or {}), body0=body0, body1=body1)
    return hand.rows()["/J"]


def test_spec_1_3_gear():
    """spec 1.3, vector gear: hinge paths and ratio, unconverted."""
    row = gear(columns={"physics:gearRatio": 2.5})
    assert (row["hingePrimPath0"], row["hingePrimPath1"], row["gearRatio"]) == ("/H0", "/H1", 2.5)
    assert row["ratio"] is None


def test_spec_1_3_rack():
    """spec 1.3, vector rack: degrees a length in the descriptor."""
    row = gear(RACK, ("physics:hinge", "physics:prismatic"), columns={"physics:ratio": 90})
    assert (row["hingePrimPath"], row["prismaticPrimPath"], row["ratio"]) == ("/H0", "/H1", 90)


def test_vector_gear_nobody():
    """spec 8.2 gear_nobody: bodies from the hinges, body1 if there is one, else body0; rel stays none."""
    row = gear()
    assert (row["body0"], row["body1"], row["rel0"], row["rel1"]) == ("/A", "/B", None, None)


@pytest.mark.parametrize(
    ("body0", "body1", "want"), [("/C", None, ("/C", "/B")), (None, "/C", ("/A", "/C")), ("/Nope", None, ("/A", "/B")), ("/B", "/A", ("/B", "/A"))]
)
def test_gear_bodies_side_by_side(body0, body1, want):
    """Observed: each side without a body is derived by itself, also when its target resolves to nothing."""
    row = gear(body0=body0, body1=body1)
    assert (row["body0"], row["body1"]) == want


def test_gear_without_hinges_has_no_bodies():
    """Nothing to derive from: the world on both sides."""
    row = gear(targets=(None, None))
    assert (row["body0"], row["body1"], row["hingePrimPath0"]) == (None, None, None)


def test_gear_hinge_is_no_joint():
    """A coupled path that is a body or missing gives no body."""
    row = gear(targets=("/A", "/Nope"))
    assert (row["body0"], row["body1"]) == (None, None)


def test_gear_hinge_below_a_point_instancer_gives_no_body():
    """Observed: a joint where nothing is created is no joint to a gear, whole and in batches; the other hinge still gives its body."""
    hand = Hand().body("/A").body("/B").prim("/PI", np.eye(4), kind="PointInstancer")
    hand.joint("/PI/H0", REVOLUTE, body1="/A").joint("/H1", REVOLUTE, body0="/B")
    hand.joint("/J", GEAR, {"physics:hinge0": ["/PI/H0"], "physics:hinge1": ["/H1"]})
    stage = hand.stage()
    for table in (resolve(stage).to_arrow(), resolve_batches(stage, rows=1).reader().read_all()):
        row = next(r for r in table.to_pylist() if r["path"] == "/J")
        assert (row["body0"], row["body1"], row["hingePrimPath0"]) == (None, "/B", "/PI/H0")


def test_articulation_beside_a_gear_to_a_hidden_hinge():
    """Observed: the gear ties its hinge's body to nothing, so the body is anchored by the joint that would anchor it without the gear."""
    hand = Hand().prim("/PI", np.eye(4), kind="PointInstancer").prim("/R", np.eye(4), ["PhysicsArticulationRootAPI"]).body("/R/A")
    hand.joint("/PI/H0", "PhysicsFixedJoint", body0="/R/A").joint("/J", GEAR, {"physics:hinge0": ["/PI/H0"]})
    hand.joint("/R/D", "PhysicsDistanceJoint", body0="/R/A")
    document = physx_document(physx_view(hand.stage()), "")
    assert document["articulations"] == {"/R": {"fixBase": True, "links": ["/R/A"]}}
    assert document["joints"] == {}
