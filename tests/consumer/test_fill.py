"""Fields of a block filled from columns: whatever the order of the destination rows, the size of a range and the way the bytes go out."""

from __future__ import annotations

import numpy as np
import pytest
from jit_worker import SPECIAL, stage, values

import consumer
from consumer import fields as f
from consumer import plan, units
from consumer.axes import axis_armature, axis_velocity_cap
from consumer.common import axis_code
from consumer.drives import force_limit
from consumer.fields import Field, Lane, flag, raw
from consumer.fill import BLOCK, apply, find_runs, stream
from consumer.limits import cone_enabled, range_enabled, span_enabled
from consumer.plan import fill_pass
from ovsim.jit import readonly
from ovsim.memory import LINE

COUNTS = [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 3]


def rows_of(order: str, n: int) -> np.ndarray:
    """Destination rows of a block of n rows, in some order."""
    rng = np.random.default_rng(n)
    rows = np.arange(n, dtype=np.uint32)
    if order == "backward":
        return rows[::-1].copy()
    if order == "pairs":
        even = n // 2 * 2
        rows[:even] = rows[:even].reshape(-1, 2)[:, ::-1].reshape(-1)
    elif order == "shuffled":
        rng.shuffle(rows)
    elif order == "runs":  # twenty in a row, then one from elsewhere
        singles = np.arange(20, n, 21)
        rows = np.concatenate([np.delete(rows, singles), rows[singles]])
    return rows


def column(a: np.ndarray) -> tuple[np.ndarray, int]:
    return readonly(a), 1


def default(value: float) -> tuple[np.ndarray, int]:
    return readonly(np.array([value], np.float32)), 0


def case(n: int, m: int, seed: int = 0):
    """Arrays of a block of n rows, their fields from columns of m rows, and what each is to hold in the destination rows."""
    rng = np.random.default_rng(seed)
    x = values(rng, 12, m)
    small = rng.integers(0, 3, m).astype(np.uint8)
    ids = rng.integers(1, 99, m).astype(np.uint64)
    made = []

    def field(shape, dtype, records, want):
        out = np.full((n, *shape), 77, dtype)
        made.append((out, Field(out, records), np.broadcast_to(np.asarray(want, dtype), (m, *shape))))

    lanes = {k: Lane(f.AS_IT_IS, (column(x[k]),)) for k in range(12)}
    three, zero = Lane(f.AS_IT_IS, (default(3),)), np.zeros(m, np.float32)
    field((), np.uint64, {0: (raw(column(ids)),)}, ids)
    field((), np.uint8, {0: (Lane(f.TRUTH, (column(small),)),)}, small != 0)
    field((), np.float32, {0: (lanes[0],)}, x[0])
    field((), np.uint8, {0: flag(True)}, 1)
    for many in (2, 5, 6, 8):  # whole records, varying and with a constant lane
        field((1, many), np.float32, {0: tuple(lanes[k] for k in range(many))}, x[:many].T[:, None])
        mixed = (three, *(lanes[k] for k in range(1, many)))
        field((1, many), np.float32, {0: mixed}, np.stack([zero + 3, *x[1:many]], 1)[:, None])
    field((1, 6), np.float32, {0: (lanes[0], *[three] * 5)}, np.stack([x[0], *[zero + 3] * 5], 1)[:, None])
    want = np.zeros((m, 7, 6), np.float32)  # several records: varying, constant, not named
    want[:, 1], want[:, 2], want[:, 6] = x[:6].T, 3, x[6:12].T
    field((7, 6), np.float32, {1: tuple(lanes[k] for k in range(6)), 2: (three,) * 6, 6: tuple(lanes[k] for k in range(6, 12))}, want)
    field((7,), np.uint8, {2: flag(True), 4: (Lane(f.TRUTH, (column(small),)),)}, np.stack([zero, zero, zero + 1, zero, small != 0, zero, zero], 1))
    field((3, 5), np.float32, {0: (three,) * 5}, [[3] * 5, [0] * 5, [0] * 5])
    field((6, 2), np.float32, {}, 0)
    field((2,), np.uint64, {0: (raw(column(ids)), raw(column(ids[::-1].copy())))}, np.stack([ids, ids[::-1]], 1))
    return made


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("order", ["forward", "backward", "pairs", "shuffled", "runs"])
@pytest.mark.parametrize("n", COUNTS)
def test_every_row_gets_its_record(monkeypatch, n, order, far):
    """In whatever order the rows come, and whether or not lines go past the caches."""
    monkeypatch.setattr(plan, "FAR", -1 if far else 1 << 60)
    rows = rows_of(order, n)
    for chunk in (n, 100, 7):
        made = case(n, n)
        kernel, args, held = fill_pass(readonly(rows), n, [field for _, field, _ in made])
        for lo in range(0, n, chunk):
            kernel(lo, min(lo + chunk, n), *args)
        assert held is not None
        for out, _, want in made:
            np.testing.assert_array_equal(out[rows], want)


