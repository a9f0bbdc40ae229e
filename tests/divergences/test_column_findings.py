"""Canaries of hand-populated columns: a stage that lacks or spoils something against one that does not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from bench_stages import BOTH, IDENTITY, at, by_hand, findings_of, hands, joint, populated, scene, world

import consumer
from ovsim.diff import compare_sides
from ovsim.diff.sides import ColumnSide, TableSide
from ovsim.stage import Stage

FLT_MAX = 3.4028234663852886e38
ALL = ("columns", "descriptors", "physx")


def _pair(kind: str, whole: dict, less: dict, schemas=(), levels=("descriptors", "physx"), root=(), extra=()):
    """One joint with all of its columns against the same joint with some of them."""
    stages = [by_hand(scene(("/W/J", kind, {**BOTH, **c}, schemas), *extra, root=root)) for c in (whole, less)]
    return hands(*stages, levels=levels)


@pytest.mark.parametrize(
    ("finding", "kind", "columns", "schemas"),
    [
        ("revolute-limit-absent", "PhysicsRevoluteJoint", {"physics:lowerLimit": -math.inf, "physics:upperLimit": math.inf}, ()),
        ("prismatic-limit-absent", "PhysicsPrismaticJoint", {"physics:lowerLimit": -math.inf, "physics:upperLimit": math.inf}, ()),
        ("d6-limit-absent", "PhysicsJoint", {"limit:rotX:physics:low": -math.inf, "limit:rotX:physics:high": math.inf}, ["PhysicsLimitAPI:rotX"]),
        ("spherical-cone-absent", "PhysicsSphericalJoint", {"physics:coneAngle0Limit": -1.0, "physics:coneAngle1Limit": -1.0}, ()),
    ],
)
def test_absent_bounds(finding, kind, columns, schemas):
    """Population's fallbacks leave the axis free; without the columns it is limited to [0, 0] (the cone is refused by PhysX)."""
    found = _pair(kind, columns, {}, schemas)
    assert findings_of(found) == {finding}
    head = "limits.rotX" if kind == "PhysicsJoint" else "limit"
    enabled = at(found, "/W/J", f"{head}.enabled")
    assert (enabled.left, enabled.right) == (False, True)
    assert at(found, "/W/J", f"{head}.upper").right == 0
    motions = {d.field: (d.left, d.right) for d in found.differences if d.field.startswith("motion.")}
    assert motions
    assert set(motions.values()) == {("free", "limited")}
    assert _pair(kind, columns, columns, schemas).differences == []
    assert findings_of(_pair(kind, columns, {}, schemas, ["columns"])) == {finding}


@pytest.mark.parametrize(
    ("finding", "kind", "column", "field"),
    [
        ("gear-ratio-absent", "PhysxPhysicsGearJoint", "physics:gearRatio", "gearRatio"),
        ("rack-ratio-absent", "PhysxPhysicsRackAndPinionJoint", "physics:ratio", "ratio"),
    ],
)
def test_absent_ratio(finding, kind, column, field):
    """Ratio 1 against 0, down to PhysX."""
    found = _pair(kind, {column: 1.0}, {})
    assert findings_of(found) == {finding}
    assert (at(found, "/W/J", field).left, at(found, "/W/J", field).right) == (1, 0)
    assert at(found, "/W/J", "ratio", "physx").right == 0


def test_break_force_seed():
    """inf written against FLT_MAX assumed: a difference of descriptors only."""
    found = _pair("PhysicsFixedJoint", {"physics:breakForce": math.inf, "physics:breakTorque": math.inf}, {}, levels=ALL)
    assert findings_of(found) == {"break-force-seed"}
    assert at(found, "/W/J", "breakForce").right == FLT_MAX
    assert {d.level for d in found.differences} == {"columns", "descriptors"}


def test_absent_default():
    """A column that holds the parser default may as well be missing."""
    found = _pair(
        "PhysicsFixedJoint", {"physics:jointEnabled": True, "physics:localPos0": (0, 0, 0), "physics:collisionEnabled": False}, {}, levels=ALL
    )
    assert findings_of(found) == {"absent-default"}
    assert {d.level for d in found.differences} == {"columns"}
    assert findings_of(_pair("PhysicsFixedJoint", {"physics:jointEnabled": False}, {}, levels=ALL)) == {"unexplained"}


def test_articulation_threshold_defaults():
    """Without the columns both thresholds are scaled by the units, and one starts from another coefficient."""
    roots = ["PhysicsArticulationRootAPI", "PhysxArticulationAPI"]
    rows = scene(("/W/J", "PhysicsFixedJoint", BOTH, ()), root=roots)
    kind, place, schemas = rows["/W"]
    schema = {"physxArticulation:sleepThreshold": 5e-5, "physxArticulation:stabilizationThreshold": 1e-5}
    found = hands(by_hand({**rows, "/W": (kind, {**place, **schema}, schemas)}), by_hand(rows))
    assert findings_of(found) == {"articulation-stabilization-default", "articulation-thresholds-raw"}
    stabilization = at(found, "articulation /W", "stabilizationThreshold", "physx")
    assert stabilization.finding == "articulation-stabilization-default"
    assert (stabilization.left, stabilization.right) == (pytest.approx(1e-5), pytest.approx(1.0))


