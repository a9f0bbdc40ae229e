"""Passes over rows, run range by range on several threads.

A kernel takes the rows from `lo` to `hi` first, then whole columns; it writes its own rows only, so neither the thread count nor the size of the
ranges changes a result. All passes of a range run one after the other, so that what they share stays in cache; kernels hold no lock.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
CHUNK = 1 << 13  # rows of a range, by default
NEAR = 1 << 12  # the same for work that reads what other work has just read
FEW = 1 << 12


class Pass(NamedTuple):
    """`kernel(lo, hi, *args)` over a range of rows."""

    kernel: Callable[..., None]
    args: tuple[Any, ...]
    held: Any = None  # what has to live as long: the arrays whose addresses are in `args`


@dataclass
class Work:
    """Passes over the same `rows` rows, in order."""

    rows: int
    passes: list[Pass] = field(default_factory=list)


@dataclass(frozen=True)
class Runner:
    """How passes run: `threads` at once, on ranges of `chunk` rows."""

    threads: int
    chunk: int = CHUNK

    @classmethod
    def of(cls, threads: int | None, chunk: int | None) -> Runner:
        """All cores and `CHUNK` by default; ValueError for more threads than cores or fewer than one, and for an empty range."""
        cores = os.cpu_count() or 1
        if threads is not None and not 1 <= threads <= cores:
            raise ValueError(f"threads is 1 to {cores} on this machine, not {threads}")
        if chunk is not None and chunk < 1:
            raise ValueError(f"chunk is at least 1 row, not {chunk}")
        return cls(cores if threads is None else threads, CHUNK if chunk is None else chunk)

    def run(self, work: Iterable[Work], side_by_side: bool = False) -> None:
        """Run every pass of every range; the kinds of work must not depend on each other.

        `side_by_side`: all work goes through its rows at the same pace, in ranges of `NEAR` rows at most, so that what rows at the same height share
        (the bodies of a robot) is still in cache.
        """
        some = [w for w in work if w.passes]
        chunk = min(self.chunk, NEAR) if side_by_side else self.chunk
        parts = [(w, lo, min(lo + chunk, w.rows)) for w in some for lo in range(0, w.rows, chunk)]
        ranges = deque(sorted(parts, key=lambda part: part[1] / part[0].rows) if side_by_side else parts)
        few = sum(w.rows for w in some) <= min(FEW, self.chunk)  # starting a thread takes longer than a few rows
        helpers = 0 if few else min(self.threads, len(ranges)) - 1
        if helpers < 1:
            _drain(ranges)
            return
        with ThreadPoolExecutor(helpers) as pool:
            started = [pool.submit(_drain, ranges) for _ in range(helpers)]
            _drain(ranges)
            for done in started:
                done.result()

    def each(self, jobs: Sequence[Callable[[], T]]) -> list[T]:
        """Results of jobs that do not depend on each other, several at once; the first that fails, in order, fails all."""
        if self.threads < 2 or len(jobs) < 2:
            return [job() for job in jobs]
        with ThreadPoolExecutor(min(self.threads, len(jobs))) as pool:
            return [done.result() for done in [pool.submit(job) for job in jobs]]

    def over(self, rows: int, kernel: Callable[..., None], *args: Any) -> None:
        """Run one pass over `rows` rows."""
        self.run([Work(rows, [Pass(kernel, args)])])


def _drain(ranges: deque[tuple[Work, int, int]]) -> None:
    while True:
        try:
            work, lo, hi = ranges.popleft()
        except IndexError:
            return
        for kernel, args, _ in work.passes:
            kernel(lo, hi, *args)
