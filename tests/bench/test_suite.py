"""The suite itself: synthetic stages, runs, results, comparison, bad input."""

from __future__ import annotations

import dataclasses
import json
import os
import stat
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import consumer
from ovsim.bench import peer
from ovsim.bench.compare import compare
from ovsim.bench.page import page
from ovsim.bench.results import JSON, PARQUET, BenchError, Row, Run, load, save, summaries
from ovsim.bench.runner import Plan, SkipError, Suite, execute
from ovsim.bench.synthetic import JOINTS, KINDS, synthetic_stage
from ovsim.bench.tables import skipped_table, summary_table
from ovsim.bench.traffic import read_bytes, resolve_bytes, written_bytes
from ovsim.bench.usdfiles import SHAPES, write
from ovsim.cli.app import app
from ovsim.errors import OvsimError

cli = CliRunner()


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("joints", [1, 25])
def test_synthetic_stages_are_sound(kind, joints):
    """Whole robots, every joint resolved to two bodies, no finding."""
    stage = synthetic_stage(joints, kind)
    found = consumer.resolve(stage)
    assert len(found) == -(-joints // JOINTS) * JOINTS
    assert len(found.diagnostics) == 0
    assert all(b.body.all() and b.valid_frames.all() for b in found.blocks)
    assert np.unique([len(b.path) for b in found.blocks if len(b)]).size == 1


def test_synthetic_scales_and_frames_are_not_trivial():
    """Bodies have scales other than one, so that baking does something."""
    stage = synthetic_stage(12)
    block = consumer.resolve(stage).block("PhysicsFixedJoint")
    authored = next(stage.with_type("PhysicsFixedJoint")).values("physics:localPos0")
    assert not np.allclose(block.position[:, 0], authored[: len(block)])


@pytest.mark.parametrize(("joints", "kind"), [(0, "mixed"), (-1, "mixed"), (10, "hinge")])
def test_bad_synthetic_stages_are_refused(joints, kind):
    """No joints, an unknown kind."""
    with pytest.raises(ValueError, match=r"at least 1|kind is one of"):
        synthetic_stage(joints, kind)


@pytest.mark.parametrize("shape", SHAPES)
def test_usd_files_hold_the_joints(shape, tmp_path):
    """The stage files that peers read, through OpenUSD's parser."""
    pytest.importorskip("pxr")
    from pxr import Usd

    assert write(shape, 20, tmp_path / "s.usdc") == 24
    stage = Usd.Stage.Open(str(tmp_path / "s.usdc"))
    joints = [p for p in stage.Traverse() if p.GetTypeName().endswith("Joint")]
    assert len(joints) == 24
    targets = [p.GetRelationship(f"physics:body{k}").GetTargets()[0] for p in joints for k in (0, 1)]
    assert all(stage.GetPrimAtPath(t).HasAPI("PhysicsRigidBodyAPI") for t in targets)


def test_traffic_counts_what_must_move():
    """By hand for one robot of fixed joints: columns, matrices, paths; descriptor arrays."""
    stage = synthetic_stage(12, "fixed")
    block = consumer.resolve(stage).block("PhysicsFixedJoint")
    joint_columns = 8 + 2 * (12 + 16) + 2 * 8 + 3 + 2 * 4  # path id, frames, targets, flags, break limits; offsets come on top
    bodies = 8 + 128 + 1 + 1
    others = 2 * (8 + 128 + 1)  # /World and the robot
    want = 8 * stage.paths.path_count + 12 * joint_columns + 2 * 13 * 8 + 13 * bodies + others
    assert read_bytes(stage) == want
    assert written_bytes(block) == 12 * (8 + 16 + 16 + 24 + 32 + 5 + 8 + 4)
    assert resolve_bytes(stage, consumer.resolve(stage)) == want + written_bytes(block)


def small(**changes: object) -> Plan:
    return dataclasses.replace(Plan(sizes=(24,), phases=("resolve", "load"), peers=(), rounds=2, warm=1, threads=1), **changes)


def test_a_run_measures_cold_and_warm_in_every_round():
    """Two rounds of two phases, a fresh process each."""
    run = execute(small())
    assert run.skipped == []
    assert {(r.phase, r.round, r.temperature) for r in run.rows} == {(p, n, t) for p in ("resolve", "load") for n in (0, 1) for t in ("cold", "warm")}
    warm = [r for r in run.rows if r.phase == "resolve" and r.temperature == "warm"]
    assert all(r.copy_bandwidth > 0 and r.bytes > 0 and 0 < r.fraction < 1 and r.peak_bytes > 0 for r in warm)
    assert run.facts["machine"]["packages"]["ovsim"]


def script(tmp_path, text: str) -> str:
    """A stand-in for the Python of a peer's environment."""
    at = tmp_path / "python"
    at.write_text("#!/bin/sh\n" + text)
    at.chmod(at.stat().st_mode | stat.S_IXUSR)
    return str(at)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "not installed here: set OVSIM_ORACLE"),
        ("kill -SEGV $$", "crashed with SIGSEGV"),
        ("echo gone wrong >&2; exit 3", "ended with status 3: gone wrong"),
        ("echo hello", "ended without a result"),
    ],
)
def test_missing_and_crashing_peers_are_told_and_the_rest_goes_on(text, why, tmp_path, monkeypatch):
    """A peer that is absent, crashes, fails or says nothing costs its own figures only."""
    monkeypatch.delenv("OVSIM_ORACLE", raising=False)
    if text is not None:
        monkeypatch.setenv("OVSIM_ORACLE", script(tmp_path, text))
    run = execute(small(phases=("load",), peers=("ovstage-0.2",)))
    assert [s["what"] for s in run.skipped] == ["ovstage-0.2 24"]
    assert why in run.skipped[0]["why"]
    assert len([r for r in run.rows if r.phase == "load"]) == 4
    assert why in skipped_table(run)


