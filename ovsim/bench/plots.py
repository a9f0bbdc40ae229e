"""Plots of a run, as PNG bytes: throughput against size, share of the copy bandwidth, share of each phase. Needs matplotlib (`ovsim[bench]`)."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ovsim.bench.results import BenchError, Run, Summary, summaries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHARES = ("populate", "resolve", "physx", "save", "load")
_DPI = 130


def plots(run: Run) -> dict[str, tuple[str, bytes]]:
    """File name to (caption, PNG) of every plot that the run has data for. BenchError without matplotlib."""
    try:
        import matplotlib
    except ImportError as e:
        raise BenchError("plots need matplotlib: pip install 'ovsim[bench]'") from e
    matplotlib.use("Agg")
    found = summaries(run.rows)
    made = {
        "throughput.png": ("Joints per second against the size of the stage; higher is better.", _throughput(found)),
        "bandwidth.png": ("Share of the machine's copy bandwidth, counting the bytes that must be read and written.", _bandwidth(found)),
        "phases.png": ("Share of each phase in the time from a USD file to the PhysX view and a saved stage.", _phases(found)),
    }
    return {name: (caption, png) for name, (caption, png) in made.items() if png}


def _best(found: list[Summary]) -> list[Summary]:
    """Warm figures where there are some, cold ones otherwise."""
    warm = {s.key[:4] for s in found if s.key[4] == "warm"}
    return [s for s in found if s.key[4] == "warm" or s.key[:4] not in warm]


def _series(found: list[Summary]) -> dict[tuple[str, str, str], list[Summary]]:
    out: dict[tuple[str, str, str], list[Summary]] = {}
    for s in sorted(found, key=lambda s: s.key[3]):
        out.setdefault(s.key[:3], []).append(s)
    return out


def _png(draw: Callable[[Axes], Any], width: float = 8.0, height: float = 5.0) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    draw(figure.subplots())
    sink = io.BytesIO()
    figure.savefig(sink, format="png", dpi=_DPI)
    return sink.getvalue()


def _throughput(found: list[Summary]) -> bytes:
    lines = _series([s for s in _best(found) if s.rate])
    if not lines:
        return b""

    def draw(axes: Axes) -> None:
        for (who, phase, kind), points in lines.items():
            own = who == "ovsim"
            x = [p.key[3] for p in points]
            low = [p.rate - p.key[3] / p.highest for p in points]
            high = [p.key[3] / p.lowest - p.rate for p in points]
            style: dict[str, Any] = {"marker": "o", "linewidth": 2.0} if own else {"marker": "s", "linestyle": "--", "linewidth": 1.0}
            axes.errorbar(x, [p.rate for p in points], yerr=[low, high], label=f"{who} {phase} ({kind})", capsize=2, **style)
        axes.set(xscale="log", yscale="log", xlabel="joints", ylabel="joints per second")
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))

    return _png(draw, 10.0, 5.5)


def _bandwidth(found: list[Summary]) -> bytes:
    lines = _series([s for s in found if s.fraction])
    if not lines:
        return b""

    def draw(axes: Axes) -> None:
        for (_, phase, kind), points in lines.items():
            axes.plot([p.key[3] for p in points], [100 * p.fraction for p in points], marker="o", label=f"{phase} ({kind})")
        axes.set(xscale="log", xlabel="joints", ylabel="% of the copy bandwidth", ylim=(0, None))
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize=8)

    return _png(draw)


def _phases(found: list[Summary]) -> bytes:
    own = [s for s in _best(found) if s.key[0] == "ovsim" and s.key[1] in _SHARES and s.key[2] in ("mixed", "flat", "cloned")]
    sizes = sorted({s.key[3] for s in own if s.key[1] == "resolve"})
    if not sizes:
        return b""

    def seconds(phase: str, size: int) -> float:
        near = [s.seconds * size / s.key[3] for s in own if s.key[1] == phase and abs(s.key[3] - size) <= size // 50]
        return min(near, default=0.0)

    def draw(axes: Axes) -> None:
        left = [0.0] * len(sizes)
        for phase in _SHARES:
            total = [sum(seconds(p, n) for p in _SHARES) for n in sizes]
            share = [100 * seconds(phase, n) / t if t else 0.0 for n, t in zip(sizes, total)]
            axes.barh([f"{n:,}" for n in sizes], share, left=left, label=phase)
            left = [a + b for a, b in zip(left, share)]
        axes.set(xlabel="% of the time", ylabel="joints", xlim=(0, 100))
        axes.legend(fontsize=8, ncols=len(_SHARES), loc="lower center", bbox_to_anchor=(0.5, 1.0))

    return _png(draw, 8.0, 1.5 + 0.5 * len(sizes))
