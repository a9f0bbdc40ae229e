"""Relationship targets: decoded in bulk, mapped from layer paths to stage paths, as path ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ovsim.errors import CrateError
from ovsim.jit import serial
from ovsim.stage import Ragged
from producer.crate import reps as rp
from producer.crate.buffer import U8
from producer.crate.copies import Copies
from producer.crate.entries import Entries
from producer.crate.errors import Unprovable
from producer.crate.index import IDENTITY
from producer.crate.library import Library
from producer.crate.listops import compose
from producer.crate.namespace import Namespace
from producer.crate.numbering import distinct, spans
from producer.crate.tree import PRIM, PROPERTY, ROOT

I64 = npt.NDArray[np.int64]
_SIMPLE = 8  # longer lists are decoded one at a time


@serial
def _count(data: U8, at: I64, out: I64) -> int:
    """Number of items of path list-ops with one short list, -1 where it is another form; returns the first bad row or -1."""
    for i in range(at.size):
        p = at[i]
        if p + 1 > data.size:
            return i
        bits = np.int64(data[p])
        out[i] = -1
        if bits == 1:
            out[i] = 0
        elif bits in (3, 32, 64, 4):
            if p + 9 > data.size:
                return i
            n = np.int64(0)
            for k in range(8):
                n |= np.int64(data[p + 1 + k]) << np.int64(8 * k)
            if n < 0 or n > (data.size - p - 9) // 4:
                return i
            if n <= 8:
                out[i] = n
    return -1


@serial
def _items(data: U8, at: I64, count: I64, out: I64) -> int:
    """Fill the items; returns a row whose items repeat, -1 when none does."""
    k = 0
    for i in range(at.size):
        first = k
        for j in range(count[i]):
            p = at[i] + 9 + 4 * j
            item = np.int64(data[p]) | (np.int64(data[p + 1]) << 8) | (np.int64(data[p + 2]) << 16) | (np.int64(data[p + 3]) << 24)
            for q in range(first, k):
                if out[q] == item:
                    return i
            out[k] = item
            k += 1
    return -1


class Targets:
    """Maps targets for one namespace whose prims have the path ids `path_of` (n,), 0 for prims that are not in the dictionary."""

    def __init__(self, library: Library, space: Namespace, path_of: I64, is_instance: npt.NDArray[np.bool_]) -> None:
        self.library = library
        self.space = space
        self.path_of = path_of
        self._is_instance = is_instance
        self._home: I64 | None = None
        self._texts: dict[int, I64] = {}
        self._sorted: tuple[I64, I64] | None = None
        self._depths: I64 | None = None
        self._copies = Copies(library, space, path_of)

    def column(self, entries: Entries, at: I64, prims: I64, spread: I64 | slice) -> tuple[Ragged, I64]:
        """Targets of entries `at` (u,) for composed prims (n,), prim i using entry `at[spread[i]]`.

        Returns path ids a prim, and the pairs (prim, composed index of its target's prim), shape (2, m), of the targets that the stage has.
        """
        counts, layer, items, rules = self._decode(entries, at)
        start = np.cumsum(counts) - counts
        rows = np.arange(at.size)[spread]
        n = counts[rows]
        flat = spans(start[rows], n)
        owner = np.repeat(prims, n)
        ids, found = self._map(owner, layer[flat], items[flat], rules[flat])
        pairs = np.stack([owner, found])
        if found.size and int(found.min()) < 0:
            pairs = pairs[:, found >= 0]
        if self._is_instance[pairs[1]].any():
            raise Unprovable("a relationship targets an instance root")  # inside a prototype USD spells or drops such a target by its own bookkeeping
        return Ragged(np.concatenate([np.zeros(1, np.int64), np.cumsum(n)]), ids.view(np.uint64)), pairs

    # -- decoding ------------------------------------------------------------------------------------------------------

    def _decode(self, entries: Entries, at: I64) -> tuple[I64, I64, I64, I64]:
        """Counts a row (u,), and layer number, path index, rules of every item."""
        library, space = self.library, self.space
        field, site = entries.field[at].astype(np.int64), entries.site[at].astype(np.int64)
        count = np.empty(at.size, np.int64)
        pieces: list[tuple[I64, I64]] = []  # (rows, items) of the simple ones
        for number, mine in library.by_layer(field):
            rows = np.arange(at.size)[mine]
            reps = library.rep[field[rows]]
            if (rp.types(reps) != rp.PATH_LIST).any():
                raise CrateError("a relationship's targets are no list of paths; the file is corrupt")
            buffer = library.layers[number].tables.buffer
            offset, own = rp.payloads(reps), np.empty(rows.size, np.int64)
            bad = int(_count(buffer.data, offset, own))
            if bad >= 0:
                raise CrateError("a relationship's targets leave the file", int(offset[bad]))
            simple = own >= 0
            items = np.empty(int(own[simple].sum()), np.int64)
            buffer.charge(items.size * 8, -1, "relationship targets")
            repeated = int(_items(buffer.data, offset[simple], own[simple], items))
            if repeated >= 0:
                raise Unprovable("a relationship lists a target twice")
            if items.size and int(items.max()) >= library.layers[number].tables.paths.parent.size:
                raise CrateError("a relationship names a path beyond those of the file")
            count[rows] = own
            pieces.append((np.repeat(rows[simple], own[simple]), items))
        layers = library.owners(space.site_row[site])
        row = np.concatenate([p[0] for p in pieces]) if pieces else np.empty(0, np.int64)
        item = np.concatenate([p[1] for p in pieces]) if pieces else np.empty(0, np.int64)
        layer, rules = layers[row], space.site_rules[site][row].astype(np.int64)
        odd = [k for k in range(at.size) if count[k] < 0 or int(at[k]) in entries.lists] if (count < 0).any() or entries.lists else []
        if odd:
            keep = ~np.isin(row, odd)
            extra = [(k, *t) for k in odd for t in self._composed(entries, int(at[k]))]
            for k in odd:
                count[k] = 0
            more = np.array(extra, np.int64).reshape(-1, 4)
            np.add.at(count, more[:, 0], 1)
            row, layer, item, rules = (np.concatenate([a[keep], b]) for a, b in zip((row, layer, item, rules), more.T))
        order = np.argsort(row, kind="stable")
        return count, layer[order], item[order], rules[order]

    def _composed(self, entries: Entries, entry: int) -> list[tuple[int, int, int]]:
        """Composed targets of one entry as (layer, path index, rules), several opinions or any form of list-op."""
        sources = entries.lists.get(entry) or [(int(entries.site[entry]), int(entries.field[entry]))]
        ops = []
        for _, field in sources:
            owner, rep = self.library.field_owner(field)
            ops.append(owner.decoder.list_op(rep))
            if ops[-1].explicit is not None:
                break  # what is weaker does not count
        sources = sources[: len(ops)]
        rules = {int(self.space.site_rules[site]) for site, _ in sources}
        layers = {self.library.owner(int(self.space.site_row[site]))[0] for site, _ in sources}
        if len(rules) > 1 or len(layers) > 1:
            raise Unprovable("several layers edit the targets of one relationship")
        return [(next(iter(layers)), int(p), next(iter(rules))) for p in compose(ops)]

    # -- mapping -------------------------------------------------------------------------------------------------------

    def _map(self, prim: I64, layer: I64, item: I64, rules: I64) -> tuple[I64, I64]:
        """Path ids and composed prims of targets `item` (path index in `layer`), authored on composed prims `prim` under `rules`."""
        ids, found = np.zeros(item.size, np.int64), np.full(item.size, -1, np.int64)
        identity = self.space.rules.index(IDENTITY) if IDENTITY in self.space.rules else -1
        for number in distinct(layer):
            here = layer == number
            local = np.flatnonzero(here & (rules == identity))
            if local.size:
                ids[local], found[local] = self._literal(number, item[local])
            rest = np.flatnonzero(here & (rules != identity))
            if rest.size:
                rest = rest[~self._copies.settle(number, prim, item, rest, ids, found)]
            for group in _groups(rules[rest], item[rest]):
                mine = rest[group]
                self._by_rules(number, int(item[mine[0]]), self.space.rules[int(rules[mine[0]])], prim, mine, ids, found)
        return ids, found

    def _literal(self, number: int, item: I64) -> tuple[I64, I64]:
        """Targets of the root layer stack: the paths as they are spelled."""
        tree = self.library.layers[number].tables.paths
        kind = tree.kind[item]
        if not np.isin(kind, (PRIM, PROPERTY)).all():
            raise Unprovable("a relationship targets something that is no prim or property")
        table = self._texts.get(number)
        if table is None:
            table = self._texts[number] = self._row_ids(number)
        missing = np.unique(item[table[item] == 0])
        if missing.size:
            self._add_paths(number, missing)
        prims = np.where(kind == PROPERTY, tree.parent[item], item)
        row = self.library.layers[number].row_of[prims]
        found = np.where(row >= 0, self._homes()[np.maximum(row, 0) + self.library.base[number]], -1)
        unknown = found < 0
        if unknown.any():
            found[unknown] = self._find_many(number, prims[unknown])
        return table[item], found

    def _homes(self) -> I64:
        """Composed prim by global row, for the rows that keep their layer's paths; -1 elsewhere."""
        if self._home is None:
            self._home = np.full(self.library.rows, -1, np.int64)
            space = self.space
            sites = np.flatnonzero(space.site_rules == (space.rules.index(IDENTITY)))
            prim_of_stack = np.full(space.first.size - 1, -1, np.int64)
            prim_of_stack[space.stack] = np.arange(len(space))
            self._home[space.site_row[sites]] = prim_of_stack[np.searchsorted(space.first, sites, "right") - 1]
        return self._home

    def _row_ids(self, number: int) -> I64:
        """Path ids by path index of a layer of the root stack, 0 where they are not known yet."""
        layer = self.library.layers[number]
        table = np.zeros(layer.tables.paths.parent.size, np.int64)
        home = self._homes()[self.library.base[number] : self.library.base[number] + layer.path.size]
        table[layer.path] = np.where(home >= 0, self.path_of[np.maximum(home, 0)], 0)
        table[layer.path[0]] = 1
        return table

    def _add_paths(self, number: int, items: I64) -> None:
        """Give path ids to path indices that no composed prim has, ancestors first."""
        table, tree = self._texts[number], self.library.layers[number].tables.paths
        chain = [items]
        while chain[-1].size:
            above = np.unique(tree.parent[chain[-1]].astype(np.int64))
            chain.append(above[table[above] == 0])
        paths, tokens = self.library.paths, self.library.tokens[number]
        for wave in reversed(chain[:-1]):
            level = wave[table[wave] == 0]
            if not level.size:
                continue
            if not np.isin(tree.kind[level], (PRIM, PROPERTY)).all():
                raise Unprovable("a relationship targets something that is no prim or property")
            names = tokens[tree.name[level]]
            props = tree.kind[level] == PROPERTY
            if props.any():
                names = names.copy()
                names[props] = [paths.token("." + paths.token_string(int(t))) for t in names[props]]
            table[level] = paths.children_many(table[tree.parent[level]], names).astype(np.int64)

    def _find_many(self, number: int, items: I64) -> I64:
        """Composed prims of paths of the root layer stack, -1 where the stage has none."""
        unique, inverse = np.unique(items, return_inverse=True)
        layer = self.library.layers[number]
        out = np.full(unique.size, -1, np.int64)
        for k, i in enumerate(unique.tolist()):
            names = _names(layer.path_string(i))
            got, used = self._walk(np.zeros(1, np.int64), names)
            self._check_proxies(got, used, len(names))
            if used[0] == len(names):
                out[k] = got[0]
        return out[inverse.reshape(-1)]

    def _by_rules(self, number: int, item: int, rules: Sequence[tuple[str, int]], prim: I64, at: I64, ids: I64, found: I64) -> None:
        """One target of one layer, authored on many prims under the same rules."""
        layer = self.library.layers[number]
        tree = layer.tables.paths
        if tree.kind[item] not in (ROOT, PRIM, PROPERTY):
            raise Unprovable("a relationship targets something that is no prim or property")
        text, _, prop = layer.path_string(item).partition(".")
        fitting = [r for r in rules if text == r[0] or text.startswith(r[0].rstrip("/") + "/")]
        if not fitting:
            raise Unprovable(f"a relationship targets {text}, which lies outside of what its arc brings in")
        prefix, depth = best = max(fitting, key=lambda r: len(r[0].rstrip("/")))
        if depth < 0:
            raise Unprovable(f"a relationship inside an instance targets {text}, which lies outside of it")
        anchor = self._ancestor(prim[at], depth)
        names = _names(text[len(prefix.rstrip("/")) :])
        got, left = self._walk(anchor, names)
        self._check_proxies(got, left, len(names))
        self._check_inverse(text, rules[: rules.index(best)], prim[at], got)
        target = np.where(left == len(names), got, -1)
        found[at] = target
        path = self.path_of[got]
        if (path == 0).any():
            raise Unprovable("a relationship inside a prototype that is not published")
        for level, name in enumerate(names):
            short = left <= level
            if short.any():
                token = self.library.paths.token(name)
                path[short] = self.library.paths.children_many(path[short], np.full(int(short.sum()), token)).astype(np.int64)
        if prop:
            token = self.library.paths.token("." + prop)
            path = self.library.paths.children_many(path, np.full(path.size, token)).astype(np.int64)
        ids[at] = path

    def _check_proxies(self, got: I64, used: I64, wanted: int) -> None:
        """What stands below an instance exists in its prototype only."""
        if (self._is_instance[got] & (used < wanted)).any():
            raise Unprovable("a relationship targets something below an instance")

    def _check_inverse(self, text: str, inner: Sequence[tuple[str, int]], prims: I64, got: I64) -> None:
        """USD refuses a target that falls through an internal arc onto the place where that arc's own content went."""
        for _, depth in inner:
            if depth > 0 and (self._ancestor(got, depth) == self._ancestor(prims, depth)).any():
                raise Unprovable(f"a relationship targets {text} through an internal arc that maps onto it")

    # -- the composed tree ---------------------------------------------------------------------------------------------

    def _ancestor(self, prims: I64, depth: int) -> I64:
        """Ancestors (or the prims themselves) at `depth`."""
        depths = self.depths()
        out = prims.copy()
        while True:
            deep = depths[out] > depth
            if not deep.any():
                return out
            out[deep] = self.space.parent[out[deep]]

    def depths(self) -> I64:
        """Depth of every composed prim, shape (n,); the pseudo-root has 0."""
        if self._depths is None:
            self._depths = np.zeros(len(self.space), np.int64)
            _depth(self.space.parent, self._depths)
        return self._depths

    def _walk(self, start: I64, names: Sequence[str]) -> tuple[I64, I64]:
        """Down from composed prims along names: the deepest prims that exist, and how many names were used."""
        keys, order = self._children()
        here, used = start.copy(), np.zeros(start.size, np.int64)
        going = np.ones(start.size, bool)
        for name in names:
            token = self.library.paths.find_token(name)
            key = here << np.int64(32) | token
            at = np.minimum(np.searchsorted(keys, key), max(keys.size - 1, 0))
            hit = going & (keys[at] == key) & (token > 0) if keys.size else np.zeros(start.size, bool)
            here[hit] = order[at[hit]]
            used[hit] += 1
            going &= hit
        return here, used

    def _children(self) -> tuple[I64, I64]:
        if self._sorted is None:
            keys = self.space.parent[1:] << np.int64(32) | self.space.name[1:]
            order = np.argsort(keys, kind="stable")
            self._sorted = keys[order], order + 1
        return self._sorted


@serial
def _depth(parent: I64, out: I64) -> None:
    for i in range(1, parent.size):
        out[i] = out[parent[i]] + 1


def _names(text: str) -> list[str]:
    return [n for n in text.split("/") if n]


def _groups(*keys: I64) -> list[I64]:
    """Positions with equal keys, grouped."""
    if not keys[0].size:
        return []
    order = np.lexsort(keys)
    new = np.zeros(order.size, bool)
    for k in keys:
        new[1:] |= k[order[1:]] != k[order[:-1]]
    return list(np.split(order, np.flatnonzero(new)))
