"""Ranges of rows and the threads that take them."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from consumer.passes import CHUNK, LEAST, MOST, SHARES, Pass, Runner, Work


def marks(rows: int, runner: Runner, **options: bool) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """How often each row was worked on, and the ranges."""
    seen, ranges = np.zeros(rows, np.int64), []

    def kernel(lo: int, hi: int) -> None:
        seen[lo:hi] += 1
        ranges.append((lo, hi))

    runner.run([Work(rows, [Pass(kernel, ())])], **options)
    return seen, ranges


@pytest.mark.parametrize("rows", [0, 1, 63, CHUNK, CHUNK + 1, 100_000])
@pytest.mark.parametrize("threads", [1, os.cpu_count() or 1])
def test_every_row_once(rows, threads):
    """Whatever the threads and the ranges."""
    for runner in (Runner.of(threads, None), Runner.of(threads, 1000), Runner.of(threads, None).fitted(rows)):
        assert np.all(marks(rows, runner)[0] == 1)


def test_a_size_that_is_asked_for_is_kept():
    """`fitted` changes only what nobody asked for."""
    assert Runner.of(1, 10).fitted(1_000_000).chunk == 10
    assert marks(100, Runner.of(1, 10).fitted(100))[1] == [(lo, lo + 10) for lo in range(0, 100, 10)]


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_fitted_ranges(threads):
    """At least `SHARES` a thread where that leaves more than the least, few where there are many rows; whole cache lines of flags each."""
    for rows in (0, 100, 100_000, 10_000_000, 1_000_000_000):
        chunk = Runner(threads).fitted(rows).chunk
        assert LEAST <= chunk <= MOST
        assert chunk % 64 == 0
        assert chunk == LEAST or rows // chunk >= SHARES * threads


def test_helpers_are_kept():
    """One runner starts no more threads than there are cores, however often it runs."""
    runner = Runner(2, 1)
    names: set[str] = set()
    both = threading.Barrier(2)

    def kernel(lo: int, hi: int) -> None:
        both.wait(30)
        names.add(threading.current_thread().name)

    for _ in range(20):
        runner.run([Work(10_000, [Pass(lambda lo, hi: kernel(lo, hi) if lo < 2 else None, ())])])
    assert 2 <= len(names) <= 1 + (os.cpu_count() or 1)


def test_what_fails_is_raised():
    """On either thread."""

    def kernel(lo: int, hi: int) -> None:
        raise ValueError(lo)

    for threads in (1, 2):
        with pytest.raises(ValueError, match=r"\d"):
            Runner(threads, 1).run([Work(10_000, [Pass(kernel, ())])])
