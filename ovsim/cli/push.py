"""`ovsim push`: a stage into the real ovstage and ovphysx."""

from __future__ import annotations

import tempfile
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ovsim.cli.common import Custom, File, Python, progress

NAME = "push"


class Device(str, Enum):
    """Where ovphysx simulates."""

    cpu = "cpu"
    gpu = "gpu"


def run(
    file: File,
    steps: Annotated[int, typer.Option(min=0, help="Simulation steps; 0 attaches only, without state.")] = 1,
    dt: Annotated[float, typer.Option(min=0.0, help="Seconds a step.")] = 1 / 60,
    device: Annotated[Device, typer.Option(help="Where ovphysx simulates.")] = Device.cpu,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Snapshot to write after the steps, the simulated state in sim:* columns.", show_default=False)
    ] = None,
    poses: Annotated[Path | None, typer.Option(help="Parquet file to write: a row a body after the steps.", show_default=False)] = None,
    python: Python = None,
    custom: Custom = None,
) -> None:
    """Push a snapshot (or a USD file, populated here first) into ovstage, attach ovphysx and step it."""
    from ovsim.api import populate
    from ovsim.bridge import process
    from ovsim.stage.snapshot import is_snapshot

    with progress(1) as tell, tempfile.TemporaryDirectory() as aside:
        snapshot = file
        if not is_snapshot(file) and not file.is_dir():
            tell(f"populate {file}")
            snapshot = Path(aside) / "stage"
            populate(file, custom_joints=tuple(custom or ())).save(snapshot)
        tell(f"simulate {file}")
        options = [str(snapshot), "--steps", str(steps), "--dt", repr(dt), "--device", device.value]
        options += ["--out", str(out)] if out else []
        options += ["--poses", str(poses)] if poses else []
        got = process.run(["push", *options], python)
    typer.echo(f"{got['rows']} rows, {got['bodies']} bodies, {got['links']} articulation links, {got['steps']} steps ({got['seconds']:.6g} s)")
    for name in ("out", "poses"):
        if got.get(name):
            typer.echo(f"{name}: {got[name]}")
