"""One test for each numbered rule of the producer facts."""

from __future__ import annotations

import numpy as np
import pytest

from ovsim.stage import UNTYPED
from ovsim.stage import columns as col
from tests.producer.rows import provenance, rows_of, stage_of

FLT_MAX = 3.4028234663852886e38


def test_rule_01_schemas_are_sorted_by_name_and_absent_when_none():
    rows = rows_of("""
        def Xform "B" (prepend apiSchemas = ["PhysxRigidBodyAPI", "PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {}
        def PhysicsFixedJoint "J" {}
    """)
    assert rows["/B"]["usd-schemas"] == ["PhysicsMassAPI", "PhysicsRigidBodyAPI", "PhysxRigidBodyAPI"]
    assert "usd-schemas" not in rows["/J"]


def test_rule_02_transforms_are_local_matrices_on_xformable_rows_only():
    rows = rows_of("""
        def Xform "W" {
            double3 xformOp:translate = (1, 2, 3)
            float3 xformOp:scale = (2, 2, 2)
            uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:translate", "xformOp:scale"]
            def PhysicsFixedJoint "J" {
                double3 xformOp:translate = (1, 2, 3)
                uniform token[] xformOpOrder = ["xformOp:translate"]
            }
            def "Typeless" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {
                double3 xformOp:translate = (1, 2, 3)
                uniform token[] xformOpOrder = ["xformOp:translate"]
            }
            def Scope "S" {
                def Xform "B" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}
            }
        }
    """)
    assert rows["/W"]["omni:xform"] == [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1]
    assert rows["/W"]["omni:resetXformStack"] is True
    assert rows["/W/S/B"]["omni:xform"] == np.eye(4).reshape(-1).tolist()
    assert rows["/W/S/B"]["omni:resetXformStack"] is False
    for path in ("/W/J", "/W/Typeless", "/W/S"):
        assert not {"omni:xform", "omni:resetXformStack", "omni:fabric:worldMatrix"} & rows[path].keys()


def test_rule_03_members_binders_targets_and_ancestors_have_rows_and_nothing_else():
    rows = rows_of("""
        def Xform "W" {
            def PhysicsFixedJoint "J" {
                rel physics:body0 = [</W/Cube>, </W/Plain>, </Missing>]
            }
            def Cube "Cube" {}
            def Xform "Plain" {}
            def Cube "Unused" {}
        }
        def Scope "Bound" {
            rel material:binding:physics = </Mat>
        }
        def Material "Mat" (prepend apiSchemas = ["PhysicsMaterialAPI"]) {}
        def PhysicsFixedJoint "Off" ( active = false ) {}
        over PhysicsFixedJoint "Over" {}
        class PhysicsFixedJoint "Class" {}
        def Unknown "Unknown" {}
        def "OnlyJointAPI" (prepend apiSchemas = ["PhysxJointAPI", "PhysicsDriveAPI:angular"]) {}
    """)
    assert rows.keys() == {"/", "/W", "/W/J", "/W/Cube", "/Bound", "/Mat"}
    assert rows["/W/Cube"]["size"] == 2.0
    assert rows["/Bound"].keys() == {"usd-prim-type", "material:binding:physics"}


def test_rule_04_typeless_rows_have_the_untyped_token():
    stage = stage_of('def "B" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}')
    assert [a.type_name for a in stage.with_schema("PhysicsRigidBodyAPI")] == [UNTYPED]


def test_rule_05_prototypes_are_published_once_and_instances_point_at_them():
    rows = rows_of("""
        def Xform "Robot" ( active = true ) {
            def Cube "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}
            def PhysicsFixedJoint "J" {
                rel physics:body0 = [</Robot/A>, </Robot>]
            }
        }
        def Xform "One" (
            instanceable = true
            references = </Robot>
        ) {}
        def Xform "Two" (
            instanceable = true
            references = </Robot>
        ) {}
        def PhysicsFixedJoint "Joint" (
            instanceable = true
            references = </Base>
        ) {}
        class PhysicsFixedJoint "Base" {
            float physics:breakForce = 3
        }
    """)
    proto = rows["/One"]["_protoPath"]
    assert rows["/Two"]["_protoPath"] == proto
    assert rows[proto]["usd-prim-type"] == UNTYPED
    assert rows[proto]["usd-schemas"] == ["PrototypeRootAPI"]
    assert rows[proto + "/J"]["physics:body0"] == [proto + "/A", proto]
    assert rows["/Robot/J"]["physics:body0"] == ["/Robot/A", "/Robot"]
    assert not [p for p in rows if p.startswith("/One/")]
    assert rows["/Joint"]["physics:breakForce"] == 3.0
    assert "_protoPath" not in rows["/Joint"]


