"""Snapshots: round trip, memory mapping, replacement, and every way in which a directory can be broken."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest

from ovsim.errors import SnapshotError
from ovsim.stage import AUTHORED, Stage, StageBuilder


@pytest.fixture
def stage() -> Stage:
    b = StageBuilder()
    b.units(1.0, 1.0, "Z")
    b.add(
        "Xform", ["/W", "/W/A"], {"omni:xform": np.tile(np.eye(4).reshape(1, 16), (2, 1))}, provenance={"omni:xform": np.full(2, AUTHORED, np.uint8)}
    )
    b.add("PhysicsFixedJoint", ["/W/j", "/lost/j"], {"physics:body0": ["/W/A", []]}, ["PhysxJointAPI"])
    b.metadata["source"] = "by hand"
    return b.finish()


@pytest.fixture
def saved(stage, tmp_path):
    stage.save(tmp_path / "snap")
    return tmp_path / "snap"


def test_round_trip(stage, saved):
    back = Stage.load(saved)
    assert back.metadata == stage.metadata
    assert list(back.diagnostics) == list(stage.diagnostics)
    assert back.paths.token_strings() == stage.paths.token_strings()
    assert np.array_equal(back.paths.parents, stage.paths.parents)
    for a, b in zip(stage.archetypes, back.archetypes, strict=True):
        assert (a.type_name, a.schemas) == (b.type_name, b.schemas)
        assert a.batch.equals(b.batch, check_metadata=True)
        assert {n: c.tolist() for n, c in a.provenance.items()} == {n: c.tolist() for n, c in b.provenance.items()}
    assert back.find("/W/j") is not None


def test_an_older_snapshot_is_replaced_and_nothing_is_left_beside(stage, saved):
    stage.save(saved)
    assert [p.name for p in saved.parent.iterdir()] == ["snap"]
    assert len(Stage.load(saved)) == len(stage)


def test_a_foreign_directory_is_not_overwritten(stage, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(SnapshotError, match="not a snapshot"):
        stage.save(tmp_path / "mine")
    (tmp_path / "file").write_text("x")
    with pytest.raises(SnapshotError, match="not a snapshot"):
        stage.save(tmp_path / "file")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "x"


def test_an_unwritable_place_is_said(stage, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(SnapshotError, match="cannot write"):
        stage.save(tmp_path / "file" / "snap")


def _manifest(saved, **changes):
    where = saved / "snapshot.json"
    data = json.loads(where.read_text())
    data.update(changes)
    where.write_text(json.dumps(data))


def _rewrite(saved, name, table):
    with pa.ipc.new_file(str(saved / name), table.schema) as w:
        w.write_table(table)
    sizes = json.loads((saved / "snapshot.json").read_text())["files"]
    _manifest(saved, files=sizes | {name: (saved / name).stat().st_size})


def _ids(saved, name, column, value):
    table = pa.ipc.open_file(str(saved / name)).read_all()
    at = table.schema.get_field_index(column)
    _rewrite(saved, name, table.set_column(at, table.schema.field(at), pa.array([value] * table.num_rows, pa.uint64())))


BREAKS = {
    "no manifest": (lambda s: (s / "snapshot.json").unlink(), "snapshot.json"),
    "manifest not json": (lambda s: (s / "snapshot.json").write_text("{"), "cannot be read"),
    "manifest of something else": (lambda s: (s / "snapshot.json").write_text("[]"), "not an ovsim snapshot"),
    "newer format": (lambda s: _manifest(s, version=99), "format 99"),
    "manifest without lists": (lambda s: _manifest(s, archetypes=[{"name": "../evil"}]), "lacks its lists"),
    "missing file": (lambda s: (s / "00001.arrow").unlink(), "00001.arrow is missing"),
    "truncated file": (lambda s: (s / "00001.arrow").write_bytes((s / "00001.arrow").read_bytes()[:-9]), "truncated"),
    "foreign file of equal size": (lambda s: (s / "00001.arrow").write_bytes(b"x" * (s / "00001.arrow").stat().st_size), "not a readable Arrow"),
    "another table": (lambda s: _rewrite(s, "paths.arrow", pa.table({"a": [1]})), "paths.arrow has the columns"),
    "swapped archetypes": (lambda s: shutil.copy(s / "00002.arrow", s / "00001.arrow"), "00001.arrow"),
    "nulls": (lambda s: _rewrite(s, "00001.arrow", pa.table({"usd-path": pa.array([None, 2], pa.uint64())})), "nulls"),
    "path before parent": (
        lambda s: _rewrite(s, "paths.arrow", pa.table({"parent": pa.array([0, 0, 9], pa.uint32()), "name": pa.array([0, 0, 1], pa.uint32())})),
        "before its parent",
    ),
    "path twice": (
        lambda s: _rewrite(s, "paths.arrow", pa.table({"parent": pa.array([0, 0, 1, 1], pa.uint32()), "name": pa.array([0, 0, 1, 1], pa.uint32())})),
        "twice",
    ),
    "dangling path id": (lambda s: _ids(s, "00001.arrow", "usd-path", 10**9), "column usd-path"),
    "row twice": (lambda s: _ids(s, "00001.arrow", "usd-path", 2), "has 2 rows"),
    "empty tokens": (lambda s: _rewrite(s, "tokens.arrow", pa.table({"token": pa.array([], pa.large_string())})), "tokens.arrow"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_snapshot_is_refused_with_the_place(saved, name):
    act, words = BREAKS[name]
    act(saved)
    with pytest.raises(SnapshotError) as e:
        Stage.load(saved)
    assert words in str(e.value)


def test_a_directory_that_is_none(tmp_path):
    with pytest.raises(SnapshotError, match="not a directory"):
        Stage.load(tmp_path / "nope")
