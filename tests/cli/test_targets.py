"""Where results go: the name of `--out` and `--format` together, as a rule and in every command that has both."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from ovsim.cli.app import app
from ovsim.cli.targets import Target, choose

ARM = Path(__file__).parents[2] / "examples" / "arm.usda"


class F(str, Enum):
    table = "table"
    json = "json"
    parquet = "parquet"


SCREEN, BOTH = (F.table, F.json), (F.parquet, F.json)


@pytest.mark.parametrize(
    ("asked", "out", "expected"),
    [
        (None, None, Target("table", False)),
        (F.json, None, Target("json", False)),
        (None, "x.parquet", Target("parquet", True)),
        (None, "deep/x.JSON", Target("json", True)),
        (F.parquet, "x.parquet", Target("parquet", True)),
        (None, "out", Target("parquet", False)),
        (None, "v1.2", Target("parquet", False)),
        (F.json, "out", Target("json", False)),
        (None, "folder.json", Target("parquet", False)),  # a directory of that name is there
        (F.json, "folder.json", Target("json", False)),
    ],
)
def test_what_a_name_says(tmp_path, asked, out, expected):
    (tmp_path / "folder.json").mkdir()
    assert choose(asked, out and tmp_path / out, screen=SCREEN, files=BOTH, folder=BOTH) == expected


@pytest.mark.parametrize(
    ("asked", "out", "kinds", "says"),
    [
        (F.parquet, None, {"files": BOTH, "folder": BOTH}, "parquet needs a file or a directory: give it with --out"),
        (F.parquet, None, {"folder": (F.parquet,)}, "parquet needs a directory"),
        (F.parquet, None, {"files": BOTH}, "parquet needs a file"),
        (F.table, "out", {"files": BOTH, "folder": BOTH}, "table is for standard output; --out takes parquet or json"),
        (F.json, "x.parquet", {"files": BOTH, "folder": BOTH}, "x.parquet is the name of a parquet file, and --format says json"),
        (None, "x.parquet", {"folder": (F.parquet,)}, "x.parquet is the name of a file, and several are written: name a directory"),
        (None, "x", {"files": BOTH, "any_name": True}, "tells no format: end its name in .parquet or .json, or give --format"),
    ],
)
def test_what_does_not_go_together(tmp_path, asked, out, kinds, says):
    with pytest.raises(typer.BadParameter, match=says):
        choose(asked, out and tmp_path / out, screen=SCREEN, **kinds)


def test_any_name_with_a_format(tmp_path):
    assert choose(F.json, tmp_path / "x.txt", screen=SCREEN, files=BOTH, any_name=True) == Target("json", True)


def run(*args: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(a) for a in args])
    return done.exit_code, done.output


def test_resolve_into_a_parquet_file(tmp_path):
    """One file with the joints; the diagnostics are counted, and printed on demand."""
    code, text = run("resolve", ARM, "-o", tmp_path / "x.parquet", "--diagnostics")
    assert code == 0
    assert text.startswith("6 joints, ")
    assert "route" in text
    assert [p.name for p in tmp_path.iterdir()] == ["x.parquet"]
    assert pq.read_table(tmp_path / "x.parquet").num_rows == 6


def test_resolve_into_a_json_file(tmp_path):
    """The document that `--format json` prints."""
    code, _ = run("resolve", ARM, "-o", tmp_path / "x.json", "--diagnostics")
    assert code == 0
    printed = run("resolve", ARM, "--format", "json", "--diagnostics")[1]
    assert json.loads((tmp_path / "x.json").read_text()) == json.loads(printed)


@pytest.mark.parametrize(("options", "suffix"), [((), ".parquet"), (("--format", "json"), ".json"), (("--format", "parquet"), ".parquet")])
def test_resolve_into_a_directory(tmp_path, options, suffix):
    """Parquet without `--format`."""
    assert run("resolve", ARM, "-o", tmp_path / "out", *options)[0] == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [f"diagnostics{suffix}", f"joints{suffix}"]


def test_physx_into_a_directory(tmp_path):
    """`--out` is enough, and it is never taken for nothing."""
    assert run("physx", ARM, "-o", tmp_path / "out")[0] == 0
    assert {p.name for p in (tmp_path / "out").iterdir()} == {f"{n}.parquet" for n in ("physx_joints", "articulations", "links", "diagnostics")}
    assert run("physx", ARM, "-o", tmp_path / "x.parquet")[0] == 2
    assert run("physx", ARM, "-o", tmp_path / "out", "--format", "json")[0] == 2
    assert not (tmp_path / "x.parquet").exists()


def test_diff_into_a_file(tmp_path):
    assert run("diff", ARM, "-o", tmp_path / "d.json")[0] in (0, 1)
    assert "differences" in json.loads((tmp_path / "d.json").read_text())
    run("diff", ARM, "-o", tmp_path / "d.parquet")
    assert "path" in pq.read_table(tmp_path / "d.parquet").schema.names
    run("diff", ARM, "-o", tmp_path / "report", "--format", "html")
    assert (tmp_path / "report").read_text().startswith("<!doctype html>")
    code, text = run("diff", ARM, "-o", tmp_path / "d.txt")
    assert code == 3
    assert "tells no format" in text


@pytest.mark.parametrize("command", [("resolve", ARM), ("physx", ARM), ("query", "somewhere", "select 1")])
def test_a_table_is_not_written(tmp_path, command):
    code, text = run(*command, "-o", tmp_path / "out", "--format", "table")
    assert code == 2
    assert "standard output" in text
    assert not list(tmp_path.iterdir())
