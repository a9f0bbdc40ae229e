"""Light passes: when another thread is worth waking."""

from __future__ import annotations

import os
import threading
import time

import pytest

from consumer.light import TIMES, light, run_together
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


@pytest.mark.parametrize("chunk", [1, 7, None])
def test_shares_cover_all_rows_side_by_side(chunk):
    """Work of any size, none too: every row once, each range the same share of all."""
    sizes = (5, 0, 1000, 1, 333)
    done: list[list[int]] = [[] for _ in sizes]

    def note(lo: int, hi: int, kind: int) -> None:
        assert lo < hi
        done[kind].extend(range(lo, hi))

    run_together(Runner.of(None, chunk), [Work(rows, [Pass(note, (kind,))]) for kind, rows in enumerate(sizes)])
    assert [sorted(rows) for rows in done] == [list(range(rows)) for rows in sizes]
    run_together(Runner.of(None, chunk), [])


def test_shares_are_taken_at_the_same_pace():
    """On one thread, half of each kind of work is done when half of another is."""
    seen: list[tuple[int, int]] = []

    def note(lo: int, hi: int, kind: int) -> None:
        seen.append((kind, hi))

    run_together(Runner(1, 10), [Work(rows, [Pass(note, (rows,))]) for rows in (400, 800)])
    for kind, hi in seen:
        other = max((h for k, h in seen[: seen.index((kind, hi))] if k != kind), default=0)
        assert abs(hi / kind - other / (1200 - kind)) <= 2 * 4 * 10 / 1200
