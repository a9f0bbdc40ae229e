"""The function a stage: what it gives, and how it fails."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ovsim
from ovsim.contract.joints import JOINT_TYPES
from ovsim.dataset import Settings, convert_stage
from ovsim.dataset import columns as columns_tables
from ovsim.dataset.schemas import COLUMNS_TABLES, schema, tables
from ovsim.dataset.storage import StorageError
from ovsim.stage import Ragged, Stage, StageBuilder

ARM = Path(__file__).parents[2] / "examples" / "arm.usda"


def run(file: Path, level: str = "descriptors", **settings) -> tuple[dict, dict[str, pa.Table]]:
    got = defaultdict(list)
    record = convert_stage(str(file), Settings(level, **settings), lambda table, rows: got[table].append(rows))
    return record, {n: pa.concat_tables(t) for n, t in got.items()}


def text_of(stage: Stage, archetype, name: str, row: int):
    """A column's value in the form of the dataset, from the stage by the plainest means."""
    field = archetype.field(name)
    semantic = (field.metadata or {}).get(b"semantic", b"").decode()
    values = archetype.values(name)
    if isinstance(values, Ragged):
        part = values.values[values.offsets[row] : values.offsets[row + 1]]
        return [stage.paths.path_string(int(v)) if "PATH" in semantic else stage.paths.token_string(int(v)) for v in part]
    if semantic == "TOKEN_ID":
        return stage.paths.token_string(int(values[row]))
    if semantic == "PATH_ID":
        return stage.paths.path_string(int(values[row]))
    return values[row].tolist()


def test_the_columns_tables_hold_every_column_of_every_joint_row():
    record, got = run(ARM, "columns")
    stage = ovsim.open_stage(ARM)
    seen = 0
    for joint_type in JOINT_TYPES:
        for archetype in stage.with_type(joint_type):
            table = {r["path"]: r for r in got[f"columns_{joint_type}"].to_pylist()}
            for row, path in enumerate(stage.paths.path_strings(archetype.path_ids).to_pylist()):
                there = table[path]
                assert there["schemas"] == list(archetype.schemas)
                extra = {e["name"] for e in there["extra"]}
                for name in archetype.names:
                    if name in extra:
                        continue
                    want = text_of(stage, archetype, name, row)
                    assert there[name] == want, (path, name)
                absent = [n for n, v in there.items() if v is None and n not in ("type",)]
                assert not set(absent) & set(archetype.names) - extra
                seen += 1
    assert seen == record["joints"] > 0


def test_joints_equal_resolve_and_limits_and_drives_equal_its_records():
    _, got = run(ARM)
    found = ovsim.resolve(ARM).to_arrow()
    joints = got["joints"].drop_columns(["file"])
    assert joints.replace_schema_metadata(None).cast(found.schema.remove_metadata()).equals(found.replace_schema_metadata(None))
    by_path = {r["path"]: r for r in found.to_pylist()}
    for row in got["limits"].to_pylist():
        joint = by_path[row["path"]]
        record = joint["limit"] or next(x for x in joint["limits"] if x["axis"] == row["instance"])
        assert (row["lower"], row["upper"], row["stiffness"]) == (record["lower"], record["upper"], record["stiffness"])
        assert (row["lower_enabled"] or row["upper_enabled"]) == record["enabled"]
    drives = got["drives"].to_pylist()
    want = [r for r in by_path.values() if (r["drive"] and r["drive"]["enabled"]) or r["drives"]]
    assert {d["path"] for d in drives} == {r["path"] for r in want}
    assert len(drives) > 0
    for row in drives:
        joint = by_path[row["path"]]
        record = joint["drive"] or next(x for x in joint["drives"] if x["axis"] == row["instance"])
        assert all(row[n] == record[n] for n in ("stiffness", "damping", "targetPosition", "forceLimit", "acceleration"))


def test_motion_and_unit_go_together():
    _, got = run(ARM)
    for row in got["limits"].to_pylist():
        assert row["motion"] == ("linear" if row["instance"] in ("linear", "distance", "transX", "transY", "transZ") else "rotational")


def test_every_slice_has_the_tables_schema():
    _, got = run(ARM)
    for name, rows in got.items():
        assert rows.schema.equals(schema(name), check_metadata=False), name


