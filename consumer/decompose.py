"""Scale, shear and rotation of a matrix; rotations and quaternions (spec 4.5). All float64, row vectors, matrices as nine scalars.

M = P * U with P symmetric: U is the proper rotation of the polar decomposition, the scale is read off the axes that P's eigenvalues started from.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from consumer.constants import SCALE_EPS
from ovsim.jit import rule

Mat3 = tuple[float, float, float, float, float, float, float, float, float]
Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]

_NO_SHEAR = 1e-15  # relative size of an off-diagonal of A*A^T below which the rows count as orthogonal
_SWEEPS, _EARLY_SWEEPS = 50, 4


@rule
def determinant(m: Mat3) -> float:
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6])


@rule
def multiply(a: Mat3, b: Mat3) -> Mat3:
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@rule
def transform(v: Vec3, m: Mat3) -> Vec3:
    """Row vector times matrix."""
    return (
        v[0] * m[0] + v[1] * m[3] + v[2] * m[6],
        v[0] * m[1] + v[1] * m[4] + v[2] * m[7],
        v[0] * m[2] + v[1] * m[5] + v[2] * m[8],
    )


@rule
def inverse(m: Mat3) -> tuple[bool, Mat3]:
    """(invertible, inverse). Rows are scaled to size one first, so that a tiny but regular matrix stays regular (observed)."""
    r0 = max(abs(m[0]), abs(m[1]), abs(m[2]))
    r1 = max(abs(m[3]), abs(m[4]), abs(m[5]))
    r2 = max(abs(m[6]), abs(m[7]), abs(m[8]))
    if r0 == 0.0 or r1 == 0.0 or r2 == 0.0:
        return False, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    a, b, c = m[0] / r0, m[1] / r0, m[2] / r0
    d, e, f = m[3] / r1, m[4] / r1, m[5] / r1
    g, h, i = m[6] / r2, m[7] / r2, m[8] / r2
    det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    if det == 0.0:
        return False, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    return True, (
        (e * i - f * h) / det / r0,
        (c * h - b * i) / det / r1,
        (b * f - c * e) / det / r2,
        (f * g - d * i) / det / r0,
        (a * i - c * g) / det / r1,
        (c * d - a * f) / det / r2,
        (d * h - e * g) / det / r0,
        (b * g - a * h) / det / r1,
        (a * e - b * d) / det / r2,
    )


@rule
def products(m: Mat3) -> tuple[float, float, float, float, float, float]:
    """Dot products of the rows: 00, 11, 22, 01, 02, 12."""
    return (
        m[0] * m[0] + m[1] * m[1] + m[2] * m[2],
        m[3] * m[3] + m[4] * m[4] + m[5] * m[5],
        m[6] * m[6] + m[7] * m[7] + m[8] * m[8],
        m[0] * m[3] + m[1] * m[4] + m[2] * m[5],
        m[0] * m[6] + m[1] * m[7] + m[2] * m[8],
        m[3] * m[6] + m[4] * m[7] + m[5] * m[8],
    )


@rule
def square(c00: float, c11: float, c22: float, c01: float, c02: float, c12: float) -> bool:
    """Whether rows with these products stand square on each other: no shear. Squares are compared, so that nothing needs a root."""
    e = _NO_SHEAR * _NO_SHEAR
    return (c01 * c01 <= e * c00 * c11) & (c02 * c02 <= e * c00 * c22) & (c12 * c12 <= e * c11 * c22)


@rule
def decompose(m: Mat3) -> tuple[Vec3, Mat3]:
    """(scale, rotation). All three scales carry the sign of the determinant; a squared scale below SCALE_EPS becomes the scale SCALE_EPS."""
    sign = -1.0 if determinant(m) < 0.0 else 1.0
    c00, c11, c22, c01, c02, c12 = products(m)
    if square(c00, c11, c22, c01, c02, c12):
        x, y, z = axis_scale(c00, sign), axis_scale(c11, sign), axis_scale(c22, sign)
        return (x, y, z), (m[0] / x, m[1] / x, m[2] / x, m[3] / y, m[4] / y, m[5] / y, m[6] / z, m[7] / z, m[8] / z)
    return _decompose_sheared(m, sign, c00, c11, c22, c01, c02, c12)


@rule
def axis_scale(squared: float, sign: float) -> float:
    return sign * (SCALE_EPS if squared < SCALE_EPS else np.sqrt(squared))


@rule
def _decompose_sheared(m: Mat3, sign: float, c00: float, c11: float, c22: float, c01: float, c02: float, c12: float) -> tuple[Vec3, Mat3]:
    """Cyclic Jacobi on A*A^T; eigenvalue k stays with axis k, where it started."""
    c = np.empty((3, 3))
    c[0, 0], c[1, 1], c[2, 2] = c00, c11, c22
    c[0, 1], c[0, 2], c[1, 2] = c01, c02, c12
    v = np.zeros((3, 3))
    for k in range(3):
        v[k, k] = 1.0
    for sweep in range(_SWEEPS):
        off = abs(c[0, 1]) + abs(c[0, 2]) + abs(c[1, 2])
        if off == 0.0:
            break
        threshold = 0.2 * off / 9.0 if sweep < _EARLY_SWEEPS else 0.0  # small elements wait: it decides which axis keeps which eigenvalue
        for p in range(2):
            for q in range(p + 1, 3):
                if abs(c[p, q]) > threshold:
                    _rotate(c, v, p, q)
    x, y, z = axis_scale(c[0, 0], sign), axis_scale(c[1, 1], sign), axis_scale(c[2, 2], sign)
    # P^-1 = sum of v_k v_k^T / s_k over the eigenvectors (columns of v)
    i00 = v[0, 0] * v[0, 0] / x + v[0, 1] * v[0, 1] / y + v[0, 2] * v[0, 2] / z
    i11 = v[1, 0] * v[1, 0] / x + v[1, 1] * v[1, 1] / y + v[1, 2] * v[1, 2] / z
    i22 = v[2, 0] * v[2, 0] / x + v[2, 1] * v[2, 1] / y + v[2, 2] * v[2, 2] / z
    i01 = v[0, 0] * v[1, 0] / x + v[0, 1] * v[1, 1] / y + v[0, 2] * v[1, 2] / z
    i02 = v[0, 0] * v[2, 0] / x + v[0, 1] * v[2, 1] / y + v[0, 2] * v[2, 2] / z
    i12 = v[1, 0] * v[2, 0] / x + v[1, 1] * v[2, 1] / y + v[1, 2] * v[2, 2] / z
    return (x, y, z), multiply((i00, i01, i02, i01, i11, i12, i02, i12, i22), m)


@rule
def _rotate(c: npt.NDArray[np.float64], v: npt.NDArray[np.float64], p: int, q: int) -> None:
    """One Jacobi rotation in the plane (p, q), p < q; only the upper triangle of `c` is kept."""
    off = c[p, q]
    gap = c[q, q] - c[p, p]
    if abs(gap) + 100.0 * abs(off) == abs(gap):
        t = off / gap
    else:
        theta = 0.5 * gap / off
        t = 1.0 / (abs(theta) + np.sqrt(1.0 + theta * theta))
        if theta < 0.0:
            t = -t
    cos = 1.0 / np.sqrt(1.0 + t * t)
    sin = t * cos
    c[p, p] -= t * off
    c[q, q] += t * off
    c[p, q] = 0.0
    r = 3 - p - q
    pr, qr = (min(p, r), max(p, r)), (min(q, r), max(q, r))
    a, b = c[pr[0], pr[1]], c[qr[0], qr[1]]
    c[pr[0], pr[1]] = cos * a - sin * b
    c[qr[0], qr[1]] = sin * a + cos * b
    for k in range(3):
        a, b = v[k, p], v[k, q]
        v[k, p] = cos * a - sin * b
        v[k, q] = sin * a + cos * b


@rule
def rotation(q: Quat) -> Mat3:
    """Rotation matrix of a unit quaternion (x, y, z, w); the identity for a zero one."""
    x, y, z, w = q
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y + z * w),
        2.0 * (x * z - y * w),
        2.0 * (x * y - z * w),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z + x * w),
        2.0 * (x * z + y * w),
        2.0 * (y * z - x * w),
        1.0 - 2.0 * (x * x + y * y),
    )


@rule
def quaternion(m: Mat3) -> Quat:
    """Unit quaternion (x, y, z, w) of a rotation matrix; its largest lane is positive. A zero matrix counts as the identity (observed)."""
    trace = m[0] + m[4] + m[8]
    if m[0] == 0.0 and m[4] == 0.0 and m[8] == 0.0 and m[1] == 0.0 and m[2] == 0.0 and m[5] == 0.0:
        return 0.0, 0.0, 0.0, 1.0
    top = 2
    if m[0] > m[4] and m[0] > m[8]:
        top = 0
    elif m[0] <= m[4] and m[4] > m[8]:
        top = 1
    if trace > (m[0] if top == 0 else (m[4] if top == 1 else m[8])):
        w = 0.5 * np.sqrt(1.0 + trace)
        x, y, z = (m[5] - m[7]) / (4.0 * w), (m[6] - m[2]) / (4.0 * w), (m[1] - m[3]) / (4.0 * w)
    elif top == 0:
        x = 0.5 * np.sqrt(1.0 + m[0] - m[4] - m[8])
        y, z, w = (m[1] + m[3]) / (4.0 * x), (m[2] + m[6]) / (4.0 * x), (m[5] - m[7]) / (4.0 * x)
    elif top == 1:
        y = 0.5 * np.sqrt(1.0 + m[4] - m[8] - m[0])
        x, z, w = (m[1] + m[3]) / (4.0 * y), (m[5] + m[7]) / (4.0 * y), (m[6] - m[2]) / (4.0 * y)
    else:
        z = 0.5 * np.sqrt(1.0 + m[8] - m[0] - m[4])
        x, y, w = (m[2] + m[6]) / (4.0 * z), (m[5] + m[7]) / (4.0 * z), (m[1] - m[3]) / (4.0 * z)
    n = np.sqrt(x * x + y * y + z * z + w * w)
    return x / n, y / n, z / n, w / n


@rule
def compose(outer: Quat, inner: Quat) -> Quat:
    """The rotation that turns by `inner` first, then by `outer` (child after parent: parent times child)."""
    x0, y0, z0, w0 = outer
    x1, y1, z1, w1 = inner
    return (
        w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1,
        w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1,
        w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1,
        w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1,
    )
