"""The plan of a row from plain data: what both readers share."""

from __future__ import annotations

import pytest

from ovsim.contract import Units
from producer import schemas
from producer.definitions import Property
from producer.plan import Authored, Planner, RowKind
from producer.provenance import BLOCKED, DEFAULT, DERIVED, EMPTY, FALLBACK, HIDDEN, SAMPLES
from producer.selection import Role

CAP = "physxJoint:maxJointVelocity"


@pytest.fixture(scope="module")
def planner():
    return Planner(schemas.load(), Units(1.0, "Z"))


def kind(type_name, *applied, role=Role.MEMBER, shows=""):
    return RowKind(type_name, tuple(sorted(applied)), role, shows)


@pytest.mark.parametrize(
    ("state", "limit", "cap"),
    [
        (DEFAULT, "read", "read"),
        (SAMPLES, FALLBACK, FALLBACK),
        (EMPTY, FALLBACK, DERIVED),
        (BLOCKED, None, DERIVED),
        (HIDDEN, None, None),
    ],
)
def test_states_of_authored_attributes(planner, state, limit, cap):
    authored = {"physics:lowerLimit": Authored("float", state), CAP: Authored("float", state)}
    plan = planner.plan(kind("PhysicsRevoluteJoint", "PhysxJointAPI"), authored)

    def shown(name):
        if name in plan.read:
            return "read"
        return plan.constants[name].provenance if name in plan.constants else None

    assert (shown("physics:lowerLimit"), shown(CAP)) == (limit, cap)


def test_roles_decide_what_is_shown(planner):
    authored = {n: Authored(t) for n, t in (("size", "double"), ("physics:mass", "float"), ("material:binding", ""), ("visibility", "token"))}
    shown = {}
    for role in Role:
        plan = planner.plan(kind("Cube", role=role), authored)
        shown[role] = {*plan.read, *plan.relationships}
    assert shown == {
        Role.MEMBER: {"physics:mass", "material:binding"},
        Role.TARGET: {"size", "physics:mass", "material:binding"},
        Role.INSTANCER: set(),
        Role.BINDER: set(),
        Role.ANCESTOR: set(),
    }
    assert "size" in planner.plan(kind("Cube", "PhysicsCollisionAPI"), authored).read
    assert "visibility" in planner.plan(kind("PointInstancer", role=Role.INSTANCER, shows="instancer"), authored).read


def test_the_type_of_the_value_counts_not_the_declared_one(planner):
    plan = planner.plan(kind("PhysicsRevoluteJoint"), {"physics:lowerLimit": Authored("double")})
    assert plan.read["physics:lowerLimit"] == "double"
    plan = planner.plan(kind("PhysicsRevoluteJoint"), {"physics:lowerLimit": Authored("opaque")})
    assert plan.constants["physics:lowerLimit"].value == float("-inf")


def test_custom_joints_declare_what_a_joint_declares():
    planner = Planner(schemas.load(), Units(), frozenset({"MyJoint"}))
    assert planner.is_member("MyJoint", ())
    assert planner.declared(kind("MyJoint"))["physics:breakForce"] == Property("float", float("inf"))
    assert CAP in planner.plan(kind("MyJoint"), {}).constants
