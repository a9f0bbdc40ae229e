"""`ovsim columns`: every row and column that population writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ovsim.cli.common import Custom, Files, Route, opened
from ovsim.cli.documents import Format, show

NAME = "columns"


def run(
    files: Files,
    format: Annotated[Format, typer.Option(help="table for people, json one array, ndjson one document a line.")] = Format.table,
    route: Annotated[Route, typer.Option(help="Reader: the columnar one where it can prove the result, else the composed one.")] = Route.auto,
    custom: Custom = None,
) -> None:
    """Print every row and column that population writes of one or many stages."""
    from ovsim import interchange

    def line(file: Path) -> str:
        return interchange.columns_line(opened(file, route=route.value, custom_joints=tuple(custom or ())), str(file))

    show(files, format, line, _table)


def _table(document: dict[str, Any]) -> None:
    """A block a prim, a line a column. Plain lines: a stage has thousands, and laying them out as tables takes longer than populating it."""
    typer.secho(document["file"], bold=True)
    for path, row in document["prims"].items():
        typer.secho(f"{path}  {row.pop('usd-prim-type', '')}".rstrip(), italic=True)
        wide = max(map(len, row), default=0)
        shown = ((n, " ".join(map(str, v)) if isinstance(v, list) else v) for n, v in row.items())
        typer.echo("".join(f"  {n.ljust(wide)}  {v}\n" for n, v in shown))
