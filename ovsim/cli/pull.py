"""`ovsim pull`: what the real ovstage makes of a USD file, as a snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ovsim.cli.common import Python, progress

NAME = "pull"


def run(
    file: Annotated[Path, typer.Argument(help="A USD stage file (.usd, .usda, .usdc, .usdz).", show_default=False)],
    out: Annotated[Path, typer.Option("-o", "--out", help="Snapshot directory to write.", show_default=False)],
    python: Python = None,
) -> None:
    """Populate a USD file by the real ovstage and save its rows and columns as a snapshot."""
    from ovsim.bridge import process

    with progress(1) as tell:
        tell(f"populate {file}")
        got = process.run(["pull", str(file), "--out", str(out)], python)
    typer.echo(f"{got['rows']} rows in {got['archetypes']} archetypes, ovstage {got['ovstage']}: {got['out']}")