def test_rule_06_composition_arcs_give_ordinary_rows():
    rows = rows_of("""
        class PhysicsFixedJoint "Base" {
            float physics:breakForce = 3
        }
        def PhysicsFixedJoint "Inherits" ( inherits = </Base> ) {}
        def PhysicsFixedJoint "Specializes" ( specializes = </Base> ) {}
        def PhysicsFixedJoint "References" ( references = </Base> ) {
            float physics:breakTorque = 4
        }
        def Xform "V" (
            variants = {
                string side = "left"
            }
            prepend variantSets = "side"
        ) {
            variantSet "side" = {
                "left" {
                    def PhysicsFixedJoint "J" ( references = </Base> ) {
                        def PhysicsFixedJoint "Nested" {}
                    }
                }
                "right" {}
            }
        }
    """)
    for path in ("/Inherits", "/Specializes", "/References", "/V/J"):
        assert rows[path]["physics:breakForce"] == 3.0
    assert rows["/References"]["physics:breakTorque"] == 4.0
    assert rows["/V/J/Nested"]["physics:breakForce"] == "inf"


def test_rule_07_known_names_are_published_without_their_api():
    rows = rows_of("""
        def PhysicsFixedJoint "J" {
            float drive:angular:physics:stiffness = 1
            float drive:whatever:physics:damping = 2
            custom float physxJoint:armature = 3
            custom float newton:armature = 4
            float physics:mass = 5
            rel physxTendon:x:parentLink = </J>
            float physics:foo = 6
            float newton:foo = 7
            float drive:a:b:physics:stiffness = 8
            float drive:angular:physics:foo = 9
        }
    """)
    row = rows["/J"]
    shown = {
        "drive:angular:physics:stiffness": 1,
        "drive:whatever:physics:damping": 2,
        "physxJoint:armature": 3,
        "newton:armature": 4,
        "physics:mass": 5,
    }
    assert {k: row[k] for k in shown} == shown
    assert row["physxTendon:x:parentLink"] == ["/J"]
    for absent in ("physics:foo", "newton:foo", "drive:a:b:physics:stiffness", "drive:angular:physics:foo", "drive:angular:physics:damping"):
        assert absent not in row


def test_rule_08_a_blocked_attribute_has_no_column():
    rows = rows_of("""
        def PhysicsRevoluteJoint "J" {
            float physics:lowerLimit = None
            float physxJoint:armature = None
        }
        def PhysicsRevoluteJoint "K" {}
    """)
    assert "physics:lowerLimit" not in rows["/J"]
    assert "physxJoint:armature" not in rows["/J"]
    assert rows["/J"]["physics:upperLimit"] == "inf"
    assert rows["/K"]["physics:lowerLimit"] == "-inf"


def test_rule_09_a_wrong_type_is_published_as_authored():
    stage = stage_of("""
        def PhysicsRevoluteJoint "J" {
            double physics:lowerLimit = 0.1
            int physics:jointEnabled = 1
            half physics:upperLimit = 2
            string physics:axis = "Y"
            quath physics:localRot0 = (1, 0, 0, 0)
            matrix2d physics:localPos0 = ((1, 2), (3, 4))
        }
    """)
    joint, _ = stage.find("/J")
    types = {n: joint.column(n).type for n in joint.names}
    assert str(types["physics:lowerLimit"]) == "double"
    assert joint.values("physics:lowerLimit")[0] == 0.1
    assert str(types["physics:jointEnabled"]) == "int32"
    assert str(types["physics:upperLimit"]) == "halffloat"
    assert str(types["physics:axis"]) == "uint64"
    assert col.semantic(joint.field("physics:axis")) == ""
    assert stage.paths.token_string(int(joint.values("physics:axis")[0])) == "Y"
    assert joint.values("physics:localRot0").dtype == np.float16
    assert joint.values("physics:localPos0").tolist() == [[1, 2, 3, 4]]
    told = {d.column: d for d in stage.diagnostics if d.code == "wrong-type"}
    assert told.keys() == {
        "physics:lowerLimit",
        "physics:jointEnabled",
        "physics:upperLimit",
        "physics:axis",
        "physics:localRot0",
        "physics:localPos0",
    }
    assert all(d.path == "/J" for d in told.values())


