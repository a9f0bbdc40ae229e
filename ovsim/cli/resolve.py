"""`ovsim resolve`: joint descriptors of a stage."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ovsim.cli import targets
from ovsim.cli.common import Custom, File, Route, beside, opened, progress, told
from ovsim.contract.joints import DISTANCE, SPHERICAL

if TYPE_CHECKING:
    from consumer import Descriptors
    from ovsim.diagnostics import Diagnostics
    from ovsim.stage import Stage

NAME = "resolve"


class Format(str, Enum):
    """How descriptors are given."""

    table = "table"
    json = "json"
    parquet = "parquet"


def run(
    file: File,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="A file NAME.parquet or NAME.json for the joints; any other name is a directory for the files joints and diagnostics.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            help="table for people, json rows, parquet. By default the table, or into --out what its name says, parquet in a directory.",
            show_default=False,
        ),
    ] = None,
    rules: Annotated[str, typer.Option(help="Rule set: contract-0.6 (the pages) or observed-0.6.3 (the runtime).")] = "contract-0.6",
    diagnostics: Annotated[bool, typer.Option("--diagnostics", help="Also print the diagnostics.")] = False,
    route: Annotated[Route, typer.Option(help="Reader: the columnar one where it can prove the result, else the composed one.")] = Route.auto,
    custom: Custom = None,
) -> None:
    """Resolve a stage's joint columns into descriptors.

    Into parquet a stage may be larger than memory: columns wait on disk beside the results, and descriptors are
    written batch by batch.
    """
    from ovsim.api import resolve
    from ovsim.cli import output
    from ovsim.files import write_directory, write_file

    both, kinds = (Format.parquet, Format.json), tuple(custom or ())
    target = targets.choose(format, out, screen=(Format.table, Format.json), files=both, folder=both)
    is_parquet = target.format == Format.parquet.value
    with progress(1) as tell:
        tell(f"populate {file}")
        stage = opened(file, custom_joints=kinds, route=route.value, spool=beside(out) if out is not None and is_parquet else None)
        tell(f"resolve {file}")
        found, joints = None, {}
        if out is not None and is_parquet:
            count, rows = _stream(stage, rules, kinds, out if target.is_file else out / "joints.parquet")
        else:
            found = resolve(stage, rules=rules, custom_joints=kinds)
            count, rows, joints = len(found), told(stage, found.diagnostics), {"joints": found.to_arrow()}
    listed = {"diagnostics": rows.to_arrow()}
    is_document = target.format == Format.json.value and (out is None or target.is_file)
    if is_document:
        text = output.json_text({**joints, **(listed if diagnostics else {})})
        if out is None:
            sys.stdout.write(text)
        else:
            write_file(out, text.encode())
    elif out is None and found is not None:
        _table(found)
    elif out is not None and not target.is_file:
        write_directory(out, {**joints, **listed}, target.format)
    if out is not None:
        typer.echo(f"{count} joints, {len(rows)} diagnostics: {out}")
    if diagnostics and not is_document:
        output.print_diagnostics(rows)


def _stream(stage: Stage, rules: str, custom: tuple[str, ...], file: Path) -> tuple[int, Diagnostics]:
    """Write the joints batch by batch, so that the descriptors of a large stage never are in memory at once; gives their number and diagnostics."""
    import pyarrow.parquet as pq

    from consumer import resolve_batches
    from ovsim.files import whole

    batches = resolve_batches(stage, rules, custom)
    with whole(file) as aside, pq.ParquetWriter(aside, batches.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return len(batches), told(stage, batches.diagnostics)


def _table(found: Descriptors) -> None:
    from rich.table import Table

    from ovsim.cli import output
    from ovsim.cli.output import record

    table = Table(title=f"{len(found)} joints, rules {found.rules}")
    for head in ("joint", "type", "body0", "body1", "limit", "drive"):
        table.add_column(head, overflow="fold")
    for row in found.to_arrow().to_pylist():
        limits = row["limits"] if row.get("limits") else [row["limit"]] if row.get("limit") else []
        drives = row["drives"] if row.get("drives") else [row["drive"]] if row.get("drive") else []
        spans = "; ".join(_span(row, x) for x in limits if x.get("enabled"))
        pushes = "; ".join(record(x, ("axis", "stiffness", "damping", "targetPosition")) for x in drives if x.get("enabled"))
        table.add_row(row["path"], row["type"], row["body0"] or "world", row["body1"] or "world", spans, pushes)
    output.console().print(table)


def _span(row: dict[str, Any], limit: dict[str, Any]) -> str:
    """A limit in few words: a cone by its half angles, a distance by the bounds that hold, else lower to upper."""
    from ovsim.cli.output import number

    if row["type"] == SPHERICAL:
        return f"cone {number(limit['lower'])}, {number(limit['upper'])}"
    if row["type"] == DISTANCE:
        bounds = (("min", row["minEnabled"], limit["lower"]), ("max", row["maxEnabled"], limit["upper"]))
        return ", ".join(f"{name} {number(value)}" for name, holds, value in bounds if holds)
    return f"{limit.get('axis', '')} {number(limit['lower'])} .. {number(limit['upper'])}".strip()
