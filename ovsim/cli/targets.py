"""What `--format` and the name of `--out` say together: the format, and whether results are one file or a directory of files."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple, TypeVar

import typer

F = TypeVar("F", bound=Enum)


class Target(NamedTuple):
    """Where results go: `format` is a value of the command's own format, `is_file` whether `--out` names one file."""

    format: str
    is_file: bool


def choose(
    asked: F | None, out: Path | None, *, screen: Sequence[F], files: Sequence[F] = (), folder: Sequence[F] = (), any_name: bool = False
) -> Target:
    """The target of a command whose formats are str enums, each of whose values is also the suffix of its files.

    `screen`: formats of standard output, `files` of one file, `folder` of a directory, the default of each first. A name with the suffix of one of
    `files` is a file and chooses the format, unless a directory of that name is there; with `any_name`, every other name is a file too when a format
    is asked for. `typer.BadParameter` when format and name do not go together.
    """
    if out is None:
        if asked is not None and asked not in screen:
            what = "a file or a directory" if files and folder else "a directory" if folder else "a file"
            raise typer.BadParameter(f"{asked.value} needs {what}: give it with --out", param_hint="--format")
        return Target((asked or screen[0]).value, False)
    written = [f.value for f in (*files, *folder)]
    if asked is not None and asked.value not in written:
        raise typer.BadParameter(f"{asked.value} is for standard output; --out takes {_or(written)}", param_hint="--format")
    named = next((f for f in (*files, *folder) if out.suffix.lower() == f".{f.value}"), None)
    if named is not None and not out.is_dir():
        if named not in files:
            raise typer.BadParameter(f"{out} is the name of a file, and several are written: name a directory", param_hint="--out")
        if asked not in (None, named):
            raise typer.BadParameter(f"{out} is the name of a {named.value} file, and --format says {asked.value}", param_hint="--out")
        return Target(named.value, True)
    if folder and (asked is None or asked in folder):
        return Target((asked or folder[0]).value, False)
    if any_name and asked is not None:
        return Target(asked.value, True)
    known = _or([f".{f.value}" for f in files])
    raise typer.BadParameter(f"{out} tells no format: end its name in {known}, or give --format", param_hint="--out")


def _or(words: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(words))
    return " or ".join([", ".join(distinct[:-1]), distinct[-1]] if len(distinct) > 1 else distinct)
