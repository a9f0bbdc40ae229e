"""Engine `local`: worker processes of this machine. A crash, a hang or a giant costs its stage alone."""

from __future__ import annotations

import os
import queue
from typing import Any

from ovsim.dataset.job import Job
from ovsim.dataset.parts import Group
from ovsim.dataset.process import TICK, Task, WorkerProcess
from ovsim.dataset.storage import StorageError
from ovsim.dataset.worker import Setup
from ovsim.errors import OvsimError

_VAIN = 3  # workers in a row that die without having been given a stage


class WorkerError(OvsimError):
    """Workers cannot start, or do not fit the memory limit even without a stage."""


def run(job: Job) -> None:
    """Convert the job's files. At most `jobs` stages are under way and each worker holds back a bounded group, so memory is bounded too.

    StorageError when the output refuses, WorkerError when no worker can live; what is committed stays.
    """
    pool = _Pool(job)
    try:
        pool.run()
    finally:
        pool.close()


class _Pool:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.inbox: queue.SimpleQueue[tuple[WorkerProcess, Any]] = queue.SimpleQueue()
        self.workers: list[WorkerProcess] = []
        self.started = 0
        self.vain = 0
        self.results: dict[str, dict[str, Any]] = {}  # finished, not committed
        self.lost = Group(job.layout.storage, job.layout.settings.level, f"{job.name}-lost")

    def run(self) -> None:
        while True:
            self._assign()
            if not self.workers and not self._more():
                break
            try:
                worker, message = self.inbox.get(timeout=TICK)
            except queue.Empty:
                pass
            else:
                self._hear(worker, message)
            for w in self.workers:
                w.exceeded(self.job.limits)
        self._commit_lost()

    def close(self) -> None:
        for w in self.workers:
            w.close()
        self.workers = []

    # -- giving work -----------------------------------------------------------------------------------------------

    def _more(self) -> bool:
        return not self.job.stopping and (bool(self.job.again) or not self.job.exhausted)

    def _assign(self) -> None:
        for w in [w for w in self.workers if w.idle]:
            if w.bloated(self.job.limits):
                self._dismiss(w)
            elif (task := self.job.next()) is not None:
                w.start(task, self.job.patience)
            else:
                self._dismiss(w)
        waiting = sum(not w.ready for w in self.workers)
        while self._more() and len(self.workers) < self.job.jobs and waiting < max(len(self.job.again), 1 if self.job.exhausted else self.job.jobs):
            self.workers.append(WorkerProcess(self._setup(), self.inbox))
            waiting += 1

    def _dismiss(self, w: WorkerProcess) -> None:
        """Have a worker write what it holds and leave."""
        w.idle, w.leaving = False, True
        w.tell("flush")
        w.tell("stop")

    def _setup(self) -> Setup:
        self.started += 1
        threads = max(1, (os.cpu_count() or 1) // self.job.jobs)
        name = f"{self.job.name}-{self.started:04d}"
        return Setup(self.job.layout.settings, name, self.job.limits.memory, threads, self.job.layout.storage)

    # -- hearing of it ---------------------------------------------------------------------------------------------

    def _hear(self, w: WorkerProcess, message: Any) -> None:
        if message is None:
            self._gone(w)
            return
        kind, *told = message
        if kind == "ready":
            w.ready = w.idle = True
            w.base, w.start_up = w.most, told[0]
            self.vain = 0
        elif kind == "seen":
            w.layers = told[0]
        elif kind == "stage":
            self._finished(w, told[0])
        elif kind == "part":
            self._part(w, *told)
        elif kind == "refused":
            raise StorageError(told[0])
        elif kind == "idle":
            w.idle = not w.leaving

    def _finished(self, w: WorkerProcess, record: dict[str, Any]) -> None:
        assert w.task is not None
        w.pending.append(w.task)
        w.task = None
        w.done += 1
        self.results[record["file"]] = record
        self.job.finished(record)

    def _part(self, w: WorkerProcess, place: str, records: list[dict[str, Any]]) -> None:
        self.job.commit(place, records)
        names = {r["file"] for r in records}
        w.pending = [t for t in w.pending if t.file not in names]
        for name in names:
            self.results.pop(name, None)

    def _gone(self, w: WorkerProcess) -> None:
        self.workers.remove(w)
        for task in reversed(w.pending):
            self.job.undone(self.results.pop(task.file))
            self.job.again.appendleft(task)
        verdict = w.verdict(self.job.limits)
        if isinstance(verdict, Task):
            self.job.again.appendleft(verdict)
        elif verdict is not None:
            self.job.finished(verdict)
            self.lost.finish(verdict)
            if self.lost.due(self.job.patience):
                self._commit_lost()
        elif not w.leaving:
            self._in_vain(w)
        w.close()

    def _in_vain(self, w: WorkerProcess) -> None:
        self.vain += 1
        if self.vain < _VAIN:
            return
        if w.killed == "memory":
            held, limit = w.most / 2**30, self.job.limits.memory / 2**30
            raise WorkerError(f"a worker holds {held:.2f} GiB before its first stage, the limit is {limit:.2f} GiB; raise --memory")
        raise WorkerError(f"workers die before their first stage (exit status {w.process.returncode}): {w.tail() or 'no message'}")

    def _commit_lost(self) -> None:
        part = self.lost.flush()
        if part:
            self.job.commit(*part)
