"""How tables leave the command line: files that appear whole, JSON with non-finite numbers as strings, diagnostics for people."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ovsim.diagnostics import Diagnostic
from ovsim.errors import OvsimError

if TYPE_CHECKING:
    from rich.console import Console


def jsonable(value: Any) -> Any:
    """A value whose non-finite floats are the strings "inf", "-inf" and "nan" (JSON has no such numbers)."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {k: jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    return value


def print_json(tables: Mapping[str, pa.Table]) -> None:
    """Print tables as one JSON object of row lists."""
    sys.stdout.write(json.dumps({n: jsonable(t.to_pylist()) for n, t in tables.items()}, indent=1) + "\n")


def write_directory(directory: Path, tables: Mapping[str, pa.Table], format: str) -> None:
    """Write each table as NAME.parquet, or NAME.json where `format` is json; every file appears whole. OvsimError when the disk refuses."""
    import pyarrow.parquet as pq

    suffix = "json" if format == "json" else "parquet"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            handle, aside = tempfile.mkstemp(prefix=f".{name}.", dir=directory)
            os.close(handle)
            try:
                if suffix == "json":
                    Path(aside).write_text(json.dumps(jsonable(table.to_pylist()), indent=1) + "\n", "utf-8")
                else:
                    pq.write_table(table, aside)
                os.replace(aside, directory / f"{name}.{suffix}")
            finally:
                Path(aside).unlink(missing_ok=True)
    except OSError as e:
        raise OvsimError(f"cannot write into {directory}: {e}") from e


def write_file(file: Path, data: bytes) -> None:
    """Write one file that appears whole or not at all. OvsimError when the disk refuses."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as sink:
                sink.write(data)
            os.replace(aside, file)
        finally:
            Path(aside).unlink(missing_ok=True)
    except OSError as e:
        raise OvsimError(f"cannot write {file}: {e}") from e


def plain(text: str) -> str:
    """Text for a rich table cell: brackets in it are no markup."""
    from rich.markup import escape

    return escape(text)


def console() -> Console:
    """A console for tables: as wide as the terminal, or wide enough not to break names when the output is a file or a pipe."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=180)


def print_diagnostics(rows: Iterable[Diagnostic]) -> None:
    """Print diagnostics as a table for people."""
    from rich.table import Table

    table = Table(title="diagnostics")
    for head in ("severity", "code", "prim", "column", "message"):
        table.add_column(head, overflow="fold")
    for d in rows:
        table.add_row(d.severity, d.code, d.path, d.column, d.message)
    console().print(table)


def from_rows(rows: Iterable[Mapping[str, str]]) -> list[Diagnostic]:
    """Diagnostics from their JSON rows."""
    return [Diagnostic(**r) for r in rows]


def number(value: float) -> str:
    """A short decimal of a float32 value."""
    return f"{value:.6g}"


def record(row: Mapping[str, Any], names: Iterable[str]) -> str:
    """The named fields of a struct as `name value` pairs, those that are there."""
    parts = (f"{n} {number(row[n]) if isinstance(row[n], float) else row[n]}" for n in names if row.get(n) is not None)
    return ", ".join(parts)
