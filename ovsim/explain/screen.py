"""An explanation as text: a table where the width allows for it, else a paragraph a column. No name and no value is ever cut."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from ovsim.contract import findings
from ovsim.explain import Explanation, Line

HEADS = ("column", "authored", "fallback", "population", "parser default", "descriptor", "PhysX")
Row = tuple[tuple[str, ...], ...]  # a cell a head, each cell a tuple of lines
_GAP = "  "
_MOST_LINKS = 40


def screen(found: Explanation, width: int, every: bool = False, bold: bool = False) -> str:
    """The whole text, lines of `width` characters. `every` shows also columns that the parser does not read of a joint; `bold` uses ANSI codes."""
    strong = (lambda text: f"\033[1m{text}\033[0m") if bold else str
    shown = [x for x in found.lines if every or x.fields or x.authored is not None or not _is_joint(found)]
    rows = [_cells(line, _own(line, shown)) for line in shown]
    out = [*_head(found, width, strong), ""]
    out += _table(HEADS, rows, width, strong) or _table(*_merged(rows), width, strong) or _paragraphs(rows, width, strong)
    left = len(found.lines) - len(shown)
    if left:
        out += ["", f"not shown, for the parser does not read them of this joint: {left} of the row's columns (--all shows them)"]
    out += _links(found, width, strong)
    out += _findings(found, shown, width, strong)
    out += _diagnostics(found, width, strong)
    return "\n".join(out)


def _is_joint(found: Explanation) -> bool:
    return any(line.fields for line in found.lines)


def _head(found: Explanation, width: int, strong: Any) -> Iterable[str]:
    yield f"{strong(found.path)}  {found.type_name or 'typeless prim'}"
    yield from _wrapped(f"{found.file}: {found.outcome}{_between(found.physx)}", width, "")
    if found.schemas:
        yield from _wrapped("lists " + ", ".join(found.schemas), width, "  ")


def _between(joint: dict[str, Any]) -> str:
    if not joint:
        return ""
    if joint["kind"] == "articulation":
        return f" {joint['articulation']}, {joint['type']}: {joint['parent']} -> {joint['child']}"
    return f", {joint['class']}: {joint['actor0'] or 'world'} - {joint['actor1'] or 'world'}"


def _own(line: Line, shown: Sequence[Line]) -> dict[str, Any]:
    """The fields that are shown at this column: those that no other column decides more closely (localPos0 a position more closely than body0)."""
    return {n: v for n, v in line.fields.items() if len(line.fields) <= min(len(x.fields) for x in shown if n in x.fields)}


def _cells(line: Line, own: dict[str, Any]) -> Row:
    """Texts of `HEADS`, each cell a tuple of lines."""
    authored = f"{show(line.authored)} in {line.layer}" if line.layer else ""
    return (
        (line.column,),
        (authored,) if authored else (),
        () if line.fallback is None else (show(line.fallback),),
        (_writes(line),),
        () if line.default is None else (show(line.default),),
        _descriptor(line, own),
        () if line.physx is None else (f"{line.physx_field} {show(line.physx)}",),
    )


def _writes(line: Line) -> str:
    """Population's value: by its source alone where that says it all."""
    if line.writes is None:
        return "absent"
    if line.source == "authored" and show(line.writes) == show(line.authored):
        return "as authored"
    if line.source == "fallback" and show(line.writes) == show(line.fallback):
        return "the fallback"
    return f"{show(line.writes)} ({line.source})"


def _descriptor(line: Line, own: dict[str, Any]) -> tuple[str, ...]:
    value = line.default if line.writes is None else line.writes
    parts = []
    for name, resolved in own.items():
        turned = line.unit != line.converted and isinstance(resolved, float) and isinstance(value, (int, float)) and not isinstance(value, bool)
        unit = f" {line.converted}" if line.converted and isinstance(resolved, (float, tuple)) else ""
        parts.append(f"{name} {show(value)} {line.unit} -> {show(resolved)}{unit}" if turned else f"{name} {show(resolved)}{unit}")
    return tuple(parts)


def _merged(rows: Sequence[Row]) -> tuple[tuple[str, ...], list[Row]]:
    """Heads and rows with PhysX below the descriptor instead of beside it."""
    return (*HEADS[:-2], "descriptor; PhysX"), [(*row[:-2], (*row[-2], *(f"PhysX {text}" for text in row[-1]))) for row in rows]