def build(**columns) -> Stage:
    builder = StageBuilder()
    builder.units()
    builder.add("PhysicsRevoluteJoint", ["/a", "/b"], columns, schemas=("PhysicsDriveAPI:angular",))
    return builder.finish()


def one_table(stage: Stage) -> list[dict]:
    ((name, rows),) = columns_tables.blocks(stage, "x")
    assert name == "columns_PhysicsRevoluteJoint"
    return rows.to_pylist()


def test_an_absent_column_is_null():
    got = one_table(build(**{"physics:lowerLimit": [1.0, 2.0]}))
    assert [r["physics:lowerLimit"] for r in got] == [1.0, 2.0]
    assert [r["physics:upperLimit"] for r in got] == [None, None]
    assert [r["physics:localPos0"] for r in got] == [None, None]


def test_columns_of_another_type_or_name_stand_in_extra_uncast():
    stage = build(
        **{
            "physics:lowerLimit": pa.array([0.1, 0.2], pa.float64()),
            "physics:upperLimit": pa.array([1, 2], pa.int32()),
            "drive:rotX:physics:damping": np.array([3.0, 4.0], np.float32),
            "made:up": np.array([[1, 2], [3, 4]], np.int32),
        }
    )
    got = one_table(stage)
    assert [r["physics:lowerLimit"] for r in got] == [None, None]
    extra = [{e["name"]: (e["type"], e["value"]) for e in r["extra"]} for r in got]
    assert extra[1]["physics:lowerLimit"] == ("double", "0.2")
    assert extra[1]["physics:upperLimit"] == ("int32", "2")
    assert extra[0]["drive:rotX:physics:damping"] == ("float", "3")
    assert extra[1]["made:up"][1] == "[3, 4]"


def test_half_floats_and_lists_become_text_too():
    stage = build(
        **{
            "physics:lowerLimit": pa.array(np.array([1.5, 2.5], np.float16)),
            "other:rel": pa.array([[1], []], pa.large_list(pa.int64())),
        }
    )
    extra = [{e["name"]: e["value"] for e in r["extra"]} for r in one_table(stage)]
    assert extra[0] == {"physics:lowerLimit": "1.5", "other:rel": "[1]"}
    assert extra[1]["other:rel"] == "[]"


def test_registered_custom_types_share_one_table():
    builder = StageBuilder()
    builder.units()
    builder.add("MyJoint", ["/m"], {"physics:localPos0": [[1.0, 2.0, 3.0]]})
    ((name, rows),) = columns_tables.blocks(builder.finish(), "x", ("MyJoint",))
    assert (name, rows["type"].to_pylist(), rows["physics:localPos0"].to_pylist()) == ("columns_custom", ["MyJoint"], [[1.0, 2.0, 3.0]])


def test_units_and_contract_version_are_in_the_metadata():
    revolute = schema("columns_PhysicsRevoluteJoint")
    assert revolute.field("physics:lowerLimit").metadata[b"unit"] == b"deg"
    assert revolute.field("drive:angular:physics:stiffness").metadata[b"unit"] == b"torque/deg"
    assert schema("columns_PhysicsPrismaticJoint").field("physxJoint:maxJointVelocity").metadata[b"unit"] == b"length/s"
    assert schema("columns_PhysicsJoint").field("limit:transX:physics:low").metadata[b"unit"] == b"length"
    for name in tables("physx"):
        assert b'"contract": "0.6"' in schema(name).metadata[b"ovsim"]


def test_every_column_that_a_type_reads_has_a_field():
    names = set(schema("columns_PhysicsJoint").names)
    assert {"limit:distance:physics:high", "drive:transZ:physics:type", "physxLimit:rotX:stiffness", "state:rotY:physics:position"} <= names
    assert "physics:lowerLimit" not in names
    assert len(COLUMNS_TABLES) == len(JOINT_TYPES) + 1


@pytest.mark.parametrize(
    "kind", ["not_usd.usda", "truncated.usda", "empty.usd", "magic_only.usdc", "hostile_toc.usdc", "not_zip.usdz", "dangling_link.usda"]
)
def test_a_bad_stage_is_a_row_with_its_reason(tmp_path, makers, kind):
    makers.bad_kinds()[kind](tmp_path / kind)
    record, got = run(tmp_path / kind)
    assert (record["outcome"], record["joints"], got) == ("error", 0, {})
    assert len(record["message"]) > 20
    assert record["cause"] in ("SourceError", "CrateError")


