"""The engine ray: the same dataset as local, also when an actor is lost or a stage misbehaves. Skipped where Ray is not installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from ovsim.dataset import convert
from ovsim.dataset import process as process_module
from ovsim.dataset.blocks import pack, unpack
from ovsim.dataset.layout import Settings
from ovsim.dataset.process import Limits, Task
from ovsim.dataset.ray import StageActor
from ovsim.dataset.worker import Setup

SETTINGS = Settings("columns", route="composed")


def actor(**limits) -> StageActor:
    return StageActor(Setup(SETTINGS, "test"), Limits(**limits))


def close(one: StageActor) -> None:
    if one._worker is not None:
        one._worker.close()


def test_without_ray_the_error_says_what_to_install(stages, tmp_path):
    code = (
        "import sys; sys.modules['ray'] = None\nfrom ovsim.cli import main\n"
        f"sys.argv = ['ovsim', 'convert', {str(stages)!r}, '--out', {str(tmp_path / 'd')!r}, '--engine', 'ray', '--level', 'columns']\nmain()"
    )
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert got.returncode == 1
    assert "ovsim[ray]" in got.stderr
    assert "Traceback" not in got.stderr


def test_an_actor_gives_a_stage_as_blocks(stages):
    one = actor()
    try:
        record, blocks = one.convert(Task(str(stages / "s0.usda")))
    finally:
        close(one)
    assert record["outcome"] == "ok"
    rows = list(unpack(blocks))
    assert sum(t.num_rows for n, t in rows if n.startswith("columns_")) == record["joints"] > 0
    again = dict(unpack(pack(rows)))
    assert {n: t.num_rows for n, t in again.items()} == {n: t.num_rows for n, t in rows}


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_actor_outlives_its_worker(stages):
    one = actor()
    try:
        one.convert(Task(str(stages / "s0.usda")))
        assert one._worker is not None
        one._worker.process.send_signal(signal.SIGKILL)
        record, _ = one.convert(Task(str(stages / "s1.usda")))
    finally:
        close(one)
    assert record["outcome"] == "ok"
    assert record["attempts"] <= 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_an_actor_ends_a_stage_that_hangs_and_goes_on(stages, makers):
    makers.pipe_stage(stages / "waits.usda")
    one = actor(timeout=4.0)
    try:
        hung, blocks = one.convert(Task(str(stages / "waits.usda")))
        fine, _ = one.convert(Task(str(stages / "s0.usda")))
    finally:
        close(one)
    assert (hung["outcome"], blocks, fine["outcome"]) == ("timeout", [], "ok")


def test_an_actor_whose_workers_cannot_start_says_so(stages, monkeypatch):
    monkeypatch.setattr(process_module, "_BOOT", "raise SystemExit('planted: {path[0]}')")
    record, _ = actor().convert(Task(str(stages / "s0.usda")))
    assert record["outcome"] == "crashed"
    assert "planted" in record["message"]


@pytest.fixture(scope="module")
def cluster():
    """A Ray of two processors on this machine, shared by the tests below."""
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield ray
    ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_ray_and_local_give_equal_datasets(fleet, columns_only, tmp_path, differences):
    done = convert(fleet, tmp_path / "d", engine="ray", jobs=2, level="columns", route="composed")
    assert done.all_well
    assert differences(tmp_path / "d", columns_only) == []
    assert convert(fleet, tmp_path / "d", engine="ray", jobs=2, level="columns", route="composed").converted == 0


@pytest.mark.usefixtures("cluster")
def test_bad_stages_are_named_and_a_local_run_takes_over(stages, tmp_path, makers, outcomes, differences):
    makers.make_bad(stages, 9)
    done = convert(stages, tmp_path / "d", engine="ray", jobs=2, level="columns", route="composed")
    assert len(done.bad) == 9
    again = convert(stages, tmp_path / "d", jobs=1, level="columns", route="composed")
    assert (again.converted, again.unchanged) == (0, 14)
    convert(stages, tmp_path / "local", jobs=2, level="columns", route="composed")
    assert differences(tmp_path / "d", tmp_path / "local") == []


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_lost_ray_worker_costs_nothing(cluster, fleet, columns_only, tmp_path, differences, monkeypatch):
    from ovsim.dataset import ray as engine

    drivers = []
    setup = engine._Driver.__init__

    def remember(self, job, module):
        setup(self, job, module)
        drivers.append(self)

    monkeypatch.setattr(engine._Driver, "__init__", remember)
    killed = []

    def kill(status) -> None:
        if status.converted in (3, 11) and status.converted not in killed:
            killed.append(status.converted)
            victim = drivers[0].actors[len(killed) % 2]
            cluster.kill(victim)

    done = convert(fleet, tmp_path / "d", engine="ray", jobs=2, level="columns", route="composed", progress=kill)
    assert killed == [3, 11]
    assert done.all_well
    assert differences(tmp_path / "d", columns_only) == []


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_ray_process_killed_from_outside_costs_nothing(cluster, fleet, columns_only, tmp_path, differences, monkeypatch):
    from ovsim.dataset import ray as engine

    drivers = []
    setup = engine._Driver.__init__
    monkeypatch.setattr(engine._Driver, "__init__", lambda self, job, module: (setup(self, job, module), drivers.append(self))[0])
    killed = []

    def kill(status) -> None:
        if status.converted == 4 and not killed:
            pid = cluster.get(drivers[0].actors[0].process_id.remote())
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    assert convert(fleet, tmp_path / "d", engine="ray", jobs=2, level="columns", route="composed", progress=kill).all_well
    assert killed
    assert differences(tmp_path / "d", columns_only) == []
