"""A worker process as its owner sees it: started once, spoken to by messages, watched for time and memory, killed when it exceeds them."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import Any

from ovsim.dataset import fingerprint as fp
from ovsim.dataset import resources
from ovsim.dataset.layout import Settings
from ovsim.dataset.stage import blank, record_layers, record_root
from ovsim.dataset.worker import Setup, receive, send

TICK = 0.05
_START = 900.0  # seconds in which a worker must be ready: on however busy a machine, kernels not yet compiled
CRASHES = 3  # times that a stage may lose its worker before it counts as the cause
_BOOT = "import sys; sys.path[:] = {path!r}; from ovsim.dataset.worker import main; main()"


@dataclass
class Limits:
    """Seconds a stage (0 = none) and bytes of resident memory a worker (0 = none)."""

    timeout: float = 600.0
    memory: int = 0


@dataclass
class Task:
    """A stage to convert; `attempts` counts this one."""

    file: str
    attempts: int = 1


class WorkerProcess:
    """One worker; its messages arrive in `inbox` as (worker, message), a last one with None when it is gone."""

    def __init__(self, setup: Setup, inbox: queue.SimpleQueue[tuple[WorkerProcess, Any]]) -> None:
        self.name = setup.name
        self.task: Task | None = None
        self.since = time.monotonic()
        self.layers: list[fp.Layer] = []
        self.pending: list[Task] = []  # finished, not yet in a part
        self.done = 0
        self.start_up = 0.0  # CPU seconds until it was ready, paid once
        self.ready = False
        self.idle = False
        self.leaving = False
        self.base = 0
        self.most = 0
        self.killed = ""
        self._setup = setup
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        env = dict(os.environ)
        for name in ("NUMBA_NUM_THREADS", "PXR_WORK_THREAD_LIMIT", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            env[name] = str(setup.threads)
        command = [sys.executable, "-X", "faulthandler", "-c", _BOOT.format(path=sys.path)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=env, start_new_session=os.name == "posix"
        )
        assert self.process.stdin is not None
        self._in = self.process.stdin
        self.tell("setup", setup)
        threading.Thread(target=self._listen, args=(inbox,), daemon=True).start()

    def tell(self, *message: Any) -> None:
        """Send a message; a worker that is gone says so through the inbox, not here."""
        try:
            send(self._in, message)
        except (BrokenPipeError, OSError, ValueError):
            return

    def start(self, task: Task, patience: float) -> None:
        """Begin a stage."""
        self.task, self.since, self.layers, self.most, self.idle = task, time.monotonic(), [], 0, False
        self.tell("stage", task.file, task.attempts, patience)

    def exceeded(self, limits: Limits) -> bool:
        """Kill the worker when its stage takes too long or it holds too much memory; whether it did."""
        if self.killed:
            return False
        held = resources.resident(self.process.pid)
        self.most = max(self.most, held)
        if limits.memory and held > limits.memory:
            self.kill("memory")
        elif not self.ready and time.monotonic() - self.since > _START:
            self.kill("start")
        elif limits.timeout and self.task is not None and time.monotonic() - self.since > limits.timeout:
            self.kill("timeout")
        return bool(self.killed)

    def bloated(self, limits: Limits) -> bool:
        """Whether an idle worker keeps so much memory from earlier stages that a new one serves better."""
        if not limits.memory or not self.done:
            return False
        return resources.resident(self.process.pid) - self.base > (limits.memory - self.base) / 2

    def kill(self, reason: str) -> None:
        self.killed = reason
        self.process.kill()

    def close(self) -> None:
        """End the process and free what it held; safe to call twice."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self._in, self._errors):
            try:
                stream.close()
            except OSError:
                continue

    def verdict(self, limits: Limits) -> Task | dict[str, Any] | None:
        """After the worker is gone: the current stage to try again, its row of `files` when it is to blame, None when there was none."""
        task = self.task
        if task is None:
            return None
        if self.killed == "memory" and self.done:
            return Task(task.file, task.attempts + 1)  # earlier stages may have filled it: once more in a new worker
        if not self.killed and task.attempts < CRASHES:
            return Task(task.file, task.attempts + 1)
        record = failure(task, self._setup.settings, *self._reason(limits), self.layers)
        record.update(seconds=time.monotonic() - self.since, peak_memory=self.most)
        return record

    def tail(self) -> str:
        """The last line that the worker wrote on standard error."""
        try:
            size = self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(0, size - 4096))
            lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        except (OSError, ValueError):
            return ""
        fatal = [line for line in lines if line.startswith("Fatal Python error")]
        return (fatal or lines or [""])[-1].strip()

    def _reason(self, limits: Limits) -> tuple[str, str, str]:
        if self.killed == "timeout":
            return "timeout", "Timeout", f"not finished after {limits.timeout:g} s; raise --timeout, or see what the stage waits for"
        if self.killed == "memory":
            most, limit = self.most / 2**30, limits.memory / 2**30
            return "memory", "MemoryLimit", f"needed {most:.2f} GiB and more, the limit is {limit:.2f} GiB; raise --memory"
        code = self.process.returncode
        cause = signal.Signals(-code).name if code is not None and code < 0 else f"exit status {code}"
        tail = self.tail()
        return "crashed", cause, f"its worker died {CRASHES} times ({cause}){': ' + tail if tail else ''}"

    def _listen(self, inbox: queue.SimpleQueue[tuple[WorkerProcess, Any]]) -> None:
        stream = self.process.stdout
        assert stream is not None
        try:
            while (message := receive(stream)) is not None:
                inbox.put((self, message))
        except (OSError, ValueError, EOFError):
            pass
        self.process.wait()
        stream.close()
        inbox.put((self, None))


def failure(task: Task, settings: Settings, outcome: str, cause: str, message: str, layers: list[fp.Layer]) -> dict[str, Any]:
    """A row of `files` for a stage whose worker was lost."""
    record = blank(task.file, settings)
    record.update(outcome=outcome, cause=cause, message=message, attempts=task.attempts)
    if layers:
        record_layers(record, layers)
    else:
        record_root(task.file, record)
    return record
