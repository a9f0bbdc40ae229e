"""Local frames (spec section 4) against the observed vectors of Appendix A."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hand import COLLIDER, RIGID, Hand, matrix

FIXED = "PhysicsFixedJoint"
H = math.sqrt(0.5)


def side0(hand: Hand, target: str | None, t=(0, 0, 0), q=(0, 0, 0, 1), rules="observed-0.6.3"):
    """(body0, position, orientation x y z w) of side 0 of a fixed joint."""
    hand.joint("/J", FIXED, {"physics:localPos0": tuple(t), "physics:localRot0": tuple(q)}, body0=target)
    row = hand.rows(rules)["/J"]
    return row["body0"], row["localPose0Position"], row["localPose0Orientation"]


def same(got, want, rel=2e-6):
    assert got == pytest.approx(want, rel=rel, abs=2e-6)


def test_vector_scale():
    """spec 4.2 vector scale: the body's scale goes into the position, its rotation does not."""
    hand = Hand().body("/A", matrix(scale=(2, 3, 4))).body("/B", matrix((3, 0, 0), ("Z", math.pi / 2), (1, 2, 1)))
    hand.joint("/J", FIXED, {"physics:localPos0": (1, 1, 1), "physics:localPos1": (1, 2, 3)}, body0="/A", body1="/B")
    row = hand.rows()["/J"]
    same(row["localPose0Position"], [2, 3, 4])
    same(row["localPose1Position"], [1, 4, 3])
    same(row["localPose0Orientation"], [0, 0, 0, 1])
    same(row["localPose1Orientation"], [0, 0, 0, 1])


@pytest.mark.parametrize(
    ("scale", "t", "want"),
    [
        ((-2, 3, 4), (1, 1, 1), (-2, -3, -4)),
        ((-1, -1, -1), (1, 2, 3), (-1, -2, -3)),
        ((-2, -3, 4), (1, 1, 1), (2, 3, 4)),
        ((-1, 1, 2), (1, 1, 1), (-1, -1, -2)),
    ],
    ids=["vector negscale A", "vector negscale B", "two mirrors", "population facts mirror"],
)
def test_vector_negscale(scale, t, want):
    """spec 4.5 vector negscale: all components carry the sign of the determinant."""
    same(side0(Hand().body("/A", matrix(scale=scale)), "/A", t)[1], want)


def _shear(parent, child):
    return Hand().prim("/P", parent).body("/P/A", child)


SHEARS = {
    "shear": (matrix(scale=(1, 2, 3)), matrix((1, 1, 1), ("Z", 0.8), (1, 1.5, 1)), (1.1561, 2.59493, 3)),
    "shear2": (matrix(turn=("X", 0.6), scale=(1, 1, 4)), matrix((1, 1, 1), ("Y", 1.2), (2, 1, 1)), (7.61496, 1, 1.05056)),
    "shear3": (
        matrix(turn=(math.cos(0.9), math.sin(0.9) * H, math.sin(0.9) * H, 0), scale=(3, 1, 2)),
        matrix((1, 1, 1), (math.cos(1.1), 0.6 * math.sin(1.1), 0, 0.8 * math.sin(1.1)), (1, -2, 1.3)),
        (-1.20301, -5.03572, -2.57511),
    ),
    "shear4": (matrix(scale=(10, 1, 1)), matrix((1, 1, 1), ("Z", math.pi / 4)), (1, 10, 1)),
}


@pytest.mark.parametrize("name", SHEARS)
def test_vector_shear(name):
    """spec 4.5 vectors shear, shear2, shear3, shear4 (tie): scale of a sheared body by Jacobi, axes where they started."""
    parent, child, want = SHEARS[name]
    same(side0(_shear(parent, child), "/P/A", (1, 1, 1))[1], want, rel=5e-6)


def test_vector_child_target():
    """spec 4.3 vector child_target: a target below the body re-anchors through both matrices."""
    hand = Hand().body("/A", matrix((1, 0, 0), ("Z", math.pi / 2), 2)).prim("/A/C", matrix((1, 2, 3), ("X", math.pi / 2), (1, 2, 3)))
    body, position, orientation = side0(hand, "/A/C", (1, 1, 1), (0.5, 0.5, 0.5, 0.5))
    assert body == "/A"
    same(position, [4, -2, 10])
    same(orientation, [H, 0, H, 0])


def test_vector_child_nonuni():
    """spec 4.3 child_nonuni: non-uniform scales on body and target."""
    hand = Hand().body("/A", matrix((1, 0, 0), ("Y", 0.6), (1, 2, 3))).prim("/A/C", matrix((1, 2, 3), ("X", 1.0), (1, 2, 1)))
    _, position, orientation = side0(hand, "/A/C", (1, 1, 1), (0.2, 0.4, 0.4, 0.8))
    same(position, [2, 4.47827, 15.6697], rel=5e-6)
    same(orientation, [0.559057, 0.159263, 0.542803, 0.606181], rel=5e-6)


