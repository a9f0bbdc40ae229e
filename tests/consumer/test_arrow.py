"""Descriptors as an Arrow table."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hand import Hand
from hypothesis import given, settings
from strategies import stages

import consumer
from consumer.arrow import schema
from ovsim.contract.joints import JOINT_TYPES
from ovsim.stage import StageBuilder


def mixed():
    hand = Hand().body("/A").body("/B")
    for i, kind in enumerate(reversed(JOINT_TYPES)):
        hand.joint(f"/J{i}", kind, body0="/A", body1=None if i % 2 else "/B")
    return consumer.resolve(hand.stage())


def test_one_row_a_joint_in_order():
    table = mixed().to_arrow()
    table.validate(full=True)
    assert table["type"].to_pylist() == list(JOINT_TYPES)
    assert table["body0"].to_pylist() == ["/A"] * 8
    assert table["body1"].to_pylist().count(None) == 4


def test_ids_and_strings_agree():
    found = mixed()
    ids, texts = found.to_arrow("id"), found.to_arrow("string")
    for name in ("path", "rel0", "rel1", "body0", "body1"):
        spelled = [None if i is None else found.paths.path_string(i) for i in ids[name].to_pylist()]
        assert spelled == texts[name].to_pylist()
    assert ids.schema.field("path").type == pa.uint64()


def test_unknown_path_form():
    with pytest.raises(ValueError, match="string, id"):
        mixed().to_arrow("text")


def test_records_only_where_the_type_has_them():
    rows = {r["type"]: r for r in mixed().to_arrow().to_pylist()}
    own = ("limit", "drive", "state", "properties", "limits", "drives", "states", "jointProperties", "minEnabled", "gearRatio", "ratio", "axis")
    have = {k: {n for n in own if r[n] is not None} for k, r in rows.items()}
    single = {"limit", "drive", "state", "properties", "axis"}
    assert have == {
        "PhysicsFixedJoint": set(),
        "PhysicsRevoluteJoint": single,
        "PhysicsPrismaticJoint": single,
        "PhysicsSphericalJoint": {"limit", "jointProperties", "axis"},
        "PhysicsDistanceJoint": {"limit", "minEnabled"},
        "PhysicsJoint": {"limits", "drives", "states", "jointProperties"},
        "PhysxPhysicsGearJoint": {"gearRatio"},
        "PhysxPhysicsRackAndPinionJoint": {"ratio"},
    }


def test_units_in_field_metadata():
    shape = schema()
    assert shape.field("localPose0Position").metadata == {b"unit": b"length"}
    limit = {f.name: (f.metadata or {}).get(b"unit") for f in shape.field("limit").type}
    drive = {f.name: (f.metadata or {}).get(b"unit") for f in shape.field("drive").type}
    assert limit["lower"] == b"rad or length"
    assert (limit["stiffness"], drive["stiffness"]) == (b"torque/deg or force/length", b"torque/rad or force/length")
    assert mixed().to_arrow().schema.equals(shape, check_metadata=False)


def test_c_stream():
    """Other engines take descriptors as they are."""
    assert pa.table(mixed()).num_rows == 8


def test_table_tells_its_rules():
    assert mixed().to_arrow().schema.metadata[b"ovsim:rules"] == b"contract-0.6"


def test_empty():
    table = consumer.resolve(StageBuilder().finish()).to_arrow()
    assert table.num_rows == 0
    assert table.schema.names == schema().names


def test_parquet_round_trip(tmp_path):
    import pyarrow.parquet as pq

    table = mixed().to_arrow()
    pq.write_table(table, tmp_path / "joints.parquet")
    assert pq.read_table(tmp_path / "joints.parquet").to_pylist() == table.to_pylist()


@settings(max_examples=40)
@given(stages())
def test_lists_hold_what_is_listed(stage):
    """D6 lists against the block's flags; every table is valid Arrow."""
    found = consumer.resolve(stage)
    table = found.to_arrow("id")
    table.validate(full=True)
    assert table.num_rows == len(found)
    block = found.block("PhysicsJoint")
    rows = [r for r in table.to_pylist() if r["type"] == "PhysicsJoint"]
    for row, limits, drives, states in zip(rows, block.limit_listed, block.drive_listed, block.state_listed):
        assert [len(row[n]) for n in ("limits", "drives", "states")] == [limits.sum(), drives.sum(), states.sum()]
        assert len(row["jointProperties"]) == 3
