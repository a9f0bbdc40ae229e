"""Small stages as text: prims by path, written as nested `def`s."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


def number(x: float) -> str:
    """A number as USD text has it."""
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return repr(float(x))


def tuple_(values: tuple[float, ...]) -> str:
    return "(" + ", ".join(number(v) for v in values) + ")"


@dataclass
class Prim:
    """One prim: type ("" = typeless), applied schemas, attribute lines, further metadata lines."""

    type: str = "Xform"
    apis: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    meta: list[str] = field(default_factory=list)


class Scene:
    """Prims by path; missing ancestors become Xforms."""

    def __init__(self, meters_per_unit: float = 1.0) -> None:
        self.meters_per_unit = meters_per_unit
        self.prims: dict[str, Prim] = {}

    def prim(self, path: str, type_: str = "Xform", apis: tuple[str, ...] | list[str] = (), lines: tuple[str, ...] | list[str] = ()) -> Prim:
        self.prims[path] = Prim(type_, list(apis), list(lines))
        return self.prims[path]

    def body(self, path: str, at: tuple[float, float, float] = (0, 0, 0), apis: tuple[str, ...] = (), lines: tuple[str, ...] = ()) -> Prim:
        """A rigid body without shapes, mass 1."""
        move = [f"double3 xformOp:translate = {tuple_(at)}", 'uniform token[] xformOpOrder = ["xformOp:translate"]']
        mass = ["float physics:mass = 1", "float3 physics:diagonalInertia = (1, 1, 1)"]
        return self.prim(path, "Xform", ["PhysicsRigidBodyAPI", "PhysicsMassAPI", *apis], [*move, *mass, *lines])

    def joint(self, path: str, type_: str, body0: str = "", body1: str = "", apis: tuple[str, ...] = (), lines: tuple[str, ...] = ()) -> Prim:
        targets = [f"rel physics:body{k} = <{b}>" for k, b in enumerate((body0, body1)) if b]
        return self.prim(path, type_, list(apis), [*targets, *lines])

    def text(self) -> str:
        head = f'#usda 1.0\n(\n    defaultPrim = "World"\n    metersPerUnit = {number(self.meters_per_unit)}\n    upAxis = "Z"\n)\n'
        tree: dict[str, list[str]] = {}
        for path in sorted(self.prims):
            here = path
            while here:
                above = here.rpartition("/")[0]
                children = tree.setdefault(above, [])
                if here in children:
                    break
                children.append(here)
                here = above
        return head + "".join(self._define(p, tree, 0) for p in tree.get("", []))

    def _define(self, path: str, tree: dict[str, list[str]], depth: int) -> str:
        prim = self.prims.get(path, Prim())
        pad = "    " * depth
        type_ = f"{prim.type} " if prim.type else ""
        apis = ", ".join(f'"{a}"' for a in prim.apis)
        heads = [*([f"prepend apiSchemas = [{apis}]"] if prim.apis else []), *prim.meta]
        meta = f" (\n{''.join(f'{pad}    {h}' + chr(10) for h in heads)}{pad})" if heads else ""
        lines = "".join(f"{pad}    {x}\n" for x in prim.lines)
        inner = "".join(self._define(p, tree, depth + 1) for p in tree.get(path, []))
        return f'\n{pad}def {type_}"{path.rpartition("/")[2]}"{meta}\n{pad}{{\n{lines}{inner}{pad}}}\n'
