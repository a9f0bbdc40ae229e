"""One HTML page that holds everything: facts, plots, tables, what was left out."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping

from ovsim.bench.results import Run
from ovsim.bench.tables import skipped_table, summary_table

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
td, th { padding: 2px 10px; border-bottom: 1px solid #ddd; text-align: left; }
img { max-width: 100%; } figure { margin: 1.5rem 0; } figcaption { color: #555; } pre { background: #f6f6f6; padding: 0.7rem; overflow: auto; }
"""
_NOTE = (
    "Every measurement ran in a fresh process, the rounds interleaved. Cold is the first call in a process, warm the calls after it; "
    "the copy bandwidth was measured just before each warm call and the share is the median of the rounds' own shares. "
    "Machines drift: believe ratios within one run."
)


def page(run: Run, images: Mapping[str, tuple[str, bytes]]) -> str:
    """The page; `images` maps a name to (caption, PNG), embedded as data."""
    parts = ["<!doctype html><html lang='en'><head><meta charset='utf-8'><title>ovsim benchmarks</title>"]
    parts += [f"<style>{_STYLE}</style></head><body><h1>ovsim benchmarks</h1><p>{_NOTE}</p>"]
    for caption, png in images.values():
        data = base64.b64encode(png).decode("ascii")
        text = html.escape(caption)
        parts.append(f"<figure><img alt='{text}' src='data:image/png;base64,{data}'><figcaption>{text}</figcaption></figure>")
    parts += ["<h2>Figures</h2>", _table(summary_table(run))]
    if run.skipped:
        parts += ["<h2>Left out</h2>", _table(skipped_table(run))]
    parts += ["<h2>Machine and plan</h2>", f"<pre>{html.escape(json.dumps(run.facts, indent=1))}</pre></body></html>"]
    return "\n".join(parts) + "\n"


def _table(markdown: str) -> str:
    lines = [line.strip("|").split("|") for line in markdown.splitlines()]
    rows = []
    for i, cells in enumerate(lines):
        if i != 1:
            tag = "th" if i == 0 else "td"
            rows.append("<tr>" + "".join(f"<{tag}>{html.escape(c.strip())}</{tag}>" for c in cells) + "</tr>")
    return "<table>" + "".join(rows) + "</table>"