def test_quaternion_lanes():
    """The same numbers in USD's order."""
    found = _pair("PhysicsFixedJoint", {"physics:localRot0": (0, 0, 0, 1)}, {"physics:localRot0": (1, 0, 0, 0)}, levels=ALL)
    assert findings_of(found) == {"quaternion-lanes"}
    other = _pair("PhysicsFixedJoint", {"physics:localRot0": (0, 0, 0, 1)}, {"physics:localRot0": (0.6, 0, 0, 0.8)})
    assert findings_of(other) == {"unexplained"}


def _table(stage: Stage, change) -> TableSide:
    """The stage's descriptors as a saved table, one column changed, as another implementation might have it."""
    return TableSide(change(consumer.resolve(stage, rules="observed-0.6.3").to_arrow()), "table")


def _with(name: str, value):
    return lambda t: t.set_column(t.schema.get_field_index(name), t.schema.field(name), pa.array([value] * len(t), t.schema.field(name).type))


def test_orientation_seed():
    """A descriptor that was never filled holds a half turn about X."""
    stage = by_hand(scene(("/W/J", "PhysicsFixedJoint", BOTH, ())))
    found = compare_sides(ColumnSide(stage, "columns"), _table(stage, _with("localPose0Orientation", [1.0, 0, 0, 0])))
    assert findings_of(found) == {"descriptor-orientation-seed"}
    lone = replace(found.differences[0], right=(1.0, 0.0, 0.0, 0.0))
    assert lone.left == (0, 0, 0, 1)


def _limit_with(field: str, value: float):
    def change(table: pa.Table) -> pa.Table:
        rows = [{**r, field: value} for r in table.column("limit").to_pylist()]
        return _with("limit", rows[0])(table)

    return change


def test_limit_restitution_range():
    """Restitution 1.5 is passed on; an implementation that follows the schema clamps it to 1."""
    columns = {**BOTH, "physxLimit:angular:restitution": 1.5, "physics:lowerLimit": -30.0, "physics:upperLimit": 30.0}
    stage = by_hand(scene(("/W/J", "PhysicsRevoluteJoint", columns, ["PhysxLimitAPI:angular"])))
    found = compare_sides(ColumnSide(stage, "columns"), _table(stage, _limit_with("restitution", 1.0)))
    assert findings_of(found) == {"limit-restitution-range"}
    assert findings_of(compare_sides(ColumnSide(stage, "columns"), _table(stage, _limit_with("restitution", 0.5)))) == {"unexplained"}


def test_limit_bounce_unit():
    """An implementation that follows the declared unit converts the threshold."""
    columns = {**BOTH, "physxLimit:angular:bounceThreshold": 90.0, "physics:lowerLimit": -30.0, "physics:upperLimit": 30.0}
    stage = by_hand(scene(("/W/J", "PhysicsRevoluteJoint", columns, ["PhysxLimitAPI:angular"])))
    assert consumer.resolve(stage).to_arrow().column("limit")[0].as_py()["bounceThreshold"] == 90
    found = compare_sides(ColumnSide(stage, "columns"), _table(stage, _limit_with("bounceThreshold", math.pi / 2)))
    assert findings_of(found) == {"limit-bounce-unit"}


@pytest.mark.parametrize(
    ("finding", "kind"), [("gear-frames-ignored", "PhysxPhysicsGearJoint"), ("rack-frames-ignored", "PhysxPhysicsRackAndPinionJoint")]
)
def test_frames_ignored(finding, kind):
    """Frames of a coupling differ in the descriptor and nowhere in PhysX, where those of the coupled joints stand."""
    hinges = (
        {"physics:hinge0": ["/W/H"], "physics:hinge1": ["/W/K"]} if "Gear" in kind else {"physics:hinge": ["/W/H"], "physics:prismatic": ["/W/K"]}
    )
    slide = "PhysicsRevoluteJoint" if "Gear" in kind else "PhysicsPrismaticJoint"
    extra = [
        ("/W/H", "PhysicsRevoluteJoint", {"physics:body1": ["/W/A"]}, ()),
        ("/W/K", slide, {"physics:body1": ["/W/B"]}, ()),
    ]
    found = _pair(kind, {**hinges, "physics:localPos0": (1, 2, 3)}, {**hinges, "physics:localPos0": (4, 5, 6)}, extra=extra)
    assert findings_of(found) == {finding}
    assert {d.level for d in found.differences} == {"descriptors"}


def test_columns_that_nobody_reads():
    """A contact distance and an envelope of an unknown instance: columns differ, nothing else does."""
    apis = ["PhysxLimitAPI:angular", "PhysxDrivePerformanceEnvelopeAPI:odd"]
    spoiled = {"physxLimit:angular:contactDistance": np.float32(1), "physxDrivePerformanceEnvelope:odd:maxActuatorVelocity": 5.0}
    found = _pair("PhysicsRevoluteJoint", spoiled, {}, apis, levels=ALL)
    assert findings_of(found) == {"limit-contact-distance", "envelope-unknown-instance"}
    assert {d.level for d in found.differences} == {"columns"}


