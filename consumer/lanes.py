"""Frames of a block of joints, lane by lane: what the rules of `consumer.frames` give, found the short way where that is certain (spec section 4).

A body's scale and where two frames meet come from its world matrix. Most bodies stand on a prim whose world matrix is a rotation times one scale p,
its `stretch`: such a product keeps angles, so the body's scale is p times that of its local matrix, and two frames on the same prim are as far apart
in the world as p times their distance on it. Rounding sets the short way apart from the rule by a relative 1e-13 at most. So a position is taken only
if its neighbours `DOUBT` away round to the same float32, and a check only if it is decided with room to spare. Every other row is left to the rule.

The numbers of a block are in one place in memory, `lanes`: a row of `LANE` places for each number of a side (`BASIS` to `SURE`), the second side's
after the first's. Constant distances let the compiler work on several joints at once without looking for overlaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.bodies import ROW, nearest_body
from consumer.constants import FRAME_TOLERANCE, SCALE_EPS, ZERO
from consumer.decompose import Mat3, Quat, Vec3, determinant, multiply, products, rotation, transform
from consumer.transforms import SURE as SURE_BODY
from consumer.transforms import UP, WORLD_ROW
from consumer.world import ROW_BITS, SHIFT, nearest_row, own_row
from ovsim.jit import at, inlined, rule
from ovsim.memory import codes, doubles, floats, ids, prefetch, words

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
BLOCK = 64  # rows whose lanes are worked on together: they stay in the first two caches
LANE = 72  # its room in memory: not a power of two, so that lanes do not fall on the same cache lines
BASIS, ORIGIN, AUTHORED, SCALE, LENGTH, BY, SURE = 0, 9, 12, 15, 18, 19, 20  # first rows of a side's numbers
AGREE = 42  # the row after both sides'
WORD = 8  # bytes; the places of a block's scratch memory in words:
Q, TURN, T, BAKED = 43 * LANE, 47 * LANE, 51 * LANE, 54 * LANE
REL, PAIR, PAIRS, BODY, BASE, CODE, TOLD = 57 * LANE, 59 * LANE, 61 * LANE, 63 * LANE, 64 * LANE, 65 * LANE, 66 * LANE
SCRATCH = 67 * LANE
SIDE = np.uint64(21 * LANE)  # from a number of the first side to that of the second
LEVEL = 1e-14  # relative size of a dot product of two rows below which the short way takes them as square on each other
DOUBT = 1e-12
FARTHEST = 1e6  # coordinates beyond which rounding could matter to the check
LONGEST = 1e3  # the same for positions on a body, of which the short way takes the authored ones and the rule those that were rounded to float32
_PLAIN = np.uint8(ROW | SURE_BODY)
_EVEN = 1e-13  # relative difference of squared scales that count as one
_LEVEL, _LEVEL2, _LEAST, _MOST = 0.5 * LEVEL, LEVEL * LEVEL, 2.0 * SCALE_EPS, 1e60  # of squared scales
_NEAR2, _FAR2 = (FRAME_TOLERANCE * 0.75) ** 2, (FRAME_TOLERANCE * 1.25) ** 2
SURELY_CLOSE = 2.0 * FRAME_TOLERANCE**2
_NO_PATH, _NEXT, _NONE, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint32(0), np.uint32(1), np.uint32(2)
_MATRIX = np.uint64(16)  # numbers of a matrix

# what the disjoint-frame check compares (spec 4.7)
UNCHECKED, POSITION, POSITION_ROTATION, OFF_AXIS, OFF_AXIS_ROTATION = range(5)


@rule
def scratch(start: int) -> Any:
    """A block's scratch memory, by address, so that no call counts references: `lanes`, then what the functions of this module and of
    `consumer.store` call q, turn, t, baked, rel, pair, pairs, body, base, code and told."""
    return (
        doubles(start, Q), floats(start + Q * WORD, 8 * LANE), floats(start + TURN * WORD, 8 * LANE), floats(start + T * WORD, 6 * LANE),
        floats(start + BAKED * WORD, 6 * LANE),
        ids(start + REL * WORD, 2 * LANE), ids(start + PAIR * WORD, 2 * LANE), ids(start + PAIRS * WORD, 2 * LANE),
        words(start + BODY * WORD, 2 * LANE), words(start + BASE * WORD, 2 * LANE), words(start + CODE * WORD, 2 * LANE),
        codes(start + TOLD * WORD, 2 * LANE),
    )  # fmt: skip


@rule
def lane(place: np.uint64, k: int) -> np.uint64:
    """The place of number k of the joint and side at `place`."""
    return place + np.uint64(k * LANE)


@rule
def triple(lanes: F64, place: np.uint64, k: int) -> Vec3:
    """Three numbers from k on."""
    return lanes[lane(place, k)], lanes[lane(place, k + 1)], lanes[lane(place, k + 2)]


@rule
def basis(lanes: F64, place: np.uint64) -> Mat3:
    """The upper 3x3 of the matrix of the joint and side at `place`."""
    a, b, c = triple(lanes, place, BASIS), triple(lanes, place, BASIS + 3), triple(lanes, place, BASIS + 6)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@rule
def put(lanes: F64, place: np.uint64, k: int, values: Vec3) -> None:
    """Write three numbers from k on."""
    lanes[lane(place, k)], lanes[lane(place, k + 1)], lanes[lane(place, k + 2)] = values


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


@inlined
def read_targets(first: int, n: int, k: int, offsets: I64, targets: U64, ts: int, rel: U64) -> None:
    """First target of side k of rows `first` to `first + n`, 0 for none."""
    start, o = at(first, ts), np.uint64(k * LANE)
    other = 0 if ts else n  # rows with another number of targets than one
    for j in range(n * ts):
        i = start + np.uint64(j)
        other += offsets[i + _NEXT] - offsets[i] != 1
    if other:
        for j in range(n):
            i = at(first + j, ts)
            rel[o + np.uint64(j)] = targets[np.uint64(offsets[i])] if offsets[i + _NEXT] > offsets[i] else _NO_PATH
    else:
        begin = np.uint64(offsets[start])
        for j in range(n):
            rel[o + np.uint64(j)] = targets[begin + np.uint64(j)]


@inlined
def find_bodies(n: int, k: int, known: bool, stand: U64, stretch: F64, rel: U64, code: U32, base: U32, lanes: F64) -> int:
    """The bodies that targets of side k resolve to, as far as `stand`, if it is there (`known`), tells.

    `code` is where the body's matrix is stored, `base` the row of the table that it stands on, and `BY` the stretch of that. Returns for how many
    rows `find_others` has to look (`code` is 0).
    """
    others = 0
    for j in range(n):
        o = np.uint64(k * LANE + j)
        stands = stand[rel[o]] if known else _NO_PATH
        row, column = np.uint32(stands), np.uint32(stands >> UP) & ROW_BITS
        code[o], base[o] = row, column
        lanes[lane(np.uint64(k) * SIDE + np.uint64(j), BY)] = stretch[column]
        others += row == _NONE
    return others


@inlined
def find_themselves(n: int, rel: U64, body: U32, told: U8) -> None:
    """What `stand` tells of are bodies themselves: resolved bodies of both sides, and the flags of their targets."""
    for k in range(2):
        for j in range(n):
            o = np.uint64(k * LANE + j)
            body[o], told[o] = np.uint32(rel[o]), _PLAIN


@inlined
def find_others(
    n: int, k: int, body_of: U32, skip_disabled: bool, unresolved: bool, parents: U32, flags: U8, slot: U32, ready: U8, stretch: F64,
    own: U32, rel: U64, body: U32, told: U8, code: U32, base: U32, lanes: F64,
) -> None:  # fmt: skip
    """The same for targets that `stand` does not tell of. Where the short way does not go, as for frames that move to another prim, `BY` is 0."""
    for j in range(n):
        o = np.uint64(k * LANE + j)
        if code[o] != _NONE:
            continue
        target = rel[o]
        f = flags[target]
        told[o] = f
        path = np.uint32(target)
        if body_of.size:
            path = body_of[target]
        elif f & SURE_BODY != SURE_BODY:
            path = nearest_body(target, parents, flags, skip_disabled)
        body[o] = path
        row = own_row(path, own)
        if row == _NONE:
            row = slot[path]
        by, stands = 0.0, _NONE
        if row > ROW_BITS:
            above = slot[nearest_row(parents[path], parents, flags, slot)]
            stands = WORLD_ROW if above == _NONE else (above if above <= ROW_BITS else _NONE)
            by = stretch[stands]
        elif ready[row] and (row != _NONE or path == _NONE):
            by, stands = 1.0, WORLD_ROW
        if np.uint64(path) != target and (path != _NONE or unresolved):
            by = 0.0
        code[o], base[o], lanes[lane(np.uint64(k) * SIDE + np.uint64(j), BY)] = row, stands, by


@rule
def pass_over(values: F64, size: int, start: float, end: float) -> float:
    """Read a number of every cache line of a flat column from one height (0 to 1) to another, for `read_matrices`, which goes through it in no order
    that the processor could foresee."""
    total, lines = 0.0, size / 8
    for i in range(int(start * lines), int(end * lines)):
        total += values[np.uint64(8 * i)]
    return total


@inlined
def ask_ahead(values: Any, start: int, end: int, per: int) -> None:
    """Ask for the cache lines of numbers, of which a line holds `per`; of no more than a block's."""
    for i in range(start, min(end, start + 4 * BLOCK), per):
        prefetch(values, np.uint64(i))