def test_rule_10_quaternions_are_xyzw_and_only_default_values_count():
    rows = rows_of("""
        def PhysicsRevoluteJoint "J" {
            quatf physics:localRot0 = (0.5, 1, 2, 3)
            float physics:lowerLimit.timeSamples = { 0: 5 }
            float physics:upperLimit = 1
            float physics:upperLimit.timeSamples = { 0: 5 }
            float physics:breakForce.connect = </J.physics:upperLimit>
        }
    """)
    row = rows["/J"]
    assert row["physics:localRot0"] == [1, 2, 3, 0.5]
    assert row["physics:localRot1"] == [0, 0, 0, 1]
    assert (row["physics:lowerLimit"], row["physics:upperLimit"], row["physics:breakForce"]) == ("-inf", 1.0, "inf")


def test_rule_11_velocity_caps_become_flt_max_when_unauthored():
    name = "physxJoint:maxJointVelocity"
    rows = rows_of("""
        def PhysicsFixedJoint "None" {}
        def PhysicsFixedJoint "Applied" (prepend apiSchemas = ["PhysxJointAPI"]) {}
        def PhysicsFixedJoint "Inf" {
            float physxJoint:maxJointVelocity = inf
        }
        def PhysicsFixedJoint "Samples" (prepend apiSchemas = ["PhysxJointAPI"]) {
            float physxJoint:maxJointVelocity.timeSamples = { 0: 5 }
        }
        def PhysicsFixedJoint "Blocked" (prepend apiSchemas = ["PhysxJointAPI"]) {
            float physxJoint:maxJointVelocity = None
        }
        def PhysicsFixedJoint "Axes" (prepend apiSchemas = ["PhysxJointAxisAPI:foo", "PhysxDrivePerformanceEnvelopeAPI:bar"]) {}
    """)
    assert [rows[p][name] for p in ("/None", "/Applied", "/Inf", "/Samples", "/Blocked")] == [FLT_MAX, FLT_MAX, "inf", "inf", FLT_MAX]
    assert rows["/Axes"]["physxJointAxis:foo:maxJointVelocity"] == FLT_MAX
    assert rows["/Axes"]["physxDrivePerformanceEnvelope:bar:maxActuatorVelocity"] == FLT_MAX


def test_rule_12_relationships_keep_all_targets_verbatim():
    rows = rows_of("""
        def PhysicsFixedJoint "J" {
            rel physics:body0 = [</Missing/x>, </J>, </J.physics:axis>]
            rel physics:body1
            rel physics:hinge0 = []
            rel physics:hinge1 = None
        }
    """)
    row = rows["/J"]
    assert row["physics:body0"] == ["/Missing/x", "/J", "/J.physics:axis"]
    assert "physics:body1" not in row
    assert row["physics:hinge0"] == []
    assert row["physics:hinge1"] == []


def test_rule_13_unknown_apis_are_dropped_and_unknown_instances_stay():
    listed = ["Bogus", "PhysicsDriveAPI", "PhysicsRigidBodyAPI:x", "PhysicsDriveAPI:foo", "PhysicsDriveAPI:a:b", "PhysxJointAPI"]
    rows = rows_of(f'def PhysicsFixedJoint "J" (prepend apiSchemas = {listed!s}) {{}}'.replace("'", '"'))
    row = rows["/J"]
    assert row["usd-schemas"] == ["PhysicsDriveAPI:a:b", "PhysicsDriveAPI:foo", "PhysxJointAPI"]
    assert row["drive:foo:physics:stiffness"] == 0.0
    assert not [c for c in row if c.startswith("drive:a")]


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_rule_14_stage_metadata_is_on_the_root_row(meters):
    from pxr import Usd

    assert rows_of("", meters)["/"] == {"usd-metadata:metersPerUnit": meters, "usd-metadata:kilogramsPerUnit": 1.0, "usd-metadata:upAxis": "Z"}
    import producer
    from ovsim.interchange import columns_document

    bare = columns_document(producer.populate(Usd.Stage.CreateInMemory()), "x")["prims"]
    assert bare == {"/": {"usd-metadata:metersPerUnit": 0.01, "usd-metadata:kilogramsPerUnit": 1.0, "usd-metadata:upAxis": "Y"}}