@pytest.mark.parametrize("far", [False, True])
def test_several_archetypes_of_a_type(monkeypatch, far):
    """Each writes its own rows and no byte of another's."""
    monkeypatch.setattr(plan, "FAR", -1 if far else 1 << 60)
    n = 3 * BLOCK + 5
    taken = np.random.default_rng(1).random(n) < 0.6
    taken[BLOCK : BLOCK + 50] = True
    rows = np.flatnonzero(taken).astype(np.uint32)
    made = case(n, rows.size)
    kernel, args, _ = fill_pass(readonly(rows), n, [field for _, field, _ in made])
    kernel(0, rows.size, *args)
    for out, _, want in made:
        np.testing.assert_array_equal(out[rows], want)
        assert np.all(out[~taken] == 77)


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_tiny_ranges_of_a_stage(chunk):
    """spec of `resolve`: the size of a range changes nothing."""
    assert str(consumer.resolve(stage(4), chunk=chunk).to_arrow().to_pylist()) == str(consumer.resolve(stage(4)).to_arrow().to_pylist())


@pytest.mark.parametrize("rows", [[5], [5, 6, 7], [1, 0], [3, 4, 9, 10, 11, 2], [7, 5, 3], list(range(BLOCK))])
def test_runs(rows):
    """Runs start where a row does not follow the one before."""
    a, start = np.array(rows, np.uint32), np.zeros(BLOCK + 1, np.uint32)
    runs = find_runs(a.size, a.ctypes.data, start.ctypes.data)
    begins = [k for k in range(len(rows)) if k == 0 or rows[k] != rows[k - 1] + 1]
    assert start[: runs + 1].tolist() == [*begins, len(rows)]


@pytest.mark.parametrize("far", [False, True])
def test_stream_writes_what_it_is_told(far):
    """From any place to any place of a cache line, no byte more."""
    source = np.random.default_rng(2).integers(1, 255, 400).astype(np.uint8)
    for at in (0, 1, 31, 63):
        for size in (0, 1, 4, 24, 63, 64, 65, 127, 128, 129, 300):
            out = np.zeros(512, np.uint8)
            first = -out.ctypes.data % LINE + at
            stream(out.ctypes.data + first, source.ctypes.data + 3, size, far)
            want = np.zeros(512, np.uint8)
            want[first : first + size] = source[3 : 3 + size]
            np.testing.assert_array_equal(out, want)


ONE = {
    f.ANGLE: lambda x, _y, _z, rotational: units.angle(x, rotational),
    f.GAIN: lambda x, _y, _z, rotational: units.gain(x, rotational),
    f.CLAMP: lambda x, _y, _z, _r: units.clamp_positive(x),
    f.CLAMPED_ANGLE: lambda x, _y, _z, rotational: units.angle(np.float32(units.clamp_positive(x)), rotational),
    f.CLAMPED_GAIN: lambda x, _y, _z, rotational: units.gain(np.float32(units.clamp_positive(x)), rotational),
    f.CLAMPED_CAP: lambda x, _y, _z, rotational: units.velocity_cap(np.float32(units.clamp_positive(x)), rotational),
    f.BOUNDED_ANGLE: lambda x, _y, _z, rotational: units.angle(np.float32(units.bounded(x)), rotational),
    f.FORCE_LIMIT: lambda x, _y, _z, _r: force_limit(x),
    f.ARMATURE: lambda x, y, _z, _r: axis_armature(x, y),
    f.AXIS_CAP: lambda x, y, z, rotational: units.velocity_cap(np.float32(axis_velocity_cap(x, y, z)), rotational),
    f.RANGE: lambda x, y, _z, _r: range_enabled(x, y),
    f.CONE: lambda x, y, _z, _r: cone_enabled(x, y),
    f.SPAN: lambda x, y, _z, _r: span_enabled(x, y),
}


