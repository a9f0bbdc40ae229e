"""Two stages row by row: what differs, whatever their dictionaries, row order and archetypes are. Values are compared bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.bridge.layout import PATH, of_field
from ovsim.stage import Stage
from ovsim.stage import columns as col
from ovsim.stage.archetype import Archetype
from ovsim.stage.distinct import distinct

_PROTOTYPE = "/__Prototype_"


@dataclass(frozen=True)
class Difference:
    """`kind` is row, type, schemas, column, layout or value; `rows` counts the rows concerned, `path` is the first of them."""

    kind: str
    path: str
    column: str
    rows: int
    message: str

    def __str__(self) -> str:
        more = f" and {self.rows - 1} more rows" if self.rows > 1 else ""
        return f"{self.path}{more}{' [' + self.column + ']' if self.column else ''}: {self.message}"


def differences(left: Stage, right: Stage, *, without: Iterable[str] = ()) -> list[Difference]:
    """What two stages differ in, an empty list when they hold the same rows with the same types, schemas and columns.

    Columns named in `without` are left out. Numbers of native instancing prototypes (`/__Prototype_N`) are arbitrary and not compared; the first
    instance in path order names its prototype. Provenance, diagnostics and metadata are not compared.
    """
    return list(_walk(_Side(left), _Side(right), frozenset(without)))


class _Side:
    """A stage with its rows and ids in a numbering that both sides share once `shared` is set."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.paths = _canonical(stage)
        self.tokens = list(stage.paths.token_strings())
        rows = [a.path_ids for a in stage.archetypes]
        self.rows = np.concatenate([np.empty(0, np.uint64), *rows]).astype(np.int64)
        self.archetype = np.repeat(np.arange(len(rows)), [r.size for r in rows])
        self.row = np.concatenate([np.empty(0, np.int64), *(np.arange(r.size) for r in rows)])
        self.ids: dict[str, npt.NDArray[np.int64]] = {}

    def share(self, kind: str, numbers: dict[str, int]) -> None:
        texts = self.paths if kind == PATH else self.tokens
        self.ids[kind] = np.fromiter((numbers.setdefault(t, len(numbers)) for t in texts), np.int64, len(texts))

    def text(self, row: int) -> str:
        return str(self.paths[int(self.rows[row])])

    def column(self, archetype: Archetype, name: str, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[Any]]:
        """Counts (None for single values) and values of some rows, ids in the shared numbering."""
        values = col.view(col.take(archetype.column(name), rows))
        counts = None
        if isinstance(values, col.Ragged):
            counts, values = np.diff(values.offsets), values.values
        lanes = of_field(archetype.field(name)).ids
        if len(lanes) == 1:
            values = self.ids[lanes[0]][values.astype(np.int64)]
        elif lanes:
            values = np.stack([self.ids[kind][values[:, i].astype(np.int64)] for i, kind in enumerate(lanes)], axis=1)
        return counts, values

    def told(self, archetype: Archetype, name: str, row: int) -> str:
        """A value for people, ids as texts."""
        value, lanes = archetype.column(name)[row].as_py(), of_field(archetype.field(name)).ids
        if lanes:
            texts = self.paths if lanes[0] == PATH else self.tokens
            value = [texts[i] if isinstance(i, int) else i for i in value] if isinstance(value, list) else texts[value]
        return str(value)[:80]


def _canonical(stage: Stage) -> list[str]:
    """Path texts by id, prototypes numbered by the first instance that names them."""
    texts: list[str] = stage.paths.path_strings(np.arange(stage.paths.path_count)).to_pylist()
    pairs: list[tuple[str, str]] = []
    for a in stage.archetypes:
        if "_protoPath" in a:
            prototypes = a.values("_protoPath")
            flat = prototypes.values if isinstance(prototypes, col.Ragged) else prototypes
            pairs += zip((texts[i] for i in a.path_ids.tolist()), (texts[i] for i in flat.tolist()))
    names: dict[str, str] = {}
    waiting = sorted(p for p in pairs if not p[0].startswith(_PROTOTYPE))
    while waiting:
        prototype = waiting.pop(0)[1]
        if prototype not in names:
            names[prototype] = f"{_PROTOTYPE}#{len(names) + 1}"
            waiting += sorted(p for p in pairs if p[0] == prototype or p[0].startswith(prototype + "/"))
    for i, text in enumerate(texts) if names else ():
        if text.startswith(_PROTOTYPE):
            head = "/" + text.split("/")[1]
            texts[i] = names.get(head, head) + text[len(head) :]
    return texts