@rule
def read_stored(values: F64, start: np.uint64, origins: bool, lanes: F64, place: np.uint64) -> None:
    """The matrix of a flat column that begins at `start`, number by number."""
    put(lanes, place, BASIS, (values[start], values[start + np.uint64(1)], values[start + np.uint64(2)]))
    put(lanes, place, BASIS + 3, (values[start + np.uint64(4)], values[start + np.uint64(5)], values[start + np.uint64(6)]))
    put(lanes, place, BASIS + 6, (values[start + np.uint64(8)], values[start + np.uint64(9)], values[start + np.uint64(10)]))
    if origins:
        put(lanes, place, ORIGIN, (values[start + np.uint64(12)], values[start + np.uint64(13)], values[start + np.uint64(14)]))


@inlined
def read_matrices(n: int, k: int, origins: bool, code: U32, table: F64, v0: F64, v1: F64, v2: F64, lanes: F64) -> None:
    """The matrices of side k as they are stored, number by number; the columns and the table are flat."""
    for j in range(n):
        found, place = code[np.uint64(k * LANE + j)], np.uint64(k) * SIDE + np.uint64(j)
        start, column = np.uint64(found & ROW_BITS) * _MATRIX, found >> SHIFT
        if column == _ONE:
            read_stored(v0, start, origins, lanes, place)
        elif column == _TWO:
            read_stored(v1, start, origins, lanes, place)
        elif column != _NONE:
            read_stored(v2, start, origins, lanes, place)
        else:
            start = np.uint64(found) * np.uint64(12)
            for r in range(12):
                lanes[lane(place, BASIS + r)] = table[start + np.uint64(r)]


