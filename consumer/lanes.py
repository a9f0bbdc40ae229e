"""Frames of a block of joints, lane by lane: what the rules of `consumer.frames` give, found the short way where that is certain (spec section 4).

A body's scale and where two frames meet come from its world matrix. Most bodies stand on a prim whose world matrix is a rotation times one scale p,
its `stretch`: such a product keeps angles, so the body's scale is p times that of its local matrix, and two frames on the same prim are as far apart
in the world as p times their distance on it. Rounding sets the short way apart from the rule by a relative 1e-13 at most. So a position is taken only
if its neighbours `DOUBT` away round to the same float32, and a check only if it is decided with room to spare. Every other row is left to the rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.bodies import ENABLED, RIGID_BODY, nearest_body
from consumer.constants import FRAME_TOLERANCE, SCALE_EPS, ZERO
from consumer.decompose import Mat3, Quat, determinant, multiply, products, rotation, transform
from consumer.transforms import ROW_BITS, SHIFT, own_row, stored, tabled
from ovsim.jit import at, rule, serial

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
BLOCK = 64  # rows whose lanes are worked on together: they stay in the first two caches
LANE = 72  # its room in memory: not a power of two, so that lanes do not fall on the same cache lines
LEVEL = 1e-14  # relative size of a dot product of two rows below which the short way takes them as square on each other
DOUBT = 1e-12
FARTHEST = 1e6  # coordinates beyond which rounding could matter to the check
_LEVEL2, _LEAST, _MOST = LEVEL * LEVEL, 2.0 * SCALE_EPS, 1e60  # of squared scales
_NEAR2, _FAR2 = (FRAME_TOLERANCE * (1.0 - 1e-4)) ** 2, (FRAME_TOLERANCE * (1.0 + 1e-4)) ** 2
SURELY_CLOSE = 2.0 * FRAME_TOLERANCE**2
SURE = np.uint8(RIGID_BODY | ENABLED)  # a target with these bits is its own body under every rule set
_NO_PATH, _NEXT, _NONE, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint32(0), np.uint32(1), np.uint32(2)
_YES, _NO = np.uint8(1), np.uint8(0)

# what the disjoint-frame check compares (spec 4.7)
UNCHECKED, POSITION, POSITION_ROTATION, OFF_AXIS, OFF_AXIS_ROTATION = range(5)


@rule
def normalise(x: np.float32, y: np.float32, z: np.float32, w: np.float32) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    """Quaternion lanes over their length, all in float32; unchanged when the squared length is zero or underflows to it (spec 4.1).

    An overflowing squared length gives zero lanes; the sign is kept.
    """
    n2 = x * x + y * y + z * z + w * w
    if n2 > ZERO:
        n = np.sqrt(n2)
        return x / n, y / n, z / n, w / n
    return x, y, z, w


@serial
def find_targets(
    first: int, n: int, offsets: I64, targets: U64, ts: int, body_of: U32, skip_disabled: bool, parents: U32, flags: U8, rel: U64, body: U32,
    told: U8,
) -> None:  # fmt: skip
    """First target of rows `first` to `first + n`, the body it resolves to, 0 for none, and the target's flags (those of path 0 without one)."""
    for j in range(n):
        i = at(first + j, ts)
        start, end = offsets[i], offsets[i + _NEXT]
        target = targets[np.uint64(start)] if end > start else _NO_PATH
        f = flags[target]
        rel[j] = target
        told[j] = f
        if body_of.size:
            body[j] = body_of[target]
        elif f & SURE == SURE:
            body[j] = target
        else:
            body[j] = nearest_body(target, parents, flags, skip_disabled)


