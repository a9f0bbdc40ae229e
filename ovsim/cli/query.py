"""`ovsim query`: SQL over a dataset."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ovsim.cli import targets

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "query"


class Format(str, Enum):
    """How rows are given."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


def run(
    dataset: Annotated[str, typer.Argument(help="Directory or URI of a dataset that `ovsim convert` wrote.", show_default=False)],
    sql: Annotated[str, typer.Argument(help="A query; each table of the dataset is a view of its name.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="File to write instead: NAME.csv, .json or .parquet, or any name with --format.", show_default=False),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option(help="table for people, csv, json rows, parquet. By default the table, or what the name of --out says.", show_default=False),
    ] = None,
) -> None:
    """Ask a dataset in SQL (DuckDB), for instance `select type, count(*) from joints group by type`."""
    from ovsim.dataset.query import query

    screen, files = (Format.table, Format.csv, Format.json), (Format.csv, Format.json, Format.parquet)
    chosen = Format(targets.choose(format, out, screen=screen, files=files, any_name=True).format)
    rows = query(dataset, sql)
    if chosen is Format.table:
        _table(rows)
        return
    data = _bytes(rows, chosen)
    if out is None:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    from ovsim.dataset.storage import Storage

    Storage.at(out.parent).write(out.name, data)


def _bytes(rows: pa.Table, format: Format) -> bytes:
    import io

    import pyarrow.parquet as pq
    from pyarrow import csv

    if format is Format.json:
        from ovsim.files import jsonable

        return (json.dumps(jsonable(rows.to_pylist()), indent=1, default=str) + "\n").encode()
    sink = io.BytesIO()
    if format is Format.parquet:
        pq.write_table(rows, sink)
    else:
        csv.write_csv(_flat(rows), sink)
    return sink.getvalue()


def _flat(rows: pa.Table) -> pa.Table:
    """Nested columns as JSON text, since CSV has none."""
    import pyarrow as pa

    from ovsim.files import jsonable

    def text(value: Any) -> str | None:
        return None if value is None else json.dumps(jsonable(value), default=str)

    columns = [pa.array(map(text, c.to_pylist()), pa.string()) if pa.types.is_nested(c.type) else c for c in rows.columns]
    return pa.table(columns, names=rows.column_names)


def _table(rows: pa.Table) -> None:
    from rich.table import Table

    from ovsim.cli import output

    table = Table(title=f"{rows.num_rows} rows")
    for head in rows.column_names:
        table.add_column(head, overflow="fold")
    for row in rows.to_pylist():
        table.add_row(*("" if v is None else output.number(v) if isinstance(v, float) else str(v) for v in row.values()))
    output.console().print(table)
