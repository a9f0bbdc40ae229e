"""The application: registers the commands, turns errors into one line and an exit status."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import ovsim
from ovsim.cli import bench, check, columns, contract, convert, diff, explain, physx, populate, pull, push, query, resolve, tree
from ovsim.cli.common import Process, unexpected
from ovsim.errors import OvsimError

app = typer.Typer(
    name="ovsim",
    help="USD physics joints as Arrow columns, and what ovphysx makes of them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _command in (populate, resolve, physx, tree, columns, explain, diff, check, contract, convert, query, push, pull):
    app.command(_command.NAME, no_args_is_help=_command.NAME != "contract")(_command.run)
app.add_typer(bench.app, name=bench.NAME)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"ovsim {ovsim.__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")] = False,
) -> None:
    """Registers the options that stand before a command."""


def main() -> None:
    """Entry point: exit status 0 all well, 1 a stage or file failed, 2 wrong usage."""
    Process.owned = True
    try:
        app()
    except OvsimError as e:
        typer.echo(f"error: {e}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except MemoryError:
        typer.echo("error: not enough memory for this stage", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        sys.exit(130)
    except Exception as e:
        typer.echo(f"error: {unexpected('', e)}", err=True)
        sys.exit(1)