@serial
def find_matrices(
    n: int, body: U32, parents: U32, slot: U32, table: F64, ready: U8, stretch: F64, v0: F64, v1: F64, v2: F64, own: U32, lanes: int,
    base: U32, by: F64, matrix: F64,
) -> None:  # fmt: skip
    """Matrices of bodies as they are stored, lane by lane: `lanes` of nine of the basis and three of the origin.

    `base`: the row of the table that they stand on, 0 for the world; `by`: its stretch, 0 where the short way does not go.
    """
    for j in range(n):
        path = body[j]
        code, above = slot[path], slot[parents[path]]
        whole = own_row(path, own)
        if whole != _NONE:
            code = whole
        if code > ROW_BITS:
            base[j] = above if above <= ROW_BITS else _NONE
            by[j] = stretch[above] if above != _NONE and above <= ROW_BITS else 0.0
            row, column = code & ROW_BITS, code >> SHIFT
            if column == _ONE:
                m = stored(v0, row)
            elif column == _TWO:
                m = stored(v1, row)
            else:
                m = stored(v2, row)
        else:
            base[j] = _NONE
            by[j] = 1.0 if ready[code] and (code != _NONE or path == _NONE) else 0.0
            m = tabled(table, code)
        matrix[0, j], matrix[1, j], matrix[2, j], matrix[3, j], matrix[4, j], matrix[5, j], matrix[6, j], matrix[7, j], matrix[8, j] = m[0]
        if lanes > 9:
            matrix[9, j], matrix[10, j], matrix[11, j] = m[1]


@rule
def basis(matrix: F64, j: int) -> Mat3:
    """The upper 3x3 of matrix j."""
    return matrix[0, j], matrix[1, j], matrix[2, j], matrix[3, j], matrix[4, j], matrix[5, j], matrix[6, j], matrix[7, j], matrix[8, j]


@serial
def find_scales(n: int, matrix: F64, by: F64, scale: F64, sure: U8) -> None:
    """Scales (3, n) of matrices (12, n) times `by`; `sure` where they are those of the rule but for `DOUBT`."""
    for j in range(n):
        m, p = basis(matrix, j), by[j]
        c00, c11, c22, c01, c02, c12 = products(m)
        level = (c01 * c01 <= _LEVEL2 * c00 * c11) & (c02 * c02 <= _LEVEL2 * c00 * c22) & (c12 * c12 <= _LEVEL2 * c11 * c22)
        pp = p * p
        small = (c00 * pp >= _LEAST) & (c11 * pp >= _LEAST) & (c22 * pp >= _LEAST)
        large = (c00 <= _MOST) & (c11 <= _MOST) & (c22 <= _MOST)
        f = -p if determinant(m) < 0.0 else p
        scale[0, j], scale[1, j], scale[2, j] = f * np.sqrt(c00), f * np.sqrt(c11), f * np.sqrt(c22)
        sure[j] = level & small & large


@serial
def read_positions(first: int, n: int, pos: F32, ps: int, t: F32) -> None:
    """Authored positions of rows `first` to `first + n`, lane by lane (3, n)."""
    for j in range(n):
        i = at(first + j, ps)
        t[0, j], t[1, j], t[2, j] = pos[i, 0], pos[i, 1], pos[i, 2]


@serial
def read_orientations(first: int, n: int, rot: F32, rs: int, q: F32) -> None:
    """Normalised orientations of rows `first` to `first + n`, lane by lane (4, n)."""
    for j in range(n):
        i = at(first + j, rs)
        q[0, j], q[1, j], q[2, j], q[3, j] = rot[i, 0], rot[i, 1], rot[i, 2], rot[i, 3]
    for j in range(n):
        q[0, j], q[1, j], q[2, j], q[3, j] = normalise(q[0, j], q[1, j], q[2, j], q[3, j])


@serial
def bake(n: int, scale: F64, t: F32, sure: U8) -> None:
    """Body scale into positions (3, n); no longer `sure` where another float32 is as good."""
    for j in range(n):
        x, y, z = np.float64(t[0, j]) * scale[0, j], np.float64(t[1, j]) * scale[1, j], np.float64(t[2, j]) * scale[2, j]
        dx, dy, dz = x * DOUBT, y * DOUBT, z * DOUBT
        tx, ty, tz = np.float32(x + dx), np.float32(y + dy), np.float32(z + dz)  # sums keep the sign of a zero
        same = (tx == np.float32(x - dx)) & (ty == np.float32(y - dy)) & (tz == np.float32(z - dz))
        t[0, j], t[1, j], t[2, j] = tx, ty, tz
        sure[j] = sure[j] & (_YES if same else _NO)


