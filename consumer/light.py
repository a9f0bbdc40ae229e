"""Light passes: those that take a nanosecond or two a row, so that a thread or a call from Python has to be worth its while."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.passes import Pass, Runner, Work
from ovsim.jit import at, ranged

TIMES = 4  # ranges of other passes that take as long as waking a thread


def light(runner: Runner, rows: int) -> Runner:
    """The runner for light passes over so many rows: one thread for a few, else all in larger ranges."""
    wide = TIMES * runner.chunk
    return replace(runner, threads=1) if rows <= wide else replace(runner, chunk=wide)


def run_together(runner: Runner, work: Iterable[Work]) -> None:
    """Run light passes that write by path: a range is the same share of all the work.

    Rows at the same height are close in the namespace, so a thread finds there what it has just read, and two threads seldom write the same lines.
    """
    some = [w for w in work if w.rows]
    total = sum(w.rows for w in some)
    light(runner, total).run([Work(total, [Pass(_share, (w.rows, total, p.kernel, p.args)) for w in some for p in w.passes])])


def clear(runner: Runner, numbers: npt.NDArray[np.generic]) -> None:
    """Write zeros, on all threads where there are many."""
    light(runner, numbers.size).over(numbers.size, clear_range, numbers)


@ranged
def clear_range(lo: int, hi: int, numbers: Any) -> None:
    """Zeros."""
    for i in range(lo, hi):
        numbers[at(i, 1)] = 0


def _share(lo: int, hi: int, rows: int, total: int, kernel: Callable[..., None], args: tuple[Any, ...]) -> None:
    first, last = lo * rows // total, hi * rows // total
    if first < last:
        kernel(first, last, *args)
