"""What the fields of a block of joints are made of, lane by lane: the rule of each lane and the columns that it reads.

The modules of limits, drives and so on say it for one archetype's rows, `consumer.plan` makes one table of it all, and `consumer.fill` goes through
the rows with that table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consumer.columns import ColumnReader, ReadColumn, absent_float
from ovsim.jit import readonly

Array = npt.NDArray[Any]

# rules by number: what `consumer.fill.apply` does to a lane
AS_IT_IS, ANGLE, GAIN, CLAMP, CLAMPED_ANGLE, CLAMPED_GAIN, CLAMPED_CAP, BOUNDED_ANGLE, FORCE_LIMIT, ARMATURE, AXIS_CAP = range(11)  # float32
TRUTH, AXIS, SAME_TOKEN, RANGE, CONE, SPAN = range(11, 17)  # uint8
FIRST_TARGET = 17  # uint64
_TYPES = [np.dtype(np.float32)] * TRUTH + [np.dtype(np.uint8)] * (FIRST_TARGET - TRUTH) + [np.dtype(np.uint64)]  # by rule but the first
_UNITS = (ANGLE, GAIN)  # rules that leave linear values as they are


class Lane:
    """One number a row: its rule, the columns `(values, step)` that the rule reads, whether it is rotational, and two token ids it may know.

    `constant`: none of the columns is there, every row reads the same defaults. `raw`: the lane is its column. `dtype`: type of its numbers.
    `block` keeps what `consumer.plan` makes of a constant lane.
    """

    __slots__ = ("block", "columns", "constant", "dtype", "other", "raw", "rotational", "rule", "token")

    def __init__(self, rule: int, columns: tuple[ReadColumn, ...], rotational: bool = False, token: int = 0, other: int = 0) -> None:
        self.rule, self.columns, self.rotational, self.token, self.other = rule, columns, rotational, token, other
        self.constant = not any(step for _, step in columns)
        self.raw = rule == AS_IT_IS or (rule in _UNITS and not rotational)
        self.dtype = columns[0][0].dtype if rule == AS_IT_IS else _TYPES[rule]
        self.block: tuple[Array, int] | None = None


class Field(NamedTuple):
    """An array of a block and the lanes of its records, by place; a record that is not named is zero.

    `out` (n,), (n, lanes), (n, records) or (n, records, lanes), C-contiguous.
    """

    out: Array
    records: Mapping[int, tuple[Lane, ...]]


_FLAGS = tuple((Lane(AS_IT_IS, ((readonly(np.array([value], np.uint8)), 0),)),) for value in (0, 1))


def flag(value: bool) -> tuple[Lane, ...]:
    """The same 0 or 1 in every row."""
    return _FLAGS[bool(value)]


def raw(column: ReadColumn) -> Lane:
    """A column as it is."""
    return Lane(AS_IT_IS, (column,))


def floats(rule: int, reader: ColumnReader, names: Sequence[str], gate: bool = True, rotational: bool = False) -> Lane:
    """A lane of float32 columns; where none of them is there, one that is made once."""
    if not (gate and any(name in reader.archetype for name in names)):
        return _absent(rule, tuple(names), rotational)
    return Lane(rule, tuple(reader.float32(name) for name in names), rotational)


@lru_cache(None)
def _absent(rule: int, names: tuple[str, ...], rotational: bool) -> Lane:
    return Lane(rule, tuple(absent_float(name) for name in names), rotational)
