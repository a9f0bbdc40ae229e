"""Gear and rack joints in PhysX: spec 8.2 and what was observed beyond it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hand import Hand
from physx_hand import D6, DISTANCE, FIXED, FREE, GEAR, PRISMATIC, RACK, REVOLUTE, SPHERICAL, codes, document, near, quaternion, world

H0, H1, G = "/R/H0", "/R/H1", "/R/J"
NAMES = {GEAR: ("hinge0", "hinge1", "gearRatio"), RACK: ("hinge", "prismatic", "ratio")}
HINGE0 = {**FREE, "physics:localPos0": (0.5, 0.0, 0.0), "physics:localPos1": (0.25, 0.0, 0.0)}
HINGE1 = {**HINGE0, "physics:axis": "Y"}
AUTHORED = {"physics:localPos0": (9.0, 0.0, 0.0), "physics:localPos1": (8.0, 0.0, 0.0)}


def stage(
    kind: str = GEAR,
    hinges: Sequence[str] = (REVOLUTE, REVOLUTE),
    coupled: Sequence[str] = (H0, H1),
    bodies: Sequence[str | None] = ("/R/A", "/R/B"),
    columns: dict[str, Any] | None = None,
    hinge_columns: dict[str, Any] | None = None,
) -> Hand:
    """Hinges from the world to A (body1) and from B (body0) to the world, coupled by /R/J."""
    hand = world()
    hand.joint(H0, hinges[0], HINGE0 | (hinge_columns or {}), (), None, "/R/A").joint(H1, hinges[1], HINGE1, (), "/R/B", None)
    made = {**AUTHORED, **(columns or {})}
    for name, target in zip(NAMES[kind], coupled):
        if target:
            made[f"physics:{name}"] = [target]
    return hand.joint(G, kind, made, (), *bodies)


def gear(*args: Any, **kwargs: Any) -> dict[str, Any]:
    got: dict[str, Any] = document(stage(*args, **kwargs))["joints"][G]
    return got


def test_gear() -> None:
    doc = gear(columns={"physics:gearRatio": 2.5})
    assert (doc["class"], doc["ratio"], doc["joints"]) == ("PxGearJoint", 2.5, [H0, H1])
    assert doc["localPose0"] == {"p": [0.25, 0.0, 0.0], "q": quaternion(0, 0, 0, 1)}
    assert doc["localPose1"] == {"p": [0.5, 0.0, 0.0], "q": quaternion(0, 0, math.sqrt(0.5), math.sqrt(0.5))}


def test_rack() -> None:
    doc = gear(RACK, (REVOLUTE, PRISMATIC), columns={"physics:ratio": 90.0})
    assert doc["class"] == "PxRackAndPinionJoint"
    assert doc["ratio"] == near(1.570796)
    assert doc["joints"] == [H0, H1]


def test_ratio_absent_is_zero() -> None:
    assert gear()["ratio"] == 0.0


def test_gear_nohinge_is_created_with_authored_frames() -> None:
    hand = stage(coupled=("", ""))
    doc = document(hand)["joints"][G]
    assert doc["joints"] == [None, None]
    assert [doc["localPose0"]["p"], doc["localPose1"]["p"]] == [[9.0, 0.0, 0.0], [8.0, 0.0, 0.0]]
    assert "coupling-incomplete" in codes(hand)


@pytest.mark.parametrize("target", ["/R/none", "/R/A", G])
def test_one_missing_hinge_leaves_its_place_empty(target: str) -> None:
    doc = gear(coupled=(target, H1))
    assert doc["joints"] == [None, H1]
    assert doc["localPose0"]["p"] == [9.0, 0.0, 0.0]


def test_a_disabled_hinge_is_missing() -> None:
    assert gear(hinge_columns={"physics:jointEnabled": False})["joints"] == [None, H1]


def test_any_d6_couples() -> None:
    assert gear(hinges=(FIXED, D6))["joints"] == [H0, H1]


def test_an_unfitting_hinge_empties_both_and_gives_no_frame() -> None:
    hand = stage(hinges=(DISTANCE, SPHERICAL))
    doc = document(hand)["joints"][G]
    assert doc["joints"] == [None, None]
    assert doc["localPose0"]["p"] == [9.0, 0.0, 0.0]
    assert doc["localPose1"]["q"] == quaternion(0.5, 0.5, 0.5, 0.5)
    assert "coupling-refused" in codes(hand)


@pytest.mark.parametrize("bodies", [(None, None), ("/R/A", None), (None, "/R/B"), ("/R/none", "/R/none")])
def test_gear_nobody(bodies: tuple[str | None, str | None]) -> None:
    doc = gear(bodies=bodies)
    assert [doc["actor0"], doc["actor1"]] == ["/R/A", "/R/B"]
    assert doc["localPose0"]["p"] == [0.25, 0.0, 0.0]


def test_gear_without_bodies_and_hinges_is_not_created() -> None:
    hand = stage(coupled=("", ""), bodies=(None, None))
    assert G not in document(hand)["joints"]
    assert "no-bodies" in codes(hand)


def test_same_hinge_twice() -> None:
    doc = gear(coupled=(H0, H0))
    assert doc["joints"] == [H0, H0]
    assert doc["localPose1"]["p"] == [8.0, 0.0, 0.0]


def test_a_gear_may_come_before_the_gear_that_it_names() -> None:
    """The pair is looked up when the joint is made: an earlier gear is found and does not fit, a later one is not there yet."""
    for other, joints in (("/R/G0", [None, None]), ("/R/K0", [None, H1])):
        hand = stage(coupled=(other, H1))
        hand.joint(other, GEAR, {"physics:hinge0": [H0], "physics:hinge1": [H1]}, (), "/R/A", "/R/B")
        assert document(hand)["joints"][G]["joints"] == joints


def test_zero_quaternion_counts_only_without_a_hinge() -> None:
    zero = {"physics:localRot0": (0.0, 0.0, 0.0, 0.0)}
    assert gear(columns=zero)["joints"] == [H0, H1]
    hand = stage(coupled=("", H1), columns=zero)
    assert G not in document(hand)["joints"]
    assert "invalid-frame" in codes(hand)


def articulated(kind: str, kinds: tuple[str, str], sides: tuple[str, str] = ("/R/A", "/R/C")) -> Hand:
    hand = world(articulated=True).body("/R/C")
    hand.joint(H0, kinds[0], HINGE0, (), "/R/A", "/R/B").joint(H1, kinds[1], HINGE1, (), "/R/B", "/R/C")
    names = NAMES[kind]
    columns = {**AUTHORED, f"physics:{names[0]}": [H0], f"physics:{names[1]}": [H1], "physics:excludeFromArticulation": True}
    return hand.joint(G, kind, columns, (), *sides)


def test_articulation_hinges_give_parent_and_child_poses() -> None:
    doc = document(articulated(GEAR, (REVOLUTE, REVOLUTE)))["joints"]
    assert doc[H0]["kind"] == "articulation"
    assert doc[G]["joints"] == [H0, H1]
    assert [doc[G]["localPose0"]["p"], doc[G]["localPose1"]["p"]] == [[0.5, 0.0, 0.0], [0.25, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("kind", "kinds", "fits"),
    [
        (GEAR, (REVOLUTE, PRISMATIC), False),
        (GEAR, (SPHERICAL, REVOLUTE), False),
        (RACK, (REVOLUTE, PRISMATIC), True),
        (RACK, (REVOLUTE, REVOLUTE), False),
        (RACK, (PRISMATIC, PRISMATIC), False),
    ],
)
def test_which_articulation_joints_fit(kind: str, kinds: tuple[str, str], fits: bool) -> None:
    assert document(articulated(kind, kinds))["joints"][G]["joints"] == ([H0, H1] if fits else [None, None])


def test_articulation_hinge_elsewhere() -> None:
    hand = articulated(GEAR, (REVOLUTE, REVOLUTE), ("/R/C", "/R/A"))
    assert G not in document(hand)["joints"]
    assert "gear-hinge-elsewhere" in codes(hand)
