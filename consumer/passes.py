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

import numpy as np
import numpy.typing as npt

from ovsim.jit import at, ranged, readonly

Array = npt.NDArray[Any]
T = TypeVar("T")
CHUNK = 1 << 13  # rows of a range, by default
NEAR = 1 << 12  # the same for work that reads what other work has just read
FEW = 1 << 12
REPEAT = 32  # copies of a repeated record that are written at once, at most


class Pass(NamedTuple):
    """`kernel(lo, hi, *args)` over a range of rows."""

    kernel: Callable[..., None]
    args: tuple[Any, ...]


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
        for kernel, args in work.passes:
            kernel(lo, hi, *args)


class Record(NamedTuple):
    """One record of a row: its place `k`, whether its columns are all defaults, and the arguments of its kernel after (rows, k)."""

    k: int
    constant: bool
    args: tuple[Any, ...]


def constant(*columns: Any) -> bool:
    """Whether none of the `(values, step)` columns is there: every row reads the same defaults."""
    return all(step == 0 for step in columns[1::2])


def record_passes(rows: Array, kernel: Callable[..., None], records: Sequence[Record], outs: Sequence[Array]) -> list[Pass]:
    """Passes that fill all records of `outs`, arrays (n, K, ...).

    Records that are the same in every row are resolved once and repeated; records that are not named are zero.
    """
    count = outs[0].shape[1]
    varying = [r for r in records if not r.constant]
    if count == 0:
        return []
    if len(varying) == count or (count == 1 and records):
        return [Pass(kernel, (rows, r.k, *r.args, *outs)) for r in records]
    one = [np.zeros((1, *out.shape[1:]), out.dtype) for out in outs]
    first = readonly(np.zeros(1, np.uint32))
    for r in records:
        if r.constant:
            kernel(0, 1, first, r.k, *r.args, *one)
    passes = [Pass(repeat_row, (rows, readonly(np.tile(o.reshape(-1), REPEAT)), out.reshape(-1))) for o, out in zip(one, outs)]
    return passes + [Pass(kernel, (rows, r.k, *r.args, *outs)) for r in varying]


@ranged
def repeat_row(lo: int, hi: int, rows: Array, template: Array, out: Array) -> None:
    """Write the same lanes into every row of `out` (n * lanes,); `template` holds them `REPEAT` times, for rows that follow each other.

    Only into the destination rows of this range: the passes that write other records of the same rows run in the same range, after this one.
    """
    lanes = template.size // REPEAT
    i = lo
    while i < hi:
        row, run = rows[at(i, 1)], 1
        while run < REPEAT and i + run < hi and rows[at(i + run, 1)] == row + np.uint32(run):
            run += 1
        start = at(row, lanes)
        for lane in range(run * lanes):
            out[start + np.uint64(lane)] = template[lane]
        i += run
