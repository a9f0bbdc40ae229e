"""Two runs side by side: what moved beyond the noise."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from ovsim.bench.results import Key, Row, Run, key

FLOOR = 0.05  # relative change below which nothing counts as moved, whatever the spread says
DEVIATIONS = 3.0  # a change must exceed so many standard deviations of the two medians
_NORMAL = 1.4826  # median absolute deviation to standard deviation
_MEDIAN = 1.2533  # standard error of a median relative to that of a mean


@dataclass(frozen=True)
class Move:
    """One key in both runs. `ratio` is the new median over the old one, `noise` the relative change that chance explains.

    `by` tells what was compared: `copy` means seconds times the machine's copy bandwidth of the same round, so that a slower machine is no change;
    `seconds` plain time. `verdict` is faster, slower, same, or unsure when a side has fewer than three measurements.
    """

    key: Key
    before: float
    after: float
    ratio: float
    noise: float
    by: str
    verdict: str


def compare(old: Run, new: Run) -> tuple[list[Move], list[Key], list[Key]]:
    """Moves of the keys in both runs, keys only in the old one, keys only in the new one."""
    before, after = _groups(old.rows), _groups(new.rows)
    moves = [_move(k, before[k], after[k]) for k in before if k in after]
    return moves, [k for k in before if k not in after], [k for k in after if k not in before]


def _groups(rows: list[Row]) -> dict[Key, list[Row]]:
    out: dict[Key, list[Row]] = {}
    for row in rows:
        out.setdefault(key(row), []).append(row)
    return out


def _move(k: Key, old: list[Row], new: list[Row]) -> Move:
    scaled = all(r.copy_bandwidth for r in (*old, *new))
    cost: Callable[[Row], float] = (lambda r: r.seconds * r.copy_bandwidth) if scaled else (lambda r: r.seconds)
    a, b = [cost(r) for r in old], [cost(r) for r in new]
    ratio = statistics.median(b) / statistics.median(a)
    noise = max(FLOOR, DEVIATIONS * math.hypot(_error(a), _error(b)))
    if min(len(a), len(b)) < 3:
        verdict = "unsure"
    elif abs(math.log(ratio)) <= math.log1p(noise):
        verdict = "same"
    else:
        verdict = "faster" if ratio < 1 else "slower"
    medians = [statistics.median(r.seconds for r in side) for side in (old, new)]
    return Move(k, medians[0], medians[1], ratio, noise, "copy" if scaled else "seconds", verdict)


def _error(values: list[float]) -> float:
    """Relative standard error of the median, from the median absolute deviation."""
    middle = statistics.median(values)
    deviation = _NORMAL * statistics.median(abs(v - middle) for v in values)
    return _MEDIAN * deviation / math.sqrt(len(values)) / middle if middle else 0.0
