"""`ovsim tree`: articulations as trees in the terminal, standalone joints below."""

from __future__ import annotations

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
    for root, one in document["articulations"].items():
        for articulation in one if isinstance(one, list) else [one]:
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


def _moving(joint: Document) -> str:
    """Axes that move, with limit and drive."""
    if "axes" not in joint:
        return ", ".join(f"{a} {m}" for a, m in joint.get("motion", {}).items() if m != "locked")
    parts = []
    for name, axis in joint["axes"].items():
        text = f"{name} {axis['motion']}"
        if "limit" in axis:
            text = f"{name} " + " .. ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in axis["limit"])
        drive = axis.get("drive")
        if drive:
            text += f", drive k {drive['stiffness']:.4g} d {drive['damping']:.4g} to {axis['target']:.4g}"
        parts.append(text)
    return "; ".join(parts)
