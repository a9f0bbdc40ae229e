"""`ovsim explain`: one joint, one screen."""

from __future__ import annotations

import json
import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ovsim.cli.common import Custom, File, progress

if TYPE_CHECKING:
    from ovsim.explain import Explanation, Line

NAME = "explain"


class Format(str, Enum):
    """How the explanation is given."""

    table = "table"
    json = "json"


def run(
    file: File,
    prim: Annotated[str, typer.Argument(help="Path of the joint prim, such as /World/arm/joint2.", show_default=False)],
    format: Annotated[Format, typer.Option(help="table for people, json one document.")] = Format.table,
    every: Annotated[bool, typer.Option("--all", help="Also columns that the parser does not read of this joint.")] = False,
    custom: Custom = None,
) -> None:
    """Explain each value of one joint: authored, written, assumed, resolved, built."""
    from ovsim.explain import explain

    with progress(1) as tell:
        tell(f"explain {prim}")
        found = explain(file, prim, custom_joints=tuple(custom or ()))
    if format is Format.json:
        sys.stdout.write(json.dumps(found.document(), indent=1) + "\n")
    else:
        _table(found, every)


def _table(found: Explanation, every: bool) -> None:
    from rich.table import Table

    from ovsim.cli import output
    from ovsim.contract import findings

    console = output.console()
    console.print(f"[bold]{output.plain(found.path)}[/bold]  {found.type_name}, {found.outcome}  ({output.plain(found.file)})", highlight=False)
    table = Table(box=None, pad_edge=False)
    for head in ("column", "authored", "fallback", "population writes", "parser default", "descriptor", "PhysX", "findings"):
        table.add_column(head, overflow="fold", min_width=36 if head == "descriptor" else None)
    for line in found.lines:
        if every or line.fields or line.authored is not None:
            table.add_row(*(output.plain(c) for c in _cells(line, found.active)))
    console.print(table)
    for finding in found.active:
        console.print(f"[bold]{finding}[/bold]: {findings.get(finding).happens} {findings.get(finding).advice}", highlight=False)
    for d in found.diagnostics:
        console.print(
            f"{d.severity}: {output.plain(d.column)}{': ' if d.column else ''}{output.plain(d.message)} [{d.code}]", highlight=False, markup=False
        )


def _cells(line: Line, active: tuple[str, ...]) -> tuple[str, ...]:
    authored = f"{show(line.authored)} in {line.layer}" if line.layer else ""
    writes = "absent" if line.writes is None else f"{show(line.writes)} ({line.source})"
    told = [f"{i}!" if i in active else i for i in line.findings]
    return (
        line.column,
        authored,
        "" if line.fallback is None else show(line.fallback),
        writes,
        "" if line.default is None else show(line.default),
        _descriptor(line),
        "" if line.physx is None else f"{line.physx_field} {show(line.physx)}",
        ", ".join(told),
    )


def _descriptor(line: Line) -> str:
    if not line.fields:
        return ""
    value = line.default if line.writes is None else line.writes
    parts = []
    for name, resolved in line.fields.items():
        turned = line.unit != line.converted and isinstance(resolved, float) and isinstance(value, int | float) and not isinstance(value, bool)
        parts.append(f"{name} {show(value)} {line.unit} -> {show(resolved)} {line.converted}" if turned else f"{name} {show(resolved)}")
    return "\n".join(parts)


def show(value: Any) -> str:
    """A short text of a value: three to four significant digits, FLT_MAX by name."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, float):
        return "FLT_MAX" if abs(value) > 3.4e38 and value not in (float("inf"), float("-inf")) else f"{value:.4g}"
    if isinstance(value, tuple | list):
        return f"({', '.join(show(v) for v in value)})"
    if isinstance(value, dict):
        return ", ".join(f"{k} {show(v)}" for k, v in value.items())
    return str(value)