def _table(heads: tuple[str, ...], rows: Sequence[Row], width: int, strong: Any) -> list[str]:
    """The table, empty when it does not fit."""
    kept = [k for k in range(len(heads)) if k == 0 or any(row[k] for row in rows)]
    sizes = [max([len(heads[k]), *(len(text) for row in rows for text in row[k])]) for k in kept]
    if sum(sizes) + len(_GAP) * (len(sizes) - 1) > width:
        return []
    out = [strong(_GAP.join(heads[k].ljust(n) for k, n in zip(kept, sizes)).rstrip())]
    for row in rows:
        for at in range(max(len(row[k]) for k in kept)):
            cells = (row[k][at] if at < len(row[k]) else "" for k in kept)
            out.append(_GAP.join(text.ljust(n) for text, n in zip(cells, sizes)).rstrip())
    return out


def _paragraphs(rows: Sequence[Row], width: int, strong: Any) -> list[str]:
    out: list[str] = []
    for name, authored, *values, descriptor, physx in rows:
        out.append(strong(name[0]))
        said = [f"{head} {cell[0]}" for head, cell in zip(HEADS[1:5], (authored, *values)) if cell]
        out += _wrapped("; ".join(said), width, "    ")
        built = [*descriptor, *(f"PhysX {text}" for text in physx)]
        if built:
            out += _wrapped("= " + "; ".join(built), width, "    ")
    return out


def _links(found: Explanation, width: int, strong: Any) -> Iterable[str]:
    facts = found.facts
    for entry in facts.get("articulations", ()):
        yield from ("", strong("links") + (f" (root joint {entry['rootJoint']})" if entry["rootJoint"] else ""))
        for link in entry["links"][:_MOST_LINKS]:
            by = f" <- {link['parent']} by {link['joint']}" if link["parent"] else " (base)"
            yield from _wrapped(link["body"] + by, width, "  ")
        if len(entry["links"]) > _MOST_LINKS:
            yield f"  and {len(entry['links']) - _MOST_LINKS} more: --format json"
    if facts.get("settings"):
        yield from _wrapped("settings " + "; ".join(f"{k} {show(v)}" for k, v in facts["settings"].items()), width, "")
    link = facts.get("link")
    if link is not None:
        by = f" <- {link['parent']} by {link['joint']}" if link["parent"] else ", the base"
        yield from ("", *_wrapped(f"link {link['number']} of {link['articulation']}{by}", width, ""))
    if facts.get("joints"):
        yield from ("", strong("joints of this body"))
        for path, outcome in list(facts["joints"].items())[:_MOST_LINKS]:
            yield from _wrapped(f"{path}: {outcome}", width, "  ")
        if len(facts["joints"]) > _MOST_LINKS:
            yield f"  and {len(facts['joints']) - _MOST_LINKS} more: --format json"


def _findings(found: Explanation, shown: Sequence[Line], width: int, strong: Any) -> Iterable[str]:
    if found.active:
        yield from ("", strong("findings that make a difference here"))
        for i in found.active:
            finding = findings.get(i)
            yield from _wrapped(f"{i} ({finding.severity}): {finding.happens} {finding.advice}", width, "  ")
    touching: dict[tuple[str, ...], list[str]] = {}
    for line in shown:
        rest = tuple(i for i in line.findings if i not in found.active)
        if rest:
            touching.setdefault(rest, []).append(line.column)
    if touching:
        yield from ("", strong("recorded findings about these columns, none at work here"))
        for ids, columns in touching.items():
            yield from _wrapped(f"{', '.join(columns)}: {', '.join(ids)}", width, "  ")


def _diagnostics(found: Explanation, width: int, strong: Any) -> Iterable[str]:
    if found.diagnostics:
        yield from ("", strong("diagnostics"))
    for d in found.diagnostics:
        yield from _wrapped(f"{d.severity} {d.code}: {d.column}{': ' if d.column else ''}{d.message}", width, "  ")
    for note in found.notes:
        yield from ("", *_wrapped(note, width, ""))


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    """Lines of a text, broken at spaces only."""
    room = max(width, 40)
    return textwrap.wrap(text, room, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False, break_on_hyphens=False)


def show(value: Any) -> str:
    """A short text of a value: four significant digits, FLT_MAX by name, lists in brackets, a single path or token as it is."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, float):
        huge = abs(value) > 3.4e38 and value not in (float("inf"), float("-inf"))
        return ("-" if value < 0 else "") + "FLT_MAX" if huge else f"{value:.4g}"
    if isinstance(value, (tuple, list)):
        if len(value) == 1 and isinstance(value[0], str):
            return value[0]
        return f"({', '.join(show(v) for v in value)})"
    if isinstance(value, dict):
        return ", ".join(f"{k} {show(v)}" for k, v in value.items())
    return str(value)
