"""Results as text: the summary table, the comparison table; plain Markdown, for terminals and documents alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ovsim.bench.compare import Move
from ovsim.bench.results import Key, Run, Summary, summaries

Cells = Sequence[str]


def markdown(head: Cells, rows: Iterable[Cells]) -> str:
    """A Markdown table with aligned columns."""
    body = [list(r) for r in rows]
    widths = [max(len(c) for c in column) for column in zip(head, *body)]
    line = lambda cells: "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths)) + " |"  # noqa: E731
    return "\n".join([line(head), "|" + "|".join("-" * (w + 2) for w in widths) + "|", *map(line, body)])


def duration(seconds: float) -> str:
    """Seconds in a unit that suits their size."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError


def each_joint(nanoseconds: float) -> str:
    """Time a joint in a unit that suits its size."""
    return duration(nanoseconds * 1e-9) if nanoseconds >= 1000 else f"{nanoseconds:.3g} ns"


def summary_table(run: Run) -> str:
    """One row a measurement: medians, range, time a joint, share of the copy bandwidth, peak memory."""
    head = ("who", "phase", "stage", "joints", "", "median", "range", "a joint", "of copy", "peak", "n")
    return markdown(head, (_summary(s) for s in ordered(run)))


def ordered(run: Run) -> list[Summary]:
    """Summaries by phase, stage, size, then who is fastest."""
    return sorted(summaries(run.rows), key=lambda s: (s.key[1], s.key[2], s.key[3], s.key[4], s.seconds))


def _summary(s: Summary) -> Cells:
    who, phase, kind, joints, temperature = s.key
    share = f"{100 * s.fraction:.0f} %" if s.fraction else ""
    peak = f"{s.peak_bytes / 2**20:.0f} MiB" if s.peak_bytes else ""
    span = f"{duration(s.lowest)} - {duration(s.highest)}"
    return (who, phase, kind, f"{joints:,}", temperature, duration(s.seconds), span, each_joint(s.nanoseconds), share, peak, str(s.count))


def skipped_table(run: Run) -> str:
    """What was left out, with the reason; "" when nothing was."""
    return markdown(("left out", "why"), ((s["what"], s["why"]) for s in run.skipped)) if run.skipped else ""


def move_table(moves: Iterable[Move]) -> str:
    """A comparison: what moved first."""
    order = {"slower": 0, "faster": 1, "unsure": 2, "same": 3}
    head = ("who", "phase", "stage", "joints", "", "before", "after", "change", "noise", "by", "verdict")
    rows = sorted(moves, key=lambda m: (order[m.verdict], m.key))
    return markdown(head, (_move(m) for m in rows))


def _move(m: Move) -> Cells:
    who, phase, kind, joints, temperature = m.key
    change, noise = f"{100 * (m.ratio - 1):+.1f} %", f"{100 * m.noise:.1f} %"
    return (who, phase, kind, f"{joints:,}", temperature, duration(m.before), duration(m.after), change, noise, m.by, m.verdict)


def key_text(key: Key) -> str:
    """A key for people."""
    who, phase, kind, joints, temperature = key
    return f"{who} {phase} {kind} {joints:,} {temperature}"