def test_a_peer_that_hangs_is_ended(tmp_path):
    """After the plan's limit, by a message."""
    suite = Suite(small(limit=0.1), tmp_path, lambda step: None)
    with pytest.raises(SkipError, match="took longer than"):
        suite.process([script(tmp_path, "exec sleep 600")])


def test_a_peer_that_is_no_program_is_told(monkeypatch, tmp_path):
    """The variable names a file that cannot be run."""
    monkeypatch.setenv("OVSIM_ORACLE", str(tmp_path))
    monkeypatch.setattr(peer.os, "access", lambda *_: False)
    assert "is no program" in peer.PEERS["ovstage-0.2"].python()[1]


def test_peers_are_run_up_to_their_size_only():
    """Sizes beyond --peer-joints are ovsim's alone."""
    names = [name for name, _ in Suite(small(peers=("pxr-loop",), sizes=(12, 24), peer_joints=12), Path(), lambda step: None).jobs()]
    assert [n for n in names if n.startswith("pxr")] == ["pxr-loop 12"]


def test_oversized_stage_files_are_told():
    """A file beyond the bound is left out with the option's name."""
    run = execute(small(phases=("populate",), sizes=(200,), file_joints=12))
    assert {s["what"] for s in run.skipped} == {"ovsim populate flat 200", "ovsim populate cloned 200"}
    assert all("--file-joints" in s["why"] for s in run.skipped)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"threads": (os.cpu_count() or 1) + 1}, "--threads is 1 to"),
        ({"sizes": (0,)}, "from 1 up, not 0"),
        ({"sizes": ()}, "from 1 up"),
        ({"rounds": 0}, "--rounds"),
        ({"kinds": ("hinge",)}, "no kind is called 'hinge'"),
        ({"phases": ("sing",)}, "no phase is called"),
        ({"peers": ("nobody",)}, "no peer is called"),
    ],
)
def test_plans_that_cannot_be_are_refused(changes, why):
    """Before anything runs."""
    with pytest.raises(BenchError, match=why):
        execute(small(**changes))


def rows(seconds: list[float], copy: float = 0.0, phase: str = "resolve") -> list[Row]:
    return [Row("ovsim", phase, "mixed", 1000, n, "warm", s, 10**6, copy) for n, s in enumerate(seconds)]


