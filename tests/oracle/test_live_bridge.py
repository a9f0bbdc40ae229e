"""Stages that ovsim populated, pushed into the real system, beside what the real system populates itself: the samples of the ovphysx wheel.

The samples are found through the installed package; `OVSIM_ORACLE` names the python that has it (with pyarrow).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
REAL = os.environ.get("OVSIM_ORACLE", "")
pytestmark = [pytest.mark.oracle, pytest.mark.skipif(not REAL, reason="OVSIM_ORACLE names no python with ovstage and ovphysx")]
STEPS = 120
# Samples with joints whose bodies move: each is compared by name, the others of the wheel together.
MOVING = (
    "Ant",
    "AntNoSelfColl",
    "SphericalArtiAtOrigin",
    "SphericalArtiFar",
    "drive_type_articulation",
    "links_chain_sample",
    "links_chain_sample_gpu",
    "mixed_base_articulations",
    "mixed_base_articulations_gpu",
    "mixed_link_count_articulations",
    "revolute_joint_scene",
    "standalone_prismatic_joint",
    "two_articulations",
    "two_articulations_gpu",
    "umbrella_lindof_export",
    "umbrella_lindof_export_noground",
)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _ask(code: str) -> str:
    done = subprocess.run([REAL, "-c", code], capture_output=True, text=True, check=False, env=_environment())
    if done.returncode:
        pytest.skip(f"{REAL} cannot run the bridge: {done.stderr.strip().splitlines()[-1:]}; install ovphysx==0.6.3, numpy and pyarrow there")
    return done.stdout.strip()


def _populate(files: list[Path], into: Path) -> None:
    """Snapshots by ovsim, in a process of its own so that this one stays without pxr's plugins."""
    code = "import sys, ovsim\nfor f, d in zip(sys.argv[2::2], sys.argv[3::2]): ovsim.populate(f).save(d)"
    pairs = [x for f in files for x in (str(f), str(into / f.stem))]
    subprocess.run([sys.executable, "-c", code, "--", *pairs], check=True, env=_environment())


def _examine(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(j) + "\n" for j in jobs)
    done = subprocess.run([REAL, str(HERE / "real_bridge.py")], input=lines, capture_output=True, text=True, check=False, env=_environment())
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(x) for x in done.stdout.splitlines()]


@pytest.fixture(scope="session")
def samples() -> list[Path]:
    _ask("import pyarrow, ovsim.bridge")
    folder = _ask("import pathlib, ovphysx; print(pathlib.Path(ovphysx.__file__).parent / 'samples' / 'data')")
    return sorted(Path(folder).glob("*.usda"))


@pytest.fixture(scope="session")
def snapshots(samples: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("snapshots")
    _populate(samples, into)
    return into


@pytest.fixture(scope="session")
def documents(samples: list[Path], snapshots: Path) -> dict[str, dict[str, Any]]:
    found = _examine([{"usd": str(f), "snapshot": str(snapshots / f.stem), "steps": STEPS} for f in samples])
    return {Path(d["usd"]).stem: d for d in found}


def test_columns_of_every_sample(documents: dict[str, dict[str, Any]]) -> None:
    """All rows, all columns, bit for bit, the wheel's particles, deformables and tendons included."""
    assert len(documents) >= 50
    assert {n: d.get("error") or d["columns"] for n, d in documents.items() if "error" in d or d["columns"]} == {}


@pytest.mark.parametrize("name", MOVING)
def test_objects_and_motion(documents: dict[str, dict[str, Any]], name: str) -> None:
    """PhysX objects at attach and every body's pose and velocity after the steps are those of the real population, bit for bit."""
    d = documents[name]
    assert d.get("error") is None
    assert d["joints"] > 0
    assert d["moved"] > 0
    assert d["objects_differ"] == []
    assert d["state_differs"] == []


def test_objects_and_motion_of_the_rest(documents: dict[str, dict[str, Any]]) -> None:
    """The other samples: still articulations, shapes, meshes, surface velocities, particles, deformables (the last two make no objects on CPU)."""
    rest = {n: d for n, d in documents.items() if n not in MOVING}
    assert {n: (d["objects_differ"], d["state_differs"]) for n, d in rest.items() if d["objects_differ"] or d["state_differs"]} == {}


def test_pull_gives_the_stage_back(documents: dict[str, dict[str, Any]]) -> None:
    assert {n: d["pulled"] for n, d in documents.items() if d["pulled"]} == {}


def test_the_comparison_sees_a_planted_difference(samples: list[Path], snapshots: Path) -> None:
    """One doubled column is seen in the columns, in PhysX and in the motion."""
    ant = next(f for f in samples if f.stem == "drive_type_articulation")
    job = {"usd": str(ant), "snapshot": str(snapshots / ant.stem), "steps": STEPS, "plant": "drive:angular:physics:stiffness"}
    (d,) = _examine([job])
    assert any("drive:angular:physics:stiffness" in x for x in d["columns"])
    assert d["objects_differ"]
    assert "position" in d["state_differs"]
    assert d["pulled"] == []
