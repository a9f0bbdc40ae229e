"""Simulation owners (spec 3.4 and 7.7; every pair of owners: recorded stages owners_pairs, owners_one_scene, owners_two_scenes)."""

from __future__ import annotations

import numpy as np
import pytest
from hand import RIGID, Hand, matrix
from physx_hand import FIXED, REVOLUTE, ROOT_API, codes, document

OWNER = "physics:simulationOwner"


def pair(a, b, scenes, articulated=False):
    """Bodies /R/A and /R/B with these owners, a joint between them and one of A to the world."""
    hand = Hand().prim("/R", np.eye(4), [ROOT_API] if articulated else [])
    for scene in scenes:
        hand.prim(scene, kind="PhysicsScene")
    for name, owner in (("A", a), ("B", b)):
        columns = {} if owner is None else {OWNER: [list(owner)]}
        hand.builder.add("Xform", [f"/R/{name}"], {"omni:xform": matrix().reshape(1, 16), **columns}, [RIGID])
    hand.joint("/R/J", REVOLUTE, body0="/R/A", body1="/R/B")
    hand.joint("/R/W", FIXED, body1="/R/A")
    return hand


TWO = ("/S1", "/S2")


@pytest.mark.parametrize(
    ("a", "b", "scenes", "made"),
    [
        (["/S1"], ["/S1"], TWO, True),
        (["/S1"], ["/S2"], TWO, False),
        (["/S1"], None, TWO, False),
        (None, None, TWO, True),
        (["/S1", "/S2"], ["/S1"], TWO, True),
        (["/S2", "/S1"], ["/S1"], TWO, False),
        (["/S1"], None, ("/S1",), True),
        (["/No", "/S1"], None, ("/S1",), True),
    ],
)
def test_owners_of_a_joint(a, b, scenes, made):
    """spec 3.4: with several scenes both bodies have one owner; with one scene owners are not compared."""
    got = document(pair(a, b, scenes))["joints"]
    assert ("/R/J" in got) == made
    assert "/R/W" in got
    assert ("different-owners" in codes(pair(a, b, scenes))) == (not made)


@pytest.mark.parametrize("scenes", [(), ("/S1",), TWO])
def test_a_body_whose_owner_is_no_scene_has_no_actor(scenes):
    """Observed: its joints hold to the world, or are refused with several scenes."""
    hand = pair(["/No"], None, scenes)
    got = document(hand)["joints"]
    assert "/R/W" not in got
    assert ("/R/J" in got) == (len(scenes) < 2)
    if got:
        assert (got["/R/J"]["actor0"], got["/R/J"]["actor1"]) == (None, "/R/B")
    assert "homeless-body" in codes(pair(["/No"], None, scenes), "/R/A")


def test_an_articulation_of_several_owners_is_refused():
    """spec 7.7: its joints stand alone, but those between owners."""
    got = document(pair(["/S1"], ["/S2"], TWO, articulated=True))
    assert got["articulations"] == {}
    assert {p: j["kind"] for p, j in got["joints"].items()} == {"/R/W": "standalone"}
    assert "different-owners" in codes(pair(["/S1"], ["/S2"], TWO, articulated=True))
    told = codes(pair(["/S1"], ["/S2"], TWO, articulated=True), "/R")
    assert "mixed-owners" in told
    assert "empty-root" not in told


def test_a_body_without_an_actor_is_no_link():
    """Observed: it takes part in the election, then nothing is built of it."""
    got = document(pair(None, ["/No"], ("/S1",), articulated=True))
    assert got["articulations"] == {"/R": {"fixBase": True, "links": ["/R/A"]}}


def test_a_body_at_no_finite_place_is_no_link():
    """Observed (recorded stage ops_refused): PhysX refuses its pose."""
    hand = Hand().prim("/R", np.eye(4), [ROOT_API]).body("/R/A").body("/R/B", matrix((np.nan, 0, 0))).body("/R/C")
    hand.joint("/R/j", REVOLUTE, body0="/R/A", body1="/R/B").joint("/R/k", REVOLUTE, body0="/R/A", body1="/R/C")
    assert document(hand)["articulations"]["/R"]["links"] == ["/R/A", "/R/C"]
