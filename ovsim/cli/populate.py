"""`ovsim populate`: a USD stage to a snapshot of its columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ovsim.cli.common import Custom, Route, beside, progress

NAME = "populate"


def run(
    file: Annotated[Path, typer.Argument(help="A USD stage file (.usd, .usda, .usdc, .usdz).", show_default=False)],
    out: Annotated[Path, typer.Option("-o", "--out", help="Snapshot directory to write.", show_default=False)],
    route: Annotated[Route, typer.Option(help="Reader: the columnar one where it can prove the result, else the composed one.")] = Route.auto,
    custom: Custom = None,
) -> None:
    """Write the rows and columns that population makes of a stage into a snapshot directory."""
    from ovsim.api import populate

    with progress(1) as tell:
        tell(f"populate {file}")
        stage = populate(file, route=route.value, custom_joints=tuple(custom or ()), spool=beside(out))
        tell(f"save {out}")
        stage.save(out)
    for d in stage.diagnostics:
        typer.echo(f"{d.severity}: {d.path or file}: {d.message} [{d.code}]", err=True)
    told = stage.metadata
    reason = f" ({told['reason']})" if told.get("reason") else ""
    typer.echo(f"{len(stage)} rows in {len(stage.archetypes)} archetypes, route {told.get('route', '?')}{reason}: {out}")
