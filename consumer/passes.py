"""Passes over rows, run range by range on several threads.

A kernel takes the rows from `lo` to `hi` first, then whole columns; it writes its own rows only, so neither the thread count nor the size of the
ranges changes a result. All passes of a range run one after the other, so that what they share stays in cache; kernels hold no lock.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

CHUNK = 1 << 13  # rows of a range, by default
FEW = 1 << 12
LEAST, MOST = 1 << 10, 1 << 14  # rows of a range that is fitted to the work
SHARES = 8  # ranges a thread gets then, as far as these allow


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


class Helpers:
    """Threads that wait for work; they start when first needed and end with whoever holds this."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def start(self, job: Callable[[], None], copies: int) -> list[Future[None]]:
        """Run a job on so many threads at once."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(os.cpu_count() or 1)
        return [self._pool.submit(job) for _ in range(copies)]


@dataclass(frozen=True)
class Runner:
    """How passes run: `threads` at once, on ranges of `chunk` rows; `asked`: that number is the caller's wish."""

    threads: int
    chunk: int = CHUNK
    asked: bool = False
    helpers: Helpers = field(default_factory=Helpers, repr=False, compare=False)

    @classmethod
    def of(cls, threads: int | None, chunk: int | None) -> Runner:
        """All cores and `CHUNK` by default; ValueError for more threads than cores or fewer than one, and for an empty range."""
        cores = os.cpu_count() or 1
        if threads is not None and not 1 <= threads <= cores:
            raise ValueError(f"threads is 1 to {cores} on this machine, not {threads}")
        if chunk is not None and chunk < 1:
            raise ValueError(f"chunk is at least 1 row, not {chunk}")
        return cls(cores if threads is None else threads, CHUNK if chunk is None else chunk, chunk is not None)

    def fitted(self, rows: int) -> Runner:
        """The same with ranges that suit so many rows, unless their size was asked for.

        Enough for every thread to have several, so that all end together; as few as that allows, since each costs a call from Python.
        """
        if self.asked:
            return self
        share = rows // (SHARES * self.threads)
        return replace(self, chunk=max(LEAST, min(MOST, share // LEAST * LEAST)))

    def run(self, work: Iterable[Work]) -> None:
        """Run every pass of every range; the kinds of work must not depend on each other."""
        some = [w for w in work if w.passes]
        ranges = deque((w, lo, min(lo + self.chunk, w.rows)) for w in some for lo in range(0, w.rows, self.chunk))
        few = sum(w.rows for w in some) <= min(FEW, self.chunk)  # starting a thread takes longer than a few rows
        self._share(partial(_drain, ranges), 1 if few else len(ranges))

    def _share(self, drain: Callable[[], None], parts: int) -> None:
        """Take parts of some work until none is left, on all threads; a helper that has not come to it by then is not waited for."""
        copies = min(self.threads, parts) - 1
        if copies < 1:
            drain()
            return
        started = self.helpers.start(drain, copies)
        try:
            drain()
        finally:
            late = [done for done in started if not done.cancel()]
            wait(late)
        for done in late:
            done.result()

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
