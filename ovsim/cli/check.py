"""`ovsim check`: what in a stage's columns does not do what it seems to do; `--fix` writes a repaired copy."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ovsim.cli.common import Custom, progress
from ovsim.diagnostics import Diagnostic

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
        Path | None,
        typer.Option(
            "--fix", help="Write a repaired copy, a snapshot, into this directory; list the changes and what they do not mend.", show_default=False
        ),
    ] = None,
    format: Annotated[Format, typer.Option(help="table for people, json rows.")] = Format.table,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors for the exit status.")] = False,
    custom: Custom = None,
) -> None:
    """Check columns for people who populate by hand. Exit status 1 when there are errors, with --fix when the repaired copy still has some."""
    from ovsim.api import open_stage
    from ovsim.check import check
    from ovsim.check import fix as repair
    from ovsim.cli import output

    kinds = tuple(custom or ())
    with progress(2) as tell:
        tell(f"check {stage}")
        found = check(stage, custom_joints=kinds)
        changes, left = None, found
        if fix is not None:
            tell(f"repair {fix}")
            repaired, changes = repair(open_stage(stage, custom_joints=kinds), kinds)
            repaired.save(fix)
            left = check(repaired, custom_joints=kinds)
    if format is Format.json:
        document = {"file": str(stage), "diagnostics": found.to_arrow().to_pylist()}
        if changes is not None:
            document["changes"] = changes.to_pylist()
            document["left"] = left.to_arrow().to_pylist()
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
    else:
        if len(found):
            output.print_diagnostics(found)
        typer.echo(f"{stage}: {_counts([d.severity for d in found])}")
        if changes is not None:
            _changes(changes.to_pylist(), fix)
    if fix is not None:
        typer.echo(f"left in {fix}: {_counts([d.severity for d in left])}{_codes(left)}", err=True)
    bad = ("error", "warning") if strict else ("error",)
    if any(d.severity in bad for d in left):
        raise typer.Exit(1)


def _codes(left: Iterable[Diagnostic]) -> str:
    """How many of which code, errors first: what the repair leaves to whoever wrote the columns."""
    parts = []
    for severity in ("error", "warning"):
        codes = Counter(d.code for d in left if d.severity == severity)
        parts += [f"{severity} {code} {n}" for code, n in sorted(codes.items())]
    return f" ({', '.join(parts)})" if parts else ""


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
