"""`ovsim physx`: what the runtime builds of a stage's joints."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ovsim.cli import documents, targets
from ovsim.cli.common import Custom, Files, each, opened, told

if TYPE_CHECKING:
    from consumer import PhysxView
    from ovsim.stage import Stage

NAME = "physx"


class Format(str, Enum):
    """How the PhysX view is given."""

    table = "table"
    json = "json"
    ndjson = "ndjson"
    parquet = "parquet"


def run(
    files: Files,
    format: Annotated[
        Format | None,
        typer.Option(
            help="table for people, json one array, ndjson a document a line, parquet files. By default the table, and parquet into --out.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Directory for Parquet files, a folder a stage where there are several.", show_default=False)
    ] = None,
    diagnostics: Annotated[bool, typer.Option("--diagnostics", help="Also print the diagnostics.")] = False,
    custom: Custom = None,
) -> None:
    """Print the articulations and joints that PhysX gets from one or many stages (rules observed-0.6.3).

    A JSON document has one articulation a root prim, of several the one that is created last; table and parquet have all of them.
    """
    from consumer.physx import physx_document
    from ovsim.api import physx
    from ovsim.cli import output

    joints = tuple(custom or ())
    target = targets.choose(format, out, screen=(Format.table, Format.json, Format.ndjson), folder=(Format.parquet,))
    if out is not None:
        _parquet(files, out, joints)
        return

    def line(file: Path) -> str:
        stage = opened(file, custom_joints=joints)
        view = physx(stage, custom_joints=joints)
        document = physx_document(view, str(file), every=target.format == Format.table.value)
        if diagnostics:
            document["diagnostics"] = told(stage, view.diagnostics).to_arrow().to_pylist()
        return json.dumps(document)

    def table(document: dict[str, Any]) -> None:
        _print(document)
        if diagnostics:
            output.print_diagnostics(output.from_rows(document["diagnostics"]))

    documents.show(files, documents.Format(target.format), line, table)


def tables(stage: Stage, view: PhysxView) -> dict[str, Any]:
    """The Arrow tables of a view by name."""
    return {
        "physx_joints": view.physx_joints,
        "articulations": view.articulation_table,
        "links": view.link_table,
        "diagnostics": told(stage, view.diagnostics).to_arrow(),
    }


def _parquet(files: list[Path], out: Path, custom: tuple[str, ...]) -> None:
    from ovsim.api import physx
    from ovsim.files import write_directory

    def work(file: Path) -> str:
        folder = out / file.name if len(files) > 1 else out
        stage = opened(file, custom_joints=custom)
        view = physx(stage, custom_joints=custom)
        write_directory(folder, tables(stage, view), "parquet")
        return f"{len(view)} joints, {view.articulation_table.num_rows} articulations: {folder}"

    each(files, work, lambda file, text: typer.echo(text), lambda file, error: typer.echo(f"error: {error}", err=True))


def _print(document: dict[str, Any]) -> None:
    from rich.table import Table

    from ovsim.cli import output

    console = output.console()
    console.print(f"[bold]{document['file']}[/bold]", highlight=False)
    for root, several in document["articulations"].items():
        for a in several:
            base = "fixed base" if a["fixBase"] else "floating base"
            console.print(f"articulation {root}: {base}, {len(a['links'])} links", highlight=False)
    table = Table()
    for head in ("joint", "kind", "between", "motion", "limits", "drives"):
        table.add_column(head, overflow="fold")
    for path, j in document["joints"].items():
        motions = {a: x["motion"] for a, x in j["axes"].items()} if "axes" in j else j.get("motion", {})
        limits = {a: x["limit"] for a, x in j["axes"].items() if "limit" in x} if "axes" in j else j.get("limits", j.get("distance", {}))
        drives = {a: x["drive"] for a, x in j["axes"].items() if "drive" in x} if "axes" in j else j.get("drives", {})
        ends = (j["parent"], j["child"]) if "axes" in j else (j["actor0"], j["actor1"])
        kind = f"{j['type']} (articulation)" if "axes" in j else j["class"]
        moving = ", ".join(f"{a} {m}" for a, m in motions.items() if m != "locked")
        table.add_row(path, kind, " – ".join(e or "world" for e in ends), moving, _short(limits), _short(drives))
    console.print(table)


def _short(value: Any) -> str:
    """Nested values in few words; zeros and unlimited forces are left out."""
    from ovsim.cli import output

    if isinstance(value, dict):
        parts = ((k, _short(v)) for k, v in value.items() if v not in (0, False, None) and v != 3.4028234663852886e38)
        return ", ".join(f"{k} {text}" for k, text in parts)
    if isinstance(value, list):
        return " .. ".join(_short(v) for v in value)
    return output.number(value) if isinstance(value, float) else str(value)