def test_vector_tiny_child_scale():
    """spec 4.5 vector tiny_child_scale: a target of scale 1e-4 still gives the right rotation."""
    hand = Hand().body("/A").prim("/A/C", matrix((1, 0, 0), ("Z", 1.0), 1e-4))
    _, position, orientation = side0(hand, "/A/C", (1, 0, 0))
    same(position, [1.00005, 8.41471e-5, 0], rel=1e-5)
    same(orientation, [0, 0, 0.479426, 0.877583])


@pytest.mark.parametrize(("size", "want"), [(1e-5, 1e-5), (1e-6, 1e-10), (0.0, 1e-10)])
def test_vector_tiny_body_scale(size, want):
    """spec 4.5 vector tiny_body_scale: a squared scale below 1e-10 becomes the scale 1e-10; so does zero."""
    _, position, _ = side0(Hand().body("/A", matrix(scale=(size, 1, 1))), "/A", (1, 1, 1))
    assert position == pytest.approx([want, 1, 1], rel=1e-6)


def test_vector_xform_target():
    """spec 4.4 vector xform_target: a target without a body is a world frame, scale and shear removed (observed rules)."""
    hand = Hand().prim("/S", matrix((5, 6, 7), ("Z", math.pi / 2), 2))
    body, position, orientation = side0(hand, "/S", (1, 2, 3))
    assert body is None
    same(position, [1, 8, 13])
    same(orientation, [0, 0, H, H])


def test_finding_unresolved_target_frame():
    """finding unresolved-target-frame, spec 11.2: the contract pages keep the authored frame verbatim there."""
    hand = Hand().prim("/S", matrix((5, 6, 7), ("Z", math.pi / 2), 2))
    body, position, orientation = side0(hand, "/S", (1, 2, 3), (0, 0, 3, 4), rules="contract-0.6")
    assert body is None
    same(position, [1, 2, 3])
    same(orientation, [0, 0, 0.6, 0.8])


def test_vector_static_collider_target():
    """spec 3.1(4) vector static_collider_target: a collider without a rigid body is the body, its scale is baked in."""
    hand = Hand().prim("/S", matrix((5, 6, 7), ("Z", math.pi / 2), 2), [COLLIDER])
    body, position, orientation = side0(hand, "/S", (1, 2, 3))
    assert body == "/S"
    same(position, [2, 4, 6])
    same(orientation, [0, 0, 0, 1])


def test_vector_collider_nested_static():
    """spec 3.1(4) vector collider_nested_static: the outermost collider is the body."""
    hand = Hand().prim("/S", matrix((5, 0, 0)), [COLLIDER]).prim("/S/T", matrix((1, 0, 0)), [COLLIDER])
    body, position, _ = side0(hand, "/S/T", (1, 2, 3))
    assert body == "/S"
    same(position, [2, 2, 3])


def test_vector_disabled_target():
    """spec 3.1(3) vector disabled_target: observed, a disabled body is still the body."""
    hand = Hand().body("/A", matrix((5, 6, 7), ("Z", math.pi / 2), 2), {"physics:rigidBodyEnabled": False})
    body, position, _ = side0(hand, "/A", (1, 2, 3))
    assert body == "/A"
    same(position, [2, 4, 6])


def test_vector_missing_child_of_xform():
    """spec 3.2 vector missing_child_of_xform: a missing prim is an identity child of its nearest existing ancestor."""
    body, position, _ = side0(Hand().prim("/A", matrix((0, 0, 2), scale=2)), "/A/Nope", (1, 2, 3))
    assert body is None
    same(position, [2, 4, 8])


def test_vector_missing_child_of_body():
    """spec 3.2 vector missing_child_of_body: the frame re-anchors trivially."""
    body, position, orientation = side0(Hand().body("/A", matrix((0, 0, 2), scale=2)), "/A/Nope", (1, 2, 3), (0.5, 0.5, 0.5, 0.5))
    assert body == "/A"
    same(position, [2, 4, 6])
    same(orientation, [0.5, 0.5, 0.5, 0.5])


def test_vector_unnorm_quat():
    """spec 4.1 vector unnorm_quat: normalised in float32, sign kept, also on a world side."""
    _, _, first = side0(Hand(), None, q=(0.1, 0, 0, 0.1))
    _, _, second = side0(Hand(), None, q=(0, 0, 0, -2))
    same(first, [H, 0, 0, H])
    assert second == [0, 0, 0, -1]


@pytest.mark.parametrize("size", [1e-12, 1e-21])
def test_tiny_quaternion_is_normalised(size):
    """spec 4.1: as long as the squared length does not underflow."""
    same(side0(Hand(), None, q=(0, 0, 0, size))[2], [0, 0, 0, 1], rel=0.1)


def test_underflowing_quaternion_stays():
    """spec 4.1: below that the lanes stay as they are."""
    assert side0(Hand(), None, q=(0, 0, 0, 1e-24))[2] == [0, 0, 0, float(np.float32(1e-24))]


def test_overflowing_quaternion_becomes_zero():
    """spec 4.1: an infinite squared length gives zero lanes."""
    assert side0(Hand(), None, q=(0, 1e30, 0, 0))[2] == [0, 0, 0, 0]


