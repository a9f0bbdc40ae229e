"""Columns of unexpected types (population facts rule 9; each row observed on 0.6.3) and their diagnostics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import consumer
from ovsim.stage import StageBuilder
from ovsim.stage import columns as col

REVOLUTE = "PhysicsRevoluteJoint"
FLT_MAX = np.float32(3.4028234663852886e38)
OTHERS = [np.int32, np.uint32, np.int64, np.float16]


def resolve(columns, n=1, schemas=()):
    builder = StageBuilder()
    builder.add(REVOLUTE, [f"/J{i}" for i in range(n)], columns, schemas)
    found = consumer.resolve(builder.finish())
    return found.block(REVOLUTE), [d for d in found.diagnostics if d.code != "disjoint-frames"]


def raw(values, dtype):
    """An Arrow column, which the builder stores as it is."""
    return col.dense(np.asarray(values, dtype))


def test_float64_is_cast():
    """float64 where float32 is declared is read."""
    block, told = resolve({"physics:lowerLimit": raw([-30], np.float64), "physics:upperLimit": raw([30], np.float64)})
    assert block.limit[0, 0, :2] == pytest.approx([-0.5235988, 0.5235988])
    assert [(d.code, d.severity, d.path, d.column) for d in told] == [
        ("column-cast", "info", "/J0", "physics:lowerLimit"),
        ("column-cast", "info", "/J0", "physics:upperLimit"),
    ]


def test_float64_beyond_float32_becomes_infinite():
    assert resolve({"physics:breakForce": raw([1e300], np.float64)})[0].break_force[0, 0] == np.inf


@pytest.mark.parametrize("dtype", OTHERS)
def test_other_numbers_count_as_absent(dtype):
    """Integers and halves are not read: the parser default stays, 0 for a bound."""
    block, told = resolve({"physics:lowerLimit": raw([30], dtype), "physics:breakForce": raw([7], dtype)})
    assert block.limit[0, 0, 0] == 0
    assert block.break_force[0, 0] == np.float32(3.4028234663852886e38)
    assert {(d.code, d.severity, d.column) for d in told} == {("column-type", "warning", c) for c in ("physics:lowerLimit", "physics:breakForce")}


@pytest.mark.parametrize("dtype", [*OTHERS, np.float32, np.float64])
def test_bool_is_read_from_bool8_only(dtype):
    """jointEnabled 0 of another type leaves the joint enabled."""
    block, told = resolve({"physics:jointEnabled": raw([0], dtype)})
    assert block.enabled[0] == 1
    assert [(d.code, d.column) for d in told] == [("column-type", "physics:jointEnabled")]


def test_bool8_that_is_not_one_counts_as_true():
    """Any byte but zero."""
    assert resolve({"physics:jointEnabled": raw([7], np.uint8)})[0].enabled[0] == 1


@pytest.mark.parametrize(("dtype", "want"), [(np.float64, [1, 2, 3]), (np.float16, [0, 0, 0]), (np.int32, [0, 0, 0])])
def test_vectors(dtype, want):
    """A position: float64 is read, half and integers are not."""
    assert resolve({"physics:localPos0": raw([[1, 2, 3]], dtype)})[0].position[0, 0].tolist() == want


@pytest.mark.parametrize(("dtype", "want"), [(np.float64, [0, 0, 0.6, 0.8]), (np.float16, [0, 0, 0, 1]), (np.int32, [0, 0, 0, 1])])
def test_quaternions(dtype, want):
    """An orientation likewise."""
    assert resolve({"physics:localRot0": raw([[0, 0, 3, 4]], dtype)})[0].orientation[0, 0] == pytest.approx(want)


def test_axis_as_string_and_as_number():
    """A token without its semantic (a string attribute) is read; a number is not."""
    builder = StageBuilder()
    ids = pa.array(np.array([builder.paths.token("Y")], np.uint64))
    builder.add(REVOLUTE, ["/S"], {"physics:axis": (col.field("physics:axis", ids.type), ids)})
    builder.add(REVOLUTE, ["/T"], {"physics:axis": raw([1], np.int32)})
    found = consumer.resolve(builder.finish())
    assert found.block(REVOLUTE).axis.tolist() == [1, 0]
    assert [(d.code, d.path) for d in found.diagnostics if d.column == "physics:axis"] == [("column-type", "/T")]


def test_relationship_of_another_type():
    """A relationship that is no list of path ids is no relationship."""
    block, told = resolve({"physics:body0": raw([1], np.uint64)})
    assert block.rel[0, 0] == 0
    assert [(d.code, d.column) for d in told] == [("column-type", "physics:body0")]


def test_unknown_path_id():
    """An id that the dictionary does not hold: an error row, never a read beyond an array."""
    block, told = resolve({"physics:body0": col.ragged([0, 1], np.array([2**40], np.uint64))})
    assert block.rel[0, 0] == 0
    assert [(d.code, d.severity) for d in told] == [("unknown-path-id", "error")]


def test_matrix_of_another_type():
    """A matrix that is not floating point is no matrix."""
    builder = StageBuilder()
    builder.add("Xform", ["/A"], {"omni:xform": raw(np.eye(4).reshape(1, 16) * 2, np.int32)}, ["PhysicsRigidBodyAPI"])
    builder.add(REVOLUTE, ["/J"], {"physics:body0": [["/A"]], "physics:localPos0": [[1, 1, 1]]})
    found = consumer.resolve(builder.finish())
    assert found.block(REVOLUTE).position[0, 0].tolist() == [1, 1, 1]
    assert ("column-type", "omni:xform") in {(d.code, d.column) for d in found.diagnostics}


def test_one_diagnostic_a_kind_of_row():
    """A thousand rows of one archetype give one row, which tells their number."""
    _, told = resolve({"physics:breakForce": raw(np.ones(1000), np.int32)}, 1000)
    assert len(told) == 1
    assert "1000 rows" in told[0].message


def test_gated_columns_are_not_looked_at():
    """An unlisted API's column may be anything."""
    assert resolve({"physxJoint:armature": raw([1], np.int32)})[1] == []