def _walk(left: _Side, right: _Side, without: frozenset[str]) -> Iterator[Difference]:
    for kind in ("token", PATH):
        numbers: dict[str, int] = {}
        left.share(kind, numbers)
        right.share(kind, numbers)
    mine, theirs = left.ids[PATH][left.rows], right.ids[PATH][right.rows]
    _, at, to = np.intersect1d(mine, theirs, return_indices=True)
    for side, found, word in ((left, at, "only in the first stage"), (right, to, "only in the second stage")):
        lone = np.setdiff1d(np.arange(side.rows.size), found)
        for path in sorted(side.text(int(i)) for i in lone):
            yield Difference("row", path, "", 1, word)
    pairs = left.archetype[at] * max(len(right.stage.archetypes), 1) + right.archetype[to]
    for pair in distinct(pairs).tolist():
        here = np.flatnonzero(pairs == pair)
        yield from _rows(left, right, at[here], to[here], without)


def _rows(left: _Side, right: _Side, at: npt.NDArray[np.int64], to: npt.NDArray[np.int64], without: frozenset[str]) -> Iterator[Difference]:
    """Differences of rows that share one archetype on each side."""
    a, b = left.stage.archetypes[left.archetype[at[0]]], right.stage.archetypes[right.archetype[to[0]]]
    path, n = left.text(int(at[0])), at.size
    if a.type_name != b.type_name:
        yield Difference("type", path, "", n, f"{a.type_name or 'no type'} against {b.type_name or 'no type'}")
    if sorted(a.schemas) != sorted(b.schemas):
        yield Difference("schemas", path, "", n, f"{', '.join(a.schemas) or 'none'} against {', '.join(b.schemas) or 'none'}")
    for name in sorted({*a.names, *b.names} - without):
        if name not in a or name not in b:
            yield Difference("column", path, name, n, f"only in the {'first' if name in a else 'second'} stage")
            continue
        one, other = of_field(a.field(name)), of_field(b.field(name))
        if one != other:
            yield Difference("layout", path, name, n, f"{one} against {other}")
            continue
        bad = _unequal(left.column(a, name, left.row[at]), right.column(b, name, right.row[to]))
        if bad.size:
            first = int(bad[0])
            values = [s.told(x, name, int(r[first])) for s, x, r in ((left, a, left.row[at]), (right, b, right.row[to]))]
            yield Difference("value", left.text(int(at[first])), name, bad.size, " against ".join(values))


def _unequal(left: tuple[Any, npt.NDArray[Any]], right: tuple[Any, npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """Rows whose bits differ."""
    (counts, one), (others, other) = left, right
    if counts is None:
        return np.flatnonzero(_bits(one, other))
    bad = counts != others
    if not bad.all():
        keep = [np.repeat(~bad, c) for c in (counts, others)]
        row = np.repeat(np.arange(bad.size), np.where(bad, 0, counts))
        bad[row[_bits(one[keep[0]], other[keep[1]])]] = True
    return np.flatnonzero(bad)


def _bits(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if not one.size:
        return np.zeros(len(one), bool)
    a, b = (np.ascontiguousarray(x).view(np.uint8).reshape(len(x), -1) for x in (one, other))
    different: npt.NDArray[np.bool_] = (a != b).any(axis=1)
    return different


def table(found: Iterable[Difference]) -> pa.Table:
    """Differences as a table with the columns kind, path, column, rows, message."""
    rows = list(found)
    kinds = {"kind": pa.string(), "path": pa.string(), "column": pa.string(), "rows": pa.int64(), "message": pa.string()}
    return pa.table({n: pa.array([getattr(d, n) for d in rows], t) for n, t in kinds.items()})