def test_zero_quaternion_stays_on_a_body_side():
    """spec 4.1 zero_quat: zero reaches PhysX when nothing re-anchors it."""
    assert side0(Hand().body("/A"), "/A", q=(0, 0, 0, 0))[2] == [0, 0, 0, 0]


def test_zero_quaternion_is_identity_when_reanchored():
    """spec 4.1 zero_quat_child."""
    hand = Hand().body("/A").prim("/A/C", matrix((1, 0, 0), ("Z", math.pi / 2)))
    same(side0(hand, "/A/C", q=(0, 0, 0, 0))[2], [0, 0, H, H])


def test_nan_quaternion_stays_nan():
    """spec 4.1 nanq: NaN passes."""
    assert any(math.isnan(v) for v in side0(Hand(), None, q=(math.nan, 0, 0, 1))[2])


def test_world_side_ignores_the_joint_prim():
    """spec 4.4 joint_under_scaled_parent: no relationship, no transform, not even the joint's own parent."""
    hand = Hand().prim("/P", matrix((9, 9, 9), scale=3))
    hand.joint("/P/J", FIXED, {"physics:localPos0": (1, 2, 3)})
    assert hand.rows()["/P/J"]["localPose0Position"] == [1, 2, 3]


def test_no_unit_scaling():
    """spec 4.6: metersPerUnit never scales frames, limits or distances."""
    hand = Hand()
    hand.builder.units(0.01)
    hand.joint("/J", "PhysicsPrismaticJoint", {"physics:localPos0": (1, 2, 3), "physics:lowerLimit": -2.0, "physics:upperLimit": 5.0})
    row = hand.rows()["/J"]
    assert row["localPose0Position"] == [1, 2, 3]
    assert (row["limit"]["lower"], row["limit"]["upper"]) == (-2, 5)


def test_reset_xform_stack():
    """spec 4.5 world matrix source: composition stops at omni:resetXformStack."""
    hand = Hand().prim("/P", matrix(scale=5))
    hand.prim("/P/A", matrix(scale=2), [RIGID], {"omni:resetXformStack": True})
    same(side0(hand, "/P/A", (1, 1, 1))[1], [2, 2, 2])


WORLD = {"omni:fabric:worldMatrix": matrix(scale=3).reshape(1, 16)}


@pytest.mark.parametrize(("target", "want"), [("/P", 3), ("/P/A", 10)])
def test_fabric_world_matrix_wins(target, want):
    """spec 4.5 world matrix source: omni:fabric:worldMatrix is the row's world matrix when present; rows below compose local ones (observed)."""
    hand = Hand().prim("/P", matrix(scale=5), [RIGID], WORLD)
    hand.body("/P/A", matrix(scale=2))
    same(side0(hand, target, (1, 1, 1))[1], [want] * 3)


@pytest.mark.parametrize(("target", "want"), [("/P", 3), ("/P/A", 2)])
def test_only_a_world_matrix(target, want):
    """A row that has a world matrix and no local one: its own, and nothing for the rows below."""
    hand = Hand()
    hand.builder.add("Xform", ["/P"], WORLD, [RIGID])
    hand.body("/P/A", matrix(scale=2))
    same(side0(hand, target, (1, 1, 1))[1], [want] * 3)


@pytest.mark.parametrize(("target", "body", "want"), [("/P/A/C.size", "/P/A", [4, 4, 4]), ("/P/A.size", None, [2, 2, 2]), ("/P.x", None, [1, 1, 1])])
def test_property_path_stands_beside_its_prim(target, body, want):
    """Observed (recorded stage scopes_between): a property's path is taken for a missing child of the prim above its own."""
    hand = Hand().prim("/P", matrix(scale=2)).body("/P/A", matrix((0, 0, 2), scale=2)).prim("/P/A/C", matrix((5, 0, 0)))
    got = side0(hand, target, (1, 1, 1))
    assert got[0] == body
    same(got[1], want)


def test_float32_matrix_is_read():
    """omni:xform as float32 is read like a float64 one (observed)."""
    import pyarrow as pa

    from ovsim.stage import columns as col

    hand = Hand()
    single = col.dense(matrix(scale=2).reshape(1, 16).astype(np.float32))
    assert pa.types.is_float32(single.type.value_type)
    hand.builder.add("Xform", ["/A"], {"omni:xform": single}, [RIGID])
    same(side0(hand, "/A", (1, 1, 1))[1], [2, 2, 2])


def test_zero_matrix_target():
    """spec 3.2 target_instance_root: an all-zero matrix row gives position zero and the identity."""
    hand = Hand().prim("/I", np.zeros((4, 4)))
    _, position, orientation = side0(hand, "/I", (1, 2, 3))
    assert position == [0, 0, 0]
    assert orientation == [0, 0, 0, 1]


def test_singular_body_counts_as_identity():
    """spec 4.3: a body matrix without an inverse leaves the anchor in the world, then its own scale is baked in (observed)."""
    hand = Hand().body("/A", matrix((0, 240, 0), scale=(0, 1, 1))).prim("/A/C", matrix((1, 0, 0)))
    _, position, orientation = side0(hand, "/A/C", (1, 2, 3))
    same(position, [0, 242, 3])
    assert orientation == [0, 0, 0, 1]
