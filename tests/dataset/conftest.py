"""A small fleet of good and bad stages, made by the project's own script, and what tests of the dataset share."""

from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from ovsim.cli import main
from ovsim.dataset import Dataset, convert, convert_stage
from ovsim.dataset.job import GOOD, Job
from ovsim.dataset.parts import Group
from ovsim.dataset.schemas import VOLATILE

STAGES = 24


@pytest.fixture(scope="session")
def makers() -> ModuleType:
    """benchmarks/make_stages.py as a module."""
    where = Path(__file__).parents[2] / "benchmarks" / "make_stages.py"
    spec = importlib.util.spec_from_file_location("make_stages", where)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory, makers: ModuleType) -> Path:
    """A directory of good stages: STAGES of them and the asset that some refer to."""
    out = tmp_path_factory.mktemp("fleet")
    makers.make_good(out, STAGES)
    return out


@pytest.fixture(scope="session")
def converted(fleet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of the fleet, for tests that only read it."""
    out = tmp_path_factory.mktemp("converted") / "dataset"
    done = convert(fleet, out, jobs=2)
    assert done.all_well
    return out


@pytest.fixture(scope="session")
def columns_only(fleet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same at the level columns through pxr, whose workers start fastest: what runs are compared with."""
    out = tmp_path_factory.mktemp("columns") / "dataset"
    assert convert(fleet, out, jobs=2, level="columns", route="composed").all_well
    return out


@pytest.fixture
def stages(tmp_path: Path, makers: ModuleType) -> Path:
    """A few stages of its own for a test that changes them: three with a robot each, the last referring to an asset."""
    out = tmp_path / "stages"
    (out / "assets").mkdir(parents=True)
    (out / "assets" / "arm.usda").write_text(makers.asset())
    for i in range(3):
        (out / f"s{i}.usda").write_text(makers.good_stage(100 + i, 3))
    (out / "borrower.usda").write_text(makers.good_stage(200, 2, "./assets/arm.usda"))
    return out


def rows(dataset: Path, table: str) -> pa.Table:
    """A table of a dataset in an order that does not depend on the run, without what may differ between runs."""
    got = Dataset(dataset).table(table)
    return got.drop_columns(list(VOLATILE)) if table == "files" else got


def same(one: Path, other: Path) -> list[str]:
    """Names of the tables in which two datasets differ."""
    assert Dataset(one).tables == Dataset(other).tables
    return [t for t in Dataset(one).tables if not _equal(rows(one, t), rows(other, t))]


def _equal(a: pa.Table, b: pa.Table) -> bool:
    return a.schema.equals(b.schema) and a.equals(b)


@pytest.fixture
def differences() -> Callable[[Path, Path], list[str]]:
    return same


@pytest.fixture
def read() -> Callable[[Path, str], pa.Table]:
    return rows


@pytest.fixture
def outcomes() -> Callable[[Path], dict[str, Any]]:
    """Outcome by file name of a dataset."""

    def by_name(dataset: Path) -> dict[str, Any]:
        return {Path(r["file"]).name: r["outcome"] for r in Dataset(dataset).table("files").to_pylist()}

    return by_name


def _one_process(job: Job) -> None:
    """An engine in a few lines, the stages one after the other in this process: what the engines share is `Job`, `Group` and `convert_stage`."""
    group = Group(job.layout.storage, job.layout.settings.level, job.name)

    def commit(part) -> None:
        if part:
            job.commit(*part)

    for file in job.files:
        record = convert_stage(file, job.layout.settings, group.add)
        if record["outcome"] not in GOOD:
            group.fail()
        commit(group.finish(record))
        job.finished(record)
        if job.stopping:
            break
    commit(group.flush())


@pytest.fixture(scope="session")
def one_process() -> Callable[[Job], None]:
    return _one_process


@pytest.fixture
def inline(monkeypatch) -> None:
    """Runs without worker processes, for tests of what a run does with the results; most of a small run's time is the start of its workers."""
    monkeypatch.setattr("ovsim.dataset.local.run", _one_process)


@pytest.fixture
def calmly(monkeypatch) -> Callable[..., Any]:
    """`convert` in this process: what an undisturbed run gives."""

    def run(*args: Any, **options: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr("ovsim.dataset.local.run", _one_process)
            return convert(*args, **options)

    return run


@pytest.fixture
def command(monkeypatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command line within this process: arguments (and text for standard input) to exit status, output and errors."""

    def run(*args: str, text: str = "") -> subprocess.CompletedProcess[str]:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        with monkeypatch.context() as patch:
            for name, value in (("argv", ["ovsim", *args]), ("stdin", io.StringIO(text)), ("stdout", out), ("stderr", err)):
                patch.setattr(sys, name, value)
            try:
                main()
                status = 0
            except SystemExit as e:
                status = int(e.code or 0)
            out.flush()
            err.flush()
        said = [stream.buffer.getvalue().decode() for stream in (out, err)]  # type: ignore[attr-defined]
        return subprocess.CompletedProcess(list(args), status, *said)

    return run
