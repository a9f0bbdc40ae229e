"""Canaries: each recorded difference between the USD backend and columns, reproduced end to end, and nothing else beside it."""

from __future__ import annotations

import math

import pytest
from bench_stages import AB, against, at, body, findings_of, joint, prim, world

FLT_MAX = 3.4028234663852886e38


def _hinge(inside: str, apis=()):
    return world(*AB, joint("PhysicsRevoluteJoint", "J", "/W/A", "/W/B", inside, apis))


def test_no_difference_without_a_cause():
    """Every joint type, driven, limited and in an articulation: both backends agree to the last field."""
    text = world(
        *(body(n, at=(k, 0, 0)) for k, n in enumerate("ABCDEFGH")),
        joint("PhysicsFixedJoint", "a_weld", "", "/W/A"),
        joint(
            "PhysicsRevoluteJoint", "b_hinge", "/W/A", "/W/B", _DRIVEN + "float physics:lowerLimit = -30\nfloat physics:upperLimit = 60", _DRIVEN_APIS
        ),
        joint("PhysicsPrismaticJoint", "c_slide", "/W/B", "/W/C", "float physics:lowerLimit = -1\nfloat physics:upperLimit = 2"),
        joint("PhysicsSphericalJoint", "d_ball", "/W/C", "/W/D", "float physics:coneAngle0Limit = 20\nfloat physics:coneAngle1Limit = 40"),
        joint("PhysicsDistanceJoint", "e_rope", "/W/E", "/W/F", "float physics:maxDistance = 2"),
        joint(
            "PhysicsJoint",
            "f_free",
            "/W/G",
            "/W/H",
            "float limit:rotX:physics:low = -10\nfloat limit:rotX:physics:high = 10",
            ["PhysicsLimitAPI:rotX"],
        ),
        apis=["PhysicsArticulationRootAPI"],
    )
    assert against(text).differences == []
    assert findings_of(against(text, ["columns"])) == {"velocity-sentinel"}


_TURN = "float limit:rotX:physics:low = -10\nfloat limit:rotX:physics:high = 10"
_DRIVEN = """float physics:lowerLimit = -30
float physics:upperLimit = 60
float drive:angular:physics:stiffness = 40
float drive:angular:physics:damping = 4
float physxJointAxis:angular:armature = 0.1
"""
_DRIVEN_APIS = ("PhysicsDriveAPI:angular", "PhysxJointAxisAPI:angular", "PhysicsJointStateAPI:angular", "PhysxLimitAPI:angular")


def test_revolute_limit_enable():
    """One bound: limited from columns, free from USD."""
    found = against(_hinge("float physics:lowerLimit = -30"))
    assert findings_of(found) == {"revolute-limit-enable"}
    enabled = at(found, "/W/J", "limit.enabled")
    assert (enabled.left, enabled.right) == (False, True)
    assert at(found, "/W/J", "motion.twist", "physx").left == "free"
    assert at(found, "/W/J", "limits.twist.upper", "physx").right == pytest.approx(math.pi)
    assert against(_hinge("float physics:lowerLimit = -30\nfloat physics:upperLimit = 30")).differences == []


def test_d6_list_order():
    """The distance record leads from USD and trails from columns; with it alone there is no order."""
    apis = ["PhysicsLimitAPI:transX", "PhysicsLimitAPI:distance"]
    found = against(world(*AB, joint("PhysicsJoint", "J", "/W/A", "/W/B", "float limit:distance:physics:high = 2", apis)))
    assert findings_of(found) == {"d6-list-order"}
    order = at(found, "/W/J", "limits.order")
    assert (order.kind, order.left, order.right) == ("order", ("distance", "transX"), ("transX", "distance"))
    assert against(world(*AB, joint("PhysicsJoint", "J", "/W/A", "/W/B", "float limit:distance:physics:high = 2", apis[1:]))).differences == []


def test_missing_target():
    """A prim that does not exist: no body from USD, the body above it from columns."""
    found = against(world(*AB, joint("PhysicsFixedJoint", "J", "/W/A/Gone", "/W/B")))
    assert findings_of(found) == {"missing-target"}
    target = at(found, "/W/J", "body0")
    assert (target.left, target.right) == (None, "/W/A")
    assert at(found, "/W/J", "actor0", "physx").finding == "missing-target"


