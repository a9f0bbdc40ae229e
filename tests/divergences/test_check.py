"""`ovsim check` as a function: each trap of hand-made columns is told of, clean stages are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bench_stages import BOTH, IDENTITY, by_hand, joint, populated, scene, usd, world

from ovsim.check import check
from ovsim.errors import SourceError, TableError
from ovsim.stage import StageBuilder
from ovsim.stage import columns as col

EXAMPLE = Path(__file__).parents[2] / "examples" / "arm.usda"
HINGE = {
    **BOTH,
    "physics:axis": "X",
    "physics:lowerLimit": -30.0,
    "physics:upperLimit": 60.0,
    "physics:localPos0": (0, 0, 0),
    "physics:localPos1": (0, 0, 0),
    "physics:localRot0": (0, 0, 0, 1),
    "physics:localRot1": (0, 0, 0, 1),
}


def _told(columns, schemas=(), kind="PhysicsRevoluteJoint"):
    """(code, column) of every diagnostic about the one joint."""
    stage = by_hand(scene(("/W/J", kind, columns, schemas)))
    return {(d.code, d.column) for d in check(stage) if d.path == "/W/J"}


def test_clean_hinge():
    """Nothing is told of a complete hinge."""
    assert _told(HINGE) == set()


@pytest.mark.parametrize(
    ("change", "schemas", "expected"),
    [
        ({"physics:lowerLimit": None}, (), ("absent-column", "physics:lowerLimit")),
        ({"drive:angular:physics:stiffness": 4.0}, (), ("inert-column", "drive:angular:physics:stiffness")),
        ({"physics:gearRatio": 2.0}, (), ("unread-column", "physics:gearRatio")),
        ({"physics:nonsense": 2.0}, (), ("unread-column", "physics:nonsense")),
        ({}, ("PhysicsDriveAPI:rotX",), ("unknown-instance", "PhysicsDriveAPI:rotX")),
        ({"physics:body0": ["/W/Nope"]}, (), ("dangling-target", "physics:body0")),
        ({"physics:lowerLimit": 60.0, "physics:upperLimit": -30.0}, (), ("reversed-limit", "physics:lowerLimit")),
        ({"physics:upperLimit": np.inf}, (), ("one-sided-limit", "physics:lowerLimit")),
        ({"physics:lowerLimit": -1.57, "physics:upperLimit": 1.57}, (), ("radians-suspected", "physics:lowerLimit")),
        ({"physics:localRot0": (1, 0, 0, 0)}, (), ("w-first-suspected", "physics:localRot0")),
    ],
)
def test_trap(change, schemas, expected):
    """The trap is told, and it is not told of the same hinge without it."""
    columns = {k: v for k, v in {**HINGE, **change}.items() if v is not None}
    assert expected in _told(columns, schemas)
    assert expected not in _told(HINGE)


def test_w_first_by_frames():
    """A rotation that only makes the frames meet with w first, on both sides the same turn."""
    q = (0.9238795, 0.0, 0.0, 0.3826834)
    turned = {**HINGE, "physics:localPos0": (0, 0, 0), "physics:localRot0": q, "physics:localRot1": (0.0, 0.0, 0.3826834, 0.9238795)}
    fixed = _told(turned, kind="PhysicsFixedJoint")
    assert ("w-first-suspected", "physics:localRot0") in fixed
    assert ("w-first-suspected", "physics:localRot1") not in fixed


def test_value_to_write():
    """The message of an absent bound names both values and the defect."""
    stage = by_hand(scene(("/W/J", "PhysicsRevoluteJoint", BOTH, ())))
    bound = next(d for d in check(stage) if d.column == "physics:lowerLimit")
    assert bound.severity == "error"
    assert "the parser takes 0.0; population writes -inf" in bound.message
    assert "revolute-limit-absent" in bound.message


def _raw(name: str, array: pa.Array) -> StageBuilder:
    builder = StageBuilder()
    builder.units(1.0, 1.0, "Z")
    builder.add("Xform", ["/W"], {"omni:xform": IDENTITY.reshape(1, 16)})
    builder.add("PhysicsRevoluteJoint", ["/W/J"], {name: array})
    return builder


@pytest.mark.parametrize(
    ("name", "array", "severity"),
    [
        ("physics:lowerLimit", pa.array([1], pa.int32()), "error"),
        ("physics:lowerLimit", pa.array([1.0], pa.float64()), "info"),
        ("physics:jointEnabled", pa.array([1], pa.int32()), "error"),
    ],
)
def test_wrong_type(name, array, severity):
    """An error when the parser cannot read the type, a note when it casts."""
    found = [d for d in check(_raw(name, array).finish()) if d.code == "wrong-type"]
    assert [(d.path, d.column, d.severity) for d in found] == [("/W/J", name, severity)]


def test_rows():
    """A row without its parent's row, and a stage without metadata."""
    builder = StageBuilder()
    builder.add("PhysicsFixedJoint", ["/W/deep/J"], {"physics:body0": [["/W/deep/J"]]})
    codes = {(d.code, d.path) for d in check(builder.finish())}
    assert ("missing-ancestor", "/W/deep/J") in codes
    assert ("missing-units", "/") in codes


