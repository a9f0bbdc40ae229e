"""`ovsim check`: what in a stage's columns does not do what it seems to do; `--fix` writes a repaired copy."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ovsim.cli.common import Custom, progress

NAME = "check"


class Format(str, Enum):
    """How diagnostics are given."""

    table = "table"
    json = "json"


def run(
    stage: Annotated[
        Path, typer.Argument(help="A stage file, a snapshot, a table (Parquet, Arrow IPC) or a directory of tables.", show_default=False)
    ],
    fix: Annotated[
        Path | None, typer.Option("--fix", help="Write a repaired copy, a snapshot, into this directory and list the changes.", show_default=False)
    ] = None,
    format: Annotated[Format, typer.Option(help="table for people, json rows.")] = Format.table,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors for the exit status.")] = False,
    custom: Custom = None,
) -> None:
    """Check columns for people who populate by hand. Exit status 1 when there are errors."""
    from ovsim.api import open_stage
    from ovsim.check import check
    from ovsim.check import fix as repair
    from ovsim.cli import output

    kinds = tuple(custom or ())
    with progress(2) as tell:
        tell(f"check {stage}")
        found = check(stage, custom_joints=kinds)
        changes = None
        if fix is not None:
            tell(f"repair {fix}")
            repaired, changes = repair(open_stage(stage, custom_joints=kinds), kinds)
            repaired.save(fix)
    if format is Format.json:
        document = {"file": str(stage), "diagnostics": found.to_arrow().to_pylist()}
        if changes is not None:
            document["changes"] = changes.to_pylist()
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
    else:
        if len(found):
            output.print_diagnostics(found)
        typer.echo(f"{stage}: {_counts([d.severity for d in found])}")
        if changes is not None:
            _changes(changes.to_pylist(), fix)
    bad = ("error", "warning") if strict else ("error",)
    if any(d.severity in bad for d in found):
        raise typer.Exit(1)


def _counts(severities: list[str]) -> str:
    parts = [
        f"{severities.count(s)} {s}{'s' if s != 'info' and severities.count(s) != 1 else ''}" for s in ("error", "warning", "info") if s in severities
    ]
    return ", ".join(parts) or "nothing to tell"


def _changes(changes: list[dict[str, object]], target: Path | None) -> None:
    from rich.table import Table

    from ovsim.cli import output

    table = Table(title=f"{len(changes)} changes: {target}")
    for head in ("prim", "rows", "column", "change", "before", "after"):
        table.add_column(head, overflow="fold")
    for c in changes:
        table.add_row(*(output.plain(str(c[k])) for k in ("path", "rows", "column", "change", "before", "after")))
    output.console().print(table)