def test_unpopulated_target():
    """A plain Xform without a row loses its transform; as an ancestor of a body it has one."""
    joint_text = joint("PhysicsFixedJoint", "J", "/W/Site", "/W/B")
    site = body("Site", apis=(), at=(5, 6, 7))
    found = against(world(*AB, site, joint_text))
    assert findings_of(found) == {"unpopulated-target"}
    moved = at(found, "/W/J", "localPose0Position")
    assert (moved.left, moved.right) == ((5, 6, 7), (0, 0, 0))
    with_row = body("Site", body("Inner"), apis=(), at=(5, 6, 7))
    assert against(world(*AB, with_row, joint_text)).differences == []


def test_zero_quaternion():
    """Identity from USD; from columns it stays zero and PhysX refuses the joint."""
    found = against(world(*AB, joint("PhysicsFixedJoint", "J", "/W/A", "/W/B", "quatf physics:localRot0 = (0, 0, 0, 0)")))
    assert findings_of(found) == {"zero-quaternion"}
    assert at(found, "/W/J", "localPose0Orientation").right == (0, 0, 0, 0)
    assert at(found, "/W/J", "", "physx").right is None
    assert against(world(*AB, joint("PhysicsFixedJoint", "J", "/W/A", "/W/B", "quatf physics:localRot0 = (0.5, 0, 0, 0)"))).differences == []


def test_disabled_body_target():
    """No body from USD, a static actor from columns."""
    off = body("Off", "bool physics:rigidBodyEnabled = 0", at=(5, 0, 0))
    found = against(world(*AB, off, joint("PhysicsFixedJoint", "J", "/W/Off", "/W/B")))
    assert findings_of(found) == {"disabled-body-target"}
    assert (at(found, "/W/J", "body0").left, at(found, "/W/J", "body0").right) == (None, "/W/Off")
    assert at(found, "/W/J", "localPose0Position").left == (5, 0, 0)


def test_election_order():
    """A floating chain listed backwards: the centre is C by namespace, B by path."""
    bodies = [body(n, at=(k, 0, 0)) for k, n in enumerate("DCBA")]
    chain = [joint("PhysicsFixedJoint", f"J{n}", f"/W/{a}", f"/W/{b}") for n, (a, b) in enumerate((("A", "B"), ("B", "C"), ("C", "D")))]
    found = against(world(*bodies, *chain, apis=["PhysicsArticulationRootAPI"]))
    assert findings_of(found) == {"election-order"}
    links = at(found, "articulation /W", "links", "physx")
    assert (links.left[0], links.right[0]) == ("/W/C", "/W/B")
    assert against(world(*reversed(bodies), *chain, apis=["PhysicsArticulationRootAPI"])).differences == []


def test_competing_roots():
    """Two roots on one chain: the first wins from USD, the last from columns."""
    rooted = ("PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI")
    found = against(world(body("A", apis=rooted), body("B", apis=rooted), joint("PhysicsFixedJoint", "J", "/W/A", "/W/B")))
    assert findings_of(found) == {"competing-roots"}
    assert at(found, "articulation /W/A", "", "physx").right is None
    assert at(found, "articulation /W/B", "", "physx").left is None


def test_nested_body():
    """Refused from USD without a reset of the transform stack, accepted with one."""
    inner = body("In", at=(1, 0, 0))
    reset = inner.replace('["xformOp:translate"]', '["!resetXformStack!", "xformOp:translate"]')
    text = joint("PhysicsFixedJoint", "J", "/W/Out", "/W/Out/In")
    found = against(world(body("Out", inner), text))
    assert findings_of(found) == {"nested-body"}
    assert at(found, "/W/J", "actor1", "physx").right == "/W/Out/In"
    assert against(world(body("Out", reset), text)).differences == []


def test_instance_proxy():
    """A joint inside a native instance: at the instance from USD, below the prototype from columns, in PhysX never."""
    asset = prim("Xform", "Asset", body("A") + body("B") + joint("PhysicsFixedJoint", "J", "/Asset/A", "/Asset/B")).replace("def", "class", 1)
    instance = prim("Xform", "Inst", more="instanceable = true\nprepend references = </Asset>")
    found = against(world(instance, before=asset))
    assert findings_of(found) == {"instance-proxy"}
    assert at(found, "/W/Inst/J", "").right is None
    assert all(d.level == "descriptors" for d in found.differences)


