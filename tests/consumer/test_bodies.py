"""Body resolution (spec section 3)."""

from __future__ import annotations

import numpy as np
import pytest
from hand import COLLIDER, RIGID, Hand, matrix

from consumer import rulesets
from consumer.bodies import COLLIDER as COLLIDER_BIT
from consumer.bodies import ENABLED, KINEMATIC, PROPERTY, RIGID_BODY, ROW, SHAPE, BodyTable
from consumer.order import property_paths
from consumer.passes import Runner
from ovsim.stage import StageBuilder

FIXED = "PhysicsFixedJoint"


def sides(hand, body0, body1=None, rules="observed-0.6.3"):
    hand.joint("/J", FIXED, body0=body0, body1=body1)
    row = hand.rows(rules)["/J"]
    return row["rel0"], row["body0"]


def test_spec_3_1_1_no_relationship_is_the_world():
    """spec 3.1(1) absent0: neither rel nor body."""
    assert sides(Hand(), None) == (None, None)


def test_spec_3_1_1_empty_list_is_the_world():
    """spec 3.1(1) empty_rel."""
    hand = Hand()
    hand.joint("/J", FIXED, {"physics:body0": []})
    row = hand.rows()["/J"]
    assert (row["rel0"], row["body0"]) == (None, None)


def test_spec_3_1_2_first_of_several_targets():
    """spec 3.1(2) two_targets."""
    hand = Hand().body("/A").body("/B")
    hand.joint("/J", FIXED, {"physics:body0": ["/B", "/A"]})
    assert hand.rows()["/J"]["body0"] == "/B"


@pytest.mark.parametrize("columns", [{}, {"physics:kinematicEnabled": True}, {"physics:rigidBodyEnabled": False}])
def test_spec_3_1_3_rigid_body_whatever_its_state(columns):
    """spec 3.1(3): enabled and kinematic are not consulted (observed)."""
    assert sides(Hand().body("/A", columns=columns), "/A") == ("/A", "/A")


def test_spec_3_1_3_nearest_wins():
    """spec 3.1(3): the walk stops at the first rigid body."""
    assert sides(Hand().body("/A").body("/A/B").prim("/A/B/C", np.eye(4)), "/A/B/C") == ("/A/B/C", "/A/B")


def test_spec_3_1_3_disabled_child_of_enabled():
    """spec 3.1(3) disabled_child_of_enabled, finding disabled-body-target: the pages look for the next enabled body."""

    def make():
        return Hand().body("/A").body("/A/B", columns={"physics:rigidBodyEnabled": False})

    assert sides(make(), "/A/B")[1] == "/A/B"
    assert sides(make(), "/A/B", rules="contract-0.6")[1] == "/A"


def test_finding_disabled_body_target_colliders_are_passed_over_too():
    """finding disabled-body-target: under the pages a disabled body's own collider is no body either; an outer collider is."""

    def make(outer):
        hand = Hand().prim("/S", np.eye(4), [COLLIDER] if outer else [])
        return hand.prim("/S/A", np.eye(4), [RIGID, COLLIDER], {"physics:rigidBodyEnabled": False}).prim("/S/A/C", np.eye(4), [COLLIDER])

    assert sides(make(False), "/S/A/C", rules="contract-0.6")[1] is None
    assert sides(make(True), "/S/A/C", rules="contract-0.6")[1] == "/S"
    assert sides(make(False), "/S/A/C")[1] == "/S/A"


def test_spec_3_1_4_outermost_collider():
    """spec 3.1(4): static_collider_child, collider_nested_static."""
    hand = Hand().prim("/S", np.eye(4), [COLLIDER]).prim("/S/M", np.eye(4)).prim("/S/M/T", np.eye(4), [COLLIDER])
    assert sides(hand, "/S/M/T")[1] == "/S"


def test_spec_3_1_4_collision_enabled_makes_no_difference():
    """spec 3.1(4) static_collider_disabled."""
    hand = Hand().prim("/S", np.eye(4), [COLLIDER], {"physics:collisionEnabled": False})
    assert sides(hand, "/S")[1] == "/S"


def test_spec_3_1_4_collider_under_body():
    """spec 3.1(4) collider_under_body: the rigid body above an inner collider."""
    assert sides(Hand().body("/A").prim("/A/C", np.eye(4), [COLLIDER]), "/A/C")[1] == "/A"


def test_spec_3_1_5_neither_keeps_rel():
    """spec 3.1(5): no body, but rel stays."""
    assert sides(Hand().prim("/X", matrix((1, 2, 3))), "/X") == ("/X", None)


def test_spec_3_2_missing_prim():
    """spec 3.2 missing_target: the world, the joint is kept, a diagnostic tells."""
    import consumer

    hand = Hand()
    hand.joint("/J", FIXED, body0="/Nope/Deep")
    found = consumer.resolve(hand.stage())
    assert found.to_arrow().to_pylist()[0]["body0"] is None
    assert [(d.path, d.column) for d in found.diagnostics if d.code == "target-without-row"] == [("/J", "physics:body0")]


