"""`report.html`: one self-contained page about a run, for people."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ovsim.dataset.parts import refused

if TYPE_CHECKING:
    from ovsim.dataset.layout import Layout
    from ovsim.dataset.run import Summary

_SHOWN = 1_000
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d8dee4;vertical-align:top;overflow-wrap:anywhere}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.bad{color:#b42318}.good{color:#1a7f37}
.cards{display:flex;flex-wrap:wrap;gap:1rem}
.card{border:1px solid #d8dee4;border-radius:.5rem;padding:.6rem 1rem}.card b{display:block;font-size:1.3rem}
rect{fill:#4078c0}text{font-size:11px;fill:#57606a}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}th,td,.card{border-color:#30363d}.bad{color:#ff7b72}.good{color:#3fb950}}
"""


def write_report(layout: Layout, summary: Summary) -> None:
    """Write the page into the dataset; StorageError when it cannot be written."""
    try:
        layout.storage.write("report.html", page(summary, layout.settings.document()).encode("utf-8", "replace"))
    except OSError as e:
        raise refused(layout.storage, e) from e


def page(summary: Summary, settings: Mapping[str, Any]) -> str:
    """The page as text. Everything that comes from files is escaped."""
    rows = list(summary.records.values())
    told = ", ".join(f"{k} {_text(v)}" for k, v in settings.items() if v)
    bad = f'<p class="bad">{len(summary.bad)} stages are not ok.</p>'
    verdict = '<p class="good">Every stage is in the dataset.</p>' if summary.all_well else bad
    missing = summary.sources - len(rows)
    late = f'<p class="bad">{missing} stages were not converted: the run stopped early. Run again to go on.</p>' if missing else ""
    return "".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            f"<title>ovsim convert: {_text(summary.dataset)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{_text(summary.dataset)}</h1><p>{told}</p>{verdict}{late}",
            _cards(summary),
            _outcomes(summary),
            "<h2>Seconds a stage</h2>" + _histogram([r["seconds"] for r in rows], "s"),
            "<h2>Peak memory a stage</h2>" + _histogram([r["peak_memory"] / 2**20 for r in rows], "MiB"),
            _bad(summary),
            _slowest(rows),
            "</body></html>\n",
        )
    )


def _cards(summary: Summary) -> str:
    rate = f"{summary.converted / summary.seconds:.1f}" if summary.seconds > 0 else "-"
    cards = [
        ("stages", summary.sources),
        ("converted now", summary.converted),
        ("unchanged", summary.unchanged),
        ("vanished", summary.vanished),
        ("joints", summary.total("joints")),
        ("articulations", summary.total("articulations")),
        ("warnings", summary.total("warnings")),
        ("seconds", f"{summary.seconds:.1f}"),
        ("stages a second", rate),
    ]
    return '<div class="cards">' + "".join(f'<div class="card"><b>{_number(v)}</b>{k}</div>' for k, v in cards) + "</div>"


def _outcomes(summary: Summary) -> str:
    causes: dict[tuple[str, str], int] = {}
    for r in summary.records.values():
        key = (r["outcome"], r["cause"])
        causes[key] = causes.get(key, 0) + 1
    return "<h2>Outcomes</h2>" + _table(("outcome", "cause", "stages"), ((o, c, n) for (o, c), n in sorted(causes.items())))


def _bad(summary: Summary) -> str:
    if not summary.bad:
        return ""
    rows = [(r["file"], r["outcome"], r["cause"], r["message"]) for r in sorted(summary.bad, key=lambda r: str(r["file"]))]
    more = f"<p>{len(rows) - _SHOWN} more are in the table files.</p>" if len(rows) > _SHOWN else ""
    return "<h2>Not ok</h2>" + _table(("file", "outcome", "cause", "message"), rows[:_SHOWN]) + more


def _slowest(rows: list[Mapping[str, Any]]) -> str:
    top = sorted(rows, key=lambda r: -r["seconds"])[:20]
    heads = ("file", "route", "joints", "seconds", "peak MiB", "warnings")
    body = ((r["file"], r["route"], r["joints"], round(r["seconds"], 3), round(r["peak_memory"] / 2**20), r["warnings"]) for r in top)
    return "<h2>Slowest</h2>" + _table(heads, body)


def _table(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    body = []
    for row in rows:
        cells = (f'<td class="n">{_number(v)}</td>' if isinstance(v, int | float) else f"<td>{_text(v)}</td>" for v in row)
        body.append("<tr>" + "".join(cells) + "</tr>")
    return "<table><tr>" + "".join(f"<th>{_text(h)}</th>" for h in heads) + "</tr>" + "".join(body) + "</table>"


def _histogram(values: list[float], unit: str) -> str:
    """Counts over bins that double, as inline SVG."""
    good = [v for v in values if v > 0]
    if not good:
        return "<p>Nothing to show.</p>"
    first, last = math.floor(math.log2(min(good))), math.floor(math.log2(max(good)))
    bins = [0] * (last - first + 1)
    for v in good:
        bins[math.floor(math.log2(v)) - first] += 1
    top = max(bins)
    width = max(60, 720 // len(bins))
    bars = []
    for i, n in enumerate(bins):
        height = 120 * n / top
        bars.append(f'<rect x="{i * width + 4}" y="{140 - height:.1f}" width="{width - 8}" height="{height:.1f}"></rect>')
        bars.append(f'<text x="{i * width + 4}" y="{134 - height:.1f}">{n}</text>')
        bars.append(f'<text x="{i * width + 4}" y="156">&lt; {2.0 ** (first + i + 1):g} {unit}</text>')
    return f'<svg viewBox="0 0 {width * len(bins)} 164" width="100%" role="img" aria-label="histogram">{"".join(bars)}</svg>'


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _text(value: Any) -> str:
    return html.escape(str(value))
