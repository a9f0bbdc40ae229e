"""Roots, election and building: the named observations of spec section 7."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from physx_hand import DISTANCE, FIXED, GEAR, PRISMATIC, REVOLUTE, SPHERICAL, codes, document, graph

KINEMATIC = {"physics:kinematicEnabled": True}
DISABLED = {"physics:rigidBodyEnabled": False}
EXCLUDED = {"physics:excludeFromArticulation": True}


def chain(*bodies: str) -> dict[str, tuple[str, str, str]]:
    return {f"/R/j{i}": (REVOLUTE, a, b) for i, (a, b) in enumerate(pairwise(bodies))}


def found(*args: Any, **kwargs: Any) -> dict[str, Any]:
    got: dict[str, Any] = document(graph(*args, **kwargs))["articulations"]
    return got


def links(*args: Any, **kwargs: Any) -> str:
    """Link names of the one articulation, `!` in front when its base is fixed."""
    (only,) = found(*args, **kwargs).values()
    return ("!" if only["fixBase"] else "") + " ".join(p.removeprefix("/R/") for p in only["links"])


A, B, C, D, E = (f"/R/{x}" for x in "ABCDE")


def test_t6_joints_go_by_type_first() -> None:
    star = {"/R/a": (PRISMATIC, A, E), "/R/b": (REVOLUTE, A, B), "/R/c": (FIXED, A, C), "/R/d": (SPHERICAL, A, D)}
    assert links([A, B, C, D, E], star, ["/R"]) == "A C B E D"


def test_t25_excluded_joint_counts_in_the_distances() -> None:
    joints = {**chain(A, B, C, D, E), "/R/x": (REVOLUTE, A, D)}
    assert links([A, B, C, D, E], joints, ["/R"], {"/R/x": EXCLUDED}) == "D C B A E"


def test_roots_m_z_q_a_k_last_path_wins() -> None:
    bodies = [f"/R/{x}" for x in "mzqak"]
    got = found(bodies, chain(*bodies), bodies)
    assert list(got) == ["/R/z"]
    assert got["/R/z"]["links"][0] == "/R/z"
    assert len(got["/R/z"]["links"]) == 5


@pytest.mark.parametrize(("bodies", "want"), [((A, B), "A B"), ((A, B, C), "B A C"), ((A, B, C, D), "B A C D")])
def test_float_chain(bodies: tuple[str, ...], want: str) -> None:
    assert links(bodies, chain(*bodies), ["/R"]) == want


def test_fixed_on_xform() -> None:
    assert links([A, B, C], {**chain(A, B, C), "/R/w": (FIXED, "", C)}, ["/R"]) == "!C B A"


def test_float_chain1_stays_a_plain_body() -> None:
    assert found([A], {}, ["/R"]) == {}


def test_root_no_joint_on_a_body_is_an_articulation_of_one_link() -> None:
    assert links([A], {}, [A]) == "A"


def test_root_on_body_fixedjoint_world() -> None:
    stage = graph([A, B], {**chain(A, B), "/R/w": (FIXED, "", A)}, [A])
    doc = document(stage)
    assert doc["articulations"][A] == {"fixBase": False, "links": [A, B]}
    assert doc["joints"]["/R/w"]["kind"] == "standalone"
    assert "standalone-anchor" in codes(stage, "/R/w")


def test_two_world_joints() -> None:
    doc = document(graph([A, B], {**chain(A, B), "/R/w0": (FIXED, "", A), "/R/w1": (FIXED, "", B)}, ["/R"]))
    assert doc["articulations"]["/R"] == {"fixBase": True, "links": [A, B]}
    assert doc["joints"]["/R/w1"]["kind"] == "standalone"
    assert "/R/w0" not in doc["joints"]


def test_loop_noexclude_drops_the_closing_joint() -> None:
    stage = graph([A, B, C], {**chain(A, B, C), "/R/z": (REVOLUTE, C, A)}, ["/R"])
    assert sorted(document(stage)["joints"]) == ["/R/j0", "/R/j1"]
    assert "closed-loop" in codes(stage, "/R/z")


def test_double_joint() -> None:
    joints = {f"/R/j{i}": (REVOLUTE, A, B) for i in range(3)}
    stage = graph([A, B], joints, ["/R"])
    doc = document(stage)["joints"]
    assert {p: j["kind"] for p, j in doc.items()} == {"/R/j0": "articulation", "/R/j2": "standalone"}
    assert "closed-loop" in codes(stage, "/R/j1")
    assert "parallel-joint" in codes(stage, "/R/j2")


def test_t16_joint_of_a_body_with_itself() -> None:
    stage = graph([A, B], {**chain(A, B), "/R/s": (FIXED, A, A)}, ["/R"])
    assert list(document(stage)["joints"]) == ["/R/j0"]
    assert "closed-loop" in codes(stage, "/R/s")


def test_t22_excluded_bridge_makes_two() -> None:
    got = found([A, B], chain(A, B), ["/R"], {"/R/j0": EXCLUDED})
    assert got == {"/R": [{"fixBase": False, "links": [A]}, {"fixBase": False, "links": [B]}]}


def test_t15_disabled_root_joint() -> None:
    assert found([A, B], {**chain(A, B), "/R/w": (FIXED, "", A)}, ["/R/w"], {"/R/w": {"physics:jointEnabled": False}}) == {}


def test_rootjoint_excl_world() -> None:
    assert links([A, B], {**chain(A, B), "/R/w": (FIXED, "", B)}, ["/R/w"], {"/R/w": EXCLUDED}) == "!B A"


def test_dist_to_world_is_a_root_joint() -> None:
    assert links([A, B], {**chain(A, B), "/R/w": (DISTANCE, "", A)}, ["/R"]) == "!A B"


@pytest.mark.parametrize("side", ["static", "disabled"])
def test_static_anchor(side: str) -> None:
    bodies = [A, B, *(["/R/S"] if side == "disabled" else [])]
    stage = graph(bodies, {**chain(A, B), "/R/w": (FIXED, "/R/S", B)}, ["/R"], {"/R/S": DISABLED}, ["/R/S"] if side == "static" else [])
    assert document(stage)["articulations"]["/R"] == {"fixBase": True, "links": [B, A]}


def test_kin_anchor_builds_nothing() -> None:
    stage = graph([A, B, "/R/K"], {**chain(A, B), "/R/w": (FIXED, "/R/K", B)}, ["/R"], {"/R/K": KINEMATIC})
    doc = document(stage)
    assert doc["articulations"] == {}
    assert doc["joints"]["/R/w"]["kind"] == "standalone"
    assert "kinematic-anchor" in codes(stage, "/R/w")


def test_root_on_body_kin_makes_the_kinematic_body_a_link() -> None:
    stage = graph([A, "/R/K"], {"/R/j": (FIXED, A, "/R/K")}, [A], {"/R/K": KINEMATIC})
    assert document(stage)["articulations"][A] == {"fixBase": False, "links": [A, "/R/K"]}
    assert "kinematic-link" in codes(stage, "/R/K")


@pytest.mark.parametrize(("columns", "code"), [(KINEMATIC, "root-on-kinematic-body"), (DISABLED, "root-on-disabled-body")])
def test_root_on_kin_and_root_on_disabled(columns: dict[str, bool], code: str) -> None:
    stage = graph([A, B], chain(A, B), [A], {A: columns})
    assert document(stage)["articulations"] == {}
    assert code in codes(stage, A)


def test_nested_roots() -> None:
    stage = graph([A, B], chain(A, B), ["/R", A])
    assert list(document(stage)["articulations"]) == ["/R"]
    assert "nested-root" in codes(stage, A)


def test_kinematic_outer_shadows() -> None:
    stage = graph([A, "/R/A/B", "/R/A/C"], {"/R/j": (REVOLUTE, "/R/A/B", "/R/A/C")}, [A, "/R/A/B"], {A: KINEMATIC})
    assert document(stage)["articulations"] == {}


def test_root_on_joint_2bodies() -> None:
    stage = graph([A, B], chain(A, B), ["/R/j0"])
    assert document(stage)["articulations"] == {}
    assert "root-joint-between-bodies" in codes(stage, "/R/j0")


def test_root_joint_no_bodies() -> None:
    stage = graph([A, B], {**chain(A, B), "/R/w": (FIXED, "", "")}, ["/R/w"])
    assert document(stage)["articulations"] == {}
    assert {"root-joint-without-bodies", "no-bodies"} <= codes(stage, "/R/w")


def test_empty_root() -> None:
    stage = graph([A], {}, ["/E"])
    assert document(stage)["articulations"] == {}
    assert "empty-root" in codes(stage, "/E")


def test_xform_anchor_is_the_world() -> None:
    assert links([A, B], {**chain(A, B), "/R/w": (FIXED, "/R", B)}, ["/R"]) == "!B A"


def test_two_components() -> None:
    got = found([A, B, C, D], {"/R/p": (REVOLUTE, A, B), "/R/q": (REVOLUTE, C, D)}, ["/R"])
    assert got == {"/R": [{"fixBase": False, "links": [A, B]}, {"fixBase": False, "links": [C, D]}]}


def test_outside_bodies_are_reached() -> None:
    assert links(["/R/A", "/Z/B"], {"/Z/j": (REVOLUTE, "/R/A", "/Z/B")}, ["/R"]) == "A /Z/B"


def test_base_taken_by_a_later_root() -> None:
    stage = graph(["/P/A", "/Q/B"], {"/Q/j": (REVOLUTE, "/P/A", "/Q/B")}, ["/P", "/Q"])
    assert list(document(stage)["articulations"]) == ["/Q"]
    assert "base-taken" in codes(stage, "/P")


def test_lost_root_joint() -> None:
    """The first root elects a world joint whose body the last root, which sits on a body, has already taken."""
    joints = {"/Q/j": (REVOLUTE, "/P/A", "/Q/B"), "/Q/w": (FIXED, "", "/P/A")}
    stage = graph(["/P/A", "/Q/B"], joints, ["/P", "/Q/B"])
    doc = document(stage)
    assert doc["articulations"] == {"/Q/B": {"fixBase": False, "links": ["/Q/B", "/P/A"]}}
    assert list(doc["joints"]) == ["/Q/j"]
    assert "lost-root-joint" in codes(stage, "/Q/w")


def test_links_nested_below_the_first_elect_it() -> None:
    """Observed on 0.6.3: a body that holds all other links of a floating map in its subtree is the root, not the centre."""
    nested = [A, "/R/A/C", "/R/A/D", "/R/A/E"]
    assert links(nested, chain(*nested), ["/R"]) == "A A/C A/D A/E"
    assert links([*nested, "/R/F"], chain(*nested, "/R/F"), ["/R"]).startswith("A/D ")


def test_an_elected_root_sees_its_own_map_only() -> None:
    """Observed: a kinematic body does not bridge to another map of an elected root, but does for a named one."""
    bodies, joints = ["/R/P", "/R/K", "/R/P/Z"], {"/R/j0": (REVOLUTE, "/R/P", "/R/K"), "/R/j1": (REVOLUTE, "/R/P/Z", "/R/K")}
    assert links(bodies, joints, ["/R/P"], {"/R/K": KINEMATIC}) == "P K P/Z"
    anchored = {**joints, "/R/w": (SPHERICAL, "", "/R/P")}  # after the others in joint order
    assert links(bodies, anchored, ["/R"], {"/R/K": KINEMATIC}) == "!P K"


def test_gear_counts_in_the_graph() -> None:
    joints = {"/R/h0": (REVOLUTE, B, A), "/R/h1": (REVOLUTE, B, C), "/R/g": (GEAR, A, C)}
    assert links([A, B, C], joints, ["/R"]) == "A B C"


def test_art_disabled() -> None:
    stage = graph([A, B], chain(A, B), [])
    stage.prim("/S", schemas=["PhysicsArticulationRootAPI", "PhysxArticulationAPI"], columns={"physxArticulation:articulationEnabled": False})
    stage.body("/S/B")
    stage.joint("/S/w", FIXED, None, (), None, "/S/B")
    assert document(stage)["articulations"] == {}
    assert "root-switched-off" in codes(stage, "/S")


def test_articulation_enabled_unlisted_is_inert() -> None:
    stage = graph([], {}, []).prim("/S", schemas=["PhysicsArticulationRootAPI"], columns={"physxArticulation:articulationEnabled": False})
    stage.body("/S/B").joint("/S/w", FIXED, None, (), None, "/S/B")
    assert document(stage)["articulations"] == {"/S": {"fixBase": True, "links": ["/S/B"]}}


def test_a_joint_between_two_articulations_is_standalone() -> None:
    stage = graph([A, B], chain(A, B), [A, B], {"/R/j0": {}})
    doc = document(stage)
    assert doc["articulations"] == {B: {"fixBase": False, "links": [B, A]}}
    bridge = {**chain(A, B), "/R/x": (REVOLUTE, B, C)}
    stage = graph([A, B, C], bridge, [A, C], {"/R/x": EXCLUDED})
    assert {p: j["kind"] for p, j in document(stage)["joints"].items()} == {"/R/j0": "articulation", "/R/x": "standalone"}


def test_a_body_of_another_articulation_is_told() -> None:
    """Two roots reach each other through a kinematic body, which the later root takes."""
    bodies, joints = [A, B, "/R/K"], {"/R/j0": (REVOLUTE, A, "/R/K"), "/R/j1": (REVOLUTE, B, "/R/K")}
    stage = graph(bodies, joints, [A, B], {"/R/K": KINEMATIC})
    doc = document(stage)
    assert doc["articulations"] == {A: {"fixBase": False, "links": [A]}, B: {"fixBase": False, "links": [B, "/R/K"]}}
    assert doc["joints"]["/R/j0"]["kind"] == "standalone"
    assert "between-articulations" in codes(stage, "/R/j0")
