"""The suite's own phases: each prepares its input and gives the call that is timed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ovsim.bench.synthetic import JOINTS, synthetic_stage
from ovsim.stage import Stage

ROUTE = "auto"
CONTRACT, OBSERVED = "contract-0.6", "observed-0.6.3"


@dataclass
class Prepared:
    """A timed call, the joints that one call handles, the bytes that it must move (0: not counted); `between` runs untimed after every call."""

    work: Callable[[], Any]
    joints: int
    bytes: int = 0
    between: Callable[[], Any] = lambda: None


@dataclass(frozen=True)
class Job:
    """What a worker process measures: phase, kind of stage or path of a file, size, threads."""

    phase: str
    kind: str
    joints: int
    threads: int
    file: str = ""


def _scratch(scope: ExitStack) -> Path:
    return Path(scope.enter_context(tempfile.TemporaryDirectory(prefix="ovsim-bench-")))


def _resolve(job: Job, scope: ExitStack) -> Prepared:
    """Descriptors of a stage. The cold call ranks the paths and touches its memory for the first time; warm calls reuse both."""
    import consumer
    from consumer.buffers import Buffers
    from ovsim.bench.traffic import resolve_bytes

    stage, kept = synthetic_stage(job.joints, job.kind), Buffers()

    def work() -> consumer.Descriptors:
        return consumer.resolve(stage, threads=job.threads, buffers=kept)

    prepared = Prepared(work, _joints(stage))
    prepared.between = _once(lambda: setattr(prepared, "bytes", resolve_bytes(stage, work())))
    return prepared


def _order(job: Job, scope: ExitStack) -> Prepared:
    """The rank of every path in byte order, which a stage's path dictionary keeps after the first call."""
    from consumer.order import rank_paths

    stage = synthetic_stage(job.joints, job.kind)
    return Prepared(lambda: rank_paths(stage.paths), _joints(stage))


def _physx(job: Job, scope: ExitStack) -> Prepared:
    """The PhysX view of a stage, descriptors included."""
    from consumer.physx.view import physx_view

    stage = synthetic_stage(job.joints, job.kind)
    return Prepared(lambda: physx_view(stage), _joints(stage))


def _arrow(job: Job, scope: ExitStack) -> Prepared:
    """Descriptors to an Arrow table with path strings."""
    import consumer

    found = consumer.resolve(synthetic_stage(job.joints, job.kind))
    return Prepared(found.to_arrow, len(found))


def _save(job: Job, scope: ExitStack) -> Prepared:
    """A snapshot written to the temporary directory's disk; the stage's bytes count as read and written."""
    stage = synthetic_stage(job.joints, job.kind)
    where = _scratch(scope) / "stage"
    return Prepared(lambda: stage.save(where), _joints(stage), 2 * sum(a.batch.nbytes for a in stage.archetypes))


def _load(job: Job, scope: ExitStack) -> Prepared:
    """A snapshot opened and checked."""
    stage = synthetic_stage(job.joints, job.kind)
    where = _scratch(scope) / "stage"
    stage.save(where)
    return Prepared(lambda: Stage.load(where), _joints(stage))


def _diff(job: Job, scope: ExitStack) -> Prepared:
    """Descriptors under two rule sets, flattened and compared field by field."""
    import consumer
    from ovsim.diff.comparator import compare
    from ovsim.diff.flat import from_arrow

    stage = synthetic_stage(job.joints, job.kind)
    sides = [consumer.resolve(stage, rules).to_arrow() for rules in (CONTRACT, OBSERVED)]
    return Prepared(lambda: compare("descriptor", from_arrow(sides[0]), from_arrow(sides[1])), _joints(stage))


def _populate(job: Job, scope: ExitStack) -> Prepared:
    """A USD file to a stage."""
    import producer

    return Prepared(lambda: producer.populate(job.file, route=ROUTE), _whole(job.joints))


def _parquet(job: Job, scope: ExitStack) -> Prepared:
    """A USD file to descriptors in Parquet, as `ovsim resolve --format parquet` writes them."""
    from ovsim.api import populate, resolve
    from ovsim.files import write_directory

    where = _scratch(scope)
    return Prepared(lambda: write_directory(where, {"joints": resolve(populate(job.file, route=ROUTE)).to_arrow()}, "parquet"), _whole(job.joints))


PHASES: Mapping[str, Callable[[Job, ExitStack], Prepared]] = {
    "populate": _populate,
    "order": _order,
    "resolve": _resolve,
    "physx": _physx,
    "arrow": _arrow,
    "save": _save,
    "load": _load,
    "diff": _diff,
    "parquet": _parquet,
}
FROM_FILE = frozenset({"populate", "parquet"})
"""Phases that start from a USD file; the others take a synthetic stage."""


def _whole(joints: int) -> int:
    return -(-joints // JOINTS) * JOINTS


def _joints(stage: Stage) -> int:
    return int(stage.metadata["joints"])


def _once(work: Callable[[], Any]) -> Callable[[], None]:
    done: list[bool] = []

    def run() -> None:
        if not done:
            done.append(True)
            work()

    return run
