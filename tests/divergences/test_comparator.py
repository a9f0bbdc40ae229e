"""The comparator itself: planted differences are found, harmless ones are not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from bench_stages import BOTH, by_hand, hands, scene

from ovsim.diff import DEFAULT, EXACT, LEVELS, Tolerance
from ovsim.diff.comparator import LEFT_ONLY, ORDER, RIGHT_ONLY, TYPE, VALUE, compare
from ovsim.diff.flat import Flat, FlatColumn, from_arrow, objects
from ovsim.errors import DiffError, TableError


def _flat(rows: list[dict]) -> Flat:
    return from_arrow(pa.Table.from_pylist(rows))


NAN = float("nan")
BASE = [
    {"path": "/a", "mass": 1.0, "body0": "/x", "body1": "/y", "pos": [1.0, 2.0, 3.0], "localPose0Orientation": [0.0, 0.0, 0.6, 0.8], "on": True},
    {
        "path": "/b",
        "mass": float("nan"),
        "body0": None,
        "body1": "/z",
        "pos": [0.0, 0.0, 0.0],
        "localPose0Orientation": [0.0, 0.0, 0.0, 1.0],
        "on": False,
    },
]
ULP = float(np.nextafter(np.float32(1), np.float32(2)))


def _changed(row: int, **values) -> list[dict]:
    return [{**r, **(values if i == row else {})} for i, r in enumerate(BASE)]


def _found(other: list[dict], tolerance=EXACT) -> list[tuple]:
    return [(d.path, d.field, d.kind, d.left, d.right) for d in compare("descriptors", _flat(BASE), _flat(other), tolerance)]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (_changed(0, mass=2.0), [("/a", "mass", VALUE, 1.0, 2.0)]),
        (_changed(0, mass=-1.0), [("/a", "mass", VALUE, 1.0, -1.0)]),
        (_changed(0, mass=ULP), [("/a", "mass", VALUE, 1.0, ULP)]),
        (_changed(0, on=False), [("/a", "on", VALUE, True, False)]),
        (_changed(1, mass=1.0), [("/b", "mass", VALUE, pytest.approx(float("nan"), nan_ok=True), 1.0)]),
        (_changed(0, body0="/y", body1="/x"), [("/a", "body0", VALUE, "/x", "/y"), ("/a", "body1", VALUE, "/y", "/x")]),
        (_changed(1, body0="/x"), [("/b", "body0", RIGHT_ONLY, None, "/x")]),
        (_changed(0, body0=None), [("/a", "body0", LEFT_ONLY, "/x", None)]),
        (_changed(0, pos=[1.0, 3.0, 2.0]), [("/a", "pos", VALUE, (1, 2, 3), (1, 3, 2))]),
        (_changed(0, localPose0Orientation=[0.0, 0.0, -0.6, -0.8]), [("/a", "localPose0Orientation", VALUE, (0, 0, 0.6, 0.8), (0, 0, -0.6, -0.8))]),
        (BASE[:1], [("/b", "", LEFT_ONLY, "/b", None)]),
        ([*BASE, {**BASE[0], "path": "/c"}], [("/c", "", RIGHT_ONLY, None, "/c")]),
    ],
    ids=["value", "sign", "ulp", "bool", "nan", "swapped-bodies", "new-target", "lost-target", "lanes", "turned-over", "missing-row", "extra-row"],
)
def test_planted(other, expected):
    """Exactly the planted difference, whatever its kind."""
    assert _found(other) == expected


@pytest.mark.parametrize(
    "other",
    [
        BASE[::-1],
        [dict(reversed(r.items())) for r in BASE],
        _changed(1, pos=[-0.0, 0.0, -0.0]),
        [{**r, "never": None} for r in BASE],
    ],
    ids=["row-order", "column-order", "negative-zero", "absent-everywhere"],
)
def test_harmless(other):
    """Not a difference, even exactly."""
    assert _found(other) == []


def test_tolerance():
    """One ulp and a negated quaternion pass under a tolerance; a change beyond it, and inf, do not."""
    assert _found(_changed(0, mass=ULP), DEFAULT) == []
    assert _found(_changed(0, localPose0Orientation=[0.0, 0.0, -0.6, -0.8]), DEFAULT) == []
    assert _found(_changed(0, mass=1.001), DEFAULT)
    assert _found(_changed(0, mass=float("inf")), Tolerance(1.0, 1e9))
    assert _found(_changed(0, mass=1.4), Tolerance(0.0, 0.5)) == []


def test_list_order():
    """The same records in another order are an order difference and nothing else."""
    rows = lambda axes: [{"path": "/a", "limits": [{"axis": a, "upper": float(len(a))} for a in axes]}]
    found = compare("descriptors", _flat(rows(["x", "yy"])), _flat(rows(["yy", "x"])), EXACT)
    assert [(d.field, d.kind, d.left, d.right) for d in found] == [("limits.order", ORDER, ("x", "yy"), ("yy", "x"))]


def test_storage_type():
    """Equal values of other types are told where types are compared."""
    one = lambda kind: Flat(["/a"], {"m": FlatColumn(np.array([1.0]), np.array([True]), objects([kind]))})
    found = compare("columns", one("float"), one("double"), EXACT)
    assert [(d.kind, d.left, d.right) for d in found] == [(TYPE, "float", "double")]


def test_delta_is_the_greatest_distance():
    """Of a vector, the lane that moved most."""
    found = compare("descriptors", _flat(BASE), _flat(_changed(0, pos=[1.0, 2.5, 7.0])), EXACT)
    assert found[0].delta == 4.0


def test_bad_tables():
    """No path column, another type, nulls, and a path twice: each named."""
    with pytest.raises(TableError, match="no column `path`"):
        from_arrow(pa.table({"prim": ["/a"]}), "joints.parquet")
    with pytest.raises(TableError, match="not strings"):
        from_arrow(pa.table({"path": [1]}))
    with pytest.raises(TableError, match="nulls"):
        from_arrow(pa.table({"path": pa.array(["/a", None])}))
    with pytest.raises(TableError, match="/a has more than one row"):
        from_arrow(pa.table({"path": ["/a", "/b", "/a"]}))


def test_nothing_in_common():
    """Two stages whose joints share no path cannot be compared; two empty ones differ in nothing."""
    stages = [by_hand(scene((f"/W/{n}", "PhysicsFixedJoint", BOTH, ()))) for n in ("J", "K")]
    with pytest.raises(DiffError, match=r"no joint in common: left has 1 such as /W/J, right has 1 such as /W/K"):
        hands(*stages)
    empty = by_hand(scene())
    assert hands(empty, empty).exit_code == 0


def test_levels_are_checked():
    """An unknown level is named with the known ones."""
    stage = by_hand(scene(("/W/J", "PhysicsFixedJoint", BOTH, ())))
    with pytest.raises(DiffError, match=r"no level is called 'colums'.*" + ", ".join(LEVELS)):
        hands(stage, stage, ["colums"])


def test_exit_code_and_table():
    """0 nothing, 1 explained only, 2 unexplained; the Arrow table has a row a difference."""
    plain = {**BOTH, "physics:lowerLimit": -30.0, "physics:upperLimit": 30.0}
    rows = [scene(("/W/J", "PhysicsRevoluteJoint", c, ())) for c in (plain, {**plain, "physics:upperLimit": 31.0})]
    changed = hands(*map(by_hand, rows), ["descriptors"])
    assert changed.exit_code == 2
    table = changed.to_arrow()
    assert table.to_pylist()[0]["field"] == "limit.upper"
    assert table.column("delta").null_count == 0
    seeded = hands(
        by_hand(scene(("/W/J", "PhysicsFixedJoint", BOTH, ()))),
        by_hand(scene(("/W/J", "PhysicsFixedJoint", {**BOTH, "physics:breakForce": float("inf")}, ()))),
    )
    assert seeded.exit_code == 1
    assert seeded.to_arrow().column("severity").to_pylist() == ["note"]
    assert hands(by_hand(rows[0]), by_hand(rows[0])).exit_code == 0
