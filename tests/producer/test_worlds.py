"""World matrices that local ones do not tell (producer/worlds.py): observed on the recorded stage scopes_between."""

from __future__ import annotations

import numpy as np
import pytest

from ovsim.stage import StageBuilder
from producer import populate
from producer.worlds import WORLD, with_world_matrices

MOVED = np.array([[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 2, 3, 1.0]])
IDENTITY = np.eye(4).reshape(1, 16)


def worlds(rows, resets=()):
    """Position of the world matrix of each row that gets one; `rows`: path to local matrix or None."""
    builder = StageBuilder()
    for path, local in rows.items():
        columns = {} if local is None else {"omni:xform": local, "omni:resetXformStack": [path in resets]}
        builder.add("Scope" if local is None else "Xform", [path], columns)
    stage = builder.finish()
    found = with_world_matrices(stage.paths, stage.archetypes)
    assert sum(map(len, found)) == len(rows)  # no row is lost
    out = {}
    for a in found:
        for i, path in enumerate(stage.paths.path_strings(a.path_ids).to_pylist()):
            if WORLD in a:
                out[path] = a.values(WORLD)[i, 12:15].tolist()
                assert a.provenance[WORLD].tolist() == [2] * len(a)
                assert a.names == sorted(a.names)
    return out


def test_a_scope_between_loses_what_stands_above():
    rows = {"/A": MOVED, "/A/S": None, "/A/S/B": MOVED, "/A/S/B/C": MOVED}
    assert worlds(rows) == {"/A/S/B": [1, 2, 3], "/A/S/B/C": [2, 4, 6]}


def test_two_scopes_in_a_row_and_one_further_down():
    rows = {"/A": MOVED, "/A/S": None, "/A/S/T": None, "/A/S/T/B": MOVED, "/A/S/T/B/U": None, "/A/S/T/B/U/C": MOVED}
    assert worlds(rows) == {"/A/S/T/B": [1, 2, 3], "/A/S/T/B/U/C": [1, 2, 3]}


@pytest.mark.parametrize(
    ("rows", "resets"),
    [
        ({"/A": MOVED, "/A/B": MOVED}, ()),
        ({"/A": IDENTITY, "/A/S": None, "/A/S/B": MOVED}, ()),
        ({"/S": None, "/S/B": MOVED, "/S/B/C": MOVED}, ()),
        ({"/A": MOVED, "/A/S": None, "/A/S/B": MOVED, "/A/S/B/C": MOVED}, ("/A/S/B",)),
        ({"/A": MOVED, "/A/S": None}, ()),
    ],
)
def test_no_column_where_local_matrices_say_the_same(rows, resets):
    assert worlds(rows, resets) == {}


def test_a_reset_above_ends_what_is_lost():
    rows = {"/A": MOVED, "/A/B": IDENTITY, "/A/B/S": None, "/A/B/S/C": MOVED}
    assert worlds(rows) == {"/A/B/S/C": [1, 2, 3]}
    assert worlds(rows, ("/A/B",)) == {}


def test_rows_of_one_kind_are_parted():
    rows = {"/A": MOVED, "/A/S": None, **{f"/A/S/B{i}": MOVED for i in range(3)}, **{f"/A/C{i}": MOVED for i in range(3)}}
    assert worlds(rows) == {f"/A/S/B{i}": [1, 2, 3] for i in range(3)}


def test_a_deep_chain_is_composed_in_order():
    depth = 300
    rows = {"/A": MOVED, "/A/S": None} | {"/A/S" + "/x" * i: MOVED for i in range(1, depth)}
    assert worlds(rows)["/A/S" + "/x" * (depth - 1)] == [depth - 1, 2 * depth - 2, 3 * depth - 3]


MOVE = "\ndouble3 xformOp:translate = (4, 0, 0)"


@pytest.mark.parametrize(
    ("ops", "order", "told"),
    [
        ("int3 xformOp:translate = (1, 2, 3)", '"xformOp:translate"', ["xformOp:translate"]),
        ("float3 xformOp:bogus = (1, 2, 3)" + MOVE, '"xformOp:bogus", "xformOp:translate"', ["xformOp:bogus"]),
        (
            "int3 xformOp:scale = (1, 2, 3)\ndouble3 xformOp:translate = (4, 0, 0)",
            '"!invert!xformOp:scale", "xformOp:translate"',
            ["!invert!xformOp:scale"],
        ),
        ("int3 xformOp:scale = (1, 2, 3)" + MOVE, '"xformOp:scale", "!resetXformStack!", "xformOp:translate"', []),
    ],
)
def test_an_op_that_usd_refuses_is_the_identity(tmp_path, ops, order, told):
    """Observed (recorded stage ops): the other ops and all other prims keep their values."""
    file = tmp_path / "ops.usda"
    text = f'def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n{{\n{ops}\nuniform token[] xformOpOrder = [{order}]\n}}\n'
    file.write_text("#usda 1.0\n" + text + 'def Xform "B" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n{\n}\n')
    stage = populate(file, route="composed")
    archetype, row = stage.find("/A")
    assert archetype.values("omni:xform")[row, 12:15].tolist() == ([4, 0, 0] if "4, 0, 0" in ops else [0, 0, 0])
    assert stage.find("/B") is not None
    assert [(d.path, d.column) for d in stage.diagnostics if d.code == "transform-op-skipped" and d.column] == [("/A", name) for name in told]
