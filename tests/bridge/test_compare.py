"""The comparison of stages: silent on harmless differences, loud on each planted one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ovsim.bridge import differences
from ovsim.bridge.compare import table
from ovsim.stage import Stage, StageBuilder
from ovsim.stage import columns as col

BODIES = ["/World/a", "/World/b"]


def columns(**changes: Any) -> dict[str, Any]:
    given = {
        "physics:mass": np.array([1, np.nan], np.float32),
        "physics:velocity": np.array([[0, 1, 2], [3, 4, -0.0]], np.float32),
        "physics:simulationOwner": [["/World/scene"], []],
        "physics:approximation": ["none", "sdf"],
    }
    given.update({k.replace("__", ":"): v for k, v in changes.items()})
    return {k: v for k, v in given.items() if v is not None}


def build(schemas: tuple[str, ...] = ("PhysicsMassAPI", "PhysicsRigidBodyAPI"), type_: str = "Cube", **changes: Any) -> Stage:
    b = StageBuilder()
    b.units()
    b.add("Xform", ["/World"])
    b.add(type_, BODIES, columns(**changes), schemas)
    return b.finish()


def shuffled() -> Stage:
    """The same stage with other ids, row order, archetype order and schema order."""
    b = StageBuilder()
    b.paths.token_many(["sdf", "z", "none"])
    b.paths.path("/Other/place")
    given = columns()
    b.add("Cube", BODIES[::-1], {n: v[::-1] for n, v in given.items()}, ("PhysicsRigidBodyAPI", "PhysicsMassAPI"))
    b.add("Xform", ["/World"])
    b.units()
    return b.finish()


def test_equal_stages_have_no_differences() -> None:
    assert differences(build(), build()) == []


def test_ids_order_and_archetypes_do_not_matter() -> None:
    assert differences(build(), shuffled()) == []
    assert differences(shuffled(), build()) == []


@pytest.mark.parametrize(
    ("other", "kind", "column", "path"),
    [
        (build(physics__mass=np.array([1, 2], np.float32)), "value", "physics:mass", "/World/b"),
        (build(physics__velocity=np.array([[0, 1, 2], [3, 4, 0.0]], np.float32)), "value", "physics:velocity", "/World/b"),
        (build(physics__simulationOwner=[["/World/scene", "/World"], []]), "value", "physics:simulationOwner", "/World/a"),
        (build(physics__simulationOwner=[["/World"], []]), "value", "physics:simulationOwner", "/World/a"),
        (build(physics__approximation=["sdf", "sdf"]), "value", "physics:approximation", "/World/a"),
        (build(physics__mass=pa.array([1.0, 2.0])), "layout", "physics:mass", "/World/a"),
        (build(physics__mass=None), "column", "physics:mass", "/World/a"),
        (build(physics__density=np.ones(2, np.float32)), "column", "physics:density", "/World/a"),
        (build(schemas=("PhysicsMassAPI",)), "schemas", "", "/World/a"),
        (build(type_="Sphere"), "type", "", "/World/a"),
    ],
    ids=lambda x: str(x) if isinstance(x, str) else "",
)
def test_planted_differences(other: Stage, kind: str, column: str, path: str) -> None:
    for left, right in ((build(), other), (other, build())):
        (found,) = differences(left, right)
        assert (found.kind, found.column, found.path) == (kind, column, path)
        assert path in str(found)


def test_missing_rows_on_either_side() -> None:
    b = StageBuilder()
    b.units()
    b.add("Xform", ["/World"])
    found = differences(build(), b.finish())
    assert [(d.kind, d.path, d.message) for d in found] == [("row", p, "only in the first stage") for p in BODIES]
    assert {d.message for d in differences(b.finish(), build())} == {"only in the second stage"}


def test_columns_can_be_left_out() -> None:
    other = build(physics__mass=None)
    assert differences(build(), other, without=("physics:mass",)) == []


def test_ids_are_told_as_texts() -> None:
    (found,) = differences(build(), build(physics__approximation=["sdf", "sdf"]))
    assert found.message == "none against sdf"
    assert found.rows == 1


def test_prototype_numbers_are_arbitrary() -> None:
    def instanced(first: int, second: int, mass: float = 1.0) -> Stage:
        b = StageBuilder()
        for path, n in (("/World/i1", first), ("/World/i2", second)):
            prototype = col.dense(np.array([b.paths.path(f"/__Prototype_{n}")], np.uint64))
            b.add("Xform", [path], {"_protoPath": (col.field("_protoPath", pa.uint64(), col.PATH_ID), prototype)})
        b.add("Cube", [f"/__Prototype_{first}/c", f"/__Prototype_{second}/c"], {"physics:mass": np.array([mass, 2], np.float32)})
        return b.finish()

    assert differences(instanced(3, 8), instanced(2, 1)) == []
    (found,) = differences(instanced(3, 8), instanced(2, 1, mass=7))
    assert (found.kind, found.path) == ("value", "/__Prototype_#1/c")


def test_differences_as_a_table() -> None:
    made = table(differences(build(), build(type_="Sphere")))
    assert made.to_pylist() == [{"kind": "type", "path": "/World/a", "column": "", "rows": 2, "message": "Cube against Sphere"}]
    assert table([]).num_rows == 0


def test_empty_stages() -> None:
    assert differences(StageBuilder().finish(), StageBuilder().finish()) == []
    assert {d.kind for d in differences(build(), StageBuilder().finish())} == {"row"}
