"""From the fields of a block to the tables of `consumer.fill`: which rules run, which lanes go into records, which records go out."""

from __future__ import annotations

from collections.abc import Sequence
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
FAR = 1 << 23  # bytes of a block's rows beyond which they will not be in cache when someone reads them
_BESIDE = (2, 5, 6, 8)  # lanes that `interleave` knows
_FEW = 2  # varying lanes of a record that are put into it one by one
_LANE = -1  # the step of a source that is a lane of the block, not a column


def fill_pass(rows: Array, n: int, fields: Sequence[Field]) -> Pass:
    """The pass that fills `fields` of a block of `n` rows from an archetype whose rows go to `rows`, (m,) uint32, all different."""
    plan = _Plan(rows.size == n)
    for field in fields:
        if field.out.size:
            plan.add(field)
    far = n * sum(f.out.nbytes // len(f.out) for f in fields if f.out.size) > FAR
    return Pass(fill_rows, (_address(rows), *plan.tables(), far), (rows, plan.held, fields))


class _Plan:
    """Tables in the making. `whole`: the rows are all rows of the block, so what is the same in all of them is written from end to end."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole
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
        return (self.room, *(readonly(np.array(t, np.int64).reshape(-1, w)) for t, w in zip(tables, (3, 3, 2, 11, 2 + 2 * SOURCES, 5, 4))))

    def add(self, field: Field) -> None:
        """All records of an array."""
        out = field.out
        size = out.nbytes // len(out)
        count = max(field.records, default=0) + 1
        lanes = len(next(iter(field.records.values()), ()))
        numbers = size // out.itemsize
        varying = [(k * lanes + i, lane) for k, record in field.records.items() for i, lane in enumerate(record) if not lane.constant]
        if not varying:
            tile = _tile(_template(field, lanes, numbers).tobytes())
            if self.whole:
                self.tiles.append((_address(tile), _address(out), size))
            else:
                self.sends.append((_address(tile), 0, _address(out), size))
            self.held.append(tile)
        elif numbers == 1:
            self.sends.append((*self.source(varying[0][1]), _address(out), size))
        elif count == 1 and numbers == lanes and lanes in _BESIDE and out.dtype == np.float32 and len(varying) > min(_FEW, lanes - 1):
            stage = self.take(size)
            sources = [s for lane in field.records[0] for s in self.source(lane)]
            self.records.append((stage, lanes, *sources, *[0] * (2 * (SOURCES - lanes))))
            self.sends.append((stage, _LANE, _address(out), size))
        else:
            stage = self.take(size)
            if len(varying) < numbers:
                tile = _tile(_template(field, lanes, numbers).tobytes())
                self.held.append(tile)
                self.presets.append((stage, _address(tile), size * BLOCK))
            for place, lane in varying:
                self.lanes.append((out.itemsize, *self.source(lane), stage + place * out.itemsize, numbers))
            self.sends.append((stage, _LANE, _address(out), size))

    def take(self, size: int) -> int:
        """Room for a block of records; every row of it may be read beyond its last one, so whole lines."""
        at = self.room
        self.room += -(-size * BLOCK // LINE) * LINE + LINE  # one line more, so that lanes do not fall on the same cache lines
        return at

    def source(self, lane: Lane) -> tuple[int, int]:
        """Address and step of a lane: of its column, of a block of its one value, or of the lane that its rule will make."""
        if lane.constant:
            values = _repeated(lane)
            self.held.append(values)
            return _address(values), 0
        if lane.raw:
            values, _ = lane.columns[0]
            self.columns.append((_address(values), values.itemsize))
            self.held.append(values)
            return _address(values), values.itemsize
        sources = [0] * 6
        for k, (values, step) in enumerate(lane.columns):
            column = values if step or lane.rule == FIRST_TARGET else _repeat(values.tobytes(), values.dtype.str)
            self.held.append(column)
            sources[2 * k], sources[2 * k + 1] = _address(column), column.itemsize * step
            if step:
                self.columns.append((_address(column), column.itemsize))
        out = self.take(lane.dtype.itemsize)
        self.rules.append((lane.rule, int(lane.rotational), *sources, lane.token, lane.other, out))
        return out, _LANE


def _address(a: Array) -> int:
    address: int = a.__array_interface__["data"][0]
    return address


def _template(field: Field, lanes: int, numbers: int) -> Array:
    """One row of an array (numbers,): its constant lanes, zero elsewhere."""
    row = np.zeros(numbers, field.out.dtype)
    for k, record in field.records.items():
        for i, lane in enumerate(record):
            if lane.constant:
                row[k * lanes + i] = _repeated(lane)[0]
    return row


@lru_cache(512)
def _tile(row: bytes) -> Array:
    """The bytes of a row, for all rows of a block."""
    return readonly(np.tile(np.frombuffer(row, np.uint8), BLOCK))


@lru_cache(512)
def _repeat(value: bytes, dtype: str) -> Array:
    """One value, for all rows of a block."""
    return readonly(np.repeat(np.frombuffer(value, dtype)[:1], BLOCK))


def _repeated(lane: Lane) -> Array:
    """What the lane's rule gives for its defaults, for all rows of a block."""
    defaults = tuple((values.tobytes(), values.dtype.str) for values, _ in lane.columns)
    return _default(lane.rule if not lane.raw else AS_IT_IS, defaults, lane.rotational, lane.token, lane.other, lane.dtype.str)


@lru_cache(512)
def _default(rule: int, defaults: tuple[tuple[bytes, str], ...], rotational: bool, token: int, other: int, dtype: str) -> Array:
    if rule == FIRST_TARGET:  # no column, no target
        return _repeat(bytes(8), dtype)
    if rule == AS_IT_IS:
        return _repeat(*defaults[0])
    columns = [np.frombuffer(*d) for d in defaults]
    a, b, c = ([_address(column) for column in columns] + [0, 0])[:3]
    got = np.zeros(1, dtype)
    apply(rule, rotational, 1, a, b, c, token, other, _address(got))
    return _repeat(got.tobytes(), dtype)