@pytest.mark.parametrize("rotational", [False, True])
@pytest.mark.parametrize("rule", sorted(ONE))
def test_lanes_follow_their_rules(rule, rotational):
    """A lane holds, bit for bit, what the rule gives for each number: all triples of special numbers."""
    x, y, z = (np.ascontiguousarray(a.reshape(-1)) for a in np.meshgrid(SPECIAL, SPECIAL, SPECIAL))
    out = np.zeros(x.size, np.uint8 if rule in (f.RANGE, f.CONE, f.SPAN) else np.float32)
    apply(rule, rotational, x.size, x.ctypes.data, y.ctypes.data, z.ctypes.data, 0, 0, out.ctypes.data)
    with np.errstate(all="ignore"):
        want = np.array([ONE[rule](a, b, c, rotational) for a, b, c in zip(x, y, z)], out.dtype)
    if out.dtype == np.float32:
        assert np.array_equal(np.isnan(out), np.isnan(want))
        out, want = np.nan_to_num(out, nan=1).view(np.uint32), np.nan_to_num(want, nan=1).view(np.uint32)
    np.testing.assert_array_equal(out, want)


def test_lanes_of_tokens():
    """Axes and drive types; a token that nobody interned, id 0, is none."""
    tokens, out = np.array([0, 3, 4, 5], np.uint64), np.zeros(4, np.uint8)
    for y, z in ((3, 4), (0, 0), (0, 4)):
        apply(f.AXIS, False, 4, tokens.ctypes.data, 0, 0, y, z, out.ctypes.data)
        assert out.tolist() == [axis_code(np.uint64(t), np.uint64(y), np.uint64(z)) for t in tokens]
    for token, want in ((4, [0, 0, 1, 0]), (0, [0, 0, 0, 0])):
        apply(f.SAME_TOKEN, False, 4, tokens.ctypes.data, 0, 0, token, 0, out.ctypes.data)
        assert out.tolist() == want


def test_first_targets():
    """The first id of each list, 0 of an empty one."""
    offsets, ids, out = np.array([0, 2, 2, 3], np.int64), np.array([8, 9, 7], np.uint64), np.full(3, 5, np.uint64)
    apply(f.FIRST_TARGET, False, 3, offsets.ctypes.data, ids.ctypes.data, 0, 0, 0, out.ctypes.data)
    assert out.tolist() == [8, 0, 7]


@pytest.mark.parametrize(
    ("out", "records"),
    [
        (np.zeros(4, np.float32), {0: (raw(column(np.zeros(5, np.float32))),)}),
        (np.zeros((5, 2), np.float32)[:, 0], {0: (raw(column(np.zeros(5, np.float32))),)}),
        (np.zeros(5, np.float32), {0: (raw(column(np.zeros(4, np.float32))),)}),
        (np.zeros(5, np.float32), {0: (raw(column(np.zeros(5))),)}),
        (np.zeros(5, np.uint8), {0: (Lane(f.CLAMP, (column(np.zeros(5, np.float32)),)),)}),
        (np.zeros((5, 2), np.float32), {0: (raw(column(np.zeros(5, np.float32))),) * 3}),
        (np.zeros((5, 2), np.uint8), {2: flag(True)}),
    ],
)
def test_what_does_not_fit_is_refused(out, records):
    """Before any address is taken: length, layout, type, number of lanes and of records."""
    with pytest.raises(ValueError, match=r"not|fit"):
        fill_pass(readonly(np.arange(5, dtype=np.uint32)), 5, [Field(out, records)])