@inlined
def read_positions(first: int, n: int, k: int, pos: F32, ps: int, lanes: F64) -> None:
    """Authored positions of side k of rows `first` to `first + n`; `pos` is flat, of one row with step 0."""
    o, i = np.uint64(k) * SIDE, at(first, 3 * ps)
    if ps:
        for j in range(n):
            c = i + np.uint64(3 * j)
            put(lanes, o + np.uint64(j), AUTHORED, (np.float64(pos[c]), np.float64(pos[c + np.uint64(1)]), np.float64(pos[c + np.uint64(2)])))
    else:
        t = np.float64(pos[i]), np.float64(pos[i + np.uint64(1)]), np.float64(pos[i + np.uint64(2)])
        for j in range(n):
            put(lanes, o + np.uint64(j), AUTHORED, t)


@inlined
def read_orientations(first: int, n: int, k: int, rot: F32, rs: int, q: F32) -> None:
    """Normalised orientations of side k of rows `first` to `first + n`; `rot` is flat, of one row with step 0."""
    o, i = np.uint64(4 * LANE * k), at(first, 4 * rs)
    if rs:
        for j in range(n):
            r, c = i + np.uint64(4 * j), o + np.uint64(j)
            q[c], q[lane(c, 1)], q[lane(c, 2)], q[lane(c, 3)] = rot[r], rot[r + np.uint64(1)], rot[r + np.uint64(2)], rot[r + np.uint64(3)]
    else:
        x, y, z, w = rot[i], rot[i + np.uint64(1)], rot[i + np.uint64(2)], rot[i + np.uint64(3)]
        for j in range(n):
            c = o + np.uint64(j)
            q[c], q[lane(c, 1)], q[lane(c, 2)], q[lane(c, 3)] = x, y, z, w
    for j in range(n):
        c = o + np.uint64(j)
        q[c], q[lane(c, 1)], q[lane(c, 2)], q[lane(c, 3)] = normalise(q[c], q[lane(c, 1)], q[lane(c, 2)], q[lane(c, 3)])


