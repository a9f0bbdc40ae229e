"""Builder, archetypes, queries and views of hand-made stages."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ovsim.errors import ColumnError, PathError
from ovsim.stage import DERIVED, ROOT, PathDictionary, Stage, StageBuilder


def test_rows_of_one_kind_share_an_archetype_and_others_do_not():
    b = StageBuilder()
    b.add("PhysicsRevoluteJoint", ["/a"], {"physics:lowerLimit": [1.0]})
    b.add("PhysicsRevoluteJoint", ["/b"], {"physics:lowerLimit": [2.0]})
    b.add("PhysicsRevoluteJoint", ["/c"], {})
    b.add("PhysicsRevoluteJoint", ["/d"], {"physics:lowerLimit": [3.0]}, ["PhysicsDriveAPI:angular"])
    stage = b.finish()
    assert sorted(len(a) for a in stage.archetypes) == [1, 1, 2]
    both = next(a for a in stage.archetypes if len(a) == 2)
    assert both.values("physics:lowerLimit").tolist() == [1.0, 2.0]
    assert [a.schemas for a in stage.with_schema("PhysicsDriveAPI:angular")] == [("PhysicsDriveAPI:angular",)]
    assert list(stage.with_schema("PhysicsDriveAPI")) == []
    assert sum(len(a) for a in stage.with_type("PhysicsRevoluteJoint")) == len(stage) == 4
    assert list(stage.with_type("PhysicsJoint")) == []


def test_views_are_read_only_and_without_a_copy():
    b = StageBuilder()
    b.add("PhysicsFixedJoint", ["/a", "/b"], {"physics:localPos0": np.arange(6, dtype=np.float32).reshape(2, 3)})
    a = b.finish().archetypes[0]
    view = a.values("physics:localPos0")
    assert view.shape == (2, 3)
    assert not view.flags.writeable
    assert view.__array_interface__["data"][0] == a.column("physics:localPos0").values.buffers()[1].address
    with pytest.raises(KeyError):
        a.values("physics:localPos1")


def test_values_come_in_the_contracts_types():
    b = StageBuilder()
    b.add(
        "PhysicsRevoluteJoint",
        ["/a"],
        {"physics:axis": ["Y"], "physics:lowerLimit": [1], "physics:jointEnabled": [True], "physics:body0": [["/x", "/y.p"]], "mine": [1.5]},
    )
    a = b.finish().archetypes[0]
    types = {n: str(a.field(n).type) for n in a.names}
    assert types["physics:axis"] == "uint64"
    assert types["physics:lowerLimit"] == "float"
    assert types["physics:jointEnabled"] == "uint8"
    assert types["mine"] == "double"
    rel = a.values("physics:body0")
    assert a.paths.path_strings(rel.values).to_pylist() == ["/x", "/y.p"]
    assert a.field("physics:body0").metadata == {b"semantic": b"RELATIONSHIP_PATH_ID"}


def test_arrow_columns_are_kept_as_they_are():
    b = StageBuilder()
    b.add("PhysicsRevoluteJoint", ["/a"], {"physics:lowerLimit": pa.array([1.0], pa.float64())})
    assert b.finish().archetypes[0].field("physics:lowerLimit").type == pa.float64()


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("physics:lowerLimit", ["high"], "physics:lowerLimit wants float32"),
        ("physics:lowerLimit", [[1.0, 2.0]], "lanes"),
        ("physics:localRot0", [[0.0, 0.0, 0.0]], "3 lanes"),
        ("physics:lowerLimit", [1.0, 2.0], "2 values for 1 rows"),
        ("physics:jointEnabled", [7], "physics:jointEnabled wants bool8"),
        ("physics:jointEnabled", [0.5], "physics:jointEnabled wants bool8"),
        ("physics:axis", [1.0], "physics:axis wants uint64"),
        ("physics:axis", [object()], "physics:axis"),
        ("physics:body0", [[3]], "physics:body0"),
        ("physics:body0", [["x"]], "absolute"),
        ("physics:lowerLimit", pa.array([None], pa.float32()), "nulls"),
    ],
)
def test_a_wrong_column_is_refused_by_name(column, values, words):
    with pytest.raises(ColumnError, match=column):
        StageBuilder().add("PhysicsRevoluteJoint", ["/a"], {column: values})
    with pytest.raises(ColumnError) as e:
        StageBuilder().add("PhysicsRevoluteJoint", ["/a"], {column: values})
    assert words in str(e.value)


def test_a_path_has_one_row():
    b = StageBuilder()
    b.add("Xform", ["/a", "/b"])
    b.add("Cube", ["/a"])
    with pytest.raises(PathError, match=r"/a has 2 rows"):
        b.finish()


def test_a_row_without_its_ancestor_is_kept_and_told():
    b = StageBuilder()
    b.add("PhysicsFixedJoint", ["/x/y/joint"])
    stage = b.finish()
    assert len(stage) == 1
    assert [(d.code, d.path) for d in stage.diagnostics] == [("missing-ancestor", "/x/y/joint")]


def test_units_and_lookup():
    b = StageBuilder()
    b.units(1.0, 1.0, "Z")
    b.add("Xform", ["/a"], provenance={})
    stage = b.finish()
    assert stage.meters_per_unit == 1.0
    archetype, row = stage.find("/a")
    assert (archetype.type_name, row) == ("Xform", 0)
    assert stage.find("/nope") is None
    empty = StageBuilder().finish()
    assert empty.meters_per_unit is None
    assert len(empty) == 0


def test_foreign_path_ids_are_refused():
    with pytest.raises(PathError):
        StageBuilder().add("Xform", np.array([99], np.uint64))
    with pytest.raises(PathError):
        StageBuilder().add("Xform", np.array([ROOT - 1], np.uint64))


def test_tables_speak_the_arrow_stream_protocol():
    b = StageBuilder()
    b.add("PhysicsFixedJoint", ["/a"], {"physics:breakForce": [2.0]}, ["B", "A"], {"physics:breakForce": np.array([DERIVED], np.uint8)})
    a = b.finish().archetypes[0]
    table = pa.table(a)
    assert table.column_names == ["usd-path", "physics:breakForce", "usd-prim-type", "usd-schemas"]
    names = [a.paths.token_string(t) for t in table["usd-schemas"].to_pylist()[0]]
    assert names == ["A", "B"]
    assert a.provenance["physics:breakForce"].tolist() == [DERIVED]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_arrow_texts_are_tokens(kind, tmp_path):
    b = StageBuilder()
    b.add("PhysicsRevoluteJoint", ["/a", "/b"], {"physics:axis": pa.array(["X", "Z"]).cast(kind), "physics:jointEnabled": pa.array([True, False])})
    b.finish().save(tmp_path / "s")
    (rows,) = Stage.load(tmp_path / "s").with_type("PhysicsRevoluteJoint")
    assert [rows.paths.token_string(int(v)) for v in rows.values("physics:axis")] == ["X", "Z"]
    assert rows.values("physics:jointEnabled").tolist() == [1, 0]


def test_arrow_lists_of_texts_are_targets():
    b = StageBuilder()
    b.add("PhysicsRevoluteJoint", ["/a", "/b"], {"physics:body0": pa.array([["/x"], []])})
    (rows,) = b.finish().with_type("PhysicsRevoluteJoint")
    got = rows.values("physics:body0")
    assert (got.offsets.tolist(), [rows.paths.path_string(int(v)) for v in got.values]) == ([0, 1, 1], ["/x"])


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"a"]),
        pa.array([{"a": 1}]),
        pa.array([[[1.0]]]),
        pa.array([1], pa.timestamp("s")),
        pa.array([1], pa.date32()),
        pa.array([["a"]]),
        [["a", "b"]],
    ],
)
def test_arrow_types_that_no_column_has_are_refused(values):
    b = StageBuilder()
    with pytest.raises(ColumnError, match="my:column"):
        b.add("PhysicsRevoluteJoint", ["/a"], {"my:column": values})


def test_property_names_are_known_however_they_come():
    paths = PathDictionary()
    tokens = paths.token_many([".x", "a", ".y"])
    assert list(paths.property_tokens) == [tokens[0], tokens[2]]
