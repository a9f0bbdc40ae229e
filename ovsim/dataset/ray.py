"""Engine `ray`: the same function a stage on a Ray cluster (extra `ovsim[ray]`).

Each actor holds one guarded worker process, exactly as the local engine does, and gives a stage's tables back as Arrow blocks through the object
store; the process that called `convert` writes and commits them. At most two stages an actor are under way, so results never pile up. An actor that
is lost (a node, a preemption, an out-of-memory kill) is replaced and its stages are given out again. Sources must be readable from every node.
"""

from __future__ import annotations

import queue
from importlib import import_module
from typing import Any

from ovsim.dataset.blocks import Block, unpack
from ovsim.dataset.job import GOOD, Job
from ovsim.dataset.parts import Group
from ovsim.dataset.process import CRASHES, TICK, Limits, Task, WorkerProcess, failure
from ovsim.dataset.worker import Setup
from ovsim.errors import OvsimError

_AHEAD = 2  # stages under way an actor: one at work, one waiting


class RayError(OvsimError):
    """Ray is not installed or its cluster cannot be reached."""


class StageActor:
    """One worker process on some node. `convert` returns (row of `files`, blocks)."""

    def __init__(self, setup: Setup, limits: Limits) -> None:
        self._setup = setup
        self._limits = limits
        self._worker: WorkerProcess | None = None
        self._inbox: queue.SimpleQueue[tuple[WorkerProcess, Any]] = queue.SimpleQueue()

    def convert(self, task: Task) -> tuple[dict[str, Any], list[Block]]:
        """Convert one stage under the limits; never raises for what a stage does."""
        while True:
            got = self._try(task)
            if isinstance(got, Task):
                task = got
            else:
                return got

    def process_id(self) -> int:
        """Process id of the actor, for tests of its loss."""
        import os

        return os.getpid()

    def _try(self, task: Task) -> Task | tuple[dict[str, Any], list[Block]]:
        worker = self._ready()
        if isinstance(worker, str):
            record = failure(task, self._setup.settings, "crashed", "WorkerError", worker, [])
            return record, []
        worker.start(task, 0.0)
        while True:
            message = self._hear(worker)
            if message is None:
                continue
            if message == ("gone",):
                self._worker = None
                verdict = worker.verdict(self._limits)
                worker.close()
                return verdict if isinstance(verdict, Task) else (verdict or {}, [])
            if message[0] == "seen":
                worker.layers = message[1]
            elif message[0] == "blocks":
                worker.task = None
                worker.done += 1
                return message[1], message[2]

    def _ready(self) -> WorkerProcess | str:
        """A worker that waits for a stage, or why there is none."""
        if self._worker is not None and self._worker.bloated(self._limits):
            self._worker.close()
            self._worker = None
        for _ in range(CRASHES):
            if self._worker is not None:
                return self._worker
            worker = WorkerProcess(self._setup, self._inbox)
            while (message := self._hear(worker)) is None or message[0] not in ("ready", "gone"):
                pass
            if message[0] == "ready":
                worker.ready, worker.base = True, worker.most
                self._worker = worker
            else:
                why = worker.tail() or "no message"
                worker.close()
        return f"workers die before their first stage: {why}"

    def _hear(self, worker: WorkerProcess) -> Any:
        """The next message of the worker, ("gone",) at its end, None when a tick passed."""
        try:
            sender, message = self._inbox.get(timeout=TICK)
        except queue.Empty:
            worker.exceeded(self._limits)
            return None
        worker.exceeded(self._limits)
        if sender is not worker:
            return None
        return ("gone",) if message is None else message


def run(job: Job, address: str | None = None) -> None:
    """Convert the job's files on Ray: the cluster at `address`, the one that is already connected, or a new local one. RayError without Ray."""
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise RayError("the engine ray needs Ray: pip install 'ovsim[ray]'") from None
    mine = not ray.is_initialized()
    if mine:
        try:
            own = {} if address else {"num_cpus": job.jobs, "include_dashboard": False}
            ray.init(address=address, log_to_driver=False, logging_level="error", **own)
        except (ConnectionError, RuntimeError, ValueError, OSError) as e:
            raise RayError(f"no Ray cluster at {address or 'this machine'}: {e}") from e
    try:
        _Driver(job, ray).run()
    finally:
        if mine:
            ray.shutdown()


class _Driver:
    def __init__(self, job: Job, ray: Any) -> None:
        self.job = job
        self.ray = ray
        self.kind = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(StageActor)
        self.actors: list[Any] = []
        self.under_way: dict[Any, tuple[Any, Task]] = {}  # result reference: actor, task
        self.group = Group(job.layout.storage, job.layout.settings.level, f"{job.name}-ray")

    def run(self) -> None:
        self.actors = [self._actor() for _ in range(self.job.jobs)]
        try:
            while self._fill() or self.under_way:
                done, _ = self.ray.wait(list(self.under_way), num_returns=1, timeout=5.0)
                for reference in done:
                    self._take(reference)
        finally:
            for actor in self.actors:
                self.ray.kill(actor)
        self._commit(self.group.flush())

    def _actor(self) -> Any:
        setup = Setup(self.job.layout.settings, self.job.name, self.job.limits.memory, 1, None)
        return self.kind.remote(setup, self.job.limits)

    def _fill(self) -> bool:
        """Give every actor stages up to its bound; whether any is under way."""
        for _ in range(_AHEAD):
            for actor in self.actors:
                if sum(a is actor for a, _ in self.under_way.values()) >= _AHEAD:
                    continue
                task = self.job.next()
                if task is None:
                    return bool(self.under_way)
                self.under_way[actor.convert.remote(task)] = (actor, task)
        return bool(self.under_way)

    def _take(self, reference: Any) -> None:
        if reference not in self.under_way:
            return  # given out again with its actor
        actor, _ = self.under_way[reference]
        try:
            record, blocks = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError:
            raise
        except self.ray.exceptions.RayError as e:
            self._lost(actor, str(e).strip().splitlines()[0])
            return
        del self.under_way[reference]
        if record["outcome"] in GOOD:
            for table, rows in unpack(blocks):
                self.group.add(table, rows)
        del blocks
        self._finish(record)

    def _finish(self, record: dict[str, Any]) -> None:
        self._commit(self.group.finish(record))
        self.job.finished(record)
        if self.group.due(self.job.patience):
            self._commit(self.group.flush())

    def _lost(self, actor: Any, why: str) -> None:
        """Replace an actor that died. The stage that it was at may be the cause and counts an attempt; the one that waited behind it does not."""
        self.actors[self.actors.index(actor)] = self._actor()
        references = [r for r, (a, _) in self.under_way.items() if a is actor]
        current, *waiting = [self.under_way.pop(r)[1] for r in references]
        self.job.again.extendleft(reversed(waiting))
        if current.attempts < CRASHES:
            self.job.again.appendleft(Task(current.file, current.attempts + 1))
        else:
            settings = self.job.layout.settings
            self._finish(failure(current, settings, "crashed", "RayActorError", f"its Ray worker died {CRASHES} times: {why}", []))

    def _commit(self, part: tuple[str, list[dict[str, Any]]] | None) -> None:
        if part:
            self.job.commit(*part)