@pytest.mark.parametrize(
    ("meters", "sleep", "stabilization", "depenetration", "offset", "distance"),
    [  # read back from ovstage 0.2; float32 arithmetic, hence not the float64 quotients
        (1.0, 0.004999999888241291, 0.0009999999310821295, 3.0, 0.03999999910593033, 0.02500000037252903),
        (0.01, 49.999996185302734, 10.0, 300.0, 4.0, 2.5),
        (0.0254, 7.750015735626221, 1.550003170967102, 118.11023712158203, 1.574803113937378, 0.9842519760131836),
        (0.001, 5000.0, 999.9999389648438, 2999.999755859375, 39.999996185302734, 24.999998092651367),
        (0.0, 0.004999999888241291, 0.0009999999310821295, 3.0, 0.03999999910593033, 0.02500000037252903),
    ],
)
def test_rule_15_bodies_and_scenes_carry_derived_columns_without_their_api(meters, sleep, stabilization, depenetration, offset, distance):
    rows = rows_of(
        """
        def Cube "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}
        def PhysicsScene "Scene" {}
        """,
        meters,
    )
    body, scene = rows["/Body"], rows["/Scene"]
    assert {k: v for k, v in body.items() if k.startswith("physxRigidBody:")} == {
        "physxRigidBody:maxLinearVelocity": float(np.float32(1e16)),
        "physxRigidBody:maxContactImpulse": FLT_MAX,
        "physxRigidBody:maxDepenetrationVelocity": depenetration,
        "physxRigidBody:sleepThreshold": sleep,
        "physxRigidBody:stabilizationThreshold": stabilization,
    }
    assert scene["physxScene:frictionOffsetThreshold"] == offset
    assert scene["physxScene:frictionCorrelationDistance"] == distance
    assert "size" not in body


def test_provenance_stands_beside_the_columns():
    stage = stage_of("""
        def PhysicsRevoluteJoint "J" {
            float physics:lowerLimit = -inf
            float physics:upperLimit.timeSamples = { 0: 5 }
            float physics:breakForce.connect = </J.physics:upperLimit>
            rel physics:body0 = </J>
        }
    """)
    words = {c: provenance(stage, "/J", c) for c in stage.find("/J")[0].names}
    assert words["physics:lowerLimit"] == "authored"  # the very value of the fallback
    assert words["physics:upperLimit"] == "fallback"
    assert words["physics:breakForce"] == "fallback"
    assert words["physics:axis"] == "fallback"
    assert words["physics:body0"] == "authored"
    assert words["physxJoint:maxJointVelocity"] == "derived"
    assert not any("provenance" in (f.metadata or {}) for a in stage.archetypes for f in a.batch.schema)


def test_custom_joint_types_are_rows_with_the_columns_of_a_joint():
    text = """
        def MyJoint "J" (prepend apiSchemas = ["PhysicsDriveAPI:angular"]) {
            rel physics:body0 = </C>
            float physics:breakForce = 2
        }
        def Cube "C" {}
    """
    assert rows_of(text).keys() == {"/"}
    row = rows_of(text, custom_joints=["MyJoint"])["/J"]
    assert row["usd-prim-type"] == "MyJoint"
    assert row["physics:breakForce"] == 2.0
    assert row["physics:localRot0"] == [0, 0, 0, 1]
    assert row["drive:angular:physics:type"] == "force"
    assert row["physxJoint:maxJointVelocity"] == FLT_MAX


def test_metadata_tells_of_source_route_and_versions():
    stage = stage_of('def PhysicsFixedJoint "J" {}')
    assert stage.metadata["route"] == "composed"
    assert stage.metadata["contract"] == "0.6"
    assert stage.metadata["usd"].startswith("0.2")
    assert stage.metadata["source"]
