"""`report.html`: one self-contained page about a run, for people."""

from __future__ import annotations

import html
import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import ovsim
from ovsim import contract
from ovsim.dataset.parts import refused
from ovsim.dataset.stage import OUTCOMES, without_file

if TYPE_CHECKING:
    from ovsim.dataset.layout import Layout
    from ovsim.dataset.run import Summary

_SHOWN = 1_000
_BINS = 12
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
    told = ", ".join(f"{k.replace('_', ' ')} {_text(', '.join(v) if isinstance(v, list) else v)}" for k, v in settings.items() if v)
    written = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    base = _common([str(r["file"]) for r in rows])
    return "".join(
        (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            f"<title>ovsim convert: {_text(summary.dataset)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{_text(summary.dataset)}</h1><p>Last run: {written}, {summary.seconds:.1f} s. ",
            f"ovsim {ovsim.__version__}, contract {contract.VERSION}, {told}.</p>",
            _verdict(summary),
            _cards(summary),
            _outcomes(summary),
            f"<p>Files below are named from <b>{_text(base)}/</b> on.</p>" if base else "",
            _bad(summary, base),
            _slowest(rows, base),
            "<h2>Seconds a stage</h2>" + _histogram([r["seconds"] for r in rows], "s"),
            "<h2>Peak memory a stage</h2>" + _histogram([r["peak_memory"] / 2**20 for r in rows], "MiB"),
            "</body></html>\n",
        )
    )


def _verdict(summary: Summary) -> str:
    if summary.all_well:
        return '<p class="good">Every stage is in the dataset.</p>'
    missing = summary.sources - len(summary.records)
    told = []
    if summary.bad:
        told.append(f"{len(summary.bad)} of {summary.sources} stages are not ok, see below. Mend them and run again, or give --retry-failed.")
    if missing:
        told.append(f"{missing} stages were not converted: the run stopped early. Run again to go on.")
    return "".join(f'<p class="bad">{text}</p>' for text in told)


def _cards(summary: Summary) -> str:
    rate = f"{summary.converted / summary.seconds:.1f}" if summary.seconds > 0 else "-"
    cards = [
        ("stages", summary.sources),
        ("tried in this run", summary.converted),
        ("unchanged since an earlier one", summary.unchanged),
        *([("gone since the last run", summary.vanished)] if summary.vanished else []),
        ("joints", summary.total("joints")),
        ("articulations", summary.total("articulations")),
        ("errors in diagnostics", summary.total("errors")),
        ("warnings in diagnostics", summary.total("warnings")),
        *([("stages a second", rate)] if summary.converted else []),
    ]
    return '<div class="cards">' + "".join(f'<div class="card"><b>{_number(v)}</b>{k}</div>' for k, v in cards) + "</div>"


def _outcomes(summary: Summary) -> str:
    causes = Counter((r["outcome"], r["cause"]) for r in summary.records.values())
    order = sorted(causes.items(), key=lambda pair: (pair[0][0] != "ok", pair[0]))
    return "<h2>Outcomes</h2>" + _table(("outcome", "cause", "stages", "meaning"), ((o, c, n, OUTCOMES.get(o, "")) for (o, c), n in order))


def _bad(summary: Summary, base: str) -> str:
    if not summary.bad:
        return ""
    order = sorted(summary.bad, key=lambda r: (r["outcome"], r["cause"], str(r["file"])))
    rows = [(_short(r["file"], base), r["outcome"], r["cause"], without_file(r)) for r in order]
    more = f"<p>{len(rows) - _SHOWN} more are in the table files.</p>" if len(rows) > _SHOWN else ""
    return "<h2>Not ok</h2>" + _table(("file", "outcome", "cause", "message"), rows[:_SHOWN]) + more


def _common(files: list[str]) -> str:
    """The directory that all files share, as text; empty when there is none."""
    if not files:
        return ""
    first, last = min(files), max(files)
    same = next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))
    return first[:same].rpartition("/")[0]


def _short(file: Any, base: str) -> str:
    """A file's name from the common directory on."""
    return str(file)[len(base) + 1 :] if base else str(file)


def _slowest(rows: list[Mapping[str, Any]], base: str) -> str:
    top = sorted(rows, key=lambda r: -r["seconds"])[:20]
    heads = ("file", "route", "joints", "seconds", "peak MiB", "warnings")
    body = ((_short(r["file"], base), r["route"], r["joints"], round(r["seconds"], 3), round(r["peak_memory"] / 2**20), r["warnings"]) for r in top)
    return "<h2>Slowest</h2>" + _table(heads, body)


def _table(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    body = []
    for row in rows:
        cells = (f'<td class="n">{_number(v)}</td>' if isinstance(v, int | float) else f"<td>{_text(v)}</td>" for v in row)
        body.append("<tr>" + "".join(cells) + "</tr>")
    return "<table><tr>" + "".join(f"<th>{_text(h)}</th>" for h in heads) + "</tr>" + "".join(body) + "</table>"


def _histogram(values: list[float], unit: str) -> str:
    """Counts over bins that double, as inline SVG; what lies below the last of twelve bins counts in the lowest."""
    good = [v for v in values if v > 0]
    if not good:
        return "<p>Nothing to show.</p>"
    last = math.floor(math.log2(max(good)))
    first = max(math.floor(math.log2(min(good))), last - _BINS + 1)
    bins = [0] * (last - first + 1)
    for v in good:
        bins[max(0, math.floor(math.log2(v)) - first)] += 1
    top = max(bins)
    width = max(60, 720 // len(bins))
    bars = []
    for i, n in enumerate(bins):
        height = 120 * n / top
        bars.append(f'<rect x="{i * width + 4}" y="{140 - height:.1f}" width="{width - 8}" height="{height:.1f}"></rect>')
        bars.append(f'<text x="{i * width + 4}" y="{134 - height:.1f}">{n}</text>')
        bars.append(f'<text x="{i * width + 4}" y="156">&lt; {_bound(2.0 ** (first + i + 1), unit)}</text>')
    return f'<svg viewBox="0 0 {width * len(bins)} 164" width="100%" role="img" aria-label="histogram">{"".join(bars)}</svg>'


def _bound(value: float, unit: str) -> str:
    return f"{value * 1000:.2g} ms" if unit == "s" and value < 1 else f"{value:g} {unit}"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _text(value: Any) -> str:
    return html.escape(str(value))