@pytest.mark.parametrize("kind", ["missing_reference.usda", "missing_sublayer.usda"])
def test_a_stage_that_lacks_layers_is_incomplete_and_keeps_its_rows(tmp_path, makers, kind):
    makers.bad_kinds()[kind](tmp_path / kind)
    record, got = run(tmp_path / kind)
    assert (record["outcome"], record["cause"]) == ("incomplete", "unresolved-reference")
    assert "unresolved-reference" in got["diagnostics"]["code"].to_pylist()
    missing = [x["path"] for x in record["layers"] if not x["hash"]]
    assert [os.path.basename(p) for p in missing] == ["nowhere.usda" if "reference" in kind else "absent.usda"]


def test_a_pipe_is_refused_without_opening_it(tmp_path):
    os.mkfifo(tmp_path / "pipe.usda")
    record, _ = run(tmp_path / "pipe.usda")
    assert record["outcome"] == "error"
    assert "named pipe" in record["message"]


def test_a_snapshot_gives_what_its_stage_gives(tmp_path):
    ovsim.populate(ARM).save(tmp_path / "snap")
    record, from_snapshot = run(tmp_path / "snap")
    _, from_file = run(ARM)
    assert record["outcome"] == "ok"
    assert from_snapshot["joints"].drop_columns(["file"]).equals(from_file["joints"].drop_columns(["file"]))
    assert {os.path.basename(x["path"]) for x in record["layers"]} >= {"snapshot.json", "tokens.arrow"}


@pytest.mark.parametrize("scheme", ["local", "memory"])
def test_a_stage_behind_a_uri_comes_with_its_layers(tmp_path, makers, scheme):
    fsspec = pytest.importorskip("fsspec")
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "arm.usda").write_text(makers.asset())
    (tmp_path / "s.usda").write_text(makers.good_stage(3, 2, "./assets/arm.usda"))
    uri = f"{scheme}://{tmp_path}"
    if scheme == "memory":
        fsspec.filesystem("memory").put(f"{tmp_path}/", f"{tmp_path}/", recursive=True)
    got = defaultdict(list)
    record = convert_stage(f"{uri}/s.usda", Settings("descriptors"), lambda table, rows: got[table].append(rows))
    assert record["outcome"] == "ok", record["message"]
    assert [x["path"] for x in record["layers"]] == [f"{uri}/s.usda", f"{uri}/assets/arm.usda"]
    _, local = run(tmp_path / "s.usda")
    assert pa.concat_tables(got["joints"]).drop_columns(["file"]).equals(local["joints"].drop_columns(["file"]))
    gone = convert_stage(f"{uri}/gone.usda", Settings("descriptors"), lambda table, rows: None)
    assert (gone["outcome"], "does not exist" in gone["message"]) == ("error", True)


def test_a_file_that_keeps_changing_is_told_and_one_that_changes_once_is_read_again(tmp_path, makers, monkeypatch):
    from ovsim import api

    file = tmp_path / "s.usda"
    file.write_text(makers.good_stage(1, 2))
    populate, times = api.populate, []

    def changing(*args, **kwargs):
        stage = populate(*args, **kwargs)
        times.append(1)
        if len(times) <= rounds:
            file.write_text(makers.good_stage(1, 2 + len(times)))
        return stage

    monkeypatch.setattr(api, "populate", changing)
    rounds = 1
    record, got = run(file)
    assert (record["outcome"], len(times)) == ("ok", 2)
    assert record["joints"] == got["joints"].num_rows
    assert "/World/robot_0/joint_2" in got["joints"]["path"].to_pylist()
    rounds, times[:] = 99, []
    record, _ = run(file)
    assert record["outcome"] == "changed"
    assert str(file) in record["message"]


def test_an_unexpected_error_costs_its_stage_and_names_its_place(tmp_path, monkeypatch):
    from ovsim import api

    def broken(*args, **kwargs):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(api, "populate", broken)
    record, got = run(ARM)
    assert (record["outcome"], record["cause"], got) == ("error", "ZeroDivisionError", {})
    assert "planted" in record["message"]


def test_what_the_output_refuses_is_no_failure_of_the_stage():
    def full(table, rows):
        raise StorageError("no space")

    with pytest.raises(StorageError):
        convert_stage(str(ARM), Settings("columns"), full)
