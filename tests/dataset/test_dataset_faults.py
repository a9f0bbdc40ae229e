"""Faults: whatever is killed, full, hanging or changing, a resumed run gives the dataset of an undisturbed one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ovsim.dataset import Dataset, convert, process
from ovsim.dataset import local as engine
from ovsim.dataset.job import Status
from ovsim.dataset.local import WorkerError
from ovsim.dataset.schemas import COLUMNS_TABLES
from ovsim.dataset.storage import StorageError

LEVEL = "columns"
KILLS = int(os.environ.get("OVSIM_KILLS", "3"))
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and /proc")

HOOK = """
import os, signal, time
import ovsim.api as _api
_real = _api.populate
def _planted(source, **options):
    name = os.path.basename(source)
    if 'crash' in name:
        os.kill(os.getpid(), signal.SIGSEGV)
    if 'once' in name and not os.path.exists(source + '.died'):
        open(source + '.died', 'w').close()
        os.kill(os.getpid(), signal.SIGKILL)
    if 'hang' in name:
        time.sleep(3600)
    if 'giant' in name:
        held = []
        while True:
            held.append(b'x' * (64 << 20))
    if 'vast' in name:
        bytearray(1 << 45)
    return _real(source, **options)
_api.populate = _planted
"""


@pytest.fixture
def planted(monkeypatch) -> None:
    """Workers that crash, hang or grow on stages of such names."""
    hook = HOOK.replace("{", "{{").replace("}", "}}") + "\nfrom ovsim.dataset.worker"
    monkeypatch.setattr(process, "_BOOT", process._BOOT.replace("from ovsim.dataset.worker", hook))


def go(sources: Path, out: Path, run=convert, **options):
    return run(sources, out, level=LEVEL, **{"jobs": 2, "route": "composed", **options})


def copies(stages: Path, *names: str) -> list[Path]:
    """More stages of the given names, with the content of the first."""
    for name in names:
        (stages / name).write_bytes((stages / "s0.usda").read_bytes())
    return [stages / n for n in names]


@posix
@pytest.mark.usefixtures("planted")
def test_a_crash_a_hang_and_a_giant_cost_their_stage_alone(stages, tmp_path, outcomes):
    copies(stages, "crash.usda", "hang.usda", "giant.usda", "vast.usda")
    done = go(stages, tmp_path / "d", timeout=6, memory=1.5)
    got = outcomes(tmp_path / "d")
    assert {n: o for n, o in got.items() if o != "ok"} == {
        "crash.usda": "crashed",
        "hang.usda": "timeout",
        "giant.usda": "memory",
        "vast.usda": "memory",
    }
    assert len(got) == 9
    told = {Path(r["file"]).name: r for r in done.bad}
    assert told["crash.usda"]["cause"] == "SIGSEGV"
    assert told["crash.usda"]["attempts"] == process.CRASHES
    assert "Segmentation fault" in told["crash.usda"]["message"]
    assert "6 s" in told["hang.usda"]["message"]
    assert "1.50 GiB" in told["giant.usda"]["message"]
    assert told["giant.usda"]["peak_memory"] > 2**30
    rows = Dataset(tmp_path / "d").table("files").to_pylist()
    assert all(r["layers"] and r["content"] for r in rows)
    assert go(stages, tmp_path / "d", timeout=6, memory=1.5).converted == 0


@posix
@pytest.mark.usefixtures("planted")
def test_a_stage_whose_worker_is_killed_once_is_converted_again(stages, tmp_path, calmly, differences):
    copies(stages, "once.usda")
    assert go(stages, tmp_path / "d").all_well
    assert (stages / "once.usda.died").exists()
    go(stages, tmp_path / "fresh", calmly)
    assert differences(tmp_path / "d", tmp_path / "fresh") == []


@posix
def test_workers_killed_at_random_cost_nothing(fleet, tmp_path, columns_only, monkeypatch, differences):
    alive: list[process.WorkerProcess] = []

    class Watched(process.WorkerProcess):
        def __init__(self, *args):
            super().__init__(*args)
            alive.append(self)

    monkeypatch.setattr(engine, "WorkerProcess", Watched)
    rnd = random.Random(1)
    killed = []

    def kill(status: Status) -> None:
        if status.converted in (5, 12, 19) and status.converted not in killed:
            killed.append(status.converted)
            rnd.choice([w for w in alive if w.process.poll() is None]).process.send_signal(signal.SIGKILL)

    done = convert(fleet, tmp_path / "d", jobs=2, progress=kill, level=LEVEL, route="composed")
    assert killed == [5, 12, 19]
    assert done.all_well
    assert differences(tmp_path / "d", columns_only) == []


@posix
def test_a_run_killed_at_random_moments_goes_on_with_nothing_lost_and_nothing_twice(fleet, tmp_path, columns_only, differences):
    out = tmp_path / "d"
    rnd = random.Random(os.environ.get("OVSIM_SEED", "7"))
    slow = "import time, ovsim.dataset.job as j; j.Job.patience = property(lambda self: 0.05); "
    code = slow + "import sys; from ovsim.cli import main; sys.argv[0] = 'ovsim'; main()"
    command = [sys.executable, "-c", code, "convert", str(fleet), "--out", str(out), "--jobs", "2", "--level", LEVEL, "--route", "composed"]
    for _ in range(KILLS):
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rnd.uniform(0.5, 4.0))
        run.send_signal(signal.SIGKILL)
        run.wait()
        consistent(out)
    assert convert(fleet, out, jobs=2, level=LEVEL, route="composed").all_well
    consistent(out)
    assert differences(out, columns_only) == []


def consistent(out: Path) -> None:
    """Whether what a reader sees holds whole stages only, each once."""
    if not (out / "dataset.json").exists():
        return
    data = Dataset(out)
    files = data.table("files", ["file", "joints"]).to_pylist()
    assert len({f["file"] for f in files}) == len(files)
    count: dict[str, int] = {}
    for table in COLUMNS_TABLES:
        for name in data.table(table, ["file"])["file"].to_pylist():
            count[name] = count.get(name, 0) + 1
    assert count == {f["file"]: f["joints"] for f in files if f["joints"]}


@posix
def test_workers_die_with_their_run(fleet, tmp_path):
    code = "import sys; from ovsim.cli import main; sys.argv[0] = 'ovsim'; main()"
    command = [
        sys.executable,
        "-c",
        code,
        "convert",
        str(fleet),
        "--out",
        str(tmp_path / "d"),
        "--jobs",
        "2",
        "--level",
        "columns",
        "--route",
        "composed",
    ]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children: list[int] = []
    while not children and run.poll() is None:
        time.sleep(0.05)
        children = child_processes(run.pid)
    assert children
    run.send_signal(signal.SIGKILL)
    run.wait()
    for _ in range(100):
        if not any(Path(f"/proc/{pid}").exists() and state(pid) != "Z" for pid in children):
            return
        time.sleep(0.05)
    pytest.fail("workers outlive their run")


def child_processes(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                found.append(int(entry.name))
    return found


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    where = tmp_path / "small"
    where.mkdir()
    got = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(where)], capture_output=True, text=True, check=False)
    if got.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {got.stderr.strip()}")
    yield where
    subprocess.run(["umount", "-l", str(where)], check=False)


def fill(disk: Path, leave: int = 0) -> Path:
    """A file that takes what room there is but for `leave` bytes."""
    filler = disk / "filler"
    free = os.statvfs(disk)
    filler.write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - leave)))
    return filler


def one_line(said: str) -> str:
    """What a failed command told, which is one line and no traceback."""
    lines = said.splitlines()
    assert len(lines) == 1, said
    return lines[0]


def test_a_full_disk_stops_the_run_and_a_resumed_one_completes_it(fleet, small_disk, columns_only, command, calmly, differences):
    out = small_disk / "d"
    calmly(sorted(fleet.rglob("*.usda"))[:4], out, level=LEVEL, route="composed")
    filler = fill(small_disk, leave=60_000)
    got = command("convert", str(fleet), "--out", str(out), "--jobs", "1", "--level", LEVEL, "--route", "composed")
    assert (got.returncode, got.stdout) == (1, "")
    told = one_line(got.stderr)
    assert told.startswith(f"error: cannot write into {out}: ")
    assert "No space left" in told
    assert told.endswith("make room or mend the place and run again")
    consistent(out)
    assert Dataset(out).table("files").num_rows >= 4
    assert not (out / "_staging").exists()
    filler.unlink()
    assert convert(fleet, out, jobs=1, level=LEVEL, route="composed").all_well
    assert differences(out, columns_only) == []


def test_a_disk_that_is_full_from_the_start_is_told_by_the_name_of_the_dataset(stages, small_disk, command, calmly):
    filler = fill(small_disk)
    got = command("convert", str(stages), "--out", str(small_disk / "d"), "--level", LEVEL)
    assert got.returncode == 1
    told = one_line(got.stderr)
    assert f"cannot write into {small_disk / 'd'}: " in told
    assert "No space left" in told
    filler.unlink()
    assert calmly(stages, small_disk / "d", level=LEVEL, route="composed").all_well


def test_a_disk_that_refuses_is_told_without_counting_a_stage_as_failed(stages, tmp_path, monkeypatch, calmly):
    from ovsim.dataset import layout

    def full(self, name, data):
        raise OSError(28, "No space left on device")

    go(stages / "s0.usda", tmp_path / "d", calmly)
    monkeypatch.setattr(layout.Storage, "write", full)
    with pytest.raises(StorageError, match="No space left"):
        go(stages, tmp_path / "d", jobs=1)
    monkeypatch.undo()
    consistent(tmp_path / "d")
    done = go(stages, tmp_path / "d", calmly)
    assert (done.unchanged, done.converted, done.all_well) == (1, 4, True)


def test_sources_that_change_during_a_run_end_as_if_nothing_had_been_amiss(stages, tmp_path, makers, calmly, differences):
    stop = threading.Event()

    def write() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            (stages / "s1.usda").write_text(makers.good_stage(300 + n, 1 + n % 4))
            (stages / "assets" / "arm.usda").write_text(makers.asset(n, 1 + n % 5))
            time.sleep(0.03)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        go(stages, tmp_path / "d", jobs=2)
    finally:
        stop.set()
        writer.join()
    consistent(tmp_path / "d")
    assert go(stages, tmp_path / "d", calmly).all_well
    go(stages, tmp_path / "fresh", calmly)
    assert differences(tmp_path / "d", tmp_path / "fresh") == []


@posix
def test_a_memory_limit_below_a_bare_worker_is_told(stages, tmp_path):
    with pytest.raises(WorkerError, match="before its first stage"):
        go(stages, tmp_path / "d", memory=0.01)


def test_workers_that_cannot_start_are_told(stages, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_BOOT", "raise SystemExit('planted: {path[0]}')")
    with pytest.raises(WorkerError, match="planted"):
        go(stages, tmp_path / "d")


@posix
def test_an_interrupt_leaves_what_is_committed_and_no_worker(stages, tmp_path, monkeypatch, calmly):
    monkeypatch.setattr("ovsim.dataset.job.Job.patience", 0.0)

    def interrupt(status: Status) -> None:
        if status.converted == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(stages, tmp_path / "d", jobs=1, progress=interrupt)
    assert child_processes(os.getpid()) == [] or all(state(p) == "Z" for p in child_processes(os.getpid()))
    consistent(tmp_path / "d")
    done = go(stages, tmp_path / "d", calmly)
    assert done.all_well
    assert done.unchanged + done.converted == 5
    assert done.unchanged >= 1
