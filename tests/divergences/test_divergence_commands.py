"""`ovsim diff`, `check` and `explain` as commands: formats, files, exit statuses, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bench_stages import BOTH, HEAD, body, by_hand, joint, scene, world
from typer.testing import CliRunner

import ovsim
from consumer.usd import resolve
from ovsim.cli.app import app
from ovsim.errors import OvsimError, PathError, SourceError

ARM = Path(__file__).parents[2] / "examples" / "arm.usda"


def _run(*args: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(a) for a in args])
    if isinstance(done.exception, OvsimError):
        raise done.exception
    return done.exit_code, done.output


def _repair(stage: Path, out: Path, *options: str) -> tuple[int, str, str]:
    """Exit status, standard output and the last line of standard error of `check --fix`."""
    done = CliRunner().invoke(app, ["check", str(stage), "--fix", str(out), *options])
    if isinstance(done.exception, OvsimError):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr.strip().splitlines()[-1]


@pytest.fixture
def one_sided(tmp_path) -> Path:
    file = tmp_path / "one.usda"
    text = world(body("A"), body("B"), joint("PhysicsRevoluteJoint", "J", "/W/A", "/W/B", "float physics:lowerLimit = -30"))
    file.write_text(HEAD + text)
    return file


def test_diff_exit_statuses(one_sided, tmp_path):
    """1 for explained differences, 0 for none, 2 for unexplained ones, 3 for no comparison."""
    code, text = _run("diff", one_sided)
    assert code == 1
    assert "revolute-limit-enable" in text
    assert _run("diff", one_sided, one_sided)[0] == 0
    other = tmp_path / "other.usda"
    other.write_text(one_sided.read_text().replace("-30", "-20"))
    assert _run("diff", one_sided, other)[0] == 2
    assert _run("diff", one_sided, tmp_path / "gone.usda")[0] == 3


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--between", "usd"), "wants two views"),
        (("--between", "usd,contract-9"), "no rule set is called"),
        (("--format", "html"), "give it with --out"),
    ],
)
def test_diff_bad_usage(one_sided, args, message):
    """Status 3 and one line that says what is wrong."""
    code, text = _run("diff", one_sided, *args)
    assert code == 3
    assert message in text


def test_diff_formats(one_sided, tmp_path):
    """JSON, Parquet and one HTML page that loads nothing from elsewhere."""
    code, text = _run("diff", one_sided, "--format", "json")
    document = json.loads(text)
    assert code == 1
    assert document["counts"] == {"revolute-limit-enable": len(document["differences"])}
    assert document["findings"]["revolute-limit-enable"]["severity"] == "fragile"
    _run("diff", one_sided, "--format", "parquet", "--out", tmp_path / "d.parquet")
    assert pq.read_table(tmp_path / "d.parquet").num_rows == len(document["differences"])
    _run("diff", one_sided, "--format", "html", "--out", tmp_path / "d.html")
    page = (tmp_path / "d.html").read_text()
    assert "revolute-limit-enable" in page
    assert "http" not in page
    assert "<script" not in page


def test_diff_html_draws(tmp_path):
    """Articulations that differ come as trees, frames as triads; names from the stage are escaped."""
    bodies = [body(n, at=(k, 0, 0)) for k, n in enumerate("DCBA")]
    chain = [joint("PhysicsFixedJoint", f"J{n}", f"/W/{a}", f"/W/{b}") for n, (a, b) in enumerate((("A", "B"), ("B", "C"), ("C", "D")))]
    site = body("Site", apis=(), at=(5, 6, 7)) + joint("PhysicsFixedJoint", "S", "/W/Site", "/W/A", "bool physics:excludeFromArticulation = 1")
    file = tmp_path / "chain.usda"
    file.write_text(HEAD + world(*bodies, *chain, site, apis=["PhysicsArticulationRootAPI"]))
    _run("diff", file, "--format", "html", "--out", tmp_path / "d.html")
    page = (tmp_path / "d.html").read_text()
    assert page.count("<svg") >= 3
    assert 'class="hit"' in page
    from ovsim.diff.svg import Link, frames, tree

    assert "<b>" not in tree([Link("/<b>", -1, "")], set())
    assert frames(((0.0, 0.0, float("nan")), (0, 0, 0, 1)), ((0, 0, 0), (0, 0, 0, 1))) == ""


def test_diff_tables(one_sided, tmp_path):
    """A saved table of descriptors against the stage; one without a path column is refused."""
    _run("resolve", one_sided, "--rules", "observed-0.6.3", "--format", "parquet", "--out", tmp_path / "r")
    table = tmp_path / "r" / "joints.parquet"
    assert _run("diff", one_sided, table)[0] == 0
    spoiled = pq.read_table(table).rename_columns([n if n != "path" else "prim" for n in pq.read_table(table).schema.names])
    pq.write_table(spoiled, tmp_path / "s.parquet")
    code, text = _run("diff", one_sided, tmp_path / "s.parquet")
    assert code == 3
    assert "path" in text


def test_diff_rule_sets_of_a_snapshot(tmp_path):
    """A snapshot alone is compared under the two rule sets."""
    by_hand(scene(("/W/J", "PhysicsJoint", {**BOTH, "physics:localPos0": (1, 0, 0)}, ()))).save(tmp_path / "snap")
    code, text = _run("diff", tmp_path / "snap")
    assert code == 1
    assert "disjoint-frame-check" in text


def test_check_and_fix(tmp_path):
    """Errors give status 1; the repaired snapshot lacks no column any more."""
    table = pa.table({"path": ["/", "/J"], "usd-prim-type": [None, "PhysicsRevoluteJoint"], "usd-metadata:metersPerUnit": [1.0, None]})
    pq.write_table(table, tmp_path / "t.parquet")
    code, text, _ = _repair(tmp_path / "t.parquet", tmp_path / "fixed", "--format", "json")
    document = json.loads(text)
    assert code == 1
    assert {c["column"] for c in document["changes"]} >= {"physics:lowerLimit", "physics:upperLimit"}
    before, after = (json.loads(_run("check", p, "--format", "json")[1])["diagnostics"] for p in (tmp_path / "t.parquet", tmp_path / "fixed"))
    assert "absent-column" in {d["code"] for d in before}
    assert {d["code"] for d in after if d["severity"] == "error"} == {"no-bodies"}
    assert sorted((d["code"], d["column"]) for d in document["left"]) == sorted((d["code"], d["column"]) for d in after)


@pytest.mark.parametrize("format", ["table", "json"])
def test_fix_tells_what_it_left(tmp_path, format):
    """An int bound is cast, a bound in words is not: its error is left, and the exit status is that of the copy."""
    bounds = {"physics:lowerLimit": [None, None, "-30"], "physics:upperLimit": pa.array([None, None, 30], pa.int32())}
    units = {f"usd-metadata:{n}": [v, None, None] for n, v in (("metersPerUnit", 1.0), ("kilogramsPerUnit", 1.0), ("upAxis", "Z"))}
    kinds = {"usd-prim-type": [None, "Xform", "PhysicsRevoluteJoint"], "usd-schemas": [[], ["PhysicsRigidBodyAPI"], []]}
    rows = {"path": ["/", "/A", "/J"], "physics:body0": [None, None, ["/A"]], **kinds, **units, **bounds}
    pq.write_table(pa.table(rows), tmp_path / "in.parquet")
    code, text, line = _repair(tmp_path / "in.parquet", tmp_path / "out", "--format", format)
    assert code == 1
    assert line.startswith(f"left in {tmp_path / 'out'}: 1 error")
    assert "(error wrong-type 1" in line
    if format == "json":
        left = [d for d in json.loads(text)["left"] if d["severity"] == "error"]
        assert [(d["code"], d["column"]) for d in left] == [("wrong-type", "physics:lowerLimit")]


def test_a_copy_without_errors_gives_status_0(tmp_path):
    """The stage has errors, its repaired copy none; with --strict its warnings count, as they do without a repair."""
    builder = ovsim.StageBuilder()
    builder.units(1.0, 1.0, "Z")
    builder.add("Xform", ["/A"], {"omni:xform": np.eye(4).reshape(1, 16)}, ["PhysicsRigidBodyAPI"])
    distances = {"physics:minDistance": [3.0], "physics:maxDistance": pa.array([2], pa.int32())}
    builder.add("PhysicsDistanceJoint", ["/J"], {"physics:body0": [["/A"]], **distances})
    builder.finish().save(tmp_path / "in")
    assert _run("check", tmp_path / "in")[0] == 1
    code, _, line = _repair(tmp_path / "in", tmp_path / "out")
    assert code == 0
    assert line == f"left in {tmp_path / 'out'}: 1 warning (warning reversed-distance 1)"
    assert _run("check", tmp_path / "out")[0] == 0
    assert _run("check", tmp_path / "in", "--fix", tmp_path / "out", "--strict")[0] == 1


def test_a_mended_type_is_no_longer_told(tmp_path):
    """What population said of a value's type goes when the value is cast, and stays when it is not."""
    file = tmp_path / "odd.usda"
    odd = 'int physics:lowerLimit = 3\nstring physics:axis = "X"'
    file.write_text(HEAD + world(body("A"), joint("PhysicsRevoluteJoint", "J", "/W/A", "", odd)))
    assert _run("check", file)[0] == 1
    code, text, _ = _repair(file, tmp_path / "out", "--format", "json")
    assert code == 0
    assert [d["column"] for d in json.loads(text)["left"] if d["code"] == "wrong-type"] == ["physics:axis"]


def test_a_broken_stage_is_said_in_one_line(tmp_path):
    """The USD backend tells of a syntax error as population does: by line and column."""
    file = tmp_path / "bad.usda"
    file.write_text('#usda 1.0\ndef Xform "A" (prepend apiSchemas = []) {\n}\n')
    with pytest.raises(SourceError, match=r"bad\.usda: line 2, column 38: syntax error at '\]\) \{' in </A>$"):
        resolve(file)


def test_explain_table():
    """One screen for the example's hinge."""
    code, text = _run("explain", ARM, "/World/arm/joint2")
    assert code == 0
    assert "limit.upper 38 deg -> 0.6632 rad" in text
    assert json.loads(_run("explain", ARM, "/World/arm/joint2", "--format", "json")[1])["type"] == "PhysicsRevoluteJoint"


def test_explain_unknown_prim():
    """The command fails with the suggestion."""
    with pytest.raises(PathError, match="did you mean"):
        _run("explain", ARM, "/World/arm/joint9")