def test_point_instancer():
    """Joints below a point instancer are rows and no joints of USD's walker."""
    inner = prim("Xform", "P", body("A") + body("B") + joint("PhysicsFixedJoint", "J", "/W/I/P/A", "/W/I/P/B"))
    text = "rel prototypes = </W/I/P>\nint[] protoIndices = [0]\npoint3f[] positions = [(0, 0, 0)]\n" + inner
    found = against(world(prim("PointInstancer", "I", text)))
    assert findings_of(found) == {"point-instancer"}
    assert [(d.path, d.left) for d in found.differences] == [("/W/I/P/J", None)]


def test_blocked_attribute():
    """A blocked bound has no column: 0 from columns; OpenUSD's parser keeps what its record starts from, 90 and -90 degrees."""
    found = against(_hinge("float physics:lowerLimit = None\nfloat physics:upperLimit = None"))
    assert findings_of(found, "descriptors") == {"blocked-attribute"}
    assert findings_of(found, "physx") == {"blocked-attribute"}
    assert at(found, "/W/J", "limit.upper").right == 0
    assert at(found, "/W/J", "limit.upper").left == pytest.approx(math.radians(-90))


def test_authored_type():
    """Bounds authored as double: read from columns, not by USD's parser."""
    found = against(_hinge("double physics:lowerLimit = -30\ndouble physics:upperLimit = 30"))
    assert findings_of(found) == {"authored-type"}
    assert at(found, "/W/J", "limit.lower").left == -math.inf
    assert at(found, "/W/J", "limit.lower").right == pytest.approx(math.radians(-30))


def test_velocity_sentinel():
    """FLT_MAX on every joint; an authored velocity is the same on both sides."""
    found = against(_hinge(""), ["columns"])
    assert [(d.field, d.left, d.right) for d in found.differences] == [("physxJoint:maxJointVelocity", None, FLT_MAX)]
    assert against(_hinge("float physxJoint:maxJointVelocity = 9", ["PhysxJointAPI"]), ["columns"]).differences == []


def test_unlisted_schema():
    """An unknown API is authored and not listed."""
    found = against(_hinge("", ["PhysxJointAPI", "NobodyAPI"]), ["columns"])
    listed = at(found, "/W/J", "usd-schemas", "columns")
    assert (listed.finding, listed.left, listed.right) == ("unlisted-schema", ("NobodyAPI", "PhysxJointAPI"), ("PhysxJointAPI",))


def test_axis_armature_zero():
    """An authored zero replaces the joint's armature from USD only."""
    apis = ["PhysxJointAPI", "PhysxJointAxisAPI:angular"]
    found = against(_hinge("float physxJoint:armature = 5\nfloat physxJointAxis:angular:armature = 0", apis))
    assert findings_of(found) == {"axis-armature-zero"}
    armature = at(found, "/W/J", "properties.armature")
    assert (armature.left, armature.right) == (0, 5)
    assert against(_hinge("float physxJoint:armature = 5", apis)).differences == []
    assert against(_hinge("float physxJoint:armature = 5\nfloat physxJointAxis:angular:armature = 2", apis)).differences == []


def test_joint_velocity_inf():
    """An authored infinite axis velocity stands from USD only."""
    apis = ["PhysxJointAPI", "PhysxJointAxisAPI:angular"]
    found = against(_hinge("float physxJoint:maxJointVelocity = 90\nfloat physxJointAxis:angular:maxJointVelocity = inf", apis))
    assert findings_of(found) == {"joint-velocity-inf"}
    velocity = at(found, "/W/J", "properties.maxJointVelocity")
    assert velocity.left == FLT_MAX
    assert velocity.right == pytest.approx(math.pi / 2)
    assert against(_hinge("float physxJoint:maxJointVelocity = 90", apis)).differences == []


def test_articulation_thresholds_raw():
    """Unauthored thresholds: scaled by the units from USD, the schema's own from columns."""
    text = lambda inside: world(
        *AB, joint("PhysicsFixedJoint", "J", "/W/A", "/W/B"), inside, apis=["PhysicsArticulationRootAPI", "PhysxArticulationAPI"]
    )
    found = against(text(""))
    assert findings_of(found) == {"articulation-thresholds-raw"}
    sleep = at(found, "articulation /W", "sleepThreshold", "physx")
    assert sleep.left == pytest.approx(5e-3)
    assert sleep.right == pytest.approx(5e-5)
    authored = "float physxArticulation:sleepThreshold = 1\nfloat physxArticulation:stabilizationThreshold = 1"
    assert against(text(authored)).differences == []


