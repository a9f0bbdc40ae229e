"""`ovsim push` and `ovsim pull`, `python -m ovsim.bridge` and the example, with the real ovstage and ovphysx."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from ovsim.bridge import differences
from ovsim.stage import Stage

ROOT = Path(__file__).parents[2]
ARM = ROOT / "examples" / "arm.usda"
REAL = os.environ.get("OVSIM_ORACLE", "")
pytestmark = [pytest.mark.oracle, pytest.mark.skipif(not REAL, reason="OVSIM_ORACLE names no python with ovstage and ovphysx")]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OVSIM_BRIDGE_PYTHON": REAL}


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, env=ENVIRONMENT)


def ovsim(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-c", "from ovsim.cli import main; main()", *arguments)


@pytest.fixture(scope="module", autouse=True)
def _bridge_runs() -> None:
    done = run(REAL, "-c", "import pyarrow, ovsim.bridge")
    if done.returncode:
        pytest.skip(f"{REAL} has no pyarrow")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("arm") / "arm"
    done = ovsim("populate", ARM, "-o", target)
    assert done.returncode == 0, done.stderr
    return target


def test_push_a_snapshot_step_and_save(snapshot: Path, tmp_path: Path) -> None:
    done = ovsim("push", snapshot, "--steps", "60", "-o", tmp_path / "after", "--poses", tmp_path / "poses.parquet")
    assert done.returncode == 0, done.stderr
    assert "60 steps (1 s)" in done.stdout
    before, after, poses = Stage.load(snapshot), Stage.load(tmp_path / "after"), pq.read_table(tmp_path / "poses.parquet")
    assert len(poses) > 0
    state = [f"sim:{n}" for n in ("position", "orientation", "linearVelocity", "angularVelocity")]
    assert differences(before, after, without=state) == []
    for row in poses.to_pylist():
        found = after.find(row["path"])
        assert found is not None
        for name in state:
            value = np.asarray(found[0].values(name)[found[1]], np.float32)
            assert value.tobytes() == np.array(row[name.removeprefix("sim:")], np.float32).tobytes()


def test_push_a_usd_file_as_well(snapshot: Path, tmp_path: Path) -> None:
    one = ovsim("push", ARM, "--steps", "10", "--poses", tmp_path / "one.parquet")
    two = ovsim("push", snapshot, "--steps", "10", "--poses", tmp_path / "two.parquet")
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    assert pq.read_table(tmp_path / "one.parquet").equals(pq.read_table(tmp_path / "two.parquet"))


def test_a_pushed_snapshot_can_be_pushed_again(snapshot: Path, tmp_path: Path) -> None:
    assert ovsim("push", snapshot, "-o", tmp_path / "after").returncode == 0
    assert ovsim("push", tmp_path / "after", "--steps", "0").returncode == 0


def test_pull_is_what_ovsim_populates(snapshot: Path, tmp_path: Path) -> None:
    done = ovsim("pull", ARM, "-o", tmp_path / "pulled")
    assert done.returncode == 0, done.stderr
    assert "ovstage 0.2" in done.stdout
    assert differences(Stage.load(tmp_path / "pulled"), Stage.load(snapshot), without=("omni:fabric:worldMatrix",)) == []


def test_the_module_prints_one_json_line(snapshot: Path, tmp_path: Path) -> None:
    done = run(REAL, "-m", "ovsim.bridge", "push", snapshot, "--steps", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    got = json.loads(done.stdout)
    assert got["rows"] == len(Stage.load(snapshot))
    assert got["bodies"] + got["links"] > 0


def test_the_example(snapshot: Path) -> None:
    done = run(REAL, ROOT / "examples" / "bridge.py", snapshot, "10")
    assert done.returncode == 0, done.stderr
    assert "'sim:position'" in done.stdout


def test_errors_are_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.usda"
    broken.write_text("#usda 1.0\ndef Xform {", "utf-8")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for arguments, said in (
        (("pull", tmp_path / "none.usda", "-o", tmp_path / "x"), "none.usda is not a file"),
        (("pull", broken, "-o", tmp_path / "x"), "ovstage cannot populate"),
        (("push", foreign), "snapshot.json"),
        (("push", tmp_path / "none.usda"), "none.usda"),
    ):
        done = ovsim(*arguments)
        assert done.returncode == 1, done.stdout
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "x").exists()


def test_a_snapshot_of_another_contract(snapshot: Path, tmp_path: Path) -> None:
    stage = Stage.load(snapshot)
    stage.metadata["contract"] = "0.7"
    stage.save(tmp_path / "other")
    done = ovsim("push", tmp_path / "other")
    assert done.returncode == 1
    assert "follows contract '0.7'" in done.stderr
