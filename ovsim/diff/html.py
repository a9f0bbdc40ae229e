"""A comparison as one self-contained HTML page: no script from elsewhere, no style from elsewhere, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from ovsim.contract import findings
from ovsim.diff import svg
from ovsim.diff.comparator import UNEXPLAINED, Difference
from ovsim.diff.physx import ARTICULATION
from ovsim.diff.result import Comparison, text
from ovsim.diff.sides import Side

MOST_ROWS, MOST_TREES = 2000, 40
_STYLE = """
body{font:14px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem;color:#1c2430;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem;border-bottom:1px solid #d5dbe3}
table{border-collapse:collapse;width:100%}td,th{padding:.25rem .5rem;text-align:left;vertical-align:top;border-bottom:1px solid #e6eaf0}
td.v{font-family:ui-monospace,monospace;font-size:12px;overflow-wrap:anywhere;min-width:8rem}code{font-size:12px;overflow-wrap:anywhere}
a{color:#0b6bcb}.unexplained{color:#b3261e}.tag{padding:0 .4rem;border-radius:.6rem;background:#eef2f7;font-size:.8rem;font-weight:400}
.pair{display:flex;gap:2rem;flex-wrap:wrap}.pair>div{overflow-x:auto;max-width:100%}.left{color:#0b6bcb}.right{color:#d1551b}
svg text{font:11px ui-monospace,monospace;fill:#1c2430}svg text.hit{fill:#b3261e;font-weight:700}svg circle{fill:#8a97a8}svg circle.hit{fill:#b3261e}
svg .edge{fill:none;stroke:#b7c1cd}svg .axis{font-size:9px}.none{color:#8a97a8}
@media (prefers-color-scheme:dark){body{background:#12161c;color:#dfe6ee}td,th,h2{border-color:#2b3440}.tag{background:#232b36}svg text{fill:#dfe6ee}
a,.left{color:#6db3f2}.right{color:#f08a5a}.unexplained,svg text.hit{color:#ff8a80;fill:#ff8a80}svg .edge{stroke:#4a5666}}
"""


def page(result: Comparison) -> str:
    """The page. Everything that comes from a stage is escaped."""
    title = f"{result.left.label} against {result.right.label}"
    out = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f'<h1><span class="left">{escape(result.left.label)}</span> against <span class="right">{escape(result.right.label)}</span></h1>',
        _summary(result),
    ]
    for finding in result.counts():
        out.append(_finding(finding, [d for d in result.differences if d.finding == finding], result))
    out += [_trees(result), "</body></html>"]
    return "\n".join(out)


def _summary(result: Comparison) -> str:
    joints = "; ".join(f"{level}: {a} and {b} joints" for level, (a, b) in result.joints.items())
    rows = "".join(
        f'<tr><td><a href="#{escape(i)}" class="{"unexplained" if i == UNEXPLAINED else ""}">{escape(i)}</a></td><td>{n}</td></tr>'
        for i, n in result.counts().items()
    )
    how = "exact" if result.tolerance.exact else f"relative {result.tolerance.relative:g}, absolute {result.tolerance.absolute:g}"
    body = f"<table><tr><th>finding</th><th>differences</th></tr>{rows}</table>" if rows else "<p>No difference.</p>"
    return f"<p>{escape(joints)}. Tolerance: {how}.</p>{body}"


def _finding(finding: str, found: list[Difference], result: Comparison) -> str:
    known = findings.load().get(finding)
    head = f'<h2 id="{escape(finding)}">{escape(finding)}'
    told = ""
    if known is not None:
        head += f' <span class="tag">{known.severity}</span>'
        told = f"<p>{escape(known.happens)} <b>{escape(known.advice)}</b> <code>{escape(known.source)}</code></p>"
    drawn: set[tuple[str, str]] = set()
    rows = "".join(_row(d, result, drawn) for d in found[:MOST_ROWS])
    if drawn:
        told += '<p>Frames: <span class="left">left solid</span>, <span class="right">right dashed</span>, in the body\'s axes.</p>'
    more = f"<p>{len(found) - MOST_ROWS} more are not shown; use --format parquet for all.</p>" if len(found) > MOST_ROWS else ""
    table = "<table><tr><th>level</th><th>joint</th><th>field</th><th class='left'>left</th><th class='right'>right</th><th></th></tr>"
    return f"{head}</h2>{told}{table}{rows}</table>{more}"


def _row(d: Difference, result: Comparison, drawn: set[tuple[str, str]]) -> str:
    field = f"<code>{escape(d.field)}</code>" if d.field else "the whole row"
    cells = [escape(d.level), f"<code>{escape(d.path)}</code>", field]
    values = "".join(f'<td class="v">{escape(text(v) or "absent")}</td>' for v in (d.left, d.right))
    picture = _frame(d, result, drawn)
    return "<tr>" + "".join(f"<td>{c}</td>" for c in cells) + values + f"<td>{picture}</td></tr>"


def _frame(d: Difference, result: Comparison, drawn: set[tuple[str, str]]) -> str:
    """The two frames of a joint's side, once for its position and orientation."""
    head = d.field[: len("localPose0")]
    if d.level != "descriptors" or d.field not in (f"{head}Position", f"{head}Orientation") or (d.path, head) in drawn:
        return ""
    sides = [result.left.flat("descriptors"), result.right.flat("descriptors")]
    two = [(s.get(d.path, head + "Position"), s.get(d.path, head + "Orientation")) for s in sides]
    picture = svg.frames(two[0], two[1])
    if picture:
        drawn.add((d.path, head))
    return picture


def _trees(result: Comparison) -> str:
    wanted = sorted({d.path for d in result.differences if d.level == "physx" and d.path.startswith(ARTICULATION)})
    touched = {d.path for d in result.differences if d.level == "physx"}
    trees = [links(side) for side in (result.left, result.right)]
    for root in sorted({*trees[0], *trees[1]}):
        if ARTICULATION + root not in wanted and any(link.joint in touched for t in trees for link in t.get(root, ())):
            wanted.append(ARTICULATION + root)
    if not wanted:
        return ""
    out = ["<h2>Articulations that differ</h2>"]
    for path in wanted[:MOST_TREES]:
        root = path[len(ARTICULATION) :]
        two = [t.get(root, []) for t in trees]
        marked = _changed(two[0], two[1]) | touched
        pictures = "".join(
            f'<div><p class="{name}">{escape(side.label)}</p>{svg.tree(found, marked)}</div>'
            for name, side, found in zip(("left", "right"), (result.left, result.right), two)
        )
        out.append(f'<h3><code>{escape(root)}</code></h3><div class="pair">{pictures}</div>')
    return "".join(out)


def _changed(a: Iterable[svg.Link], b: Iterable[svg.Link]) -> set[str]:
    """Bodies whose parent or inbound joint differ, or that only one side has."""
    first, second = list(a), list(b)
    x = {link.body: (first[link.parent].body if link.parent >= 0 else "", link.joint) for link in first}
    y = {link.body: (second[link.parent].body if link.parent >= 0 else "", link.joint) for link in second}
    return {body for body in {*x, *y} if x.get(body) != y.get(body)}


def links(side: Side) -> dict[str, list[svg.Link]]:
    """Links of every articulation of a side by root prim, in order of creation; several articulations of one root follow each other."""
    view: Any = getattr(side, "view", None)
    if view is None:
        return {}
    paths, built, g = view.descriptors.paths, view.articulations, view.graph
    bodies = paths.path_strings(g.body_path[built.link_body]).to_pylist()
    joints = [paths.path_string(int(g.path[j])) if j >= 0 else "" for j in built.link_joint]
    out: dict[str, list[svg.Link]] = {}
    for i, root in enumerate(paths.path_strings(g.root_path[built.root]).to_pylist()):
        at = range(int(built.first_link[i]), int(built.first_link[i + 1]))
        found = out.setdefault(root, [])
        place = {int(built.link_body[k]): len(found) + n for n, k in enumerate(at)}
        found += [svg.Link(bodies[k], place.get(int(built.link_parent[k]), -1), joints[k]) for k in at]
    return out
