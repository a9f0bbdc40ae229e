"""Light passes: those that take a nanosecond or two a row, so that a thread or a call from Python has to be worth its while."""

from __future__ import annotations

from dataclasses import replace

from consumer.passes import Runner

TIMES = 4  # ranges of other passes that take as long as waking a thread


def light(runner: Runner, rows: int) -> Runner:
    """The runner for light passes over so many rows: one thread for a few, else all in larger ranges."""
    wide = TIMES * runner.chunk
    return replace(runner, threads=1) if rows <= wide else replace(runner, chunk=wide)
