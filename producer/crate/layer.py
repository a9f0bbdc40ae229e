"""One layer as rows: its prims depth-first with their fields, and their properties on demand."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ovsim.errors import CrateError
from producer.crate import fields as fd
from producer.crate import reps as rp
from producer.crate.buffer import Buffer
from producer.crate.decode import Decoder, ListOp
from producer.crate.errors import Unprovable
from producer.crate.integers import I32
from producer.crate.jit import serial
from producer.crate.tables import ATTRIBUTE, PRIM_SPEC, RELATIONSHIP, ROOT_SPEC, Tables, read_tables
from producer.crate.tree import PRIM, PROPERTY, ROOT

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
_TOO_DEEP = 1000  # levels of prims; deeper is left to the composed route


class Properties(NamedTuple):
    """Property specs of chosen prims, shapes (m,).

    `row`: prim row of the layer. `name`: token index. `relationship`: 1 or 0. `value`: field index of the default value or the target list, -1 none.
    `samples`: 1 when time samples are authored. `path`: path index of the property.
    """

    row: I32
    name: I32
    relationship: U8
    value: I32
    samples: U8
    type_name: I32


@dataclass(frozen=True)
class Layer:
    """A decoded layer.

    Prim rows stand depth-first, row 0 is the pseudo-root: `path` (path index), `parent` (row, -1 for the root), `name` (token index), `depth`, `end`
    (first row behind the subtree), `slot` (field index by `fields.PRIM_SLOTS` and row, -1 none), shapes (n,) and (slots, n). `row_of` gives the row
    of a path index, -1 when no prim is described there. `children` lists child rows, those of row r at `first[r]:first[r + 1]`.
    """

    identifier: str
    tables: Tables
    decoder: Decoder
    path: I32
    parent: I32
    name: I32
    depth: I32
    end: I32
    slot: I32
    row_of: I32
    children: I32
    first: I64
    cache: dict[int, Any] = field(default_factory=dict)
    kids: dict[int, dict[str, int]] = field(default_factory=dict)

    def rep(self, slot: str, row: int) -> int | None:
        """Value rep of a prim's field, None when it is not authored."""
        at = int(self.slot[fd.SLOT[slot], row])
        return int(self.tables.field_rep[at]) if at >= 0 else None

    def list_op(self, slot: str, row: int) -> ListOp | None:
        """List-op of a prim's field, None when it is not authored."""
        rep = self.rep(slot, row)
        if rep is None:
            return None
        got = self.cache.get(rep)
        if got is None:
            got = self.cache[rep] = self.decoder.list_op(rep)
        return got

    def text(self, slot: str, row: int) -> str | None:
        """Text of a prim's token or string field, None when it is not authored."""
        rep = self.rep(slot, row)
        return None if rep is None else self.decoder.text(rep)

    def children_of(self, row: int) -> dict[str, int]:
        """Child rows of a row by name, in the order of the file."""
        got = self.kids.get(row)
        if got is None:
            rows = self.children[self.first[row] : self.first[row + 1]].tolist()
            tokens = self.tables.tokens
            got = self.kids[row] = {tokens[self.name[r]]: r for r in rows}
        return got

    def path_string(self, path: int) -> str:
        """Path string of a path index."""
        tree, parts = self.tables.paths, []
        while path >= 0 and tree.kind[path] != ROOT:
            name = self.tables.tokens[tree.name[path]]
            parts.append(f".{name}" if tree.kind[path] == PROPERTY else f"/{name}")
            path = int(tree.parent[path])
        return "".join(reversed(parts)) or "/"


def read_layer(source: str | os.PathLike[str] | bytes, identifier: str = "") -> Layer:
    """A layer from a .usdc file or its bytes. CrateError when broken, `Unprovable` for what composition would have to interpret."""
    buffer = Buffer(source) if isinstance(source, bytes) else Buffer.read(source)
    return build(read_tables(buffer), identifier or (os.fspath(source) if not isinstance(source, bytes) else ""))