def test_nan_and_infinite_matrices_do_not_harm():
    """NaN frames are told of, nothing hangs."""
    builder = StageBuilder()
    bad = np.full((3, 16), np.nan)
    bad[1], bad[2] = np.inf, 1e300
    builder.add("Xform", ["/A", "/B", "/C"], {"omni:xform": bad}, ["PhysicsRigidBodyAPI"])
    builder.add("Xform", ["/A/x", "/B/x", "/C/x"], {"omni:xform": np.tile(np.eye(4).reshape(16), (3, 1))})
    builder.add(REVOLUTE, ["/J0", "/J1", "/J2"], {"physics:body0": [["/A/x"], ["/B/x"], ["/C"]]})
    found = consumer.resolve(builder.finish(), "observed-0.6.3")
    assert len(found) == 3
    assert "invalid-frame" in found.diagnostics.codes()


def test_every_code_is_documented():
    """The codes of descriptors stand in the table of codes."""
    from consumer.findings import FINDINGS
    from ovsim.diagnostic_codes import CODES

    assert {code for code, _, _ in FINDINGS} | {"column-type", "column-cast", "unknown-path-id"} <= set(CODES)


def lists(*rows, dtype=np.float32):
    return col.ragged(np.cumsum([0, *map(len, rows)]), np.array([v for row in rows for v in row], dtype))


def put(stage, columns):
    """The stage's only archetype with columns that the builder refuses and population writes all the same."""
    batch = stage.archetypes[0].batch
    for name in sorted(columns):
        batch = batch.append_column(col.field(name, columns[name].type), columns[name])
    return replace(stage, archetypes=(replace(stage.archetypes[0], batch=batch),))


def test_float_arrays_are_read_where_they_hold_one_value():
    """Observed (recorded stage array_values): a row's array counts when it holds just as many numbers as the column has lanes."""
    builder = StageBuilder()
    builder.add(REVOLUTE, ["/J0", "/J1", "/J2"], {})
    columns = {"physics:breakForce": lists([4], [5, 6], []), "physics:localPos0": lists([1, 2, 3], [1], [1, 2, 3, 4])}
    found = consumer.resolve(put(builder.finish(), columns))
    block = found.block(REVOLUTE)
    assert block.break_force[:, 0].tolist() == [4, FLT_MAX, FLT_MAX]
    assert block.position[:, 0].tolist() == [[1, 2, 3], [0, 0, 0], [0, 0, 0]]
    told = {(d.code, d.column) for d in found.diagnostics if d.column in columns}
    assert told == {(code, name) for code in ("column-cast", "column-type") for name in columns}


def test_bool_arrays_are_read_by_their_first_element():
    """Observed (recorded stage array_values)."""
    block, _ = resolve({"physics:jointEnabled": lists([0], [0, 1], [1, 0], [], dtype=np.uint8)}, 4)
    assert block.enabled.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("storage", ["array", "asset", "assets"])
def test_tokens_are_read_by_their_first_lane(storage):
    """Observed (recorded stage array_values): an axis as an array of tokens or as an asset path (two ids); a drive type as an asset, not an array."""
    builder = StageBuilder()
    builder.add(REVOLUTE, ["/J"], {}, ["PhysicsDriveAPI:angular"])
    z, acceleration = builder.paths.token("Z"), builder.paths.token("acceleration")
    stage = builder.finish()

    def column(token):
        flat = np.array([[token, 0]] if storage != "array" else [token], np.uint64)
        return col.dense(flat) if storage == "asset" else col.ragged([0, 1], flat)

    stage = put(stage, {"drive:angular:physics:type": column(acceleration), "physics:axis": column(z)})
    row = consumer.resolve(stage).to_arrow().to_pylist()[0]
    assert row["axis"] == "Z"
    assert row["drive"]["acceleration"] == (storage == "asset")
