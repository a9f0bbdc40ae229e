"""The comparator of stages sees every planted difference, and none where there is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ovsim.stage import AUTHORED, FALLBACK, PathDictionary, Stage, StageBuilder
from ovsim.stage.equal import differences, stage_equal


def made(
    paths: PathDictionary | None = None,
    mass: float = 1.0,
    axis: str = "X",
    body: str = "/A",
    schemas: tuple[str, ...] = ("PhysicsMassAPI",),
    type_name: str = "PhysicsRevoluteJoint",
    code: int = AUTHORED,
    more: bool = False,
    column: str = "physics:mass",
    backwards: bool = False,
) -> Stage:
    builder = StageBuilder(paths)
    builder.units(1.0)
    rows = ["/A/k", "/A/j"] if backwards else ["/A/j", "/A/k"]
    values = np.array([2.0, mass] if backwards else [mass, 2.0], np.float32)
    columns = {column: values, "physics:axis": [axis, "Y"][:: -1 if backwards else 1], "physics:body0": [[body], ["/B"]][:: -1 if backwards else 1]}
    builder.add(type_name, rows, columns, schemas, {column: np.array([code, AUTHORED][:: -1 if backwards else 1], np.uint8)})
    builder.add("Xform", ["/A", "/B"] if more else ["/A"])
    return builder.finish()


def test_equal_stages() -> None:
    assert differences(made(), made()) == []
    assert stage_equal(made(), made())


def test_order_and_ids_do_not_matter() -> None:
    paths = PathDictionary()
    for text in ("/Z/y", "/A/k", "/B"):
        paths.path(text)
    paths.token("Y")
    assert differences(made(), made(paths, backwards=True)) == []


CHANGES: dict[str, Callable[[], Stage]] = {
    "a value": lambda: made(mass=float(np.nextafter(np.float32(1), np.float32(2)))),
    "a token": lambda: made(axis="Z"),
    "a target": lambda: made(body="/B"),
    "schemas": lambda: made(schemas=()),
    "a type": lambda: made(type_name="PhysicsPrismaticJoint"),
    "provenance": lambda: made(code=FALLBACK),
    "a row": lambda: made(more=True),
    "a column": lambda: made(column="physics:density"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_planted_differences(change: str) -> None:
    left, right = made(), CHANGES[change]()
    found = differences(left, right)
    assert found
    assert not stage_equal(left, right)
    if change in ("a value", "a token", "a target", "provenance"):
        assert [(d.path, d.column != "") for d in found] == [("/A/j", True)]
    if change == "a row":
        assert [(d.path, d.left, d.right) for d in found] == [("/B", "no row", "a row")]


def test_bits_count() -> None:
    assert differences(made(mass=float("nan")), made(mass=float("nan"))) == []
    assert [d.column for d in differences(made(mass=0.0), made(mass=-0.0))] == ["physics:mass"]


def test_limit() -> None:
    assert len(differences(made(), StageBuilder().finish(), limit=2)) == 2
