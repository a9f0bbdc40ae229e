"""Pieces of columns to archetypes: prims are grouped by type, schemas and the exact set of their columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ovsim.bridge import worlds
from ovsim.bridge.ids import Inward
from ovsim.bridge.layout import ID_LANES, PATH, TOKEN, UNMARKED, Layout, field_of, holds_strings
from ovsim.bridge.native import Live
from ovsim.bridge.pieces import Piece
from ovsim.errors import BridgeError
from ovsim.stage import columns as col
from ovsim.stage.archetype import PATH as PATH_COLUMN
from ovsim.stage.archetype import SCHEMAS, Archetype
from ovsim.stage.distinct import distinct
from ovsim.stage.paths import PathDictionary

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]


@dataclass
class _Column:
    """One column of one layout over all prims that have it."""

    name: str
    layout: Layout
    paths: list[U64] = field(default_factory=list)
    values: list[npt.NDArray[Any]] = field(default_factory=list)
    counts: list[I64] = field(default_factory=list)

    @property
    def lanes(self) -> tuple[str, ...]:
        strings = (TOKEN,) if holds_strings(self.name, self.layout) else ()
        return ID_LANES.get(self.layout.semantic) or UNMARKED.get(self.name) or strings


class Assembly:
    """Collects pieces (`add`) and makes a dictionary and archetypes of them (`finish`)."""

    def __init__(self, live: Live) -> None:
        self._ids = Inward(live)
        self._columns: dict[tuple[str, Layout], _Column] = {}
        self._types: list[tuple[str, U64]] = []

    def add(self, name: str, piece: Piece) -> None:
        """Add a piece of a column. BridgeError when its ids do not have the lanes of their kind."""
        column = self._columns.setdefault((name, piece.layout), _Column(name, piece.layout))
        lanes = column.lanes
        if lanes and (piece.values.dtype != np.uint64 or piece.layout.lanes != len(lanes)):
            raise BridgeError(f"column {name}: ids are uint64 with {len(lanes)} lane(s), here are {piece.layout.lanes} of {piece.values.dtype}")
        for lane, kind in enumerate(lanes):
            self._ids.learn(kind, piece.values[:, lane] if len(lanes) > 1 else piece.values)
        self._ids.learn(PATH, piece.paths)
        column.paths.append(piece.paths)
        column.values.append(piece.values)
        if piece.offsets is not None:
            column.counts.append(np.diff(piece.offsets))

    def add_type(self, text: str, paths: U64) -> None:
        """Note the type of prims (path ids of ovstage)."""
        self._ids.learn(PATH, paths)
        self._types.append((text, paths))

    def finish(self, derived: bool = True) -> tuple[PathDictionary, tuple[Archetype, ...]]:
        """The dictionary and the archetypes; without `derived` no world matrix that the local matrices tell (`ovsim.bridge.worlds`).

        BridgeError when ovstage does not know an id that a column holds.
        """
        self._ids.intern()
        whole = [_Whole(c, self._ids) for c in self._columns.values()]
        typed = [(t, self._ids.translate(p, (PATH,))) for t, p in self._types]
        paths = self._ids.paths
        every = distinct(np.concatenate([np.empty(0, np.uint64), *(w.paths for w in whole), *(p for _, p in typed)]), paths.path_count)
        order = np.asarray(pc.sort_indices(paths.path_strings(every))) if every.size else np.empty(0, np.int64)
        prims = every[order]  # in path order
        number = np.zeros(paths.path_count, np.int64)
        number[prims.astype(np.int64)] = np.arange(prims.size)
        if not derived:
            _drop_composed(paths, whole)
        for w in whole:
            w.place(number, prims.size)
        type_ = np.zeros(prims.size, np.int64)
        for i, (_, p) in enumerate(typed):
            type_[number[p.astype(np.int64)]] = i + 1
        types = ["", *(t for t, _ in typed)]
        schemas = [w for w in whole if w.column.name == SCHEMAS]
        rest = sorted((w for w in whole if w.column.name != SCHEMAS and w.paths.size), key=lambda w: w.column.name)
        kind = _kinds([type_, *(w.key(prims.size) for w in schemas)], rest, prims.size)
        rows = np.argsort(kind, kind="stable")
        groups = np.split(rows, np.flatnonzero(np.diff(kind[rows])) + 1) if rows.size else []
        groups.sort(key=lambda g: int(g[0]))
        return paths, tuple(_archetype(paths, prims, g, types[type_[g[0]]], schemas, rest) for g in groups)


class _Whole:
    """A column over all its prims, its ids those of the new dictionary; `row` tells for each prim where its value is, -1 where it has none."""

    def __init__(self, column: _Column, ids: Inward) -> None:
        self.column = column
        self.paths = ids.translate(np.concatenate(column.paths), (PATH,))
        values = np.concatenate(column.values)
        self.values = ids.translate(values, column.lanes) if column.lanes else values
        self.counts = np.concatenate(column.counts) if column.layout.array else None
        self.row: I64 = np.empty(0, np.int64)

    def keep(self, mask: npt.NDArray[np.bool_]) -> None:
        """Forget the values of a dense column where the mask (n,) is False."""
        self.paths, self.values = self.paths[mask], self.values[mask]

    def place(self, number: I64, prims: int) -> None:
        self.row = np.full(prims, -1, np.int64)
        self.row[number[self.paths.astype(np.int64)]] = np.arange(self.paths.size)

    def array(self, rows: I64) -> pa.Array:
        """Arrow column of the prims at `rows`."""
        at = self.row[rows]
        if self.counts is None:
            return col.dense(self.values[at])
        ends = np.cumsum(self.counts)
        counts = self.counts[at]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        return col.ragged(offsets, self.values[np.repeat(ends[at] - counts, counts) + within])

    def key(self, prims: int) -> I64:
        """A number a prim, equal where its array holds the same values in any order; -1 where there is none."""
        counts = self.counts if self.counts is not None else np.ones(self.paths.size, np.int64)
        ends = np.cumsum(counts)
        number, used = np.zeros(counts.size, np.int64), 0
        for count in distinct(counts).tolist():
            here = np.flatnonzero(counts == count)
            lists = np.sort(self.values[(ends[here] - count)[:, None] + np.arange(count)], axis=1)
            inverse = np.unique(lists, axis=0, return_inverse=True)[1].reshape(-1)
            number[here], used = used + inverse, used + int(inverse.max()) + 1
        out = np.full(prims, -1, np.int64)
        has = self.row >= 0
        out[has] = number[self.row[has]]
        return out


def _drop_composed(paths: PathDictionary, whole: list[_Whole]) -> None:
    matrices = {w.column.name: w for w in whole if w.column.layout.lanes == 16 and w.values.dtype == np.float64 and w.counts is None}
    own, local = matrices.get(worlds.WORLD), matrices.get(worlds.LOCAL)
    if own is None or local is None:
        return
    flags = [w for w in whole if w.column.name == worlds.RESET and w.values.ndim == 1 and w.counts is None]
    resets = np.concatenate([np.empty(0, np.uint64), *(w.paths[w.values != 0] for w in flags)])
    own.keep(~worlds.composed(paths.parents, (own.paths, own.values), (local.paths, local.values), resets))


def _kinds(keys: list[I64], columns: list[_Whole], prims: int) -> I64:
    """Archetype number a prim: equal keys and an equal set of columns."""
    if not prims:
        return np.empty(0, np.int64)
    bits = np.zeros((prims, len(columns)), bool)
    for i, w in enumerate(columns):
        bits[:, i] = w.row >= 0
    parts = [np.packbits(bits, axis=1), *(k.view(np.uint8).reshape(prims, 8) for k in keys)]
    joined = np.ascontiguousarray(np.concatenate(parts, axis=1))
    return np.unique(joined.view(np.dtype((np.void, joined.shape[1]))).reshape(-1), return_inverse=True)[1].reshape(-1)


def _archetype(paths: PathDictionary, prims: U64, rows: I64, type_name: str, schemas: list[_Whole], columns: list[_Whole]) -> Archetype:
    one = rows[:1]
    listed = [t for w in schemas if w.row[one[0]] >= 0 for t in w.array(one).flatten().to_pylist()]
    here = [w for w in columns if w.row[one[0]] >= 0]
    fields = [col.field(PATH_COLUMN, pa.uint64(), col.PATH_ID), *(field_of(w.column.name, w.column.layout) for w in here)]
    arrays = [col.dense(prims[rows]), *(w.array(rows) for w in here)]
    batch = pa.record_batch(arrays, schema=pa.schema(fields))
    return Archetype(paths, type_name, tuple(sorted(paths.token_string(t) for t in listed)), batch)
