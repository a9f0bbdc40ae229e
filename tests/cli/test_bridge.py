"""`ovsim push` and `ovsim pull` as a user sees them, the other process played by a script (tests/oracle runs the real one)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ovsim.stage import StageBuilder

SUMMARY = '{"rows": 2, "bodies": 1, "links": 0, "steps": 3, "seconds": 0.05, "archetypes": 2, "ovstage": "0.2.0", "out": "after"}'


@pytest.fixture
def python(tmp_path: Path) -> Path:
    made = tmp_path / "python"
    made.write_text(
        f"#!/bin/sh\necho \"$@\" > {tmp_path}/arguments\ntest -e {tmp_path}/fail && echo 'error: told so' >&2 && exit 1\necho '{SUMMARY}'\n"
    )
    made.chmod(0o755)
    return made


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    b = StageBuilder()
    b.units()
    b.add("Cube", ["/World"], {"physics:mass": np.ones(1, np.float32)})
    b.finish().save(tmp_path / "snap")
    return tmp_path / "snap"


def test_push_hands_the_snapshot_over(ovsim, python, snapshot, tmp_path):
    got = ovsim("push", snapshot, "--steps", "3", "--dt", "0.5", "-o", tmp_path / "after", "--poses", "p.parquet", "--python", python)
    assert got.returncode == 0, got.stderr
    assert got.stdout.splitlines() == ["2 rows, 1 bodies, 0 articulation links, 3 steps (0.05 s)", "out: after"]
    said = (tmp_path / "arguments").read_text().split()
    assert said[:4] == ["-m", "ovsim.bridge", "push", str(snapshot)]
    assert said[4:] == ["--steps", "3", "--dt", "0.5", "--device", "cpu", "--out", str(tmp_path / "after"), "--poses", "p.parquet"]


def test_pull_tells_what_came(ovsim, python, tmp_path):
    got = ovsim("pull", "robot.usda", "-o", "after", "--python", python)
    assert got.returncode == 0, got.stderr
    assert got.stdout == "2 rows in 2 archetypes, ovstage 0.2.0: after\n"
    assert (tmp_path / "arguments").read_text().split() == ["-m", "ovsim.bridge", "pull", "robot.usda", "--out", "after"]


def test_the_other_process_s_error_is_the_error(ovsim, python, snapshot, tmp_path):
    (tmp_path / "fail").touch()
    got = ovsim("push", snapshot, "--python", python)
    assert got.returncode == 1
    assert got.stderr == f"error: told so [{python}]\n"


def test_wrong_usage(ovsim, snapshot):
    assert ovsim("push", snapshot, "--steps", "-1").returncode == 2
    assert ovsim("push", snapshot, "--device", "tpu").returncode == 2
    assert ovsim("pull", "robot.usda").returncode == 2


def test_without_ovstage(ovsim, snapshot):
    got = ovsim("push", snapshot)
    if "not installed in this environment" in got.stderr:
        assert got.returncode == 1
        assert "ovphysx==0.6.3" in got.stderr
    else:
        assert got.returncode == 0, got.stderr
