"""The pass that fills the fields of a block of joints from an archetype's columns, all of them together, a few rows at a time.

Each block of rows goes three ways: rules turn columns into lanes (`apply`: short loops over memory that is next to each other), lanes are put side by
side into records (`interleave`, `spread`), records go to their destination rows (`send`). Destination rows come in runs of consecutive numbers, so
records are sent run by run, whole cache lines past the caches where the block is large: a line that is written whole need not be read first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from consumer import fields as f
from consumer.axes import axis_armature, axis_velocity_cap
from consumer.common import axis_code
from consumer.drives import force_limit
from consumer.limits import cone_enabled, range_enabled, span_enabled
from consumer.units import angle, bounded, clamp_positive, gain, velocity_cap
from ovsim.jit import ranged, rule, serial
from ovsim.memory import LINE, ahead, codes, copy, floats, ids, put_line, put_part, settle, soon, words

I64 = npt.NDArray[np.int64]
BLOCK = 128  # rows that are worked on together: their lanes and records stay in the nearest caches
SOURCES = 8  # lanes of a record, at most
SHORT = 4  # rows of a run, on average, below which single numbers go to their rows one by one
_NO_PATH, _NO_TOKEN, _NO, _NEXT = np.uint64(0), np.uint64(0), np.uint8(0), np.uint32(1)
AS_IT_IS, ANGLE, GAIN, CLAMP, CLAMPED_ANGLE, CLAMPED_GAIN, CLAMPED_CAP = (
    f.AS_IT_IS, f.ANGLE, f.GAIN, f.CLAMP, f.CLAMPED_ANGLE, f.CLAMPED_GAIN, f.CLAMPED_CAP,
)  # fmt: skip
BOUNDED_ANGLE, FORCE_LIMIT, ARMATURE, AXIS_CAP = f.BOUNDED_ANGLE, f.FORCE_LIMIT, f.ARMATURE, f.AXIS_CAP
TRUTH, AXIS, SAME_TOKEN, RANGE, CONE, SPAN, FIRST_TARGET = f.TRUTH, f.AXIS, f.SAME_TOKEN, f.RANGE, f.CONE, f.SPAN, f.FIRST_TARGET


@serial
def apply(which: int, rotational: bool, n: int, a: int, b: int, c: int, token: int, other: int, out: int) -> None:
    """Rule `which` over n rows of the columns at addresses a, b and c, into a lane at `out`."""
    if which <= AXIS_CAP:
        apply_floats(which, rotational, n, a, b, c, out)
    elif which == FIRST_TARGET:
        begin, to = ids(a, n + 1), ids(out, n)
        for j in range(n):
            to[j] = _NO_PATH
        for j in range(n):
            if begin[j + 1] > begin[j]:
                to[j] = ids(b, np.int64(begin[j]) + 1)[np.int64(begin[j])]
    else:
        apply_codes(which, n, a, b, token, other, out)


@serial
def apply_floats(which: int, rotational: bool, n: int, a: int, b: int, c: int, out: int) -> None:
    """Rules that give float32."""
    x, to = floats(a, n), floats(out, n)
    if which == ANGLE:
        for j in range(n):
            to[j] = angle(x[j], rotational)
    elif which == GAIN:
        for j in range(n):
            to[j] = gain(x[j], rotational)
    elif which == CLAMP:
        for j in range(n):
            to[j] = clamp_positive(x[j])
    elif which == CLAMPED_ANGLE:
        for j in range(n):
            to[j] = angle(clamp_positive(x[j]), rotational)
    elif which == CLAMPED_GAIN:
        for j in range(n):
            to[j] = gain(clamp_positive(x[j]), rotational)
    elif which == CLAMPED_CAP:
        for j in range(n):
            to[j] = velocity_cap(clamp_positive(x[j]), rotational)
    elif which == BOUNDED_ANGLE:
        for j in range(n):
            to[j] = angle(bounded(x[j]), rotational)
    elif which == FORCE_LIMIT:
        for j in range(n):
            to[j] = force_limit(x[j])
    elif which == ARMATURE:
        y = floats(b, n)
        for j in range(n):
            to[j] = axis_armature(x[j], y[j])
    elif which == AXIS_CAP:
        y, z = floats(b, n), floats(c, n)
        for j in range(n):
            to[j] = velocity_cap(axis_velocity_cap(x[j], y[j], z[j]), rotational)
    else:
        copy(out, a, 4 * n)


@serial
def apply_codes(which: int, n: int, a: int, b: int, token: int, other: int, out: int) -> None:
    """Rules that give uint8."""
    to = codes(out, n)
    if which == TRUTH:
        values = codes(a, n)
        for j in range(n):
            to[j] = values[j] != _NO
    elif which == AXIS:
        tokens, y, z = ids(a, n), np.uint64(token), np.uint64(other)
        for j in range(n):
            to[j] = axis_code(tokens[j], y, z)
    elif which == SAME_TOKEN:
        tokens, wanted = ids(a, n), np.uint64(token)
        for j in range(n):
            to[j] = (wanted != _NO_TOKEN) & (tokens[j] == wanted)
    else:
        low, high = floats(a, n), floats(b, n)
        if which == RANGE:
            for j in range(n):
                to[j] = range_enabled(low[j], high[j])
        elif which == CONE:
            for j in range(n):
                to[j] = cone_enabled(low[j], high[j])
        else:
            for j in range(n):
                to[j] = span_enabled(low[j], high[j])


@serial
def interleave(n: int, lanes: int, a: int, b: int, c: int, d: int, e: int, g: int, h: int, k: int, to: int) -> None:
    """Put the first `lanes` of eight lanes of float32 side by side into whole records at `to`."""
    s0, s1, s2, s3, s4, s5, s6, s7 = floats(a, n), floats(b, n), floats(c, n), floats(d, n), floats(e, n), floats(g, n), floats(h, n), floats(k, n)
    o = floats(to, n * lanes)
    if lanes == 2:
        for j in range(n):
            i = j * 2
            o[i], o[i + 1] = s0[j], s1[j]
    elif lanes == 5:
        for j in range(n):
            i = j * 5
            o[i], o[i + 1], o[i + 2], o[i + 3], o[i + 4] = s0[j], s1[j], s2[j], s3[j], s4[j]
    elif lanes == 6:
        for j in range(n):
            i = j * 6
            o[i], o[i + 1], o[i + 2], o[i + 3], o[i + 4], o[i + 5] = s0[j], s1[j], s2[j], s3[j], s4[j], s5[j]
    else:
        for j in range(n):
            i = j * 8
            o[i], o[i + 1], o[i + 2], o[i + 3] = s0[j], s1[j], s2[j], s3[j]
            o[i + 4], o[i + 5], o[i + 6], o[i + 7] = s4[j], s5[j], s6[j], s7[j]


@serial
def spread(n: int, size: int, source: int, to: int, stride: int) -> None:
    """Put one lane of elements of `size` bytes into records that are `stride` elements apart."""
    if size == 4:
        x, y = floats(source, n), floats(to, n * stride)
        for j in range(n):
            y[j * stride] = x[j]
    elif size == 1:
        u, v = codes(source, n), codes(to, n * stride)
        for j in range(n):
            v[j * stride] = u[j]
    else:
        p, q = ids(source, n), ids(to, n * stride)
        for j in range(n):
            q[j * stride] = p[j]


@serial
def spread_beside(n: int, lanes: int, a: int, b: int, c: int, d: int, to: int, stride: int) -> None:
    """The same for two or four lanes of float32 that go side by side."""
    s0, s1, o = floats(a, n), floats(b, n), floats(to, n * stride)
    if lanes == 2:
        for j in range(n):
            i = j * stride
            o[i], o[i + 1] = s0[j], s1[j]
        return
    s2, s3 = floats(c, n), floats(d, n)
    for j in range(n):
        i = j * stride
        o[i], o[i + 1], o[i + 2], o[i + 3] = s0[j], s1[j], s2[j], s3[j]


@serial
def find_runs(n: int, rows: int, start: int) -> int:
    """Where runs of consecutive destination rows start in a block, into `start` (n + 1,), its end too; returns how many there are."""
    given, begin = words(rows, n), words(start, n + 1)
    runs = 1
    begin[0] = np.uint32(0)
    for j in range(1, n):
        begin[runs] = np.uint32(j)
        runs += given[j] != given[j - 1] + _NEXT
    begin[runs] = np.uint32(n)
    return runs


@serial
def stream(to: int, source: int, size: int, far: bool) -> None:
    """Copy bytes; `far`: whole cache lines straight to memory."""
    if size <= LINE:
        put_part(to, source, size)
        return
    if not far:
        copy(to, source, size)
        return
    head = -to & (LINE - 1)
    put_part(to, source, head)
    lines = (size - head) // LINE
    for k in range(lines):
        put_line(to + head + k * LINE, source + head + k * LINE)
    done = head + lines * LINE
    put_part(to + done, source + done, size - done)


@serial
def send(n: int, rows: int, start: int, runs: int, source: int, out: int, size: int, far: bool) -> None:
    """Records of `size` bytes at `source` to their rows of `out`."""
    if size in (1, 4, 8) and SHORT * runs > n:
        scatter(n, rows, source, out, size)
        return
    row, begin = words(rows, n), words(start, runs + 1)
    for r in range(runs):
        k = np.int64(begin[r])
        stream(out + np.int64(row[k]) * size, source + k * size, (np.int64(begin[r + 1]) - k) * size, far)


@serial
def scatter(n: int, rows: int, source: int, out: int, size: int) -> None:
    """Elements of 1, 4 or 8 bytes at `source` to their rows of `out`, one by one."""
    to = words(rows, n)
    for j in range(n):
        row = np.int64(to[j])
        if size == 1:
            codes(out, row + 1)[row] = codes(source, n)[j]
        elif size == 4:
            floats(out, row + 1)[row] = floats(source, n)[j]
        else:
            ids(out, row + 1)[row] = ids(source, n)[j]


@serial
def ask(n: int, rows: int, start: int, runs: int, out: int, size: int) -> None:
    """Ask for the cache lines of the destination that will not be written whole: the first and the last of every run, some where runs are short."""
    row = words(rows, n)
    if SHORT * runs > n:
        for j in range(0, n, max(1, LINE // size)):
            ahead(out + np.int64(row[j]) * size)
        return
    begin, asked = words(start, runs + 1), -1
    for r in range(runs):
        k = np.int64(begin[r])
        to = out + np.int64(row[k]) * size
        end = to + (np.int64(begin[r + 1]) - k) * size - 1
        if to // LINE != asked:
            ahead(to)
        asked = end // LINE
        if asked != to // LINE:
            ahead(end)


@serial
def ask_column(address: int, size: int) -> None:
    """Ask for the next part of a column."""
    for k in range(0, size, LINE):
        soon(address + k)


@rule
def moved(address: int, step: int, first: int, base: int) -> int:
    """Where a column or lane of the block is: columns move on `step` bytes a row, lanes (`step` -1) lie at a distance from `base`."""
    return base + address if step < 0 else address + step * first


@ranged
def fill_rows(
    lo: int, hi: int, rows: int, room: int, presets: I64, tiles: I64, columns: I64, rules: I64, records: I64, lanes: I64, sends: I64, far: bool
) -> None:
    """All fields of one archetype's rows, by the tables of `consumer.plan`.

    `rows`: address of the destination rows, uint32; `room`: bytes for lanes and records of a block.
    """
    memory = np.empty(room + 4 * (BLOCK + 1) + LINE, np.uint8)
    base = np.int64(memory.ctypes.data)
    base += -base & (LINE - 1)
    start = base + room
    for i in range(presets.shape[0]):
        copy(base + presets[i, 0], presets[i, 1], presets[i, 2])
    for i in range(tiles.shape[0]):
        for first in range(lo, hi, BLOCK):
            stream(tiles[i, 1] + tiles[i, 2] * first, tiles[i, 0], tiles[i, 2] * min(BLOCK, hi - first), far)
    for first in range(lo, hi, BLOCK):
        n = min(BLOCK, hi - first)
        at_rows = rows + 4 * first
        runs = find_runs(n, at_rows, start)
        for i in range(columns.shape[0]):
            ask_column(columns[i, 0] + columns[i, 1] * (first + BLOCK), columns[i, 1] * BLOCK)
        for i in range(sends.shape[0]):
            ask(n, at_rows, start, runs, sends[i, 2], sends[i, 3])
        for i in range(rules.shape[0]):
            a, b = rules[i, 2] + rules[i, 3] * first, rules[i, 4] + rules[i, 5] * first
            c = rules[i, 6] + rules[i, 7] * first
            apply(rules[i, 0], rules[i, 1] != 0, n, a, b, c, rules[i, 8], rules[i, 9], base + rules[i, 10])
        for i in range(records.shape[0]):
            interleave(
                n, records[i, 1],
                moved(records[i, 2], records[i, 3], first, base), moved(records[i, 4], records[i, 5], first, base),
                moved(records[i, 6], records[i, 7], first, base), moved(records[i, 8], records[i, 9], first, base),
                moved(records[i, 10], records[i, 11], first, base), moved(records[i, 12], records[i, 13], first, base),
                moved(records[i, 14], records[i, 15], first, base), moved(records[i, 16], records[i, 17], first, base),
                base + records[i, 0],
            )  # fmt: skip
        for i in range(lanes.shape[0]):
            to, stride = base + lanes[i, 2], lanes[i, 3]
            a, b = moved(lanes[i, 4], lanes[i, 5], first, base), moved(lanes[i, 6], lanes[i, 7], first, base)
            if lanes[i, 1] == 1:
                spread(n, lanes[i, 0], a, to, stride)
            else:
                c, d = moved(lanes[i, 8], lanes[i, 9], first, base), moved(lanes[i, 10], lanes[i, 11], first, base)
                spread_beside(n, lanes[i, 1], a, b, c, d, to, stride)
        for i in range(sends.shape[0]):
            source = moved(sends[i, 0], sends[i, 1], first, base)
            send(n, at_rows, start, runs, source, sends[i, 2], sends[i, 3], far)
    settle()
