"""Local matrices from xformOps, bit for bit as USD computes them (producer facts, rule 2): same formulas, same order of double operations.

Ops apply from the last of `xformOpOrder` to the first; an op next to its own inverse is skipped together with it; identity matrices are not
multiplied.
Rotations go the way through axis and angle in degrees that USD goes, so the last bits agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ovsim.jit import serial
from producer.crate.errors import Unprovable

F64 = npt.NDArray[np.float64]

RESET = "!resetXformStack!"
INVERT = "!invert!"
PREFIX = "xformOp:"
_SHORTEST = 1e-10  # GF_MIN_VECTOR_LENGTH
_DEGREES, _RADIANS = 180.0 / math.pi, math.pi / 180.0

_VECTORS = ("vec3d", "vec3f", "vec3h")
_SCALARS = ("double", "float", "half")
# op name to (code, value types, axes in their order); what is missing (translateX and its like, new in USD) is left to USD
_TRANSLATE, _SCALE, _ORIENT, _MATRIX, _ROTATE, _EULER = range(6)
_EULERS = {
    "rotateXYZ": (0, 1, 2),
    "rotateXZY": (0, 2, 1),
    "rotateYXZ": (1, 0, 2),
    "rotateYZX": (1, 2, 0),
    "rotateZXY": (2, 0, 1),
    "rotateZYX": (2, 1, 0),
}
_OPS: dict[str, tuple[int, tuple[str, ...], tuple[int, ...]]] = {
    "translate": (_TRANSLATE, _VECTORS, ()),
    "scale": (_SCALE, _VECTORS, ()),
    "orient": (_ORIENT, ("quatd", "quatf", "quath"), ()),
    "transform": (_MATRIX, ("matrix4d",), ()),
    **{f"rotate{a}": (_ROTATE, _SCALARS, (i,)) for i, a in enumerate("XYZ")},
    **{name: (_EULER, _VECTORS, axes) for name, axes in _EULERS.items()},
}


class Op(NamedTuple):
    """One op of an order: the attribute that holds its value, and whether it is inverted."""

    attribute: str
    inverted: bool


def parse(order: Sequence[str]) -> tuple[list[Op], bool]:
    """The ops that count, in the order of their application, and whether the order resets the transform stack."""
    out: list[Op] = []
    names = list(reversed(order))
    i = 0
    while i < len(names):
        name = names[i]
        if i + 1 < len(names) and (name == INVERT + names[i + 1] or names[i + 1] == INVERT + name):
            i += 2
            continue
        if name == RESET:
            break
        out.append(Op(name.removeprefix(INVERT), name.startswith(INVERT)))
        i += 1
    return out, RESET in order


def compose(ops: Sequence[Op], values: Mapping[str, tuple[str, npt.NDArray[np.generic]]], rows: int) -> F64:
    """Local matrices, shape (rows, 16) row by row.

    `values`: attribute to (crate type name, (rows,) or (rows, lanes)); an attribute that is missing there has no value and counts as identity.
    `Unprovable` for ops or value types that USD would complain about.
    """
    out = np.tile(np.eye(4).reshape(-1), (rows, 1))
    with np.errstate(all="ignore"):
        for op in ops:
            if op.attribute in values:
                _multiply(op, *values[op.attribute], out)
    return out


def _multiply(op: Op, kind: str, data: npt.NDArray[np.generic], out: F64) -> None:
    """out = out * op, for every row."""
    code, types, axes = _operation(op.attribute)
    if kind not in types:
        raise Unprovable(f"{op.attribute} holds a {kind}")
    if code == _MATRIX and op.inverted:
        raise Unprovable(f"{op.attribute} is a matrix that is inverted")
    number = np.ascontiguousarray(data.reshape(len(out), -1), np.float64)
    _apply(code, op.inverted, np.array((*axes, 0, 0, 0)[:3], np.int64), number, out)


def _operation(attribute: str) -> tuple[int, tuple[str, ...], tuple[int, ...]]:
    name = attribute[len(PREFIX) :].partition(":")[0] if attribute.startswith(PREFIX) else ""
    got = _OPS.get(name)
    if got is None:
        raise Unprovable(f"{attribute!r} is no transform op")
    return got


# -- scalar rules ------------------------------------------------------------------------------------------------------


@serial
def _quat(x: float, y: float, z: float, degrees: float) -> tuple[float, float, float, float]:
    """Unit quaternion (x y z w) of a rotation about a nearly unit axis."""
    square = x * x + y * y + z * z
    if abs(square - 1.0) >= 1e-10:
        length = max(math.sqrt(square), _SHORTEST)
        inverse = 1.0 / length
        x, y, z = x * inverse, y * inverse, z * inverse
    half = (degrees * _RADIANS) / 2.0
    s, c = math.sin(half), math.cos(half)
    x, y, z = x * s, y * s, z * s
    length = math.sqrt(c * c + (x * x + y * y + z * z))
    if length < _SHORTEST:
        return 0.0, 0.0, 0.0, 1.0
    inverse = 1.0 / length
    return x * inverse, y * inverse, z * inverse, c / length  # USD divides the real part, and multiplies the rest


@serial
def _from_quat(q: tuple[float, float, float, float], m: F64) -> None:
    """Rotation matrix (3, 3) in the upper left of `m`."""
    x, y, z, r = q
    m[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    m[0, 1] = 2.0 * (x * y + z * r)
    m[0, 2] = 2.0 * (z * x - y * r)
    m[1, 0] = 2.0 * (x * y - z * r)
    m[1, 1] = 1.0 - 2.0 * (z * z + x * x)
    m[1, 2] = 2.0 * (y * z + x * r)
    m[2, 0] = 2.0 * (z * x + y * r)
    m[2, 1] = 2.0 * (y * z - x * r)
    m[2, 2] = 1.0 - 2.0 * (y * y + x * x)


@serial
def _about(axis: int, degrees: float, m: F64) -> None:
    """Rotation about a main axis."""
    _from_quat(_quat(1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0, degrees), m)


@serial
def _orientation(x: float, y: float, z: float, w: float, inverted: bool, m: F64) -> None:
    """Rotation of a quaternion of any length, by way of its axis and angle."""
    length = math.sqrt(x * x + y * y + z * z)
    if length > _SHORTEST:
        angle = 2.0 * (math.acos(min(max(w, -1.0), 1.0)) * _DEGREES)
        inverse = 1.0 / length
        _from_quat(_quat(x * inverse, y * inverse, z * inverse, -angle if inverted else angle), m)
    else:
        _from_quat(_quat(1.0, 0.0, 0.0, 0.0), m)


@serial
def _product(a: F64, b: F64, n: int, out: F64) -> None:
    for i in range(n):
        for j in range(n):
            if n == 4:
                out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j] + a[i, 3] * b[3, j]
            else:
                out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@serial
def _apply(code: int, inverted: bool, axes: npt.NDArray[np.int64], value: F64, out: F64) -> None:
    """out = out * op for values (n, lanes) and matrices (n, 16)."""
    m = np.zeros((4, 4))
    a = np.zeros((4, 4))
    b = np.zeros((4, 4))
    t = np.zeros((4, 4))
    for row in range(value.shape[0]):
        m[:] = 0.0
        for i in range(4):
            m[i, i] = 1.0
        if code == 0:
            for i in range(3):
                m[3, i] = -value[row, i] if inverted else value[row, i]
        elif code == 1:
            for i in range(3):
                m[i, i] = 1.0 / value[row, i] if inverted else value[row, i]
        elif code == 2:
            _orientation(value[row, 0], value[row, 1], value[row, 2], value[row, 3], inverted, m)
        elif code == 3:
            for i in range(16):
                m[i // 4, i % 4] = value[row, i]
        elif code == 4:
            _about(axes[0], -value[row, 0] if inverted else value[row, 0], m)
        else:
            for k in range(3):
                axis = axes[2 - k] if inverted else axes[k]
                _about(axis, -value[row, axis] if inverted else value[row, axis], b)
                if k == 0:
                    a[:] = b
                else:
                    _product(a, b, 3, t)
                    a[:] = t
            for i in range(3):
                for j in range(3):
                    m[i, j] = a[i, j]
        identity = True
        for i in range(4):
            for j in range(4):
                if m[i, j] != (1.0 if i == j else 0.0):
                    identity = False
        if not identity:
            here = out[row].reshape(4, 4)
            _product(here, m, 4, t)
            for i in range(16):
                out[row, i] = t[i // 4, i % 4]
