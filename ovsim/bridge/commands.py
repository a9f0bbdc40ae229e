"""`python -m ovsim.bridge push|pull`: the two commands on snapshots, for an environment with ovstage, ovphysx, numpy and pyarrow.

`ovsim push` and `ovsim pull` run this module in the environment that has ovstage. Standard output holds one JSON line, the summary; whatever the
native libraries print goes to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ovsim.errors import BridgeError, OvsimError


def push(snapshot: Path, *, steps: int, dt: float, device: str, out: Path | None, poses: Path | None) -> dict[str, Any]:
    """Load a snapshot, push it into a new ovstage stage, attach ovphysx, step, and save what was asked for; the summary.

    `out` becomes a snapshot of the pulled stage with the simulated state in `sim:*` columns, `poses` a Parquet file with a row a body.
    """
    from ovsim.bridge import native, run
    from ovsim.bridge import ovstage as bridge
    from ovsim.stage import Stage

    stage = Stage.load(snapshot)
    ovstage = native.module()
    live = ovstage.Stage(snapshot.name)
    try:
        rows = bridge.push(stage, live, 1)
        table = run.simulate(live, steps, dt=dt, device=device, write_ordinal=2 if out else None)
        kinds = table.column("kind").to_pylist()
        summary = {"rows": rows, "bodies": kinds.count("body"), "links": kinds.count("link"), "steps": steps, "seconds": steps * dt}
        if out:
            bridge.pull(live, 2).save(out)
            summary["out"] = str(out)
        if poses:
            _write_parquet(table, poses)
            summary["poses"] = str(poses)
    finally:
        live.destroy()
    return summary


def pull(usd: Path, *, out: Path) -> dict[str, Any]:
    """Populate a USD file by ovstage itself and save its columns as a snapshot; the summary."""
    from ovsim.bridge import ovstage as bridge
    from ovsim.bridge import run

    live = run.populate(usd)
    try:
        stage = bridge.pull(live, 1)
        stage.metadata["source"] = str(usd)
        stage.save(out)
    finally:
        live.destroy()
    return {"rows": len(stage), "archetypes": len(stage.archetypes), "ovstage": stage.metadata["ovstage"], "out": str(out)}


def _write_parquet(table: Any, target: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        pq.write_table(table, aside)
        aside.replace(target)
    except (OSError, pa.ArrowException) as e:
        raise BridgeError(f"cannot write {target}: {e}") from e
    finally:
        aside.unlink(missing_ok=True)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m ovsim.bridge", description="Snapshots into the real simulator, and out of real population.")
    commands = top.add_subparsers(dest="command", required=True)
    one = commands.add_parser("push", help="push a snapshot into ovstage, step it with ovphysx")
    one.add_argument("snapshot", type=Path, help="snapshot directory")
    one.add_argument("--steps", type=int, default=1, help="simulation steps (default 1; 0 attaches only, without state)")
    one.add_argument("--dt", type=float, default=1 / 60, help="seconds a step (default 1/60)")
    one.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    one.add_argument("-o", "--out", type=Path, help="snapshot to write after the steps, simulated state in sim:* columns")
    one.add_argument("--poses", type=Path, help="Parquet file to write: a row a body, pose and velocities after the steps")
    two = commands.add_parser("pull", help="populate a USD file by ovstage, save the columns as a snapshot")
    two.add_argument("usd", type=Path, help="USD stage file")
    two.add_argument("-o", "--out", type=Path, required=True, help="snapshot to write")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; exit status 0, 1 after an error told on standard error, 2 for wrong usage."""
    given = vars(parser().parse_args(arguments))
    commands: dict[str, Callable[..., dict[str, Any]]] = {"push": push, "pull": pull}
    work = commands[given.pop("command")]
    sys.stdout.flush()
    said = os.dup(1)  # the native libraries write their log to descriptor 1
    os.dup2(2, 1)
    try:
        summary = json.dumps(work(**given)) + "\n"
    except OvsimError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    finally:
        with contextlib.suppress(OSError, TypeError, AttributeError):
            ctypes.CDLL(None).fflush(None)  # what is still in the C library's buffer belongs to the log
        os.dup2(said, 1)
        os.close(said)
    sys.stdout.write(summary)
    return 0