def test_dangling_ids():
    """Ids beyond the dictionary are told, and the parser is not run on them."""
    field = col.field("physics:body0", pa.large_list(pa.uint64()), col.RELATIONSHIP)
    stage = _raw("physics:body0", (field, pa.array([[999]], field.type))).finish()
    found = [d for d in check(stage) if d.code == "dangling-id"]
    assert [(d.path, d.column, d.severity) for d in found] == [("/W/J", "physics:body0", "error")]


def test_physx_diagnostics():
    """What the runtime would complain of is told here too."""
    nobody = by_hand(scene(("/W/J", "PhysicsFixedJoint", {}, ())))
    assert "no-bodies" in {d.code for d in check(nobody)}


def test_populated_stage_is_clean():
    """Population writes nothing that the column checks mind."""
    text = world(joint("PhysicsRevoluteJoint", "J", "", "", "float physics:lowerLimit = -30\nfloat physics:upperLimit = 30"))
    codes = {d.code for d in check(populated(text))}
    assert not codes & {"absent-column", "inert-column", "unread-column", "wrong-type", "w-first-suspected", "missing-ancestor"}


def test_usd_validators(tmp_path):
    """For a stage file OpenUSD's own physics validators speak: a body on a prim that has no transform."""
    usd("")
    file = tmp_path / "s.usda"
    file.write_text('#usda 1.0\ndef Scope "S" (\n prepend apiSchemas = ["PhysicsRigidBodyAPI"]\n)\n{\n}\n')
    found = [d for d in check(file) if d.code == "usd-validator"]
    assert found
    assert found[0].path == "/S"


def test_example_has_no_error():
    """The example arm: warnings at most."""
    assert {d.severity for d in check(EXAMPLE)} <= {"info", "warning"}


def test_table_by_column_name(tmp_path):
    """A Parquet table is checked like a stage; lanes that do not fit are told and left out."""
    table = pa.table(
        {
            "path": ["/", "/W", "/W/J"],
            "usd-prim-type": [None, "Xform", "PhysicsRevoluteJoint"],
            "usd-schemas": pa.array([None, None, ["PhysicsDriveAPI:angular"]], pa.list_(pa.string())),
            "usd-metadata:metersPerUnit": [1.0, None, None],
            "physics:body1": [None, None, "/W"],
            "physics:localRot0": [None, None, [1.0, 0.0, 0.0]],
            "physics:lowerLimit": [None, None, "low"],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    codes = {(d.code, d.column) for d in check(tmp_path / "t.parquet")}
    assert ("wrong-lanes", "physics:localRot0") in codes
    assert ("wrong-type", "physics:lowerLimit") in codes
    assert ("absent-column", "physics:upperLimit") in codes


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"prim": ["/a"]}, "no column `path`"),
        ({"path": [1]}, "not strings"),
        ({"path": ["/a", "/a"]}, "/a has more than one row"),
        ({"path": pa.array(["/a", None])}, "row 1 has no path"),
        ({"path": ["a/b"]}, "not an absolute prim path"),
        ({"path": ["/a"], "usd-schemas": ["x"]}, "lists of strings"),
    ],
)
def test_bad_table(tmp_path, table, message):
    """Each bad table is one clear error."""
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    with pytest.raises(TableError, match=message):
        check(tmp_path / "t.parquet")


def test_not_a_table(tmp_path):
    """Garbage with a table's name, and a name without a file."""
    (tmp_path / "t.parquet").write_bytes(b"nothing")
    (tmp_path / "t.arrow").write_bytes(b"nothing")
    for name in ("t.parquet", "t.arrow"):
        with pytest.raises(TableError, match="not a readable table"):
            check(tmp_path / name)
    with pytest.raises(SourceError, match="does not exist"):
        check(tmp_path / "gone.parquet")


def test_messages_say_what_to_do():
    """What is wrong, where, and what to write instead: near names, the missing parent, the types that have the column, the storage to write."""
    rows = scene(
        ("/V/deep/J", "PhysicsFixedJoint", {**BOTH, "physics:braekForce": np.array([5], np.float32), "physics:lowerLimit": -1.0}, ()),
    )
    said = {(d.code, d.column): d.message for d in check(by_hand(rows))}
    assert "did you mean physics:breakForce" in said["unread-column", "physics:braekForce"]
    assert said["unread-column", "physics:lowerLimit"].startswith(
        "a column of PhysicsPrismaticJoint and PhysicsRevoluteJoint, which PhysicsFixedJoint"
    )
    assert "add a row for /V/deep" in said["missing-ancestor", ""]
    wrong = check(_raw("physics:jointEnabled", pa.array([1], pa.int64())).finish())
    assert next(d.message for d in wrong if d.code == "wrong-type").endswith("counts as absent: write uint8")


