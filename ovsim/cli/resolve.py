"""`ovsim resolve`: joint descriptors of a stage."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ovsim.cli.common import Custom, File, Route, beside, opened, progress, told
from ovsim.contract.joints import DISTANCE, SPHERICAL

if TYPE_CHECKING:
    from consumer import Descriptors
    from ovsim.stage import Stage

NAME = "resolve"


class Format(str, Enum):
    """How descriptors are given."""

    table = "table"
    json = "json"
    parquet = "parquet"


def run(
    file: File,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Directory for joints and diagnostics files.", show_default=False)] = None,
    format: Annotated[Format, typer.Option(help="table for people, json rows, parquet files (into --out).")] = Format.table,
    rules: Annotated[str, typer.Option(help="Rule set: contract-0.6 (the pages) or observed-0.6.3 (the runtime).")] = "contract-0.6",
    diagnostics: Annotated[bool, typer.Option("--diagnostics", help="Also print the diagnostics.")] = False,
    route: Annotated[Route, typer.Option(help="Reader: the columnar one where it can prove the result, else the composed one.")] = Route.auto,
    custom: Custom = None,
) -> None:
    """Resolve a stage's joint columns into descriptors.

    With --format parquet a stage may be larger than memory: columns wait on disk beside the results, and descriptors are
    written batch by batch.
    """
    from ovsim.api import resolve
    from ovsim.cli import output
    from ovsim.files import write_directory

    if format is Format.parquet and out is None:
        raise typer.BadParameter("parquet needs a directory: give it with --out", param_hint="--format")
    with progress(1) as tell:
        tell(f"populate {file}")
        spool = beside(out) if format is Format.parquet and out is not None else None
        stage = opened(file, custom_joints=tuple(custom or ()), route=route.value, spool=spool)
        tell(f"resolve {file}")
        if format is Format.parquet and out is not None:
            _stream(stage, rules, tuple(custom or ()), out)
            return
        found = resolve(stage, rules=rules, custom_joints=tuple(custom or ()))
    rows = told(stage, found.diagnostics)
    tables = {"joints": found.to_arrow(), "diagnostics": rows.to_arrow()}
    if out is not None:
        write_directory(out, tables, format.value)
        typer.echo(f"{len(found)} joints, {len(rows)} diagnostics: {out}")
        return
    if format is Format.json:
        output.print_json({n: t for n, t in tables.items() if n == "joints" or diagnostics})
        return
    _table(found)
    if diagnostics:
        output.print_diagnostics(rows)


def _stream(stage: Stage, rules: str, custom: tuple[str, ...], out: Path) -> None:
    """Write joints.parquet batch by batch, so that the descriptors of a large stage never are in memory at once."""
    import pyarrow.parquet as pq

    from consumer import resolve_batches
    from ovsim.files import whole, write_directory

    batches = resolve_batches(stage, rules, custom)
    with whole(out / "joints.parquet") as aside, pq.ParquetWriter(aside, batches.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    rows = told(stage, batches.diagnostics)
    write_directory(out, {"diagnostics": rows.to_arrow()}, "parquet")
    typer.echo(f"{len(batches)} joints, {len(rows)} diagnostics: {out}")


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