def build(tables: Tables, identifier: str = "") -> Layer:
    """Prim rows of decoded tables."""
    tree = tables.paths
    spec_of = np.full(tree.parent.size, -1, np.int32)
    spec_of[tables.spec_path] = np.arange(tables.spec_path.size, dtype=np.int32)
    order = tree.order[(tree.kind[tree.order] == PRIM) | (tree.kind[tree.order] == ROOT)]
    spec = spec_of[order]
    order, spec = order[spec >= 0], spec[spec >= 0]
    if order.size == 0 or tree.kind[order[0]] != ROOT:
        raise CrateError("the file describes no pseudo-root; the file is corrupt")
    wanted = np.where(np.arange(order.size) == 0, ROOT_SPEC, PRIM_SPEC)
    if not np.array_equal(tables.spec_type[spec], wanted):
        raise CrateError("a prim's spec is of another type; the file is corrupt")
    row_of = np.full(tree.parent.size, -1, np.int32)
    row_of[order] = np.arange(order.size, dtype=np.int32)
    parent = np.where(np.arange(order.size) == 0, -1, row_of[tree.parent[order]]).astype(np.int32)
    if (parent[1:] < 0).any():
        raise Unprovable("a prim is described whose parent is not")
    depth, end = np.zeros(order.size, np.int32), np.zeros(order.size, np.int32)
    _extents(parent, depth, end)
    if int(depth.max()) > _TOO_DEEP:
        raise Unprovable(f"prims nest {int(depth.max())} levels deep")
    by_token = fd.slots(tables.tokens, fd.SLOT, fd.PRIM_IGNORED, len(tables.tokens))
    slot = np.full((len(fd.PRIM_SLOTS), order.size), -1, np.int32)
    unknown = int(_prim_fields(tables.spec_fields[spec], tables.field_sets, tables.field_name, by_token, slot))
    if unknown >= 0:
        raise Unprovable(f"the prim field {tables.tokens[unknown]!r} is not known to it")
    children = np.argsort(parent[1:], kind="stable").astype(np.int32) + 1
    first = np.zeros(order.size + 1, np.int64)
    np.cumsum(np.bincount(parent[1:], minlength=order.size), out=first[1:])
    return Layer(identifier, tables, Decoder(tables), order, parent, tree.name[order], depth, end, slot, row_of, children, first)


@serial
def _extents(parent: I32, depth: I32, end: I32) -> None:
    n = parent.size
    for r in range(n):
        end[r] = r + 1
        if parent[r] >= 0:
            depth[r] = depth[parent[r]] + 1
    for k in range(n - 1):
        r = n - 1 - k
        p = parent[r]
        if end[r] > end[p]:
            end[p] = end[r]


@serial
def _prim_fields(start: I32, sets: I32, name: I32, by_token: I32, slot: I32) -> int:
    """Fill `slot` (slots, n); returns a token that is no known prim field, -1 when there is none."""
    for r in range(start.size):
        at = start[r]
        while sets[at] >= 0:
            f = sets[at]
            s = by_token[name[f]]
            if s == -1:
                return name[f]
            if s >= 0:
                slot[s, r] = f
            at += 1
    return -1


@serial
def _properties(
    spec_path: I32,
    spec_fields: I32,
    spec_type: I32,
    sets: I32,
    field_name: I32,
    by_token: I32,
    parent: I32,
    path_name: I32,
    kind: U8,
    row_of: I32,
    chosen: U8,
    keep: U8,
    weight: I64,
    total: I64,
    out: I32,
    samples: U8,
) -> tuple[int, int]:
    """Fill `out` (5, m): row, name, relationship, value, type name; returns (count, unknown token or -1). `total` sums the weights of names by row."""
    n = 0
    for s in range(spec_path.size):
        t = spec_type[s]
        if t != 1 and t != 8:
            continue
        p = spec_path[s]
        if kind[p] != 3:
            continue
        r = row_of[parent[p]]
        if r < 0:
            continue
        total[r] += weight[path_name[p]]
        if chosen[r] == 0 or keep[path_name[p]] == 0:
            continue
        value = -1
        type_name = -1
        sampled = 0
        at = spec_fields[s]
        while sets[at] >= 0:
            f = sets[at]
            slot = by_token[field_name[f]]
            if slot == -1:
                return n, field_name[f]
            if (slot == 0 and t == 1) or (slot == 1 and t == 8):
                value = f
            elif slot == 2:
                sampled = 1
            elif slot == 3:
                type_name = f
            at += 1
        out[0, n] = r
        out[1, n] = path_name[p]
        out[2, n] = t == 8
        out[3, n] = value
        out[4, n] = type_name
        samples[n] = sampled
        n += 1
    return n, -1


