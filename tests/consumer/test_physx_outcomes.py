"""Every joint ends as exactly one of consumed root, articulation, standalone, dropped, not created; the last two with a diagnostic (spec 3.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hand import Hand, matrix
from oracle.scenes import random_stage
from physx_hand import FIXED, REVOLUTE, codes, document, graph, view_of, world

from consumer.bodies import SHAPES
from consumer.physx import codes as c
from consumer.physx import physx_view
from consumer.physx.stage_graph import REFUSALS
from ovsim.diagnostic_codes import CODES, table
from ovsim.diagnostics import SEVERITIES
from producer import populate

KINEMATIC, DISABLED = {"physics:kinematicEnabled": True}, {"physics:rigidBodyEnabled": False}


def gate(a: dict[str, Any] | None, b: dict[str, Any] | None, columns: dict[str, Any] | None = None, side: str = "/B") -> Hand:
    """A joint between bodies with these columns; None = no such side."""
    hand = Hand()
    hand.body("/A", matrix(), a).body("/B", matrix(), b)
    return hand.joint("/J", FIXED, columns, (), None if a is None else "/A", None if b is None else side)


@pytest.mark.parametrize(
    ("a", "b", "columns", "code"),
    [
        ({}, {}, {"physics:jointEnabled": False}, "joint-disabled"),  # jdisabled
        (None, None, {}, "no-bodies"),  # world_both
        (KINEMATIC, KINEMATIC, {}, "static-bodies"),  # kin_kin
        (KINEMATIC, None, {}, "static-bodies"),  # kin_world
        (DISABLED, None, {}, "static-bodies"),  # disabled_world
        (DISABLED, KINEMATIC, {}, "static-bodies"),
        ({}, {}, {"physics:localRot0": (0.0, 0.0, 0.0, 0.0)}, "invalid-frame"),  # zero_quat
        ({}, None, {"physics:localRot1": (0.0, 0.0, 0.0, 0.0)}, "invalid-frame"),  # zeroq_world
        ({}, {}, {"physics:localRot0": (float("nan"), 0.0, 0.0, 1.0)}, "invalid-frame"),  # nanq
        ({}, {}, {"physics:localPos1": (float("inf"), 0.0, 0.0)}, "invalid-frame"),
    ],
)
def test_gate(a: dict[str, Any] | None, b: dict[str, Any] | None, columns: dict[str, Any], code: str) -> None:
    hand = gate(a, b, columns)
    assert document(hand)["joints"] == {}
    assert code in codes(hand, "/J")


@pytest.mark.parametrize(("a", "b"), [({}, KINEMATIC), (DISABLED, {}), ({}, None), (None, {})])
def test_one_dynamic_body_is_enough(a: dict[str, Any] | None, b: dict[str, Any] | None) -> None:
    doc = document(gate(a, b))["joints"]["/J"]
    assert [doc["actor0"], doc["actor1"]] == [None if a is None else "/A", None if b is None else "/B"]


def test_same_body_is_not_created() -> None:
    hand = gate({}, {}, side="/A")
    assert document(hand)["joints"] == {}
    assert "same-body" in codes(hand, "/J")


def test_static_static() -> None:
    hand = graph([], {"/R/J": (FIXED, "/R/S", "/R/T")}, [], statics=["/R/S", "/R/T"])
    assert document(hand)["joints"] == {}
    assert "static-bodies" in codes(hand)


@pytest.mark.parametrize("above", ["/__Prototype_1", "/PI"])
def test_nothing_is_created_below_prototypes_and_point_instancers(above: str) -> None:
    hand = Hand()
    if above == "/PI":
        hand.prim(above, np.eye(4), kind="PointInstancer")
    else:
        hand.prim(above, np.eye(4), ["PrototypeRootAPI"], kind="__ovstage_population_untyped__")
    hand.body(f"{above}/A").body(f"{above}/B").joint(f"{above}/J", FIXED, {}, (), f"{above}/A", f"{above}/B")
    hand.body("/Z").joint("/out", FIXED, {}, (), f"{above}/A", "/Z")
    doc = document(hand)
    assert list(doc["joints"]) == ["/out"]
    assert doc["joints"]["/out"]["actor0"] is None
    assert "below-prototype" in codes(hand, f"{above}/J")


def test_dead_target_and_lost_transform_are_told() -> None:
    hand = world().joint("/R/J", FIXED, {}, (), "/R/A", "/R/none")
    assert {"dead-target", "target-without-row"} <= codes(hand)


def test_a_body_relationship_to_a_joint_is_the_world() -> None:
    hand = world().joint("/R/K", FIXED, {}, (), "/R/A", "/R/B").joint("/R/J", FIXED, {}, (), "/R/A", "/R/K")
    assert document(hand)["joints"]["/R/J"]["actor1"] is None
    assert "dead-target" in codes(hand)


@pytest.mark.parametrize("seed", range(40))
def test_every_joint_has_one_outcome(seed: int, tmp_path: Any) -> None:
    file = tmp_path / "stage.usda"
    file.write_text(random_stage(7000 + seed))
    view = physx_view(populate(file), threads=1)
    assert np.array_equal(view.standalone.joint, np.flatnonzero(view.outcome == c.STANDALONE))
    assert np.array_equal(view.links.joint, np.flatnonzero(view.outcome == c.ARTICULATION))
    gone = (view.outcome == c.DROPPED) | (view.outcome == c.NOT_CREATED)
    assert np.array_equal(gone, view.reason != c.NO_REASON)
    told = {(d.code, d.path) for d in view.diagnostics}
    for i in np.flatnonzero(gone):
        assert (c.REASONS[view.reason[i]], view.descriptors.paths.path_string(int(view.graph.path[i]))) in told
    assert {d.code for d in view.diagnostics} <= set(CODES) | {d.code for d in view.descriptors.diagnostics}


def test_every_code_is_documented() -> None:
    assert {*c.REASONS[1:], *c.REMARKS, *REFUSALS[1:]} <= set(CODES)
    assert all(code.severity in SEVERITIES and code.real in ("error", "warning", "silent") for code in CODES.values())
    assert table().count("\n") == len(CODES) + 2


def test_tables() -> None:
    hand = graph(["/R/A", "/R/B", "/R/C"], {"/R/j": (REVOLUTE, "/R/A", "/R/B"), "/R/w": (FIXED, "", "/R/A"), "/R/x": (FIXED, "/R/B", "/R/C")}, ["/R"])
    hand.body("/F").joint("/f", FIXED, {}, (), "/F", None).joint("/g", FIXED, {}, (), None, None)
    view = view_of(hand)
    rows = {r["path"]: r for r in view.physx_joints.to_pylist()}
    assert list(rows) == ["/R/w", "/R/x", "/f", "/g", "/R/j"]
    assert {p: r["outcome"] for p, r in rows.items()} == {
        "/R/w": "consumed-root",
        "/R/x": "articulation",
        "/f": "standalone",
        "/g": "not-created",
        "/R/j": "articulation",
    }
    assert rows["/g"]["reason"] == "no-bodies"
    assert rows["/R/w"]["standalone"] is None
    assert rows["/R/w"]["articulation_joint"] is None
    assert rows["/f"]["standalone"]["actor0"] == "/F"
    assert rows["/f"]["standalone"]["actor1"] is None
    assert rows["/R/j"]["articulation_joint"]["axes"][0]["axis"] == "twist"
    (only,) = view.articulation_table.to_pylist()
    assert {k: only[k] for k in ("root_prim", "fixBase", "root_joint", "base", "links")} == {
        "root_prim": "/R",
        "fixBase": True,
        "root_joint": "/R/w",
        "base": "/R/A",
        "links": 3,
    }
    assert view.link_table.column("link").to_pylist() == ["/R/A", "/R/B", "/R/C"]
    assert view.link_table.column("inbound_joint").to_pylist() == [None, "/R/j", "/R/x"]
    assert isinstance(view.diagnostics.to_arrow(), pa.Table)


def test_art_api_settings() -> None:
    """Counts are clamped, an API without an authored stabilization publishes it raw, no API gives defaults that scale with the stage."""
    columns = {"physxArticulation:solverPositionIterationCount": np.array([500], np.int32)}
    columns |= {
        "physxArticulation:solverVelocityIterationCount": np.array([-3], np.int32),
        "physxArticulation:stabilizationThreshold": np.float32(1e-5),
    }
    hand = Hand()
    hand.builder.units(0.01, 1.0, "Z")
    hand.prim("/P", np.eye(4), ["PhysicsArticulationRootAPI", "PhysxArticulationAPI", "PhysicsRigidBodyAPI"], columns)
    hand.prim("/Q", np.eye(4), ["PhysicsArticulationRootAPI", "PhysicsRigidBodyAPI"])
    first, second = view_of(hand).articulation_table.sort_by("root_prim").to_pylist()
    assert [first["solverPositionIterationCount"], first["solverVelocityIterationCount"]] == [255, 0]
    assert first["stabilizationThreshold"] == pytest.approx(1e-5)
    assert [second["sleepThreshold"], second["stabilizationThreshold"]] == pytest.approx([50.0, 10000.0])
    assert [second["solverPositionIterationCount"], second["solverVelocityIterationCount"]] == [32, 1]


def test_empty_stage() -> None:
    view = physx_view(Hand().stage())
    assert len(view) == 0
    assert view.physx_joints.num_rows == view.articulation_table.num_rows == view.link_table.num_rows == 0
    assert len(view.diagnostics) == 0


def test_a_root_joint_to_a_body_below_a_point_instancer_builds_nothing() -> None:
    """Observed: the side is set, so it is no open side, but it has no actor: no articulation, the joint stays standalone."""
    hand = Hand().prim("/PI", np.eye(4), kind="PointInstancer").prim("/R", np.eye(4), ["PhysicsArticulationRootAPI"])
    hand.body("/PI/A").body("/R/B").joint("/R/J", FIXED, {}, (), "/PI/A", "/R/B")
    doc = document(hand)
    assert doc["articulations"] == {}
    assert doc["joints"]["/R/J"]["kind"] == "standalone"


@pytest.mark.parametrize("kind", [*sorted(SHAPES), "Xform", "Scope", "Points", "Capsule_1"])
def test_collider_without_a_shape_has_no_actor(kind: str) -> None:
    """Observed (recorded stage shapes): a collider is an actor when its type makes a shape; else the joint holds to the world."""
    hand = world()
    hand.prim("/R/S", np.eye(4), ["PhysicsCollisionAPI"], kind=kind)
    hand.joint("/R/J", FIXED, body0="/R/S", body1="/R/A")
    assert document(hand)["joints"]["/R/J"]["actor0"] == ("/R/S" if kind in SHAPES else None)


def test_anchor_without_an_actor_makes_no_base() -> None:
    """Observed (recorded stage shapes_art): a joint to a collider without a shape is elected, then nothing is built and the joint stands alone."""
    hand = world(articulated=True)
    hand.prim("/R/S", np.eye(4), ["PhysicsCollisionAPI"])
    hand.joint("/R/J", FIXED, body0="/R/S", body1="/R/A")
    got = document(hand)
    assert got["articulations"] == {}
    assert got["joints"]["/R/J"]["kind"] == "standalone"


def test_a_point_instancer_can_be_a_body_itself() -> None:
    """Observed (recorded stage odd_bodies): what stands below an instancer does not exist, the instancer does."""
    hand = world(articulated=True)
    hand.prim("/R/I", np.eye(4), ["PhysicsRigidBodyAPI"], kind="PointInstancer").body("/R/I/C")
    hand.joint("/R/J", FIXED, body0="/R/A", body1="/R/I")
    assert document(hand)["articulations"]["/R"]["links"] == ["/R/A", "/R/I"]
