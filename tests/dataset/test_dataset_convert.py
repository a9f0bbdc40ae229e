"""Runs: everything in, everything bad named, only what changed converted again."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ovsim
from ovsim.dataset import Dataset, Settings, convert, convert_stage
from ovsim.dataset.layout import DatasetError
from ovsim.dataset.schemas import tables
from ovsim.errors import OvsimError, RulesError, SourceError

LEVEL = "columns"


def cli(*args: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    code = "import sys; from ovsim.cli import main; sys.argv[0] = 'ovsim'; main()"
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=120, check=False, input=text)


def go(sources: Path, out: Path, **options):
    return convert(sources, out, **{"level": LEVEL, "route": "composed", "jobs": 1, **options})


def test_the_joints_of_every_stage_are_what_resolve_gives(converted):
    files = Dataset(converted).table("files")
    joints = Dataset(converted).table("joints")
    assert set(files["outcome"].to_pylist()) == {"ok"}
    for file, count in zip(files["file"].to_pylist(), files["joints"].to_pylist()):
        mine = joints.filter(pc.equal(joints["file"], file)).drop_columns(["file"])
        want = ovsim.resolve(file).to_arrow()
        assert mine.num_rows == count
        assert mine.replace_schema_metadata(None).equals(want.cast(mine.schema).replace_schema_metadata(None)), file


def test_pyarrow_duckdb_and_polars_read_equal_values(converted):
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    data = Dataset(converted)
    for table in data.tables:
        plain = order(data.table(table))
        pattern = f"{converted}/parts/*/{table}.parquet"
        by_duck = duckdb.sql(f"select * from read_parquet('{pattern}')").arrow()
        by_duck = by_duck.read_all() if hasattr(by_duck, "read_all") else by_duck
        by_polars = polars.scan_parquet(pattern).collect().to_arrow()
        for other in (by_duck, by_polars):
            assert order(other) == plain, table


def order(rows: pa.Table) -> list[str]:
    return sorted(repr({k: normal(r[k]) for k in sorted(r)}) for r in rows.to_pylist())


def normal(value):
    """The same text for the same value, whichever engine gave it."""
    if hasattr(value, "timestamp"):
        return value.timestamp()
    if isinstance(value, dict):
        return {k: normal(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [normal(v) for v in value]
    return value


def test_a_worker_starts_once_not_once_a_stage_and_their_number_changes_nothing(fleet, columns_only, tmp_path, monkeypatch, differences):
    from ovsim.dataset import local, process

    started = []

    class Counted(process.WorkerProcess):
        def __init__(self, *args):
            started.append(self)
            super().__init__(*args)

    monkeypatch.setattr(local, "WorkerProcess", Counted)
    done = go(fleet, tmp_path / "one", jobs=1)
    assert (len(started), started[0].done) == (1, done.converted)
    assert started[0].start_up > 0
    assert differences(tmp_path / "one", columns_only) == []


def test_any_map_over_the_function_a_stage_gives_the_same_rows(fleet, converted, read):
    file = str(fleet / "assets" / "arm.usda")
    got: dict[str, list[pa.Table]] = {}
    record = convert_stage(file, Settings(Dataset(converted).settings.level), lambda table, rows: got.setdefault(table, []).append(rows))
    whole = read(converted, "joints")
    assert pa.concat_tables(got["joints"]).equals(whole.filter(pc.equal(whole["file"], file)))
    assert record["outcome"] == "ok"


def test_all_good_ones_are_in_and_all_bad_ones_are_named(fleet, tmp_path, makers, outcomes):
    bad = makers.make_bad(tmp_path, 16)
    got = cli("convert", str(fleet), str(tmp_path / "bad"), "--out", str(tmp_path / "d"), "--level", LEVEL, "--route", "composed", "--timeout", "5")
    assert got.returncode == 1
    assert "Traceback" not in got.stderr
    named = {n: o for n, o in outcomes(tmp_path / "d").items() if o != "ok"}
    assert set(named) == {p.name for p in bad}
    assert named["waits.usda"] == "timeout"
    assert named["missing_reference.usda"] == named["missing_sublayer.usda"] == "incomplete"
    assert all(p.name in got.stderr for p in bad)
    files = Dataset(tmp_path / "d").table("files")
    assert files.num_rows == sum(1 for _ in fleet.rglob("*.usd?")) + len(bad)
    page = (tmp_path / "d" / "report.html").read_text()
    assert all(p.name in page for p in bad)
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.usefixtures("inline")
def test_a_second_run_converts_nothing(stages, tmp_path, read):
    go(stages, tmp_path / "d")
    before = read(tmp_path / "d", "files")
    parts = sorted(os.listdir(tmp_path / "d" / "parts"))
    done = go(stages, tmp_path / "d")
    assert (done.converted, done.unchanged, done.all_well) == (0, 5, True)
    assert read(tmp_path / "d", "files").equals(before)
    assert sorted(os.listdir(tmp_path / "d" / "parts")) == parts


@pytest.mark.usefixtures("inline")
def test_a_changed_layer_converts_the_stages_that_refer_to_it(stages, tmp_path, makers, differences):
    go(stages, tmp_path / "d")
    (stages / "assets" / "arm.usda").write_text(makers.asset(joints=6))
    done = go(stages, tmp_path / "d")
    assert (done.converted, done.unchanged) == (2, 3)  # the asset itself, and the borrower
    go(stages, tmp_path / "fresh")
    assert differences(tmp_path / "d", tmp_path / "fresh") == []


@pytest.mark.usefixtures("inline")
def test_a_missing_layer_that_appears_converts_its_stage(tmp_path, makers, outcomes):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "a.usda").write_text(makers.good_stage(1, 2, "./later.usda"))
    assert not go(tmp_path / "s", tmp_path / "d").all_well
    assert outcomes(tmp_path / "d") == {"a.usda": "incomplete"}
    (tmp_path / "s" / "later.usda").write_text(makers.asset())
    assert go(tmp_path / "s", tmp_path / "d").all_well
    assert outcomes(tmp_path / "d") == {"a.usda": "ok", "later.usda": "ok"}


@pytest.mark.usefixtures("inline")
def test_a_failed_stage_is_tried_again_when_it_changed_or_when_asked(stages, tmp_path, outcomes):
    (stages / "s1.usda").write_text("nonsense")
    assert not go(stages, tmp_path / "d").all_well
    again = go(stages, tmp_path / "d")
    assert (again.converted, len(again.bad)) == (0, 1)
    assert go(stages, tmp_path / "d", retry_failed=True).converted == 1
    (stages / "s1.usda").write_bytes((stages / "s2.usda").read_bytes())
    assert go(stages, tmp_path / "d").all_well
    assert set(outcomes(tmp_path / "d").values()) == {"ok"}


@pytest.mark.usefixtures("inline")
def test_a_stage_that_vanished_leaves_and_others_stay(stages, tmp_path, outcomes):
    go(stages, tmp_path / "d")
    (stages / "s1.usda").unlink()
    done = go(stages / "s0.usda", tmp_path / "d")
    assert done.vanished == 0
    assert "s1.usda" in outcomes(tmp_path / "d")  # a run is about its own sources
    done = go(stages, tmp_path / "d")
    assert (done.vanished, done.converted, done.all_well) == (1, 0, True)
    assert "s1.usda" not in outcomes(tmp_path / "d")


def test_fail_fast_starts_nothing_more_and_a_later_run_goes_on(stages, tmp_path, outcomes):
    (stages / "aaa.usda").write_text("nonsense")
    done = go(stages, tmp_path / "d", fail_fast=True)
    assert done.stopped
    assert not done.all_well
    assert outcomes(tmp_path / "d") == {"aaa.usda": "error"}
    done = go(stages, tmp_path / "d")
    assert (done.converted, done.unchanged) == (5, 1)


@pytest.mark.usefixtures("inline")
@pytest.mark.parametrize("level", ["columns", "descriptors", "physx"])
def test_a_level_has_its_tables(stages, tmp_path, level):
    assert convert(stages / "s0.usda", tmp_path / "d", level=level, jobs=1).all_well
    data = Dataset(tmp_path / "d")
    assert data.tables == tables(level)
    assert data.table("files")["joints"].to_pylist() == [data_joints(data)]


def test_physx_tables_are_what_the_view_gives(converted, fleet):
    data = Dataset(converted)
    file = str(fleet / "assets" / "arm.usda")
    view = ovsim.physx(file)
    for table, want in (("physx_joints", view.physx_joints), ("articulations", view.articulation_table), ("links", view.link_table)):
        whole = data.table(table)
        mine = whole.filter(pc.equal(whole["file"], file)).drop_columns(["file"])
        assert mine.select(want.column_names).to_pylist() == want.to_pylist()
        assert mine.num_rows > 0
    codes = data.table("diagnostics").to_pylist()
    mine = [(d["code"], d["path"]) for d in codes if d["file"] == file and d["step"] != "populate"]
    assert sorted(mine) == sorted({(d.code, d.path) for d in [*view.diagnostics, *ovsim.resolve(file).diagnostics]})


def data_joints(data: Dataset) -> int:
    return sum(data.scan(t).count_rows() for t in data.tables if t.startswith("columns_"))


@pytest.mark.usefixtures("inline")
def test_the_command_line_reads_standard_input_and_says_what_it_did(stages, tmp_path, command):
    listed = "".join(f"{p}\n" for p in sorted(stages.glob("*.usda")))
    got = command("convert", "-", "--out", str(tmp_path / "d"), "--level", "columns", "--route", "composed", "--jobs", "1", text=listed)
    assert got.returncode == 0
    assert "4 stages: 4 tried now, 0 unchanged" in got.stdout
    assert "outcomes: 4 ok" in got.stdout
    got = command("convert", "-", "--out", str(tmp_path / "d"), "--level", "columns", "--route", "composed", text=listed)
    assert "0 tried now, 4 unchanged" in got.stdout


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--level", "deep"], "deep"),
        (["--jobs", "0"], "--jobs"),
        (["--engine", "spark"], "spark"),
        (["--rules", "contract-9"], "contract-9"),
        (["--timeout", "-1"], "--timeout"),
        (["--address", "here:1"], "engine ray"),
    ],
)
def test_wrong_options_are_told_before_anything_is_written(stages, tmp_path, command, options, reason):
    got = command("convert", str(stages), "--out", str(tmp_path / "d"), *options)
    assert got.returncode in (1, 2), got.stdout
    assert reason in got.stderr
    assert "Traceback" not in got.stderr
    assert not (tmp_path / "d").exists()


@pytest.mark.usefixtures("inline")
def test_the_api_names_what_is_wrong(stages, tmp_path):
    for options in ({"level": "deep"}, {"engine": "spark"}, {"jobs": 0}, {"timeout": -1.0}, {"memory": -1.0}, {"address": "x"}):
        with pytest.raises(OvsimError):
            convert(stages, tmp_path / "d", **options)
    with pytest.raises(RulesError):
        convert(stages, tmp_path / "d", rules="contract-9")
    with pytest.raises(SourceError):
        convert(tmp_path / "*.usda", tmp_path / "d")
    go(stages / "s0.usda", tmp_path / "d")
    with pytest.raises(DatasetError):
        convert(stages, tmp_path / "d", level="physx")


@pytest.mark.usefixtures("inline")
def test_progress_tells_each_stage(stages, tmp_path):
    seen = []
    go(stages, tmp_path / "d", progress=lambda status: seen.append((status.total, status.converted, status.bad)))
    assert [s[1] for s in seen] == [0, 1, 2, 3, 4, 5]
    assert {s[0] for s in seen} == {5}
    assert seen[-1][2] == 0


@pytest.mark.usefixtures("inline")
def test_lines_may_be_any_iterable(stages, tmp_path):
    done = go("-", tmp_path / "d", lines=io.StringIO(f"{stages}/s0.usda\n{stages}/s1.usda"))
    assert done.converted == 2


@pytest.mark.usefixtures("inline")
def test_a_dataset_behind_a_uri_equals_a_local_one(stages, tmp_path, differences, makers):
    pytest.importorskip("fsspec")
    go(stages, tmp_path / "local")
    (tmp_path / "far").mkdir()
    uri = f"local://{tmp_path}/far"
    convert(stages, uri, level=LEVEL, route="composed", jobs=1)
    assert differences(tmp_path / "local", uri) == []
    (stages / "s0.usda").write_text(makers.good_stage(77, 4))
    for where in (tmp_path / "local", uri):
        assert go(stages, where).converted == 1
    assert differences(tmp_path / "local", uri) == []
    assert Dataset(uri).table("files").num_rows == 5
