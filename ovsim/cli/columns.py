"""`ovsim columns`: every row and column that population writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ovsim.cli.common import Custom, Files, Route
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
    from ovsim.api import open_stage

    def line(file: Path) -> str:
        return interchange.columns_line(open_stage(file, route=route.value, custom_joints=tuple(custom or ())), str(file))

    show(files, format, line, _table)


def _table(document: dict[str, Any]) -> None:
    from rich.table import Table

    from ovsim.cli import output

    console = output.console()
    console.print(f"[bold]{document['file']}[/bold]", highlight=False)
    for path, row in document["prims"].items():
        table = Table(title=f"{path}  {row.get('usd-prim-type', '')}", title_justify="left", show_header=False, box=None)
        for name, value in row.items():
            if name != "usd-prim-type":
                table.add_row(name, " ".join(map(str, value)) if isinstance(value, list) else str(value))
        console.print(table)
