"""`ovsim columns`: every row and column that population writes."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from ovsim.cli.common import Custom, Files, Route, each

NAME = "columns"


class Format(str, Enum):
    """How columns are printed."""

    table = "table"
    json = "json"
    ndjson = "ndjson"


def run(
    files: Files,
    format: Annotated[Format, typer.Option(help="table for people, json one array, ndjson one document a line.")] = Format.table,
    route: Annotated[Route, typer.Option(help="Reader: the columnar one where it can prove the result, else the composed one.")] = Route.auto,
    custom: Custom = None,
) -> None:
    """Print every row and column that population writes of one or many stages."""
    from ovsim import interchange
    from ovsim.api import open_stage

    def work(file: Path) -> Any:
        return interchange.columns_document(open_stage(file, route=route.value, custom_joints=tuple(custom or ())), str(file))

    documents: list[Any] = []

    def done(file: Path, document: Any) -> None:
        if format is Format.ndjson:
            sys.stdout.write(json.dumps(document) + "\n")
        elif format is Format.json:
            documents.append(document)
        else:
            _table(document)

    def failed(file: Path, error: str) -> None:
        if format is Format.table:
            typer.echo(f"error: {error}", err=True)
        else:
            done(file, {"file": str(file), "error": error})

    try:
        each(files, work, done, failed)
    finally:
        if format is Format.json:
            sys.stdout.write(json.dumps(documents, indent=1) + "\n")


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