def test_derived_column():
    """A joint that lists a body API carries the columns that population computes for bodies."""
    apis = ["PhysicsRigidBodyAPI", "PhysxRigidBodyAPI"]
    found = against(world(*AB, joint("PhysicsFixedJoint", "J", "/W/A", "/W/B", "", apis)), ["columns"])
    assert findings_of(found) == {"derived-column", "velocity-sentinel"}
    sleep = at(found, "/W/J", "physxRigidBody:sleepThreshold", "columns")
    assert (sleep.left, sleep.right) == (pytest.approx(5e-5), pytest.approx(5e-3))
    authored = "float physxRigidBody:sleepThreshold = 1"
    text = world(*AB, joint("PhysicsFixedJoint", "J", "/W/A", "/W/B", authored, apis))
    assert at(against(text, ["columns"]), "/W/J", "physxRigidBody:sleepThreshold", "columns") is None


def test_joint_with_material():
    """A joint that lists a material API is no joint for OpenUSD's parser."""
    found = against(world(*AB, joint("PhysicsFixedJoint", "J", "/W/A", "/W/B", "", ["PhysicsMaterialAPI"])))
    assert findings_of(found) == {"joint-with-material"}
    assert at(found, "/W/J", "").left is None


def test_unparsed_joint():
    """An attribute where the relationship belongs: OpenUSD's parser fails on this joint and still gives the others."""
    spoiled = prim("PhysicsFixedJoint", "J", 'string physics:body0 = "/W/A"\nrel physics:body1 = </W/B>')
    found = against(world(*AB, spoiled, joint("PhysicsFixedJoint", "K", "/W/A", "/W/B")))
    assert findings_of(found) == {"unparsed-joint"}
    assert {d.path for d in found.differences} == {"/W/J"}
    assert "usd-unparsed" in found.left.descriptors.diagnostics.codes()


def test_unreadable_transform():
    """A transform stack with an operation that USD does not know: no crash, and both sides agree."""
    odd = body("A").replace('["xformOp:translate"]', '["xformOp:translate", "xformOp:nonsense", "garbage"]')
    found = against(world(odd, body("B"), joint("PhysicsFixedJoint", "J", "/W/A", "/W/B")))
    assert found.differences == []
    assert len(found.left.flat("descriptors").paths) == 1


def test_property_target():
    """A property as target: nothing from USD, beside its prim from columns."""
    site = body("Site", body("In"), apis=(), at=(5, 6, 7))
    found = against(world(*AB, site, joint("PhysicsFixedJoint", "J", "/W/Site/In.visibility", "/W/B")))
    assert findings_of(found) == {"property-target"}
    moved = at(found, "/W/J", "localPose0Position")
    assert (moved.left, moved.right) == ((0, 0, 0), (5, 6, 7))


def test_transform_below_scope():
    """A body below a Scope: USD composes the transform above it, population does not; the frames of a fixed joint then seem to part."""
    inside = body("In", at=(1, 0, 0))
    text = joint("PhysicsFixedJoint", "J", "/W/Top/S/In", "/W/B", "point3f physics:localPos1 = (6, 0, 0)")
    found = against(world(*AB, body("Top", prim("Scope", "S", inside), apis=(), at=(6, 0, 0)), text))
    assert findings_of(found) == {"transform-below-scope"}
    meets = at(found, "/W/J", "validBodyTransformations")
    assert (meets.left, meets.right) == (True, False)
    assert against(world(*AB, body("Top", prim("Xform", "S", inside), apis=(), at=(6, 0, 0)), text)).differences == []


def test_a_gear_that_couples_a_gear():
    """A body that differs at a joint differs at the gear that couples it, and at the rack that couples the gear: one finding explains all three."""
    disabled = body("C", "bool physics:rigidBodyEnabled = 0")
    hinge = joint("PhysicsFixedJoint", "J2", "", "/W/C")
    gear = joint("PhysxPhysicsGearJoint", "J1", inside="rel physics:hinge1 = </W/J2>")
    rack = joint("PhysxPhysicsRackAndPinionJoint", "J0", inside="rel physics:prismatic = </W/J1>")
    found = against(world(*AB, disabled, hinge, gear, rack), levels=("descriptors",))
    assert {(d.path, d.field, d.finding) for d in found.differences if d.field == "body1"} == {
        (f"/W/{name}", "body1", "disabled-body-target") for name in ("J0", "J1", "J2")
    }