def test_a_limit_is_told_once():
    """What the checks tell of a column, the parser does not tell again of the joint."""
    reversed_limit = HINGE | {"physics:lowerLimit": 50.0, "physics:upperLimit": -50.0}
    found = [d for d in check(by_hand(scene(("/W/J", "PhysicsRevoluteJoint", reversed_limit, ())))) if d.code == "reversed-limit"]
    assert [d.column for d in found] == ["physics:lowerLimit"]


def test_unknown_tokens():
    """An axis or a drive type that the parser does not know is told; the known ones, and population's, are not."""
    odd = HINGE | {"physics:axis": "x", "drive:angular:physics:type": "Force"}
    rows = scene(("/W/J", "PhysicsRevoluteJoint", odd, ("PhysicsDriveAPI:angular",)), ("/W/K", "PhysicsRevoluteJoint", HINGE, ()))
    found = {(d.path, d.column): d.message for d in check(by_hand(rows)) if d.code == "unknown-token"}
    assert set(found) == {("/W/J", "physics:axis"), ("/W/J", "drive:angular:physics:type")}
    assert "takes X; write X or Y or Z" in found["/W/J", "physics:axis"]
    assert "unknown-token" not in check(EXAMPLE).codes()


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (3, 2, True),
        (2, 3, False),
        (2, 2, False),
        (3, -1, False),
        (-1, -2, False),
        (0.5, 0, True),
        ("inf", 1, True),
        ("nan", 1, False),
        (3, "inf", False),
    ],
)
def test_distances_in_reverse(low, high, told):
    """Told where both bounds hold: a negative one does not."""
    rows = scene(("/W/J", "PhysicsDistanceJoint", {**BOTH, "physics:minDistance": float(low), "physics:maxDistance": float(high)}, ()))
    found = [(d.path, d.column, d.severity) for d in check(by_hand(rows)) if d.code == "reversed-distance"]
    assert found == ([("/W/J", "physics:minDistance", "warning")] if told else [])


def test_an_id_is_no_bound():
    """A bound written as a token is told of as a wrong type only: its id is not compared with the other bound."""
    builder = StageBuilder()
    builder.units(1.0, 1.0, "Z")
    word = builder.paths.token("10")
    columns = {**{n: [v] for n, v in HINGE.items() if n not in BOTH}, "physics:lowerLimit": pa.array([word + 1_000_000], pa.uint64())}
    builder.add("PhysicsRevoluteJoint", ["/J"], columns)
    codes = {d.code for d in check(builder.finish()) if d.column in ("physics:lowerLimit", "physics:upperLimit")}
    assert "wrong-type" in codes
    assert "reversed-limit" not in codes


def test_a_cell_of_another_type_is_told_once():
    """Population tells of what was authored, the checks of what the parser makes of it: of one cell only the latter, of others the former."""
    odd = 'int physics:lowerLimit = 3\ndouble physics:upperLimit = 30\nfloat[] physics:breakForce = [3]\nstring physics:axis = "X"'
    stage = populated(world(*(joint("PhysicsRevoluteJoint", n, "", "", odd) for n in ("J", "K"))))
    assert len({d.column for d in stage.diagnostics if d.code == "wrong-type"}) == 4
    found = [d for d in check(stage) if d.code in ("wrong-type", "column-type", "column-cast")]
    assert [(d.column, d.path, d.severity, d.code) for d in sorted(found, key=lambda d: (d.column, d.path))] == [
        ("physics:axis", "/W/J", "warning", "wrong-type"),
        ("physics:axis", "/W/K", "warning", "wrong-type"),
        ("physics:breakForce", "/W/J", "info", "column-cast"),
        ("physics:lowerLimit", "/W/J", "error", "wrong-type"),
        ("physics:upperLimit", "/W/J", "info", "wrong-type"),
    ]
    assert all("2 rows of this kind" in d.message for d in found if d.column != "physics:axis")


def test_an_array_of_which_the_parser_reads_one_value():
    """Read where it holds just one value, the default elsewhere: the parser says which, and nobody calls the column unreadable."""
    arrays = pa.array([[30.0], [1.0, 2.0], [40.0]], pa.large_list(pa.float32()))
    builder = StageBuilder()
    builder.units(1.0, 1.0, "Z")
    builder.add("PhysicsRevoluteJoint", ["/J", "/K", "/L"], {"physics:upperLimit": arrays})
    found = {d.code: d.message for d in check(builder.finish()) if d.column == "physics:upperLimit"}
    assert "2 rows are read from their arrays" in found["column-cast"]
    assert "cannot read 1 arrays" in found["column-type"]
    assert "wrong-type" not in found