def test_typed_limit_reversed():
    """Reversed bounds do not lock a hinge: PhysX keeps its default range."""
    found = _pair(
        "PhysicsRevoluteJoint",
        {"physics:lowerLimit": -30.0, "physics:upperLimit": 30.0},
        {"physics:lowerLimit": 30.0, "physics:upperLimit": -30.0},
    )
    assert findings_of(found, "physx") == {"typed-limit-reversed"}
    assert at(found, "/W/J", "limits.twist.upper", "physx").right == pytest.approx(math.pi / 2)
    assert findings_of(found, "descriptors") == {"unexplained"}


def test_limit_one_sided():
    """A slider with one bound loses its limit."""
    found = _pair(
        "PhysicsPrismaticJoint",
        {"physics:lowerLimit": -2.0, "physics:upperLimit": 5.0},
        {"physics:lowerLimit": -2.0, "physics:upperLimit": math.inf},
    )
    assert findings_of(found, "physx") == {"limit-one-sided"}
    assert at(found, "/W/J", "limits.x.lower", "physx").right == pytest.approx(-FLT_MAX / 3)


def test_cone_refused():
    """A half-angle of zero is refused, the default cone stays."""
    names = ("physics:coneAngle0Limit", "physics:coneAngle1Limit")
    found = _pair("PhysicsSphericalJoint", dict.fromkeys(names, 20.0), dict.fromkeys(names, 0.0))
    assert findings_of(found, "physx") == {"cone-refused"}
    assert at(found, "/W/J", "limits.cone.yAngle", "physx").right == pytest.approx(math.pi / 2)


def test_friction_order():
    """Dynamic above static: both stay 0 in an articulation."""
    names = ("physxJointAxis:angular:staticFrictionEffort", "physxJointAxis:angular:dynamicFrictionEffort")
    found = _pair(
        "PhysicsRevoluteJoint",
        dict(zip(names, (5.0, 3.0))),
        dict(zip(names, (3.0, 5.0))),
        ["PhysxJointAxisAPI:angular"],
        root=["PhysicsArticulationRootAPI"],
    )
    assert findings_of(found, "physx") == {"friction-order"}
    assert at(found, "/W/J", "axes.twist.staticFrictionEffort", "physx").right == 0


def test_loop_joint_lost():
    """A second joint between two links vanishes unless it is excluded."""
    extra = [("/W/K", "PhysicsFixedJoint", BOTH, ())]
    rows = [scene(("/W/J", "PhysicsFixedJoint", BOTH, ()), *extra, root=["PhysicsArticulationRootAPI"]) for _ in range(2)]
    rows[0]["/W/K"] = ("PhysicsFixedJoint", {**BOTH, "physics:excludeFromArticulation": True}, ())
    found = hands(*map(by_hand, rows))
    assert findings_of(found, "descriptors") == {"unexplained"}
    lost = at(found, "/W/K", "", "physx")
    assert (lost.finding, lost.right) == ("loop-joint-lost", None)


def test_nested_and_empty_roots():
    """A root below a root, and a root above nothing, give no articulation."""
    weld = ("/W/J", "PhysicsFixedJoint", BOTH, ())
    plain, nested = scene(weld, root=["PhysicsArticulationRootAPI"]), scene(weld, root=["PhysicsArticulationRootAPI"])
    kind, place, schemas = nested["/W/A"]
    nested["/W/A"] = (kind, place, [*schemas, "PhysicsArticulationRootAPI"])
    only_inner = {**nested, "/W": (nested["/W"][0], nested["/W"][1], ())}
    found = hands(by_hand(only_inner), by_hand(nested))
    assert at(found, "articulation /W/A", "", "physx").finding == "nested-roots"
    empty = {**plain, "/W/J": ("PhysicsFixedJoint", {**BOTH, "physics:jointEnabled": False}, ())}
    gone = at(hands(by_hand(plain), by_hand(empty)), "articulation /W", "", "physx")
    assert (gone.finding, gone.right) == ("empty-root", None)


def test_instance_root_matrix():
    """A target row with a matrix of zeros collapses the frame to the origin."""
    columns = {"physics:body0": ["/W/S"], "physics:body1": ["/W/B"], "physics:localPos0": (1, 2, 3)}
    stages = [by_hand(scene(("/W/S", "Xform", {"omni:xform": m}, ()), ("/W/J", "PhysicsFixedJoint", columns, ()))) for m in (IDENTITY, np.zeros(16))]
    found = hands(*stages)
    assert "instance-root-matrix" in findings_of(found, "descriptors")
    assert at(found, "/W/J", "localPose0Position").right == (0, 0, 0)


def test_populated_stage_differs_from_itself_in_nothing():
    """Another population of the same text has other ids and the same joints."""
    text = world(joint("PhysicsRevoluteJoint", "J", "/W/A", "/W/B", "float physics:lowerLimit = -30"))
    assert hands(populated(text), populated(text), ALL).differences == []