def test_spec_3_2_self_target():
    """spec 3.2 self_target: a joint is no body; its frame stays as it is."""
    hand = Hand()
    hand.joint("/J", FIXED, {"physics:localPos0": (1, 2, 3)}, body0="/J")
    row = hand.rows()["/J"]
    assert (row["body0"], row["localPose0Position"]) == (None, [1, 2, 3])


def test_property_target_resolves_to_nothing():
    """A target that is a property path: no body and no transform, not even its prim's (observed)."""
    hand = Hand().body("/A", matrix((0, 7, 0)))
    hand.joint("/J", FIXED, {"physics:localPos0": (1.5, 0, 0)}, body0="/A.physics:mass")
    row = hand.rows()["/J"]
    assert (row["rel0"], row["body0"], row["localPose0Position"]) == ("/A.physics:mass", None, [1.5, 0, 0])


def test_spec_3_2_same_body_is_told():
    """spec 3.2 same_body: both sides resolve to one body; the descriptor stays, a diagnostic tells."""
    import consumer

    hand = Hand().body("/A").prim("/A/C", np.eye(4))
    hand.joint("/J", FIXED, body0="/A", body1="/A/C")
    found = consumer.resolve(hand.stage())
    assert len(found) == 1
    assert "same-body" in found.diagnostics.codes()


def test_pseudo_root_target_is_no_body():
    """The walk stops below the pseudo-root, and a target that is the root itself is the world."""
    assert sides(Hand(), "/") == ("/", None)


def test_spec_3_3_body_facts():
    """spec 3.3: what the table says of each kind of prim."""
    hand = Hand().body("/D").body("/K", columns={"physics:kinematicEnabled": True}).body("/X", columns={"physics:rigidBodyEnabled": False})
    stage = hand.prim("/C", np.eye(4), [COLLIDER]).stage()
    table = BodyTable.of(stage, rulesets.get("observed-0.6.3"))
    ids = [stage.paths.find(p) for p in ("/D", "/K", "/X", "/C")] + [0]
    assert table.rigid_body(ids).tolist() == [True, True, True, False, False]
    assert table.enabled(ids).tolist() == [True, True, False, False, False]
    assert table.kinematic(ids).tolist() == [False, True, False, False, False]
    assert table.dynamic(ids).tolist() == [True, False, False, False, False]
    assert table.collider(ids).tolist() == [False, False, False, True, False]


def test_deep_namespace():
    """Ten thousand levels below a body: no recursion, no walk a joint."""
    builder = StageBuilder()
    builder.add("Xform", ["/A"], {}, [RIGID])
    here, name = builder.paths.path("/A"), builder.paths.token("x")
    for _ in range(10_000):
        here = builder.paths.child(here, name)
    builder.add(FIXED, ["/J"], {"physics:body0": np.array([here], np.uint64)})
    import consumer

    block = consumer.resolve(builder.finish()).block(FIXED)
    assert block is not None
    assert block.body[0, 0] == builder.paths.find("/A")


@pytest.mark.parametrize("schemas", [[], [COLLIDER], [RIGID], [COLLIDER, RIGID]])
@pytest.mark.parametrize("enabled", [None, "all", "some"])
@pytest.mark.parametrize("kinematic", [None, "some"])
@pytest.mark.parametrize("chunk", [None, 300])
def test_flags_of_rows(schemas, enabled, kinematic, chunk):
    """Every column there or not, over more rows than are put together at once; other paths have no flag."""
    n = 2500
    rng = np.random.default_rng(1)
    some = {"all": np.ones(n, np.bool_), "some": rng.random(n) < 0.5}
    builder = StageBuilder()
    names = {"physics:rigidBodyEnabled": enabled, "physics:kinematicEnabled": kinematic}
    columns = {name: some[which] for name, which in names.items() if which}
    builder.paths.path("/Other.property")
    builder.add("Cube", [f"/P{k}" for k in rng.permutation(n)], columns, schemas)
    builder.add("Xform", ["/Q"])
    stage = builder.finish()
    table = BodyTable.of(stage, rulesets.get("contract-0.6"), runner=Runner.of(None, chunk))
    want = np.zeros(stage.paths.path_count, np.uint8)
    cubes = stage.find("/P0")[0].path_ids
    want[cubes] = ROW | SHAPE
    if RIGID in schemas:
        want[cubes] |= RIGID_BODY
        want[cubes] |= np.uint8(ENABLED) * (np.ones(n, bool) if enabled is None else some[enabled])
        want[cubes] |= np.uint8(KINEMATIC) * (np.zeros(n, bool) if kinematic is None else some[kinematic])
    if COLLIDER in schemas:
        want[cubes] |= COLLIDER_BIT
    want[stage.paths.find("/Q")] = ROW
    want[stage.paths.find("/Other.property")] = PROPERTY
    root = stage.find("/")
    want[1] = ROW if root else 0
    assert table.flags.tolist() == want.tolist()


def test_properties_are_found_when_the_dictionary_grows():
    """What is kept with a dictionary is not used once it has more paths."""
    paths = StageBuilder().paths
    assert property_paths(paths).tolist() == []
    first = paths.path("/A.x")
    assert property_paths(paths).tolist() == [first]
    paths.path("/A/B")
    second = paths.path("/A/B.x:y")
    assert property_paths(paths).tolist() == [first, second]
    assert property_paths(paths) is property_paths(paths)
