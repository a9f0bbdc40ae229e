"""`ovsim convert`: many stages into one Parquet dataset."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from ovsim.cli.common import Custom, Route

if TYPE_CHECKING:
    from ovsim.dataset.job import Status
    from ovsim.dataset.run import Summary

NAME = "convert"
_NAMED = 20  # bad stages that the summary names; the rest is in files and report.html


class Level(str, Enum):
    """How far a stage is taken."""

    columns = "columns"
    descriptors = "descriptors"
    physx = "physx"


class Engine(str, Enum):
    """Where the stages are converted."""

    local = "local"
    ray = "ray"


def run(
    sources: Annotated[list[str], typer.Argument(help="Stage files, directories, globs or URIs; - reads such a list from standard input.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Directory or URI of the dataset.", show_default=False)],
    level: Annotated[Level, typer.Option(help="What population writes; and the joints resolved; and what PhysX builds.")] = Level.physx,
    rules: Annotated[str, typer.Option(help="Rule set of the joints table: contract-0.6 or observed-0.6.3.")] = "contract-0.6",
    route: Annotated[Route, typer.Option(help="Reader: the columnar one where it can prove the result, else the composed one.")] = Route.auto,
    custom: Custom = None,
    engine: Annotated[Engine, typer.Option(help="Processes of this machine, or a Ray cluster.")] = Engine.local,
    address: Annotated[str | None, typer.Option(help="Address of the Ray cluster; without it one is started here.", show_default=False)] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Stages at a time; by default the number of cores.", show_default=False)] = None,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds a stage; 0 is no limit.")] = 600.0,
    memory: Annotated[
        float | None,
        typer.Option(min=0, help="GiB a worker; by default 80 % of the machine among the jobs, 0 is no limit.", show_default=False),
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Also convert again what failed and did not change.")] = False,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Start nothing more after the first stage that is not ok.")] = False,
) -> None:
    """Convert stages into a dataset; run it again to go on, or to convert only what changed."""
    from ovsim.dataset.run import convert

    lines = sys.stdin if "-" in sources else ()
    with _progress() as tell:
        done = convert(
            sources,
            out,
            level=level.value,
            rules=rules,
            route=route.value,
            custom_joints=tuple(custom or ()),
            engine=engine.value,
            address=address,
            jobs=jobs,
            timeout=timeout,
            memory=memory,
            retry_failed=retry_failed,
            fail_fast=fail_fast,
            progress=tell,
            lines=lines,
        )
    _summary(done)
    if not done.all_well:
        raise typer.Exit(1)


@contextmanager
def _progress() -> Iterator[Callable[[Status], None]]:
    """A bar with rate and remaining time on a terminal; else a line every ten seconds."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, rate="")

        def tell(status: Status) -> None:
            rate = f"{status.rate:.1f}/s" + (f", {status.bad} not ok" if status.bad else "")
            left = status.total - status.unchanged
            bar.update(task, total=left or None, completed=status.converted, rate=rate, description=status.step[-60:])

        yield tell


class _Lines:
    """Progress for logs: one line every ten seconds."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, status: Status) -> None:
        if status.seconds - self._last < 10:
            return
        self._last = status.seconds
        left = "" if status.remaining is None else f", about {status.remaining:.0f} s left"
        done = status.converted + status.unchanged
        typer.echo(f"{done} of {status.total} stages, {status.rate:.1f} a second, {status.bad} not ok{left}", err=True)


def _summary(done: Summary) -> None:
    from ovsim.dataset.stage import without_file

    for r in sorted(done.bad, key=lambda r: str(r["file"]))[:_NAMED]:
        typer.echo(f"{r['outcome']}: {r['file']}: {without_file(r)}", err=True)
    if len(done.bad) > _NAMED:
        typer.echo(f"... and {len(done.bad) - _NAMED} more; see {done.dataset}/report.html or the table files", err=True)
    rate = f", {done.converted / done.seconds:.1f} a second" if done.converted and done.seconds > 0 else ""
    vanished = f", {done.vanished} gone since the last run" if done.vanished else ""
    typer.echo(f"{done.sources} stages: {done.converted} tried now, {done.unchanged} unchanged{vanished}, in {done.seconds:.1f} s{rate}")
    if done.stopped:
        typer.echo(f"stopped early: {done.sources - len(done.records)} stages are left; run again to go on", err=True)
    typer.echo("outcomes: " + (", ".join(f"{n} {k}" for k, n in done.outcomes().items()) or "none"))
    found = f"{done.total('errors')} errors and {done.total('warnings')} warnings in their diagnostics"
    typer.echo(f"{done.total('joints')} joints, {done.total('articulations')} articulations, {found}: {done.dataset}")
