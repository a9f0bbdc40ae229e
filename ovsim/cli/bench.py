"""`ovsim bench`: the benchmark suite, and the comparison of two of its runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ovsim.bench.results import Run

NAME = "bench"
app = typer.Typer(invoke_without_command=True, help="Run the benchmark suite, or compare two of its runs.", add_completion=False)

_List = str


def _names(text: str) -> tuple[str, ...]:
    return tuple(n for n in (part.strip() for part in text.split(",")) if n)


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(float(n)) for n in _names(text))
    except (ValueError, OverflowError):
        raise typer.BadParameter(f"sizes are numbers such as 1e3,1e4, not {text!r}", param_hint="--sizes") from None


@app.callback()
def run(
    context: typer.Context,
    out: Annotated[Path, typer.Option("-o", "--out", help="Directory for results.json, results.parquet, report.html and plots.")] = Path("bench"),
    sizes: Annotated[_List, typer.Option(help="Joints, comma-separated.")] = "1e3,1e4,1e5,1e6",
    kinds: Annotated[_List, typer.Option(help="Stages: mixed, or a joint type such as revolute; 'all' for every one.")] = "mixed",
    phases: Annotated[
        _List, typer.Option(help="populate, order, resolve, physx, arrow, save, load, diff, parquet.")
    ] = "populate,resolve,physx,save,load,diff",
    peers: Annotated[_List, typer.Option(help="Peers to run beside, 'all', or 'none'.")] = "all",
    rounds: Annotated[int, typer.Option(help="Rounds; every measurement runs once a round, in a fresh process.")] = 3,
    warm: Annotated[int, typer.Option(help="Warm calls a process, after the cold one.")] = 3,
    threads: Annotated[int, typer.Option(help="Threads of the kernels, 0 for all cores.")] = 0,
    limit: Annotated[float, typer.Option(help="Seconds that one process may take.")] = 600.0,
    peer_joints: Annotated[int, typer.Option(help="Largest size that peers are run at.")] = 100_000,
    file_joints: Annotated[int, typer.Option(help="Largest stage file that is written (ten times that for cloned ones).")] = 100_000,
) -> None:
    """Run the benchmark suite and write its results, tables and plots."""
    if context.invoked_subcommand is not None:
        return
    import os

    from ovsim.bench.peer import PEERS
    from ovsim.bench.runner import Plan, execute
    from ovsim.bench.synthetic import KINDS

    beside = tuple(PEERS) if peers == "all" else () if peers == "none" else _names(peers)
    plan = Plan(
        sizes=_sizes(sizes),
        kinds=tuple(KINDS) if kinds == "all" else _names(kinds),
        phases=_names(phases),
        peers=beside,
        rounds=rounds,
        warm=warm,
        threads=threads or os.cpu_count() or 1,
        limit=limit,
        file_joints=file_joints,
        peer_joints=peer_joints,
    )
    _write(execute(plan, lambda step: typer.echo(step, err=True)), out)


def _write(done: Run, out: Path) -> None:
    from ovsim.bench.page import page
    from ovsim.bench.plots import plots
    from ovsim.bench.results import BenchError, save
    from ovsim.bench.tables import skipped_table, summary_table
    from ovsim.files import write_file

    typer.echo(summary_table(done))
    if done.skipped:
        typer.echo("\n" + skipped_table(done))
    save(done, out)
    try:
        images = plots(done)
    except BenchError as e:
        typer.echo(f"no plots: {e}", err=True)
        images = {}
    for name, (_, png) in images.items():
        write_file(out / name, png)
    write_file(out / "report.html", page(done, images).encode())
    typer.echo(f"\n{len(done.rows)} measurements, {len(done.skipped)} left out: {out}")


@app.command("compare")
def compare(
    before: Annotated[Path, typer.Argument(help="results.json of the older run, or its directory.", show_default=False)],
    after: Annotated[Path, typer.Argument(help="results.json of the newer run, or its directory.", show_default=False)],
) -> None:
    """Say what moved beyond the noise between two runs; exit status 1 when something got slower."""
    from ovsim.bench.compare import compare as moves_of
    from ovsim.bench.results import load
    from ovsim.bench.tables import key_text, move_table

    moves, gone, fresh = moves_of(load(before), load(after))
    typer.echo(move_table(moves) if moves else "no measurement is in both runs")
    for text, keys in (("only before", gone), ("only after", fresh)):
        for key in keys:
            typer.echo(f"{text}: {key_text(key)}")
    counts = {v: sum(m.verdict == v for m in moves) for v in ("slower", "faster", "same", "unsure")}
    typer.echo(", ".join(f"{n} {v}" for v, n in counts.items()))
    if counts["slower"]:
        raise typer.Exit(1)
