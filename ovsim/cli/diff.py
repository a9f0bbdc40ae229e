"""`ovsim diff`: where two views of joints part, and why."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ovsim.cli import targets
from ovsim.cli.common import Custom, progress

if TYPE_CHECKING:
    from ovsim.diff import Comparison

NAME = "diff"
NO_COMPARISON = 3


class Format(str, Enum):
    """How differences are given."""

    table = "table"
    json = "json"
    parquet = "parquet"
    html = "html"


class Level(str, Enum):
    """What is compared."""

    columns = "columns"
    descriptors = "descriptors"
    physx = "physx"


def run(
    files: Annotated[list[Path], typer.Argument(help="One or two stage files, snapshots or tables.", show_default=False)],
    between: Annotated[
        str | None,
        typer.Option(
            help="How each side is seen, as A,B: usd, columnar, contract-0.6 or observed-0.6.3. "
            "One USD file: usd,columnar; one snapshot or table: the two rule sets; two files: columnar both.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        list[Level] | None, typer.Option(help="Level to compare; repeatable. Descriptors and physx by default.", show_default=False)
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Numbers must be equal.")] = False,
    rtol: Annotated[float, typer.Option(help="Relative tolerance.", min=0)] = 1e-6,
    atol: Annotated[float, typer.Option(help="Absolute tolerance.", min=0)] = 1e-6,
    format: Annotated[
        Format | None,
        typer.Option(
            help="table for people, json, parquet or one html page. By default the table, or what the name of --out says.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="File to write: NAME.json, .parquet or .html, or any name with --format; else standard output.", show_default=False
        ),
    ] = None,
    unexplained: Annotated[bool, typer.Option("--unexplained", help="Show only what no finding explains.")] = False,
    custom: Custom = None,
) -> None:
    """Compare two views of a stage's joints. Exit status 0: nothing differs, 1: all is explained, 2: something is not, 3: no comparison."""
    from ovsim.diff import EXACT, Tolerance, compare
    from ovsim.errors import OvsimError

    try:
        target = targets.choose(format, out, screen=(Format.table, Format.json), files=(Format.json, Format.parquet, Format.html), any_name=True)
        with progress(1) as tell:
            tell(f"compare {' and '.join(map(str, files))}")
            result = compare(
                *_two(files),
                between=_sides(between),
                levels=[x.value for x in level] if level else None,
                tolerance=EXACT if exact else Tolerance(rtol, atol),
                custom_joints=tuple(custom or ()),
            )
        _show(result, Format(target.format), out, unexplained)
    except (OvsimError, typer.BadParameter) as e:
        typer.echo(f"error: {e}", err=True)
        raise typer.Exit(NO_COMPARISON) from e
    raise typer.Exit(result.exit_code)


def _two(files: list[Path]) -> tuple[Path, Path | None]:
    from ovsim.errors import DiffError

    if len(files) > 2:
        raise DiffError(f"{len(files)} files given; diff compares one with itself or two with each other")
    return files[0], files[1] if len(files) == 2 else None


def _sides(between: str | None) -> tuple[str, str] | None:
    from ovsim.errors import DiffError

    if between is None:
        return None
    first, comma, second = between.partition(",")
    if not comma or "," in second:
        raise DiffError(f"--between wants two views, such as usd,columnar, not {between!r}")
    return first.strip(), second.strip()


def _show(result: Comparison, format: Format, out: Path | None, unexplained: bool) -> None:
    from dataclasses import replace

    from ovsim.diff.comparator import UNEXPLAINED
    from ovsim.files import write_file

    shown = replace(result, differences=[d for d in result.differences if d.finding == UNEXPLAINED]) if unexplained else result
    if format is Format.table:
        _table(result, shown)
        return
    if format is Format.parquet:
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        pq.write_table(shown.to_arrow(), sink)
        data = sink.getvalue().to_pybytes()
    elif format is Format.html:
        from ovsim.diff.html import page

        data = page(shown).encode()
    else:
        data = (json.dumps(shown.document(), indent=1) + "\n").encode()
    if out is None:
        sys.stdout.write(data.decode())
        return
    write_file(out, data)
    typer.echo(f"{len(shown)} differences ({_counts(result)}): {out}")


def _counts(result: Comparison) -> str:
    return ", ".join(f"{n} {finding}" for finding, n in result.counts().items()) or "none"


def _table(result: Comparison, shown: Comparison) -> None:
    from rich.table import Table

    from ovsim.cli import output
    from ovsim.contract import findings
    from ovsim.diff.result import text

    console = output.console()
    console.print(f"{result.left.label} against {result.right.label}: {len(result)} differences ({_counts(result)})", highlight=False, markup=False)
    if not len(shown):
        return
    table = Table()
    for head in ("level", "joint", "field", "left", "right", "finding"):
        table.add_column(head, overflow="fold")
    for d in shown.differences:
        cells = (d.level, d.path, d.field, text(d.left) or "absent", text(d.right) or "absent", d.finding)
        table.add_row(*(output.plain(c) for c in cells))
    console.print(table)
    known = findings.load()
    for finding in shown.counts():
        if finding in known:
            console.print(f"[bold]{finding}[/bold] ({known[finding].severity}): {known[finding].happens} {known[finding].advice}", highlight=False)
