"""One layer as rows: its prims depth-first with their fields, and their properties on demand."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ovsim.errors import CrateError
from ovsim.jit import serial
from producer.crate import fields as fd
from producer.crate import reps as rp
from producer.crate.buffer import Buffer
from producer.crate.decode import Decoder, ListOp
from producer.crate.errors import Unprovable
from producer.crate.integers import I32
from producer.crate.tables import ATTRIBUTE, PRIM_SPEC, RELATIONSHIP, ROOT_SPEC, Tables, read_tables
from producer.crate.tree import PRIM, PROPERTY, ROOT

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
_TOO_DEEP = 1000  # levels of prims; deeper is left to the composed route
SIDE_BY_SIDE = 1 << 14  # prims from which a second thread pays


class Properties(NamedTuple):
    """Property specs of chosen prim rows, in the order of the rows; `sizes` by row, the rest by spec, shapes (m,).

    `name`, `type_name`: token ids of the library (type 0: none). `field`: global field index of the default value or target list, -1 none.
    `kind`: crate type of that value. `flags`: RELATIONSHIP, SAMPLED, ODD (an array edit).
    """

    sizes: I64
    name: I32
    type_name: I32
    field: I32
    kind: U8
    flags: U8


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
    cache: dict[Any, Any] = field(default_factory=dict)
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
    by_token = fd.slots(tables.token_index, fd.SLOT, fd.PRIM_IGNORED, len(tables.tokens))
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
        end[p] = max(end[p], end[r])


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
def _index(
    spec_path: I32, spec_type: I32, parent: I32, name: I32, kind: U8, row_of: I32, weight: I64, total: I64, used: U8, first: I64, out: I32
) -> None:
    """Property specs by prim row: `out[first[r]:first[r + 1]]`. Specs of unknown prims stay out.

    `total` sums the weights of the names by row; `used` marks the tokens that are names.
    """
    for step in range(2):
        for s in range(spec_path.size):
            if spec_type[s] != 1 and spec_type[s] != 8:
                continue
            p = spec_path[s]
            if kind[p] != 3:
                continue
            r = row_of[parent[p]]
            if r < 0:
                continue
            if step == 0:
                total[r] += weight[name[p]]
                used[name[p]] = 1
                first[r + 2] += 1
            else:
                out[first[r + 1]] = s
                first[r + 1] += 1
        if step == 0:
            for r in range(2, first.size):
                first[r] += first[r - 1]


@serial
def _gather(
    rows: I32,
    first: I64,
    specs: I32,
    spec_path: I32,
    spec_fields: I32,
    spec_type: I32,
    sets: I32,
    field_name: I32,
    field_rep: I64,
    by_token: I32,
    path_name: I32,
    keep: U8,
    token: I64,
    base: int,
    count: I64,
    out: I32,
    small: U8,
) -> tuple[int, int, int]:
    """Fill `count`, `out` (3, m): name, type name, field, and `small` (2, m): kind, flags.

    Returns (m, problem, token): 1 unknown field, 2 bad type name.
    """
    n = 0
    for i in range(rows.size):
        start = n
        for k in range(first[rows[i]], first[rows[i] + 1]):
            s = specs[k]
            name = path_name[spec_path[s]]
            if keep[name] == 0:
                continue
            relation = spec_type[s] == 8
            value, type_name, flags = -1, 0, 0
            at = spec_fields[s]
            while sets[at] >= 0:
                f = sets[at]
                slot = by_token[field_name[f]]
                if slot == -1:
                    return n, 1, field_name[f]
                if (slot == 0 and not relation) or (slot == 1 and relation):
                    value = f
                elif slot == 2:
                    flags |= 2
                elif slot == 3:
                    t = field_rep[f] & 0xFFFFFFFF
                    if (field_rep[f] >> 48) & 0xFF != 11 or t >= token.size:
                        return n, 2, 0
                    type_name = token[t]
                at += 1
            kind = 0
            if value >= 0:
                kind = (field_rep[value] >> 48) & 0xFF
                if (field_rep[value] >> 60) & 1:
                    flags |= 4
                value += base
            out[0, n] = token[name]
            out[1, n] = type_name
            out[2, n] = value
            small[0, n] = kind
            small[1, n] = flags | (1 if relation else 0)
            n += 1
        count[i] = n - start
    return n, 0, 0


RELATION, SAMPLED, ODD = 1, 2, 4  # flags of a property


def property_names(layer: Layer) -> list[int]:
    """Tokens that name properties of the layer's prims."""
    return _property_index(layer)[2]


def _property_index(layer: Layer) -> tuple[I64, I32, list[int]]:
    """Property specs by prim row, and the tokens that name them; made once.

    `Unprovable` when a prim's list of properties differs from what is described.
    """
    got = layer.cache.get("properties")
    if got is None:
        tables = layer.tables
        tree = tables.paths
        weight = _weights(len(tables.tokens))
        total, first = np.zeros(layer.path.size, np.int64), np.zeros(layer.path.size + 2, np.int64)
        out = np.empty(int(np.count_nonzero((tables.spec_type == ATTRIBUTE) | (tables.spec_type == RELATIONSHIP))), np.int32)
        used = np.zeros(len(tables.tokens), np.uint8)
        _index(tables.spec_path, tables.spec_type, tree.parent, tree.name, tree.kind, layer.row_of, weight, total, used, first, out)
        _check_listed(layer, "properties", total, weight)
        got = layer.cache["properties"] = (first[:-1], out, np.flatnonzero(used).tolist())
    return got


def properties(layer: Layer, rows: I64, wanted: Callable[[str], bool], token: I64, base: int) -> Properties:
    """Property specs with a `wanted` name of prim rows, names by the map `token`, fields counted from `base`.

    `Unprovable` for fields it does not know or lists of properties that differ from the specs.
    """
    tables = layer.tables
    first, specs, names = _property_index(layer)
    by_token = fd.slots(tables.token_index, fd.PROPERTY_SLOT, fd.PROPERTY_IGNORED, len(tables.tokens))
    tree = tables.paths
    keep = np.zeros(len(tables.tokens), np.uint8)
    for t in names:
        keep[t] = wanted(tables.tokens[t])
    spec = (tables.spec_path, tables.spec_fields, tables.spec_type, tables.field_sets, tables.field_name, tables.field_rep.view(np.int64))

    def gather(mine: I64) -> tuple[I64, I32, U8]:
        most = int((first[mine + 1] - first[mine]).sum())
        count, out, small = np.empty(mine.size, np.int64), np.empty((3, most), np.int32), np.empty((2, most), np.uint8)
        n, problem, culprit = _gather(mine.astype(np.int32), first, specs, *spec, by_token, tree.name, keep, token, base, count, out, small)
        if problem == 1:
            raise Unprovable(f"the property field {tables.tokens[culprit]!r} is not known to it")
        if problem == 2:
            raise CrateError("a property's type name is no token of its file")
        return count, out[:, :n], small[:, :n]

    if rows.size < SIDE_BY_SIDE:
        count, out, small = gather(rows)
    else:
        with ThreadPoolExecutor(1) as pool:
            rest = pool.submit(gather, rows[rows.size // 2 :])
            one, two = gather(rows[: rows.size // 2]), rest.result()
        count, out, small = np.concatenate([one[0], two[0]]), np.concatenate([one[1], two[1]], axis=1), np.concatenate([one[2], two[2]], axis=1)
    return Properties(count, out[0], out[1], out[2], small[0], small[1])


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
