"""Small stages of both kinds for the divergence tests: USD text, and hand-populated columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pxr import Sdf, Usd

import producer
from consumer.usd import UsdSource
from consumer.usd.schemas import register
from ovsim.diff import Comparison, compare_sides
from ovsim.diff.sides import OBSERVED, ColumnSide, UsdSide
from ovsim.stage import Stage, StageBuilder

HEAD = '#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
Row = tuple[str, Mapping[str, Any], Sequence[str]]
IDENTITY = np.eye(4).reshape(16)


def usd(text: str) -> Usd.Stage:
    """An open stage from the text of its root prims."""
    register()
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(HEAD + text)
    return Usd.Stage.Open(layer)


def body(name: str, inside: str = "", apis: Sequence[str] = ("PhysicsRigidBodyAPI",), at: tuple[float, float, float] = (0, 0, 0)) -> str:
    """An Xform with APIs at a place."""
    return prim("Xform", name, f'double3 xformOp:translate = {at}\nuniform token[] xformOpOrder = ["xformOp:translate"]\n{inside}', apis)


def prim(type_name: str, name: str, inside: str = "", apis: Sequence[str] = (), more: str = "") -> str:
    """Any prim."""
    listed = ", ".join(f'"{a}"' for a in apis)
    head = f"prepend apiSchemas = [{listed}]\n{more}" if listed else more
    return f'def {type_name} "{name}"' + (f" (\n{head}\n)" if head else "") + f"\n{{\n{inside}\n}}\n"


def joint(type_name: str, name: str, body0: str = "", body1: str = "", inside: str = "", apis: Sequence[str] = ()) -> str:
    """A joint between two targets; "" for the world."""
    rels = "".join(f"rel physics:body{k} = <{t}>\n" for k, t in enumerate((body0, body1)) if t)
    return prim(type_name, name, rels + inside, apis)


def world(*inside: str, apis: Sequence[str] = (), before: str = "") -> str:
    """The root prim /W over its content."""
    return before + prim("Xform", "W", "\n".join(inside), apis)


AB = (body("A"), body("B", at=(1, 0, 0)))


def against(text: str, levels: Sequence[str] = ("descriptors", "physx")) -> Comparison:
    """USD backend against population's columns."""
    stage = usd(text)
    return compare_sides(UsdSide(UsdSource.open(stage), "usd"), ColumnSide(producer.populate(stage), "columnar"), levels=levels, related=True)


def populated(text: str) -> Stage:
    return producer.populate(usd(text))


def by_hand(rows: Mapping[str, Row], up_axis: str = "Z", meters: float = 1.0) -> Stage:
    """A hand-populated stage: path to (type, columns with one value each, schemas)."""
    builder = StageBuilder()
    builder.units(meters, 1.0, up_axis)
    for path, (type_name, columns, schemas) in rows.items():
        builder.add(type_name, [path], {n: [v] for n, v in columns.items()}, schemas)
    return builder.finish()


def scene(
    *more: tuple[str, str, Mapping[str, Any], Sequence[str]], root: Sequence[str] = ()
) -> dict[str, tuple[str, Mapping[str, Any], Sequence[str]]]:
    """Rows of /W with two bodies A and B, and more rows as (path, type, columns, schemas)."""
    place = {"omni:xform": IDENTITY, "omni:resetXformStack": False}
    rows: dict[str, Row] = {"/W": ("Xform", place, root)}
    rows |= {f"/W/{n}": ("Xform", place, ["PhysicsRigidBodyAPI"]) for n in "AB"}
    return rows | {path: (type_name, columns, schemas) for path, type_name, columns, schemas in more}


BOTH = {"physics:body0": ["/W/A"], "physics:body1": ["/W/B"]}


def hands(left: Stage, right: Stage, levels: Sequence[str] = ("descriptors", "physx")) -> Comparison:
    """Two column stages."""
    return compare_sides(ColumnSide(left, "left"), ColumnSide(right, "right"), levels=levels)


def rule_sets(stage: Stage, levels: Sequence[str] = ("descriptors", "physx")) -> Comparison:
    """One stage under the two rule sets: the pages, and what was observed."""
    return compare_sides(ColumnSide(stage, "pages", "contract-0.6"), ColumnSide(stage, "observed", OBSERVED), levels=levels, related=True)


def findings_of(result: Comparison, level: str = "") -> set[str]:
    return {d.finding for d in result.differences if not level or d.level == level}


def at(result: Comparison, path: str, field: str, level: str = "descriptors") -> Any:
    """The difference at a place, None when there is none."""
    return next((d for d in result.differences if (d.level, d.path, d.field) == (level, path, field)), None)
