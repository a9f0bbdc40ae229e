"""`ovsim tree`: articulations as trees in the terminal, standalone joints below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ovsim.cli.common import Custom, File, opened, progress, told

if TYPE_CHECKING:
    from rich.tree import Tree

NAME = "tree"
Document = dict[str, Any]


def run(
    file: File,
    diagnostics: Annotated[bool, typer.Option("--diagnostics", help="Also print the diagnostics.")] = False,
    custom: Custom = None,
) -> None:
    """Draw a stage's articulations as trees of links, each with its joint's type, limits and drive; standalone joints stand below."""
    from rich.tree import Tree

    from consumer.physx import physx_document
    from ovsim.api import physx
    from ovsim.cli import output

    with progress(1) as tell:
        tell(f"physx {file}")
        stage = opened(file, custom_joints=tuple(custom or ()))
        view = physx(stage, custom_joints=tuple(custom or ()))
        document = physx_document(view, str(file), every=True)
    console = output.console()
    inbound = {j["child"]: (path, j) for path, j in document["joints"].items() if j["kind"] == "articulation"}
    for root, several in document["articulations"].items():
        for articulation in several:
            console.print(_tree(root, articulation, inbound), highlight=False)
    alone = {path: j for path, j in document["joints"].items() if j["kind"] == "standalone"}
    if alone:
        top = Tree("[bold]standalone joints[/bold]")
        for path, j in alone.items():
            top.add(f"{path}  {j['class']}  {j['actor0'] or 'world'} – {j['actor1'] or 'world'}  {_moving(j)}".rstrip())
        console.print(top, highlight=False)
    if not document["joints"] and not document["articulations"]:
        console.print(f"{file}: PhysX gets no joint from this stage")
    if diagnostics:
        output.print_diagnostics(told(stage, view.diagnostics))


def _tree(root: str, articulation: Document, inbound: dict[str, tuple[str, Document]]) -> Tree:
    """Links stand in the order of creation, so a parent's node always exists before its child's."""
    from rich.tree import Tree

    base = "fixed base" if articulation["fixBase"] else "floating base"
    top = Tree(f"[bold]{root}[/bold]  ({base}, {len(articulation['links'])} links)")
    first, *others = articulation["links"]
    nodes = {first: top.add(first)}
    for link in others:
        path, j = inbound[link]
        name = path.rpartition("/")[2]
        nodes[link] = nodes[j["parent"]].add(f"{link}  ← {name}: {j['type']} {_moving(j)}".rstrip())
    return top


_DIGITS = 4
_SWINGS = {"y": "swing1", "z": "swing2"}
_UNBOUNDED = 1e38  # a linear range that PhysX was never told keeps a third of the largest float


def _moving(joint: Document) -> str:
    """What moves, with limit and drive."""
    if "axes" in joint:
        return "; ".join(_link_axis(name, axis) for name, axis in joint["axes"].items())
    if "distance" in joint:
        distance = joint["distance"]
        return ", ".join(f"{end} {_number(distance[f'{end}Distance'])}" for end in ("min", "max") if distance[f"{end}Enabled"])
    return "; ".join(_standalone(joint)) if "motion" in joint else ""


def _link_axis(name: str, axis: Document) -> str:
    text = f"{name} {_span(*axis['limit'])}" if "limit" in axis else f"{name} {axis['motion']}"
    drive = axis.get("drive")
    return f"{text}, {_drive(drive)} to {_number(axis['target'])}" if drive else text


def _standalone(joint: Document) -> Iterator[str]:
    """The axes of a D6 joint that move, then a cone or a distance, which belong to more than one axis."""
    limits, drives = joint["limits"], joint["drives"]
    spans = {name: (limit["lower"], limit["upper"]) for name, limit in limits.items() if "lower" in limit}
    spans |= {axis: limits["pyramid"][side] for side, axis in _SWINGS.items() if "pyramid" in limits}
    for axis, motion in joint["motion"].items():
        pushed = f", {_drive(drives[axis])}" if axis in drives else ""
        if motion == "limited" and axis in spans and not all(isinstance(b, float) and abs(b) > _UNBOUNDED for b in spans[axis]):
            yield f"{axis} {_span(*spans[axis])}{pushed}"
        elif motion != "locked" or pushed:
            yield f"{axis} {motion}{pushed}"
    if "cone" in limits:
        yield f"cone {_number(limits['cone']['yAngle'])}, {_number(limits['cone']['zAngle'])}"
    if "distance" in limits:
        yield f"distance {_number(limits['distance']['value'])}"


def _drive(drive: Document) -> str:
    return f"drive k {_number(drive['stiffness'])} d {_number(drive['damping'])}"


def _span(lower: float | str, upper: float | str) -> str:
    return f"{_number(lower)} .. {_number(upper)}"


def _number(value: float | str) -> str:
    from ovsim.cli import output

    return output.number(value, _DIGITS)
