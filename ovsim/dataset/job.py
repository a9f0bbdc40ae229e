"""What an engine gets and gives: the files to convert, and a place to tell what became of them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ovsim.dataset.layout import Layout
from ovsim.dataset.process import Limits, Task

GOOD = ("ok", "incomplete")


@dataclass
class Status:
    """Progress of a run: stages in the source list, those unchanged since earlier, converted ones, and of these the ones that are not `ok`."""

    total: int = 0
    unchanged: int = 0
    converted: int = 0
    bad: int = 0
    joints: int = 0
    step: str = ""
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Converted stages a second."""
        return self.converted / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> float | None:
        """Seconds that the rest will take at this rate, None while nothing is known."""
        left = self.total - self.unchanged - self.converted
        return left / self.rate if self.rate > 0 else None


@dataclass
class Job:
    """One run of an engine over a dataset."""

    layout: Layout
    name: str
    files: Iterator[str]
    count: int
    jobs: int
    limits: Limits
    fail_fast: bool = False
    status: Status = field(default_factory=Status)
    progress: Callable[[Status], None] = lambda status: None
    records: dict[str, dict[str, Any]] = field(default_factory=dict)  # committed rows of `files`, without their layers
    stopping: bool = False
    again: deque[Task] = field(default_factory=deque)  # stages whose worker was lost
    exhausted: bool = False  # no file is left but those

    def next(self) -> Task | None:
        """The stage to give out next, one that lost its worker first; None when there is none or the run is to stop."""
        if self.stopping:
            return None
        if self.again:
            return self.again.popleft()
        file = next(self.files, None)
        self.exhausted = file is None
        return None if file is None else Task(file)

    def finished(self, record: dict[str, Any]) -> None:
        """A stage has its result; it counts, but is not in the dataset yet."""
        self.status.converted += 1
        self.status.joints += record["joints"]
        self.status.bad += record["outcome"] != "ok"
        self.status.step = record["file"]
        if self.fail_fast and record["outcome"] != "ok":
            self.stopping = True
        self.progress(self.status)

    def undone(self, record: dict[str, Any]) -> None:
        """The result of a finished stage was lost with its worker; it will be converted again."""
        self.status.converted -= 1
        self.status.joints -= record["joints"]
        self.status.bad -= record["outcome"] != "ok"

    def commit(self, place: str, records: list[dict[str, Any]]) -> None:
        """Make a part count."""
        self.layout.commit(place, records)
        for r in records:
            self.records[r["file"]] = {k: v for k, v in r.items() if k != "layers"}

    @property
    def patience(self) -> float:
        """Seconds of work that a worker may hold back: 5, and a twentieth of the run's time in long runs, so that parts stay few."""
        return max(5.0, self.status.seconds / 20)