@serial
def meet(n: int, matrix: F64, by: F64, scale: F64, t: F32, met: F64, sure: U8) -> None:
    """Resolved positions on what the body stands on (3, n): body scale divided out, local matrix applied (spec 4.7).

    No longer `sure` of a body far out.
    """
    for j in range(n):
        local = (np.float64(t[0, j]) / scale[0, j], np.float64(t[1, j]) / scale[1, j], np.float64(t[2, j]) / scale[2, j])
        to = transform(local, basis(matrix, j))
        x, y, z = matrix[9, j], matrix[10, j], matrix[11, j]
        met[0, j], met[1, j], met[2, j] = to[0] + x, to[1] + y, to[2] + z
        sure[j] = sure[j] & (_YES if (abs(x) + abs(y) + abs(z)) * abs(by[j]) <= FARTHEST else _NO)


@serial
def check_near(n: int, check: int, base: U32, by: F64, met: F64, sure: U8, agree: U8) -> None:
    """Whether both frames are near each other, and sure of it only if they stand on the same and neither lies far out."""
    fails = check in (POSITION, POSITION_ROTATION)  # frames far apart fail; off an axis they may not
    for j in range(n):
        p = by[0, j]
        x, y, z = met[0, 0, j] - met[1, 0, j], met[0, 1, j] - met[1, 1, j], met[0, 2, j] - met[1, 2, j]
        d2 = (x * x + y * y + z * z) * (p * p)
        size = abs(met[0, 0, j]) + abs(met[0, 1, j]) + abs(met[0, 2, j]) + abs(met[1, 0, j]) + abs(met[1, 1, j]) + abs(met[1, 2, j])
        near = d2 <= _NEAR2
        known = (base[0, j] == base[1, j]) & (size * abs(p) <= FARTHEST) & (near | (fails & (d2 >= _FAR2)))
        agree[j] = near
        sure[0, j] = sure[0, j] & (_YES if known else _NO)


@serial
def check_turned(n: int, matrix: F64, by: F64, scale: F64, q: F32, sure: U8, agree: U8) -> None:
    """Of frames that are near each other, sure only where their rotations are surely close."""
    m0, m1, s0, s1, q0, q1, known = matrix[0], matrix[1], scale[0], scale[1], q[0], q[1], sure[0]
    for j in range(n):
        p = by[0, j]
        a = turned(basis(m0, j), p / s0[0, j], p / s0[1, j], p / s0[2, j], (q0[0, j], q0[1, j], q0[2, j], q0[3, j]))
        b = turned(basis(m1, j), p / s1[0, j], p / s1[1, j], p / s1[2, j], (q1[0, j], q1[1, j], q1[2, j], q1[3, j]))
        known[j] = known[j] & (_YES if (apart(a, b) <= SURELY_CLOSE) | (agree[j] == _NO) else _NO)


@rule
def turned(m: Mat3, ix: float, iy: float, iz: float, q: Any) -> Mat3:
    """Rotation of a frame with its body, as a matrix: scale divided out of the body matrix, the frame's rotation before it."""
    pure = (m[0] * ix, m[1] * ix, m[2] * ix, m[3] * iy, m[4] * iy, m[5] * iy, m[6] * iz, m[7] * iz, m[8] * iz)
    turn: Quat = (np.float64(q[0]), np.float64(q[1]), np.float64(q[2]), np.float64(q[3]))
    return multiply(rotation(turn), pure)


@rule
def apart(a: Mat3, b: Mat3) -> float:
    """Squared distance of two rotation matrices.

    For rotations that differ by a small angle it is twice the angle's square, while their quaternions differ by half the angle: below
    `SURELY_CLOSE` every lane is well within the tolerance, so that only the rest needs quaternions.
    """
    d0, d1, d2 = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    d3, d4, d5 = a[3] - b[3], a[4] - b[4], a[5] - b[5]
    d6, d7, d8 = a[6] - b[6], a[7] - b[7], a[8] - b[8]
    return d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4 + d5 * d5 + d6 * d6 + d7 * d7 + d8 * d8
