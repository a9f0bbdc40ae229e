"""How results are shown: JSON with non-finite numbers as strings, tables and diagnostics for people."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ovsim.diagnostics import Diagnostic
from ovsim.files import jsonable

if TYPE_CHECKING:
    from rich.console import Console


def json_text(tables: Mapping[str, pa.Table]) -> str:
    """Tables as one JSON object of row lists, a line at the end."""
    return json.dumps({n: jsonable(t.to_pylist()) for n, t in tables.items()}, indent=1) + "\n"


def plain(text: str) -> str:
    """Text for a rich table cell: brackets in it are no markup."""
    from rich.markup import escape

    return escape(text)


WIDE = 180


def width() -> int:
    """Characters a line of text that is wrapped: COLUMNS where it is set, else those of the terminal, else `WIDE` in a file or a pipe."""
    told = os.environ.get("COLUMNS", "")
    if not sys.stdout.isatty() and not told.isdecimal():
        return WIDE
    return max(shutil.get_terminal_size((WIDE, 24)).columns, 20)


def console() -> Console:
    """A console for tables: as wide as the terminal, or wide enough not to break names when the output is a file or a pipe."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=WIDE)


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


def number(value: float | str, digits: int = 6) -> str:
    """A short decimal of a float32 value, without the sign of a zero; the words of a document for a non-finite one stay."""
    return value if isinstance(value, str) else f"{value + 0.0:.{digits}g}"


def record(row: Mapping[str, Any], names: Iterable[str]) -> str:
    """The named fields of a struct as `name value` pairs, those that are there."""
    parts = (f"{n} {number(row[n]) if isinstance(row[n], float) else row[n]}" for n in names if row.get(n) is not None)
    return ", ".join(parts)
