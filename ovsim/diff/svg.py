"""Pictures for the HTML page: articulation trees and pairs of joint frames, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

_ROW, _STEP, _CHAR = 22, 26, 6.6
_LEFT, _RIGHT = "#0b6bcb", "#d1551b"


class Link(NamedTuple):
    """One link of a tree: the body, its parent's position in the list (-1 the base), the inbound joint ("" the base)."""

    body: str
    parent: int
    joint: str


def tree(links: Sequence[Link], marked: set[str]) -> str:
    """An articulation as an indented tree, links in order of creation; marked bodies and joints stand out."""
    if not links:
        return '<p class="none">no articulation</p>'
    depth = [0] * len(links)
    for i, link in enumerate(links):
        if link.parent >= 0:
            depth[i] = depth[link.parent] + 1
    rows = []
    width = 0.0
    for i, link in enumerate(links):
        x, y = 10 + depth[i] * _STEP, 16 + i * _ROW
        if link.parent >= 0:
            px, py = 10 + depth[link.parent] * _STEP + 4, 16 + link.parent * _ROW
            rows.append(f'<path d="M{px} {py + 4}V{y - 4}H{x - 2}" class="edge"/>')
        name = link.body.rpartition("/")[2]
        by = f" ({link.joint.rpartition('/')[2]})" if link.joint else ""
        hit = ' class="hit"' if link.body in marked or link.joint in marked else ""
        rows.append(f'<circle cx="{x + 4}" cy="{y - 4}" r="4"{hit}/><text x="{x + 14}" y="{y}"{hit}>{escape(name + by)}</text>')
        width = max(width, x + 24 + _CHAR * len(name + by))
    height = 12 + len(links) * _ROW
    title = f"<title>articulation tree, {len(links)} links</title>"
    return f'<svg width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}" role="img">{title}{"".join(rows)}</svg>'


def frames(left: tuple[Any, Any], right: tuple[Any, Any]) -> str:
    """Two frames (position, quaternion x y z w) in one axonometric view: left solid, right dashed. "" when a number is not finite."""
    pair = [(p, q) for p, q in (left, right) if p is not None and q is not None]
    numbers = [v for p, q in pair for v in (*p, *q)]
    if len(pair) != 2 or not all(isinstance(v, int | float) and math.isfinite(v) for v in numbers):
        return ""
    spread = max((abs(a - b) for a, b in zip(pair[0][0], pair[1][0])), default=0.0)
    unit = spread * 0.4 or 1.0
    middle = [(a + b) / 2 for a, b in zip(pair[0][0], pair[1][0])]
    scale = 44 / (spread / 2 + unit)
    parts = []
    for (position, turn), colour, dash in zip(pair, (_LEFT, _RIGHT), ("", ' stroke-dasharray="4 3"')):
        origin = [p - m for p, m in zip(position, middle)]
        ox, oy = _project(origin, scale)
        parts.append(f'<circle cx="{ox:.1f}" cy="{oy:.1f}" r="3" style="fill:{colour}"/>')
        for axis, name in zip(_axes(turn), "xyz"):
            ex, ey = _project([o + unit * a for o, a in zip(origin, axis)], scale)
            parts.append(f'<line x1="{ox:.1f}" y1="{oy:.1f}" x2="{ex:.1f}" y2="{ey:.1f}" stroke="{colour}"{dash}/>')
            parts.append(f'<text x="{ex:.1f}" y="{ey:.1f}" class="axis" style="fill:{colour}">{name}</text>')
    return f'<svg width="120" height="120" viewBox="0 0 120 120" role="img"><title>two joint frames</title>{"".join(parts)}</svg>'


def _project(p: Sequence[float], scale: float) -> tuple[float, float]:
    x = (p[0] - p[1]) * math.cos(math.pi / 6)
    y = (p[0] + p[1]) * math.sin(math.pi / 6) - p[2]
    return 60 + scale * x * 0.8, 60 + scale * y * 0.8


def _axes(q: Sequence[float]) -> list[tuple[float, float, float]]:
    x, y, z, w = q
    return [
        (1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)),
        (2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)),
        (2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)),
    ]
