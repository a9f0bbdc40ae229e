"""Light passes: when another thread is worth waking."""

from __future__ import annotations

import os
import threading
import time

import pytest

from consumer.light import TIMES, light
from consumer.passes import Pass, Runner, Work


@pytest.mark.parametrize("chunk", [1, 7, None])
def test_few_rows_take_one_thread_and_many_take_larger_ranges(chunk):
    """Up to `TIMES` ranges of other passes in one thread; beyond, that many rows at once."""
    runner = Runner.of(None, chunk)
    few, many = light(runner, TIMES * runner.chunk), light(runner, TIMES * runner.chunk + 1)
    assert few.threads == 1
    assert (many.threads, many.chunk) == (runner.threads, TIMES * runner.chunk)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core only")
def test_every_row_is_done_once():
    """On the caller's thread for a few rows, on others too for many."""
    runner = Runner.of(None, 10)
    for rows in (40, 4000):
        done: list[int] = []
        threads: set[int] = set()

        def note(lo: int, hi: int, done: list[int] = done, threads: set[int] = threads) -> None:
            done.extend(range(lo, hi))
            threads.add(threading.get_ident())
            time.sleep(0.001)

        light(runner, rows).run([Work(rows, [Pass(note, ())])])
        assert sorted(done) == list(range(rows))
        assert (len(threads) > 1) == (rows == 4000)