def test_compare_tells_moves_from_noise():
    """Slower, faster, within the noise, too few to say; a machine twice as slow is no change."""
    quiet, loud = [1.0, 1.01, 0.99, 1.0], [1.0, 1.6, 0.5, 1.2]
    cases = {
        "slower": (quiet, [1.5, 1.51, 1.49, 1.5]),
        "faster": (quiet, [0.5, 0.51, 0.49, 0.5]),
        "same": (loud, [1.3, 0.7, 1.8, 1.1]),
        "unsure": ([1.0, 1.0], [2.0, 2.0]),
    }
    for verdict, (old, new) in cases.items():
        (move,), gone, fresh = compare(Run(rows(old)), Run(rows(new)))
        assert move.verdict == verdict
        assert gone == fresh == []
    (move,), _, _ = compare(Run(rows(quiet, 2e9)), Run(rows([2 * s for s in quiet], 1e9)))
    assert (move.verdict, move.by) == ("same", "copy")
    _, gone, fresh = compare(Run(rows(quiet, phase="old")), Run(rows(quiet, phase="new")))
    assert [k[1] for k in gone + fresh] == ["old", "new"]


def test_summaries_take_the_median_of_the_rounds_own_fractions():
    """Drift of the machine cancels."""
    run = Run([*rows([1.0], 4e6), *rows([2.0], 2e6), *rows([4.0], 1e6)])
    (s,) = summaries(run.rows)
    assert (s.seconds, s.lowest, s.highest, s.fraction, s.count) == (2.0, 1.0, 4.0, 0.25, 3)
    assert "2 s" in summary_table(run)
    assert "25 %" in page(run, {})


def test_results_round_trip(tmp_path):
    """JSON back to the same run; Parquet with a row a measurement."""
    run = Run(rows([1.0, 2.0]), [{"what": "x", "why": "y"}], {"plan": {}})
    save(run, tmp_path / "deep" / "out")
    assert load(tmp_path / "deep" / "out") == run
    assert load(tmp_path / "deep" / "out" / JSON) == run
    assert pq.read_table(tmp_path / "deep" / "out" / PARQUET)["seconds"].to_pylist() == [1.0, 2.0]


def test_results_that_cannot_be_written_or_read_are_told(tmp_path):
    """A file where the directory should be; no file; other files."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(OvsimError, match="cannot write"):
        save(Run(rows([1.0])), tmp_path / "taken")
    with pytest.raises(BenchError, match="cannot read"):
        load(tmp_path)
    for text in ("[]", "{}", "no json", json.dumps({"format": "other", "version": 1})):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(BenchError, match=r"not a results file|of format other"):
            load(tmp_path / "bad.json")


def test_the_command_writes_everything(tmp_path):
    """Results, table, page and plots; comparison with itself."""
    out = tmp_path / "out"
    got = cli.invoke(
        app, ["bench", "-o", str(out), "--sizes", "12,24", "--phases", "resolve,load", "--peers", "none", "--rounds", "3", "--warm", "1"]
    )
    assert got.exit_code == 0, got.output
    assert "of copy" in got.output
    text = (out / "report.html").read_text()
    assert "<table>" in text
    assert "http" not in text
    if (out / "throughput.png").exists():
        assert text.count("data:image/png;base64,") == 3
        assert (out / "throughput.png").read_bytes().startswith(b"\x89PNG")
    again = cli.invoke(app, ["bench", "compare", str(out), str(out)])
    assert again.exit_code == 0, again.output
    assert "0 slower, 0 faster" in again.output


def test_the_command_says_what_is_wrong(tmp_path):
    """Usage errors."""
    assert "sizes are numbers" in cli.invoke(app, ["bench", "--sizes", "many"]).output
    assert isinstance(cli.invoke(app, ["bench", "--sizes", "0"]).exception, OvsimError)
    assert isinstance(cli.invoke(app, ["bench", "compare", str(tmp_path), str(tmp_path)]).exception, OvsimError)
