"""The comparator: two flattened tables, aligned by joint path, never by index."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.diff.flat import Flat, FlatColumn, plain

LEVELS = ("columns", "descriptors", "physx")
VALUE, LEFT_ONLY, RIGHT_ONLY, ORDER, TYPE = "value", "left-only", "right-only", "order", "type"
UNEXPLAINED = "unexplained"
_TURNS = ("Orientation", "localRot0", "localRot1", ".q")


@dataclass(frozen=True)
class Tolerance:
    """How far numbers may lie apart: |a - b| <= absolute + relative * max(|a|, |b|). `EXACT` wants equal values.

    Always equal: NaN and NaN, 0 and -0. Under a tolerance a rotation equals its negated quaternion.
    """

    relative: float = 0.0
    absolute: float = 0.0

    @property
    def exact(self) -> bool:
        return self.relative == 0 and self.absolute == 0


EXACT = Tolerance()
DEFAULT = Tolerance(1e-6, 1e-6)


@dataclass(frozen=True)
class Difference:
    """One difference at one joint.

    `field` is "" when the whole joint stands on one side only. `left` and `right` are Python values, None = absent. `delta` is the greatest absolute
    difference of numbers, NaN otherwise. `finding` is a finding's id or `UNEXPLAINED`.
    """

    level: str
    path: str
    field: str
    kind: str
    left: Any
    right: Any
    delta: float = math.nan
    finding: str = UNEXPLAINED

    def explained(self, finding: str) -> Difference:
        """The same difference with a finding."""
        return replace(self, finding=finding)


def compare(level: str, left: Flat, right: Flat, tolerance: Tolerance = DEFAULT) -> list[Difference]:
    """All differences of one level, by path and then by field."""
    out = [Difference(level, p, "", LEFT_ONLY, p, None) for p in left.paths if p not in right.row]
    out += [Difference(level, p, "", RIGHT_ONLY, None, p) for p in right.paths if p not in left.row]
    shared = [p for p in left.paths if p in right.row]
    a = np.array([left.row[p] for p in shared], np.int64)
    b = np.array([right.row[p] for p in shared], np.int64)
    for name in sorted({*left.columns, *right.columns}):
        out += _column(level, name, shared, _take(left.columns.get(name), a), _take(right.columns.get(name), b), tolerance)
    return sorted(out, key=lambda d: (d.path, d.field))


def _take(column: FlatColumn | None, rows: npt.NDArray[np.int64]) -> FlatColumn:
    if column is None:
        return FlatColumn(np.zeros(rows.size), np.zeros(rows.size, np.bool_))
    return FlatColumn(column.values[rows], column.valid[rows], None if column.kinds is None else column.kinds[rows])


def _column(level: str, name: str, paths: list[str], a: FlatColumn, b: FlatColumn, tolerance: Tolerance) -> Iterator[Difference]:
    both = a.valid & b.valid
    for row in np.flatnonzero(a.valid & ~b.valid):
        yield Difference(level, paths[row], name, LEFT_ONLY, plain(a.values[row]), None)
    for row in np.flatnonzero(b.valid & ~a.valid):
        yield Difference(level, paths[row], name, RIGHT_ONLY, None, plain(b.values[row]))
    if not both.any():
        return
    turn = name.endswith(_TURNS) and a.values.ndim == 2 and a.values.shape[1] == 4
    same = _same(a.values, b.values, both, turn, tolerance)
    for row in np.flatnonzero(both & ~same):
        left, right = plain(a.values[row]), plain(b.values[row])
        yield Difference(level, paths[row], name, _kind(name, left, right), left, right, _delta(left, right))
    if a.kinds is not None and b.kinds is not None:
        for row in np.flatnonzero(both & same & (a.kinds != b.kinds)):
            yield Difference(level, paths[row], name, TYPE, a.kinds[row], b.kinds[row])


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any], both: npt.NDArray[np.bool_], turn: bool, tolerance: Tolerance) -> npt.NDArray[np.bool_]:
    if object in (a.dtype, b.dtype) or a.shape != b.shape:
        return _same_objects(a, b, both)
    same = _near(a, b, tolerance)
    if turn and not tolerance.exact:
        same |= _near(a, -b, tolerance)
    return same


def _same_objects(a: npt.NDArray[Any], b: npt.NDArray[Any], both: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Only what is not plainly equal is looked at value by value (NaN within tuples, vectors of two lengths)."""
    same = ~both
    rows = np.flatnonzero(both)
    if a.ndim == b.ndim == 1:
        alike = np.asarray(a[rows] == b[rows], np.bool_)
        same[rows[alike]] = True
        rows = rows[~alike]
    same[rows] = [_equal(plain(x), plain(y)) for x, y in zip(a[rows], b[rows])]
    return same


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, tuple) and isinstance(y, tuple):
        return len(x) == len(y) and all(_equal(p, q) for p, q in zip(x, y))
    return bool(x == y) or (isinstance(x, float) and isinstance(y, float) and math.isnan(x) and math.isnan(y))


def _near(a: npt.NDArray[Any], b: npt.NDArray[Any], tolerance: Tolerance) -> npt.NDArray[np.bool_]:
    floating = np.issubdtype(a.dtype, np.floating) or np.issubdtype(b.dtype, np.floating)
    if not floating:
        same = a == b
    else:
        x, y = a.astype(np.float64), b.astype(np.float64)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        if not tolerance.exact:
            with np.errstate(invalid="ignore", over="ignore"):
                apart = np.abs(x - y)
                bound = tolerance.absolute + tolerance.relative * np.maximum(np.abs(x), np.abs(y))
                same |= np.isfinite(apart) & (apart <= bound)
    return same if same.ndim == 1 else same.all(axis=tuple(range(1, same.ndim)))


def _kind(name: str, left: Any, right: Any) -> str:
    lists = isinstance(left, tuple) and isinstance(right, tuple) and not any(isinstance(v, float) for v in (*left, *right))
    return ORDER if lists and len(left) == len(right) and sorted(map(str, left)) == sorted(map(str, right)) else VALUE


def _delta(left: Any, right: Any) -> float:
    try:
        x, y = np.asarray(left, np.float64), np.asarray(right, np.float64)
    except (TypeError, ValueError):
        return math.nan
    if x.shape != y.shape or not x.size or isinstance(left, str):
        return math.nan
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(x - y)
    return float(np.nanmax(apart)) if not np.isnan(apart).all() else math.nan
