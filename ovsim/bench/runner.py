"""Runs the suite: every measurement in a fresh process, rounds interleaved, whatever is missing or crashes told and left out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ovsim.bench.peer import PEERS, Peer
from ovsim.bench.phases import FROM_FILE, PHASES, Job
from ovsim.bench.results import BenchError, Row, Run
from ovsim.bench.synthetic import KINDS
from ovsim.bench.usdfiles import file_name

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What to measure. `limit` [s] is how long one process may take; `file_joints` is the largest stage file that is written,
    `peer_joints` the largest that peers are given: they take a thousand times longer."""

    sizes: Sequence[int] = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
    kinds: Sequence[str] = ("mixed",)
    phases: Sequence[str] = ("populate", "resolve", "physx", "save", "load", "diff")
    peers: Sequence[str] = tuple(PEERS)
    rounds: int = 3
    warm: int = 3
    threads: int = 2
    limit: float = 600.0
    file_joints: int = 100_000
    peer_joints: int = 100_000

    def check(self) -> None:
        """BenchError when something asked for does not exist or cannot be."""
        cores = os.cpu_count() or 1
        if not 1 <= self.threads <= cores:
            raise BenchError(f"--threads is 1 to {cores} on this machine, not {self.threads}")
        if not self.sizes or min(self.sizes) < 1:
            raise BenchError(f"--sizes are numbers of joints from 1 up, not {min(self.sizes, default=0)}")
        if self.rounds < 1 or self.warm < 0:
            raise BenchError("--rounds is at least 1 and --warm at least 0")
        for what, asked, known in (("kind", self.kinds, KINDS), ("phase", self.phases, PHASES), ("peer", self.peers, PEERS)):
            for name in asked:
                if name not in known:
                    raise BenchError(f"no {what} is called {name!r}; there are {', '.join(known)}")


class Suite:
    """One run of a plan."""

    def __init__(self, plan: Plan, scratch: Path, tell: Tell) -> None:
        plan.check()
        self.plan, self.scratch, self.tell = plan, scratch, tell
        self.run = Run()
        self._dropped: set[str] = set()
        self._files: dict[tuple[str, int], str] = {}

    def jobs(self) -> list[tuple[str, Callable[[int], list[Row]]]]:
        """Every measurement by its name, as a function of the round."""
        out: list[tuple[str, Callable[[int], list[Row]]]] = []
        for size in self.plan.sizes:
            for phase in self.plan.phases:
                shapes = ("flat", "cloned") if phase in FROM_FILE else self.plan.kinds
                for kind in shapes:
                    job = Job(phase, kind, size, self.plan.threads)
                    out.append((f"ovsim {phase} {kind} {size}", lambda r, job=job: self._own(job, r)))  # type: ignore[misc]
            for name in self.plan.peers if size <= self.plan.peer_joints else ():
                out.append((f"{name} {size}", lambda r, p=PEERS[name], n=size: self._peer(p, n, r)))  # type: ignore[misc]
        return out

    def execute(self) -> Run:
        """All rounds. A measurement that fails once is told and left out of the later rounds."""
        jobs = self.jobs()
        for round_ in range(self.plan.rounds):
            for name, job in jobs:
                if name in self._dropped:
                    continue
                self.tell(f"round {round_ + 1} of {self.plan.rounds}: {name}")
                try:
                    self.run.rows += job(round_)
                except SkipError as e:
                    self._dropped.add(name)
                    self.run.skipped.append({"what": name, "why": str(e)})
                    self.tell(f"skipped {name}: {e}")
        return self.run

    def _own(self, job: Job, round_: int) -> list[Row]:
        if job.phase in FROM_FILE:
            job = Job(job.phase, job.kind, job.joints, job.threads, self._file(job.kind, job.joints))
        asked = json.dumps({"job": asdict(job), "round": round_, "warm": self.plan.warm})
        got = self.process([sys.executable, "-m", "ovsim.bench.worker", asked])
        return [Row(**r) for r in got["rows"]]

    def _peer(self, peer: Peer, size: int, round_: int) -> list[Row]:
        python, why = peer.python()
        if not python:
            raise SkipError(why)
        file = self._file(peer.shape, size)
        got = self.process([python, str(peer.path), file])
        joints = got.get("joints") or self._joints(size)
        self.run.facts.setdefault("peers", {})[peer.name] = got.get("versions", {})
        rows = []
        for phase, steps in peer.phases.items():
            if all(s in got["seconds"] for s in steps):
                took = sum(got["seconds"][s] for s in steps)
                rows.append(Row(peer.name, phase, peer.shape, joints, round_, "cold", took, peak_bytes=got["peak_bytes"]))
        return rows

    @staticmethod
    def _joints(size: int) -> int:
        return -(-size // 12) * 12

    def _file(self, shape: str, size: int) -> str:
        """Path of a stage file, written on first use in a process of its own."""
        if size > self.plan.file_joints * (10 if shape == "cloned" else 1):
            raise SkipError(
                f"no {shape} stage file of {size} joints is written, the bound is --file-joints {self.plan.file_joints} (ten times for cloned)"
            )
        if (shape, size) not in self._files:
            out = str(self.scratch / file_name(shape, size))
            self.process([sys.executable, "-m", "ovsim.bench.usdfiles", shape, str(size), out], marked=False)
            self._files[shape, size] = out
        return self._files[shape, size]

    def process(self, command: Sequence[str], marked: bool = True) -> dict[str, Any]:
        """The result line of a process. `SkipError` says what went wrong: no such program, a crash, too slow, no result."""
        try:
            done = subprocess.run(list(command), capture_output=True, text=True, timeout=self.plan.limit, check=False, cwd=self.scratch)
        except subprocess.TimeoutExpired:
            raise SkipError(f"took longer than {self.plan.limit:g} s (--limit)") from None
        except OSError as e:
            raise SkipError(f"cannot be started: {e.strerror}") from e
        lines = [line for line in done.stdout.splitlines() if line.startswith("@@")]
        if done.returncode == 0 and not marked:
            return {}
        if done.returncode == 0 and lines:
            got: dict[str, Any] = json.loads(lines[-1][2:])
            return got
        raise SkipError(_cause(done.returncode, done.stderr))


class SkipError(Exception):
    """Why a measurement is left out."""


def _cause(code: int, text: str) -> str:
    last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
    if code < 0:
        return f"crashed with {signal.Signals(-code).name}" + (f"; its last words: {last[:200]}" if last else "")
    return f"ended with status {code}: {last[:300]}" if code else "ended without a result"


def execute(plan: Plan, tell: Tell = lambda step: None) -> Run:
    """Run a plan in a scratch directory that goes away. BenchError for a plan that cannot be, or without disk space."""
    from ovsim.bench.measure import machine

    try:
        with tempfile.TemporaryDirectory(prefix="ovsim-bench-") as scratch:
            run = Suite(plan, Path(scratch), tell).execute()
    except OSError as e:
        raise BenchError(f"the scratch directory cannot be used: {e.strerror or e}; set TMPDIR to a place with room") from e
    run.facts.update(machine=machine(), plan=asdict(plan))
    return run
