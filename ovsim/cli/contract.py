"""`ovsim contract`: print the population contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ovsim.contract import ProducerRule

NAME = "contract"


def run(
    component: Annotated[
        str | None, typer.Argument(help="A component such as PhysicsDriveAPI; all of them when left out.", show_default=False)
    ] = None,
) -> None:
    """Print the contract: every component, or the columns of one with type, unit, fallback and defaults."""
    from rich.table import Table

    from ovsim import contract
    from ovsim.cli import output

    data = contract.load()
    console = output.console()
    if component is None:
        table = Table(title=f"population contract {data.version}")
        for head in ("component", "kind", "columns", "what it is"):
            table.add_column(head, overflow="fold")
        for each in data.components.values():
            table.add_row(each.name, each.kind, str(len(data.columns_of(each.name))), each.summary)
        console.print(table)
        return
    one = data.component(component)
    console.print(f"[bold]{one.name}[/bold] ({one.kind}){': ' + one.summary if one.summary else ''}", highlight=False)
    if one.extends:
        console.print(f"extends {one.extends}", highlight=False)
    table = Table()
    for head in ("column", "type", "unit", "raw fallback", "population writes", "parser default"):
        table.add_column(head, overflow="fold")
    for c in data.columns_of(one.name):
        unit = c.unit.get("all") or "; ".join(f"{k}: {v}" for k, v in c.unit.items())
        default = "" if c.parser_default is None else str(c.parser_default) + (" (diverges)" if c.diverges else "")
        kind = f"{c.type}, {c.semantic}" if c.semantic else c.type
        table.add_row(c.name, kind, unit, "" if c.raw_fallback is None else str(c.raw_fallback), _writes(c.producer), default)
    console.print(table)
    if one.instances:
        console.print("read on")
        for joint, names in one.instances.items():
            console.print(f"  {joint}: {', '.join(n or 'yes' for n in names)}", highlight=False)


def _writes(rule: ProducerRule) -> str:
    if rule.rule == "derived":
        where = f" on {', '.join(rule.only_types)}" if rule.only_types else ""
        return f"authored, else {rule.value}{where}" + ("; without the API too" if rule.without_api else "")
    return {"resolved": "authored, else fallback", "authored": "only when authored", "special": "see the prim's structure rules"}[rule.rule]
