"""A run: list the sources, skip what is unchanged, take out what is stale, convert the rest, report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import ovsim
from ovsim import contract
from ovsim.contract.joints import custom_joint_types
from ovsim.dataset import fingerprint as fp
from ovsim.dataset import resources
from ovsim.dataset.job import Job, Status
from ovsim.dataset.layout import Layout, Settings
from ovsim.dataset.parts import run_name
from ovsim.dataset.process import Limits
from ovsim.dataset.report import write_report
from ovsim.dataset.schemas import LEVELS
from ovsim.dataset.sources import Listing, expand
from ovsim.errors import OvsimError

ENGINES = ("local", "ray")
_RULES = Settings().rules
_BESIDE = 16  # threads that look at files: they wait for the disk, not for each other


@dataclass(frozen=True)
class Summary:
    """What a run did. `records` holds the rows of `files` (without layers) of every listed source that the dataset now has."""

    dataset: str
    sources: int
    unchanged: int
    vanished: int
    converted: int
    seconds: float
    stopped: bool
    records: Mapping[str, Mapping[str, Any]] = field(repr=False)

    @property
    def bad(self) -> list[Mapping[str, Any]]:
        """Rows of the listed sources whose outcome is not `ok`, converted now or earlier."""
        return [r for r in self.records.values() if r["outcome"] != "ok"]

    @property
    def all_well(self) -> bool:
        """Whether every listed source is in the dataset with outcome `ok`."""
        return not self.bad and len(self.records) == self.sources

    def outcomes(self) -> dict[str, int]:
        """Number of listed sources by outcome, `ok` first, the others by name."""
        out = Counter(r["outcome"] for r in self.records.values())
        return {k: out[k] for k in sorted(out, key=lambda k: (k != "ok", k))}

    def total(self, name: str) -> int:
        """Sum of a count column over the listed sources."""
        return sum(int(r[name]) for r in self.records.values())


def convert(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    level: str = "physx",
    rules: str = _RULES,
    route: str = "auto",
    custom_joints: Sequence[str] = (),
    engine: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    timeout: float = 600.0,
    memory: float | None = None,
    retry_failed: bool = False,
    fail_fast: bool = False,
    progress: Callable[[Status], None] = lambda status: None,
    lines: Iterable[str] = (),
) -> Summary:
    """Convert stages into a Parquet dataset; a second run converts only what changed (`docs/dataset.md`).

    `sources`: files, directories, globs or URIs; `-` takes `lines`. `out`: directory or URI. `level`: columns, descriptors or physx. `engine`: local
    or ray (`address` of a cluster, else a local one). `jobs`: stages at a time, the cores by default. `timeout`: seconds a stage, 0 = none. `memory`:
    GiB a worker, by default 80 % of the machine's shared among the jobs, 0 = none. `retry_failed`: also convert what failed and did not change.
    `fail_fast`: start nothing more after the first stage that is not ok.

    A stage that fails costs no other; its row says why. SourceError when a source lists nothing, DatasetError when `out` is no such dataset or
    another run writes it, StorageError when the output refuses; then what is committed stays and another run goes on from there.
    """
    if isinstance(sources, str | os.PathLike):
        sources = (sources,)
    _choice("level", level, LEVELS)
    _choice("engine", engine, ENGINES)
    count = jobs if jobs is not None else (os.cpu_count() or 1)
    if count < 1:
        raise OvsimError(f"jobs is at least 1, not {count}")
    _check_rules(rules, level)
    limits, chosen = _limits(timeout, memory, count), _engine(engine, address)
    listing = expand((os.fspath(s) for s in sources), lines)
    layout = Layout.create(out, Settings(level, rules, route, custom_joint_types(custom_joints)))
    with layout.lock():
        return _run(layout, listing, chosen, count, limits, retry_failed, fail_fast, progress)


def _run(
    layout: Layout,
    listing: Listing,
    engine: Callable[[Job], None],
    jobs: int,
    limits: Limits,
    retry_failed: bool,
    fail_fast: bool,
    progress: Callable[[Status], None],
) -> Summary:
    status = Status(total=len(listing.sources), step="looking for changes")
    progress(status)
    layout.sweep()
    kept, stale, vanished = _plan(layout, listing, retry_failed)
    layout.drop(stale)
    status.unchanged = len(kept)
    files = [s for s in listing.sources if s not in kept]
    job = Job(layout, run_name(), iter(files), len(files), min(jobs, max(1, len(files))), limits, fail_fast, status, progress, dict(kept))
    try:
        if files:
            engine(job)
    finally:
        summary = Summary(
            layout.storage.uri, len(listing.sources), len(kept), vanished, len(job.records) - len(kept), status.seconds, job.stopping, job.records
        )
        _report(layout, summary)
        layout.sweep_staging()
    return summary


def _plan(layout: Layout, listing: Listing, retry_failed: bool) -> tuple[dict[str, dict[str, Any]], dict[str, set[str]], int]:
    """Rows that stand, rows to take out by part, and how many of these belong to sources that vanished."""
    kept: dict[str, dict[str, Any]] = {}
    stale: dict[str, set[str]] = {}
    vanished = 0
    wanted = set(listing.sources)
    known = list(_listed(layout, listing, wanted))
    with ThreadPoolExecutor(_BESIDE) as pool:
        same = pool.map(lambda pair: _stands(pair[1], retry_failed), known)
        for (part, record), stands in zip(known, same):
            file = record["file"]
            if file in wanted and stands and file not in kept:
                kept[file] = {k: v for k, v in record.items() if k != "layers"}
            else:
                vanished += file not in wanted
                stale.setdefault(part, set()).add(file)
    return kept, stale, vanished


def _listed(layout: Layout, listing: Listing, wanted: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Recorded rows that this run is about: listed sources, and those that its directories and globs no longer give."""
    for part, record in layout.records():
        if record["file"] in wanted or listing.covers(record["file"]):
            yield part, record


def _stands(record: Mapping[str, Any], retry_failed: bool) -> bool:
    if retry_failed and record["outcome"] != "ok":
        return False
    if record["outcome"] == "changed" or record["ovsim"] != ovsim.__version__ or record["contract"] != contract.VERSION:
        return False
    return fp.unchanged(record["layers"])


def _report(layout: Layout, summary: Summary) -> None:
    try:
        write_report(layout, summary)
    except OvsimError:
        return  # the disk is full: the error under way says so


def _engine(name: str, address: str | None) -> Callable[[Job], None]:
    if name == "local":
        if address:
            raise OvsimError("an address belongs to the engine ray")
        from ovsim.dataset import local

        return local.run
    from ovsim.dataset import ray

    return lambda job: ray.run(job, address)


def _limits(timeout: float, memory: float | None, jobs: int) -> Limits:
    if timeout < 0 or (memory is not None and memory < 0):
        raise OvsimError("timeout and memory are not negative; 0 means no limit")
    share = resources.physical() * 0.8 / jobs if memory is None else memory * 2**30
    return Limits(timeout, int(share))


def _check_rules(rules: str, level: str) -> None:
    if level != "columns" and rules != _RULES:  # looking them up loads the kernels, half a second in which no worker has begun
        from consumer.rulesets import get

        get(rules)


def _choice(what: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise OvsimError(f"{what} is one of {', '.join(allowed)}, not {value!r}")
