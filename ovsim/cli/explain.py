"""`ovsim explain`: one prim, one screen."""

from __future__ import annotations

import json
import sys
from enum import Enum
from typing import Annotated

import typer

from ovsim.cli.common import Custom, File, Process, progress

NAME = "explain"
FEW_ROWS = 400  # rows of a stage that interpreted kernels are through with before machine code is loaded


class Format(str, Enum):
    """How the explanation is given."""

    table = "table"
    json = "json"


def run(
    file: File,
    prim: Annotated[
        str, typer.Argument(help="Path of a prim, such as /World/arm/joint2: a joint, a body, an articulation root.", show_default=False)
    ],
    format: Annotated[Format, typer.Option(help="table for people, json one document.")] = Format.table,
    every: Annotated[bool, typer.Option("--all", help="Also columns that the parser does not read of this joint.")] = False,
    custom: Custom = None,
) -> None:
    """Explain each value of one prim: authored, written, assumed, resolved, built."""
    from ovsim.api import open_stage
    from ovsim.interpreted import interpret

    joints = tuple(custom or ())
    with progress(1) as tell:
        tell(f"explain {prim}")
        stage = open_stage(file, custom_joints=joints)
        if Process.owned and len(stage) <= FEW_ROWS:
            interpret()
        from ovsim.explain import explain

        found = explain(file, prim, custom_joints=joints, stage=stage)
    if format is Format.json:
        sys.stdout.write(json.dumps(found.document(), indent=1) + "\n")
        return
    from ovsim.cli import output
    from ovsim.explain.screen import screen

    typer.echo(screen(found, output.width(), every, bold=sys.stdout.isatty()))
