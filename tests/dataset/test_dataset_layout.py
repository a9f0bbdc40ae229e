"""The dataset on disk: commits, replacement, what an interrupted run leaves, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from ovsim.dataset import Dataset, Settings
from ovsim.dataset.layout import DatasetError, Layout
from ovsim.dataset.parts import BIG, Group
from ovsim.dataset.schemas import schema, tables
from ovsim.dataset.stage import blank
from ovsim.dataset.storage import Storage, StorageError

SETTINGS = Settings("columns")


def stage_rows(file: str, n: int = 2) -> pa.Table:
    columns = [pa.array([f"{file}{i}" if f.name != "file" else file for i in range(n)]) for f in schema("diagnostics")]
    return pa.Table.from_arrays(columns, schema=schema("diagnostics"))


def record(file: str, **more) -> dict:
    return {**blank(file, SETTINGS), **more}


def put(layout: Layout, *files: str, name: str = "g") -> str:
    """Commit a part with these stages; its name."""
    group = Group(layout.storage, "columns", name)
    for file in files:
        group.add("diagnostics", stage_rows(file))
        group.finish(record(file))
    return layout.commit(*group.flush())


def shown(layout: Layout) -> dict[str, list[str]]:
    data = Dataset(layout.storage.uri)
    return {t: sorted(data.table(t)["file"].to_pylist()) for t in ("files", "diagnostics")}


@pytest.fixture(params=["path", "pyarrow", "fsspec"])
def layout(tmp_path, request) -> Layout:
    if request.param == "fsspec":
        pytest.importorskip("fsspec")
    where = {"path": f"{tmp_path}/d", "pyarrow": f"local://{tmp_path}/d", "fsspec": f"memory:/{tmp_path}/d"}[request.param]
    made = Layout.create(where, SETTINGS)
    assert made.storage.local == (request.param == "path")
    return made


def test_a_part_counts_from_its_commit_on(layout):
    group = Group(layout.storage, "columns", "g")
    group.add("diagnostics", stage_rows("a"))
    group.finish(record("a"))
    place, records = group.flush()
    assert shown(layout) == {"files": [], "diagnostics": []}
    layout.commit(place, records)
    assert shown(layout) == {"files": ["a"], "diagnostics": ["a", "a"]}
    assert [r["file"] for _, r in layout.records()] == ["a"]


def test_every_table_has_a_file_in_every_part_and_its_schema_when_there_is_none(layout):
    assert Dataset(layout.storage.uri).table("columns_PhysicsJoint").schema.equals(schema("columns_PhysicsJoint"))
    put(layout, "a")
    for table in tables("columns"):
        assert len(layout.files(table)) == 1
        assert Dataset(layout.storage.uri).table(table).schema.equals(schema(table), check_metadata=False)


def test_what_an_interrupted_run_left_never_counts_and_is_swept(layout):
    put(layout, "a", name="one")
    group = Group(layout.storage, "columns", "two")
    group.finish(record("b"))
    group.flush()
    assert shown(layout)["files"] == ["a"]
    layout.sweep()
    assert list(layout.storage.list("_staging")) == []
    assert len(list(layout.storage.list("parts"))) == 1
    assert shown(layout)["files"] == ["a"]


def test_a_stage_that_fails_half_way_leaves_no_row(layout):
    group = Group(layout.storage, "columns", "g")
    group.add("diagnostics", stage_rows("bad"))
    group.fail()
    group.finish(record("bad", outcome="error"))
    group.add("diagnostics", stage_rows("good"))
    group.finish(record("good"))
    layout.commit(*group.flush())
    assert shown(layout) == {"files": ["bad", "good"], "diagnostics": ["good", "good"]}


def test_a_giant_stage_gets_a_part_of_its_own_and_is_written_as_it_comes(layout, monkeypatch):
    monkeypatch.setattr("ovsim.dataset.parts.BIG", 1_000)
    group = Group(layout.storage, "columns", "g")
    group.add("diagnostics", stage_rows("small", 1))
    assert group.finish(record("small")) is None
    for _ in range(5):
        group.add("diagnostics", stage_rows("giant", 20))
    place, records = group.finish(record("giant"))
    assert [r["file"] for r in records] == ["giant"]
    layout.commit(place, records)
    assert shown(layout) == {"files": ["giant"], "diagnostics": ["giant"] * 100}
    layout.commit(*group.flush())
    assert shown(layout)["files"] == ["giant", "small"]
    assert BIG > 1_000


def test_a_giant_stage_that_fails_leaves_nothing(layout, monkeypatch):
    monkeypatch.setattr("ovsim.dataset.parts.BIG", 1_000)
    group = Group(layout.storage, "columns", "g")
    group.add("diagnostics", stage_rows("giant", 50))
    group.fail()
    assert group.finish(record("giant", outcome="error")) is None
    layout.commit(*group.flush())
    assert shown(layout) == {"files": ["giant"], "diagnostics": []}
    assert list(layout.storage.list("_staging")) == []


def test_taking_stages_out_keeps_the_others_of_their_part(layout):
    part = put(layout, "a", "b", "c")
    other = put(layout, "d", name="h")
    layout.drop({part: {"b"}})
    assert shown(layout) == {"files": ["a", "c", "d"], "diagnostics": ["a", "a", "c", "c", "d", "d"]}
    layout.drop({other: {"d"}})
    assert shown(layout)["files"] == ["a", "c"]


def test_a_run_killed_between_rewriting_and_removing_shows_no_stage_twice(layout, monkeypatch):
    part = put(layout, "a", "b", "c")
    monkeypatch.setattr(Layout, "remove", lambda self, name: None)  # as if killed here
    layout.drop({part: {"b"}})
    monkeypatch.undo()
    assert len(list(layout.storage.list("parts"))) == 2
    assert shown(layout) == {"files": ["a", "c"], "diagnostics": ["a", "a", "c", "c"]}
    layout.sweep()
    assert part not in list(layout.storage.list("parts"))
    assert shown(layout) == {"files": ["a", "c"], "diagnostics": ["a", "a", "c", "c"]}


def test_a_place_with_something_else_in_it_is_refused(tmp_path):
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(DatasetError, match=r"precious\.txt"):
        Layout.create(tmp_path, SETTINGS)
    assert os.listdir(tmp_path) == ["precious.txt"]


def test_other_settings_are_refused_and_named(tmp_path):
    Layout.create(tmp_path / "d", SETTINGS)
    with pytest.raises(DatasetError, match="level 'columns', not 'physx'"):
        Layout.create(tmp_path / "d", Settings("physx"))
    assert Layout.create(tmp_path / "d", SETTINGS).settings == SETTINGS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "cannot be read"),
        ("not json", "cannot be read"),
        ('{"format": "other"}', "not an ovsim dataset"),
        (json.dumps({"format": "ovsim-dataset", "version": 99}), "format 99"),
        ("[]", "cannot be read"),
    ],
)
def test_a_damaged_or_foreign_manifest_is_told(tmp_path, text, reason):
    (tmp_path / "dataset.json").write_text(text)
    with pytest.raises(DatasetError, match=reason):
        Layout.open(tmp_path)


def test_a_directory_without_manifest_is_no_dataset(tmp_path):
    with pytest.raises(DatasetError, match="holds no dataset"):
        Dataset(tmp_path)


def test_a_damaged_part_is_named(tmp_path):
    layout = Layout.create(tmp_path / "d", SETTINGS)
    part = put(layout, "a")
    (Path(layout.storage.root) / "parts" / part / "files.parquet").write_bytes(b"junk")
    with pytest.raises(DatasetError, match=part):
        layout.parts()


def test_an_unknown_table_names_those_there_are(tmp_path):
    layout = Layout.create(tmp_path / "d", SETTINGS)
    with pytest.raises(DatasetError, match="columns_PhysicsJoint"):
        layout.files("joints")


def test_only_one_run_writes(tmp_path):
    layout = Layout.create(tmp_path / "d", SETTINGS)
    with layout.lock():
        with pytest.raises(DatasetError, match="another run"), layout.lock():
            pass
        put(layout, "a")
    with layout.lock():
        assert shown(layout)["files"] == ["a"]


def test_a_place_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write"):
        Layout.create(tmp_path / "file" / "d", SETTINGS)


def test_a_write_appears_whole(tmp_path, monkeypatch):
    storage = Storage.at(tmp_path)
    storage.write("x", b"old")

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        storage.write("x", b"new")
    assert storage.read("x") == b"old"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("left", [["dataset.json.7.aside"], ["_lock"], ["dataset.json.7.aside", "_lock"]])
def test_a_place_where_a_run_was_ended_before_it_began_is_taken(tmp_path, left):
    (tmp_path / "d").mkdir()
    for name in left:
        (tmp_path / "d" / name).write_text("{")
    layout = Layout.create(tmp_path / "d", SETTINGS)
    layout.sweep()
    put(layout, "a")
    assert shown(layout)["files"] == ["a"]
    assert not list((tmp_path / "d").glob("*.aside"))


def test_a_run_ended_before_the_directory_of_parts_was_made_is_gone_on_with(tmp_path):
    layout = Layout.create(tmp_path / "d", SETTINGS)
    (tmp_path / "d" / "parts").rmdir()
    assert shown(layout)["files"] == []
    put(Layout.create(tmp_path / "d", SETTINGS), "a")
    assert shown(layout)["files"] == ["a"]