@inlined
def bake(n: int, k: int, even: bool, scales: bool, lanes: F64, baked: F32) -> int:
    """Scales of the matrices of side k times `BY`, and the positions they are baked into; `even` takes all three scales of a matrix for the first.

    `scales`: they are wanted later. `LENGTH` is the sum of the sizes of the position's lanes. Sure where a scale is that of the rule but for `DOUBT`,
    and no other float32 is as good a position. Returns how many matrices are not even.
    """
    uneven = 0
    for j in range(n):
        place = np.uint64(k) * SIDE + np.uint64(j)
        m, p, t = basis(lanes, place), lanes[lane(place, BY)], triple(lanes, place, AUTHORED)
        c00, c11, c22, c01, c02, c12 = products(m)
        f, pp = -p if determinant(m) < 0.0 else p, p * p
        if even:
            most, least = _EVEN * c00, _LEVEL * c00
            if (abs(c11 - c00) > most) | (abs(c22 - c00) > most):
                uneven += 1
            level = (abs(c01) <= least) & (abs(c02) <= least) & (abs(c12) <= least)
            sized = (c00 * pp >= _LEAST) & (c00 <= _MOST)
            s = f * np.sqrt(c00)
            scale = s, s, s
        else:
            level = (c01 * c01 <= _LEVEL2 * c00 * c11) & (c02 * c02 <= _LEVEL2 * c00 * c22) & (c12 * c12 <= _LEVEL2 * c11 * c22)
            small = (c00 * pp >= _LEAST) & (c11 * pp >= _LEAST) & (c22 * pp >= _LEAST)
            sized = small & (c00 <= _MOST) & (c11 <= _MOST) & (c22 <= _MOST)
            scale = f * np.sqrt(c00), f * np.sqrt(c11), f * np.sqrt(c22)
        x, y, z = t[0] * scale[0], t[1] * scale[1], t[2] * scale[2]
        dx, dy, dz = x * DOUBT, y * DOUBT, z * DOUBT
        tx, ty, tz = np.float32(x + dx), np.float32(y + dy), np.float32(z + dz)  # sums keep the sign of a zero
        same = (tx == np.float32(x - dx)) & (ty == np.float32(y - dy)) & (tz == np.float32(z - dz))
        if scales:
            put(lanes, place, SCALE, scale)
        b = np.uint64(3 * LANE * k + j)
        baked[b], baked[lane(b, 1)], baked[lane(b, 2)] = tx, ty, tz
        lanes[lane(place, LENGTH)] = abs(x) + abs(y) + abs(z)
        lanes[lane(place, SURE)] = 1.0 if level & sized & same else 0.0
    return uneven


@rule
def size(v: Vec3) -> float:
    """Sum of the lanes' sizes."""
    return abs(v[0]) + abs(v[1]) + abs(v[2])


@inlined
def check_near(n: int, fails: bool, lanes: F64) -> None:
    """Whether both frames are near each other on what their bodies stand on (spec 4.7).

    Sure of it only if neither lies far out; frames far apart are surely so only if that `fails` the check.
    """
    for j in range(n):
        here = np.uint64(j)
        there = here + SIDE
        p = abs(lanes[lane(here, BY)])
        from0, from1 = triple(lanes, here, ORIGIN), triple(lanes, there, ORIGIN)
        to0 = transform(triple(lanes, here, AUTHORED), basis(lanes, here))
        to1 = transform(triple(lanes, there, AUTHORED), basis(lanes, there))
        met0 = to0[0] + from0[0], to0[1] + from0[1], to0[2] + from0[2]
        met1 = to1[0] + from1[0], to1[1] + from1[1], to1[2] + from1[2]
        x, y, z = met0[0] - met1[0], met0[1] - met1[1], met0[2] - met1[2]
        d2 = (x * x + y * y + z * z) * (p * p)
        out, long = (size(from0) + size(from1)) * p, lanes[lane(here, LENGTH)] + lanes[lane(there, LENGTH)]
        near = d2 <= _NEAR2
        known = (out <= FARTHEST) & (long <= LONGEST) & (near | (fails & (d2 >= _FAR2)))
        lanes[lane(here, AGREE)] = 1.0 if near else 0.0
        lanes[lane(here, SURE)] = lanes[lane(here, SURE)] if known else 0.0


@inlined
def check_bases(n: int, base: U32, lanes: F64) -> None:
    """Not sure of a check of bodies that do not stand on the same."""
    differ = 0
    for j in range(n):
        differ += base[np.uint64(j)] != base[np.uint64(j + LANE)]
    if differ:
        for j in range(n):
            if base[np.uint64(j)] != base[np.uint64(j + LANE)]:
                lanes[lane(np.uint64(j), SURE)] = 0.0


@inlined
def check_turned(n: int, lanes: F64, q: F32) -> None:
    """Of frames that are near each other, sure only where their rotations are surely close."""
    for j in range(n):
        here = np.uint64(j)
        there = here + SIDE
        p, s0, s1 = lanes[lane(here, BY)], triple(lanes, here, SCALE), triple(lanes, there, SCALE)
        q0 = q[here], q[lane(here, 1)], q[lane(here, 2)], q[lane(here, 3)]
        q1 = q[lane(here, 4)], q[lane(here, 5)], q[lane(here, 6)], q[lane(here, 7)]
        a = turned(basis(lanes, here), p / s0[0], p / s0[1], p / s0[2], q0)
        b = turned(basis(lanes, there), p / s1[0], p / s1[1], p / s1[2], q1)
        close = (apart(a, b) <= SURELY_CLOSE) | (lanes[lane(here, AGREE)] == 0.0)
        lanes[lane(here, SURE)] = lanes[lane(here, SURE)] if close else 0.0


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
