"""What the commands share: argument types, progress, walking over many stages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ovsim.errors import OvsimError

if TYPE_CHECKING:
    from ovsim.diagnostics import Diagnostic, Diagnostics
    from ovsim.stage import Stage

File = Annotated[Path, typer.Argument(help="A USD stage file (.usd, .usda, .usdc, .usdz) or a snapshot directory.", show_default=False)]
Files = Annotated[list[Path], typer.Argument(help="USD stage files or snapshot directories.", show_default=False)]


def _custom(names: list[str] | None) -> list[str]:
    from ovsim.contract.joints import custom_joint_types
    from ovsim.errors import CustomJointError

    try:
        return list(custom_joint_types(names or ()))
    except CustomJointError as e:
        raise typer.BadParameter(str(e)) from e


Custom = Annotated[
    list[str] | None,
    typer.Option("--custom-joint", callback=_custom, help="A further joint type token, as a consumer would register it; repeatable."),
]

Python = Annotated[Path | None, typer.Option(help="The python that has ovstage; else $OVSIM_BRIDGE_PYTHON, else this one.", show_default=False)]


class Process:
    """What is known of this process: `owned` when it runs one command and ends (`ovsim.cli.app.main`), so that the command may set it up."""

    owned = False


class Route(str, Enum):
    """Which reader populates."""

    auto = "auto"
    crate = "crate"
    composed = "composed"


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """A progress line on the terminal's standard error; silent when that is no terminal. Yields a function that tells the current step."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bars = (BarColumn(), MofNCompleteColumn()) if total > 1 else ()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), *bars, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total if total > 1 else None)
        started = [False]

        def tell(step: str) -> None:
            bar.update(task, description=step, advance=1 if started[0] and total > 1 else 0)
            started[0] = True

        yield tell


def unexpected(where: str, error: Exception) -> str:
    """One line for an error that no rule foresees; OVSIM_TRACEBACK=1 shows where it comes from instead."""
    if os.environ.get("OVSIM_TRACEBACK"):
        raise error
    said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{where}unexpected {type(error).__name__}: {said[:300]}; please report it with this stage (OVSIM_TRACEBACK=1 shows the traceback)"


def each(files: Sequence[Path], work: Callable[[Path], Any], done: Callable[[Path, Any], None], failed: Callable[[Path, str], None]) -> None:
    """Run `work` on each file in order; a file that fails is told to `failed` and costs no other file. Exit status 1 when any failed."""
    bad = False
    with progress(len(files)) as tell:
        for file in files:
            tell(str(file))
            try:
                result = work(file)
            except OvsimError as e:
                bad = True
                failed(file, str(e))
            except MemoryError:
                bad = True
                failed(file, "not enough memory for this stage")
            except BrokenPipeError:
                raise
            except Exception as e:
                bad = True
                failed(file, unexpected(f"{file}: ", e))
            else:
                done(file, result)
    if bad:
        raise typer.Exit(1)


def beside(out: Path) -> Path:
    """The nearest directory above `out` that is there: where columns of a large stage wait while they are made."""
    return next((p for p in out.absolute().parents if p.is_dir()), Path("."))


def opened(file: Path, **options: Any) -> Stage:
    """`ovsim.open_stage`, and a line on standard error for whatever an arc of the stage names in vain."""
    from ovsim.api import open_stage
    from ovsim.diagnostic_codes import LOSSES

    stage = open_stage(file, **options)
    for d in stage.diagnostics:
        if d.code in LOSSES:
            typer.echo(f"{d.severity}: {d.path or file}: {d.message} [{d.code}]", err=True)
    return stage


def told(stage: Stage, found: Iterable[Diagnostic]) -> Diagnostics:
    """What population had to say of a stage, and then what was found in it."""
    from ovsim.diagnostics import Diagnostics

    return Diagnostics([*stage.diagnostics, *found])
