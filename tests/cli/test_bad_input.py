"""Bad input of every kind at the command line: one clear line and exit status 1, or diagnostics and status 0; never a traceback."""

from __future__ import annotations

import json

import pytest

HEAD = '#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
COMMANDS = ("resolve", "physx", "columns", "tree")


def _usdc(arm, where):
    from pxr import Usd

    Usd.Stage.Open(str(arm)).Export(str(where))
    return where.read_bytes()


@pytest.fixture(scope="module")
def broken(arm, tmp_path_factory):
    """Files and directories that are no stage."""
    root = tmp_path_factory.mktemp("broken")
    good = _usdc(arm, root / "good.usdc")
    (root / "truncated.usdc").write_bytes(good[: len(good) // 2])
    (root / "flipped.usdc").write_bytes(good[:300] + b"\xff" * 60 + good[360:])
    (root / "empty.usdc").write_bytes(b"")
    (root / "text.usd").write_text("hello")
    (root / "half.usda").write_text('#usda 1.0\ndef Xform "W" {{{{')
    (root / "notes.txt").write_text("not a stage")
    (root / "no_snapshot").mkdir()
    return root


@pytest.mark.parametrize(
    "name", ["missing.usda", "truncated.usdc", "flipped.usdc", "empty.usdc", "text.usd", "half.usda", "notes.txt", "no_snapshot"]
)
def test_what_is_no_stage_is_said_in_one_line(ovsim, broken, name):
    got = ovsim("resolve", broken / name)
    assert got.returncode == 1
    assert got.stdout == ""
    assert got.stderr.startswith("error: ")
    assert name in got.stderr
    assert len(got.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_it(ovsim, broken, command):
    got = ovsim(command, broken / "truncated.usdc")
    assert got.returncode == 1
    assert "truncated.usdc" in got.stderr


def _diagnostics(ovsim, path, command="resolve"):
    got = ovsim(command, path, "--format", "json", "--diagnostics")
    assert got.returncode == 0, got.stderr
    document = json.loads(got.stdout)
    document = document[0] if isinstance(document, list) else document
    return document, {(d["code"], d["path"]) for d in document["diagnostics"]}


STAGES = {
    "unresolvable reference": 'def Xform "W" (\n    references = @./nope.usda@\n)\n{\n    def PhysicsFixedJoint "j"\n    {\n    }\n}\n',
    "cyclic reference": 'def Xform "W" (\n    references = @./stage.usda@</W>\n)\n{\n    def PhysicsFixedJoint "j"\n    {\n    }\n}\n',
}


@pytest.mark.parametrize("name", STAGES)
def test_a_composition_error_is_a_diagnostic_and_loses_no_row(ovsim, tmp_path, name):
    (tmp_path / "stage.usda").write_text(HEAD + STAGES[name])
    document, _ = _diagnostics(ovsim, tmp_path / "stage.usda")
    assert [j["path"] for j in document["joints"]] == ["/W/j"]
    got = ovsim("populate", tmp_path / "stage.usda", "-o", tmp_path / "snap")
    assert got.returncode == 0
    assert "/W" in got.stderr  # the diagnostic names the prim


def test_nan_and_zero_quaternions_keep_their_row(ovsim, tmp_path):
    body = 'def Xform "b" (\n    prepend apiSchemas = ["PhysicsRigidBodyAPI"]\n)\n{\n}\n'
    joint = (
        'def PhysicsFixedJoint "%s"\n{\n    rel physics:body1 = </b>\n'
        "    quatf physics:localRot0 = %s\n    point3f physics:localPos0 = (nan, 0, 0)\n}\n"
    )
    text = HEAD + body + joint % ("zero", "(0, 0, 0, 0)") + joint % ("nan", "(nan, 0, 0, 0)")
    (tmp_path / "q.usda").write_text(text)
    document, _ = _diagnostics(ovsim, tmp_path / "q.usda")
    rows = {j["path"]: j for j in document["joints"]}
    assert rows["/zero"]["localPose0Orientation"] == [0.0, 0.0, 0.0, 0.0]
    assert "nan" in rows["/nan"]["localPose0Orientation"]
    view, found = _diagnostics(ovsim, tmp_path / "q.usda", "physx")
    assert view["joints"] == {}
    assert {p for _, p in found} >= {"/zero", "/nan"}


def test_relationship_cycles_end(ovsim, tmp_path):
    joints = (
        'def PhysicsFixedJoint "a"\n{\n    rel physics:body0 = </b>\n    rel physics:body1 = </a>\n}\n'
        'def PhysicsFixedJoint "b"\n{\n    rel physics:body0 = </a>\n    rel physics:body1 = </b.physics:body0>\n}\n'
    )
    (tmp_path / "c.usda").write_text(HEAD + joints)
    document, _ = _diagnostics(ovsim, tmp_path / "c.usda")
    assert [(j["path"], j["body0"], j["body1"]) for j in document["joints"]] == [("/a", None, None), ("/b", None, None)]
    view, found = _diagnostics(ovsim, tmp_path / "c.usda", "physx")
    assert view["joints"] == {}
    assert {p for _, p in found} >= {"/a", "/b"}


def test_a_snapshot_with_a_missing_file_is_refused(ovsim, arm, tmp_path):
    assert ovsim("populate", arm, "-o", tmp_path / "snap").returncode == 0
    (tmp_path / "snap" / "paths.arrow").unlink()
    got = ovsim("resolve", tmp_path / "snap")
    assert got.returncode == 1
    assert "paths.arrow is missing" in got.stderr


def test_populate_overwrites_nothing_foreign(ovsim, arm, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a").write_text("x")
    got = ovsim("populate", arm, "-o", tmp_path / "mine")
    assert got.returncode == 1
    assert "not a snapshot" in got.stderr


def test_a_broken_layer_behind_an_arc_is_a_diagnostic(ovsim, arm, tmp_path):
    """USD goes on without the layer, so both routes do."""
    good = _usdc(arm, tmp_path / "robot.usdc")
    (tmp_path / "robot.usdc").write_bytes(good[: len(good) // 2])
    stage = HEAD + 'def Xform "W" (\n    references = @./robot.usdc@</World>\n)\n{\n    def PhysicsFixedJoint "j"\n    {\n    }\n}\n'
    (tmp_path / "stage.usda").write_text(stage)
    found = {}
    for route in ("auto", "composed"):
        got = ovsim("columns", tmp_path / "stage.usda", "--format", "json", "--route", route)
        assert got.returncode == 0, got.stderr
        found[route] = json.loads(got.stdout)[0]["prims"]
    assert sorted(found["auto"]) == ["/", "/W", "/W/j"]
    assert found["auto"] == found["composed"]
    told = ovsim("populate", tmp_path / "stage.usda", "-o", tmp_path / "snap").stderr
    assert "robot.usdc" in told


def test_an_error_that_no_rule_foresees_is_one_line_and_costs_no_other_file(arm, monkeypatch, capsys):
    import typer

    from ovsim.cli import common

    def work(file):
        if file.name == "bad.usda":
            raise ZeroDivisionError("\n\nfirst words\nmore")
        return "fine"

    done, failed = [], []
    with pytest.raises(typer.Exit) as status:
        common.each([arm.with_name("bad.usda"), arm], work, lambda f, r: done.append(r), lambda f, e: failed.append(e))
    assert status.value.exit_code == 1
    assert done == ["fine"]
    assert len(failed) == 1
    assert "bad.usda: unexpected ZeroDivisionError: first words; please report it" in failed[0]
    monkeypatch.setenv("OVSIM_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        common.each([arm.with_name("bad.usda")], work, lambda f, r: None, lambda f, e: None)