def properties(layer: Layer, chosen: U8, wanted: Callable[[str], bool]) -> Properties:
    """Property specs with a `wanted` name of the rows where `chosen` is 1. `Unprovable` for fields it does not know or children lists that differ from the specs."""
    tables = layer.tables
    by_token = fd.slots(tables.tokens, fd.PROPERTY_SLOT, fd.PROPERTY_IGNORED, len(tables.tokens))
    count = int(np.count_nonzero((tables.spec_type == ATTRIBUTE) | (tables.spec_type == RELATIONSHIP)))
    out, samples = np.empty((5, count), np.int32), np.empty(count, np.uint8)
    weight = _weights(len(tables.tokens))
    total = np.zeros(layer.path.size, np.int64)
    tree = tables.paths
    used = np.bincount(tree.name[tree.kind == PROPERTY], minlength=len(tables.tokens)) > 0
    keep = np.zeros(len(tables.tokens), np.uint8)
    for token in np.flatnonzero(used).tolist():
        keep[token] = wanted(tables.tokens[token])
    spec = (tables.spec_path, tables.spec_fields, tables.spec_type, tables.field_sets, tables.field_name)
    n, unknown = _properties(*spec, by_token, tree.parent, tree.name, tree.kind, layer.row_of, chosen, keep, weight, total, out, samples)
    if unknown >= 0:
        raise Unprovable(f"the property field {tables.tokens[unknown]!r} is not known to it")
    _check_listed(layer, "properties", total, weight)
    return Properties(out[0, :n], out[1, :n], out[2, :n].astype(np.uint8), out[3, :n], samples[:n], out[4, :n])


def check_children(layer: Layer) -> None:
    """`Unprovable` when a prim's list of children differs from the prims that are described below it."""
    weight = _weights(len(layer.tables.tokens))
    total = np.zeros(layer.path.size, np.int64)
    np.add.at(total, layer.parent[1:], weight[layer.name[1:]])
    _check_listed(layer, "primChildren", total, weight)


def _weights(count: int) -> I64:
    """Numbers that make the sum over a set of tokens its fingerprint; small enough that no sum overflows."""
    return np.random.default_rng(7).integers(1, 1 << 38, count, np.int64)


def _check_listed(layer: Layer, slot: str, total: I64, weight: I64) -> None:
    at = layer.slot[fd.SLOT[slot]]
    listed = np.zeros(layer.path.size, np.int64)
    rows = np.flatnonzero(at >= 0)
    if rows.size:
        tables = layer.tables
        unique, inverse = np.unique(tables.field_rep[at[rows]], return_inverse=True)
        sums = np.empty(unique.size, np.int64)
        for i, rep in enumerate(unique.tolist()):
            if (rep >> 48) & 0xFF != rp.TOKEN_VECTOR:
                raise CrateError(f"a list of {slot} is of another type", rep & ((1 << 48) - 1))
            start = rep & ((1 << 48) - 1)
            n = tables.buffer.u64(start, f"a list of {slot}")
            tables.buffer.charge(n * 4, start, f"a list of {slot}")
            index = np.frombuffer(tables.buffer.span(start + 8, n * 4, f"a list of {slot}").tobytes(), "<u4")
            if n and int(index.max()) >= weight.size:
                raise CrateError(f"a list of {slot} names a token beyond the {weight.size} of the file", start)
            sums[i] = weight[index].sum()
        listed[rows] = sums[inverse]
    wrong = np.flatnonzero(listed != total)
    if wrong.size:
        raise Unprovable(f"the {slot} list of {layer.path_string(int(layer.path[wrong[0]]))} differs from what the file describes")
