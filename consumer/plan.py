"""From the fields of a block to the tables of `consumer.fill`: which rules run, which lanes go into records, which records go out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.fields import AS_IT_IS, FIRST_TARGET, Field, Lane
from consumer.fill import BLOCK, SOURCES, apply, fill_rows
from consumer.passes import Pass
from ovsim.jit import readonly
from ovsim.memory import LINE

Array = npt.NDArray[Any]
Kept = tuple[Array, int]  # an array and its address
FAR = 1 << 20  # bytes of a block beyond which whole cache lines go straight to memory: by then they would be out of the near caches anyway
_BESIDE = (2, 5, 6, 8)  # lanes that `interleave` knows
_ABREAST = 4  # lanes that `spread_beside` takes, at most; two or this many
_FEW = 2  # varying lanes of a record that are put into it one by one
_LANE = -1  # the step of a source that is a lane of the block, not a column


def fill_pass(rows: Array, n: int, fields: Sequence[Field]) -> Pass:
    """The pass that fills `fields` of a block of `n` rows from an archetype whose rows go to `rows`, (m,) uint32, all different and below n.

    The kernel sees addresses only, so what does not fit is refused here: ValueError for arrays and columns of another length, type or layout.
    """
    plan = _Plan(rows.size, rows.size == n)
    for field in fields:
        if field.out.size:
            if field.out.shape[0] != n or not field.out.flags.c_contiguous:
                raise ValueError(f"a field of {n} rows is C-contiguous and has as many, not {field.out.shape}")
            plan.add(field)
    far = n * sum(f.out.nbytes // len(f.out) for f in fields if f.out.size) > FAR
    return Pass(fill_rows, (_address(rows), *plan.tables(), far), (rows, plan.held, fields))


class _Plan:
    """Tables in the making, for `rows` rows. `whole`: those are all rows of the block, so what is the same in all is written from end to end."""

    def __init__(self, rows: int, whole: bool) -> None:
        self.rows, self.whole = rows, whole
        self.held: list[Array] = []  # whose addresses stand in the tables
        self.presets: list[tuple[int, ...]] = []
        self.tiles: list[tuple[int, ...]] = []
        self.columns: list[tuple[int, ...]] = []
        self.rules: list[tuple[int, ...]] = []
        self.records: list[tuple[int, ...]] = []
        self.lanes: list[tuple[int, ...]] = []
        self.sends: list[tuple[int, ...]] = []
        self.room = 0  # bytes of lanes and records of a block

    def tables(self) -> tuple[int | Array, ...]:
        """The arguments of `fill_rows` after (lo, hi, rows) and before `far`."""
        tables = (self.presets, self.tiles, self.columns, self.rules, self.records, self.lanes, self.sends)
        return (
            self.room,
            *(readonly(np.array(t, np.int64).reshape(-1, w)) for t, w in zip(tables, (3, 3, 2, 11, 2 + 2 * SOURCES, 4 + 2 * _ABREAST, 4))),
        )

    def add(self, field: Field) -> None:
        """All records of an array."""
        out, whole_record = field.out, len(field.records) == 1 and 0 in field.records
        to, size = _address(out), out.nbytes // out.shape[0]
        lanes = len(next(iter(field.records.values()), ()))
        numbers = size // out.itemsize
        placed = [(k * lanes + i, lane) for k, record in field.records.items() for i, lane in enumerate(record)]
        varying = [p for p in placed if not p[1].constant]
        if any(lane.dtype != out.dtype for _, lane in placed) or lanes > SOURCES or any(place >= numbers for place, _ in placed):
            raise ValueError(f"lanes of {[str(lane.dtype) for _, lane in placed]} do not fit into records of {out.dtype} {out.shape[1:]}")
        if not varying:
            tile = self.hold(_tile(_template(placed, numbers, out.itemsize)))
            if self.whole:
                self.tiles.append((tile, to, size))
            else:
                self.sends.append((tile, 0, to, size))
        elif numbers == 1:
            self.sends.append((*self.source(varying[0][1]), to, size))
        elif whole_record and numbers == lanes and lanes in _BESIDE and out.dtype == np.float32 and len(varying) > min(_FEW, lanes - 1):
            stage = self.take(size)
            sources = [s for lane in field.records[0] for s in self.source(lane)]
            self.records.append((stage, lanes, *sources, *[0] * (2 * (SOURCES - lanes))))
            self.sends.append((stage, _LANE, to, size))
        else:
            stage = self.take(size)
            if len(varying) < numbers:
                self.presets.append((stage, self.hold(_tile(_template(placed, numbers, out.itemsize))), size * BLOCK))
            for place, group in _groups(varying, out.dtype == np.float32):
                sources = [s for lane in group for s in self.source(lane)]
                self.lanes.append((out.itemsize, len(group), stage + place * out.itemsize, numbers, *sources, *[0] * (2 * (_ABREAST - len(group)))))
            self.sends.append((stage, _LANE, to, size))

    def hold(self, kept: Kept) -> int:
        """The address of an array that then lives as long as the tables."""
        self.held.append(kept[0])
        return kept[1]

    def take(self, size: int) -> int:
        """Room for a block of records; every row of it may be read beyond its last one, so whole lines."""
        at = self.room
        self.room += -(-size * BLOCK // LINE) * LINE + LINE  # one line more, so that lanes do not fall on the same cache lines
        return at

    def source(self, lane: Lane) -> tuple[int, int]:
        """Address and step of a lane: of its column, of a block of its one value, or of the lane that its rule will make."""
        if lane.constant:
            return self.hold(_repeated(lane)), 0
        if lane.raw:
            return self.column(lane.columns[0][0])
        sources = [0] * 6
        for k, (values, step) in enumerate(lane.columns):
            if step:
                sources[2 * k : 2 * k + 2] = self.column(values)
            else:
                sources[2 * k] = self.hold(_kept(values) if lane.rule == FIRST_TARGET else _repeat(values.tobytes(), values.dtype.str))
        out = self.take(lane.dtype.itemsize)
        self.rules.append((lane.rule, int(lane.rotational), *sources, lane.token, lane.other, out))
        return out, _LANE

    def column(self, values: Array) -> tuple[int, int]:
        """Address and step of a column with a value a row."""
        if values.shape[0] < self.rows or not values.flags.c_contiguous:
            raise ValueError(f"a column of {self.rows} rows is C-contiguous and has as many values, not {values.shape}")
        found = (self.hold(_kept(values)), values.itemsize)
        self.columns.append(found)
        return found


def _address(a: Array) -> int:
    address: int = a.ctypes.data
    return address


def _kept(a: Array) -> Kept:
    return a, _address(a)


def _groups(varying: Sequence[tuple[int, Lane]], floats: bool) -> Iterator[tuple[int, list[Lane]]]:
    """Lanes in groups of four, two or one that lie side by side, each with the place of its first."""
    k = 0
    while k < len(varying):
        place, many = varying[k][0], 1
        while floats and 2 * many <= _ABREAST and k + 2 * many <= len(varying) and varying[k + 2 * many - 1][0] == place + 2 * many - 1:
            many *= 2
        yield place, [lane for _, lane in varying[k : k + many]]
        k += many


def _template(placed: Sequence[tuple[int, Lane]], numbers: int, itemsize: int) -> bytes:
    """One row of an array of so many numbers: its constant lanes, zero elsewhere."""
    row = [bytes(itemsize)] * numbers
    for place, lane in placed:
        if lane.constant:
            row[place] = _repeated(lane)[0][:1].tobytes()
    return b"".join(row)


@lru_cache(512)
def _tile(row: bytes) -> Kept:
    """The bytes of a row, for all rows of a block."""
    return _kept(readonly(np.tile(np.frombuffer(row, np.uint8), BLOCK)))


@lru_cache(512)
def _repeat(value: bytes, dtype: str) -> Kept:
    """One value, for all rows of a block."""
    return _kept(readonly(np.repeat(np.frombuffer(value, dtype)[:1], BLOCK)))


def _repeated(lane: Lane) -> Kept:
    """What the rule of a constant lane gives, for all rows of a block."""
    if lane.block is None:
        defaults = tuple((values.tobytes(), values.dtype.str) for values, _ in lane.columns)
        rule = AS_IT_IS if lane.raw else lane.rule
        lane.block = _default(rule, defaults, lane.rotational, lane.token, lane.other, lane.dtype.str)
    return lane.block


@lru_cache(512)
def _default(rule: int, defaults: tuple[tuple[bytes, str], ...], rotational: bool, token: int, other: int, dtype: str) -> Kept:
    if rule == FIRST_TARGET:  # no column, no target
        return _repeat(bytes(8), dtype)
    if rule == AS_IT_IS:
        return _repeat(*defaults[0])
    columns = [np.frombuffer(*d) for d in defaults]
    a, b, c = ([_address(column) for column in columns] + [0, 0])[:3]
    got = np.zeros(1, dtype)
    apply(rule, rotational, 1, a, b, c, token, other, _address(got))
    return _repeat(got.tobytes(), dtype)
