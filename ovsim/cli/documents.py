"""Commands that print one interchange document a stage: for people, as one JSON array, or one document a line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import typer

from ovsim.cli.common import each


class Format(str, Enum):
    """How documents are printed."""

    table = "table"
    json = "json"
    ndjson = "ndjson"


def show(files: Sequence[Path], format: Format, line: Callable[[Path], str], table: Callable[[dict[str, Any]], None]) -> None:
    """Print the document of each file in order. `line` makes a file's document as one line of JSON, `table` prints it for people.

    A file that fails gives {"file", "error"} (an error line for people), costs no other file, and makes the exit status 1.
    """
    printed = [0]

    def put(text: str) -> None:
        if format is Format.json:
            sys.stdout.write("[\n" if not printed[0] else ",\n")
        sys.stdout.write(text if format is Format.json else text + "\n")
        printed[0] += 1

    def done(file: Path, text: str) -> None:
        if format is Format.table:
            table(json.loads(text))
        else:
            put(text)

    def failed(file: Path, error: str) -> None:
        if format is Format.table:
            typer.echo(f"error: {error}", err=True)
        else:
            put(json.dumps({"file": str(file), "error": error}))

    try:
        each(files, line, done, failed)
    finally:
        if format is Format.json:
            sys.stdout.write("\n]\n" if printed[0] else "[]\n")
