"""The composed prims of a stage as arrays, built in blocks instead of prim by prim.

Three cases, each vectorised: a subtree that one layer alone describes and that has no arcs is taken over row by row (`_bulk`); siblings whose
subtrees have the same shape and the same arcs (thousands of environments that reference one robot) are composed once and repeated (`_alike`);
what remains is composed prim by prim. A prim's opinions are a *stack*: a list of sites (prim row, rules that map its paths). Repeated prims share
one stack.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from producer.crate import fields as fd
from producer.crate.errors import Unprovable
from producer.crate.index import NOWHERE, Composer, Node, Rule
from producer.crate.layer import Layer
from producer.crate.library import Library
from producer.crate.numbering import distinct, numbered, sorted_by

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Bool = npt.NDArray[np.bool_]

_MOST_PRIMS = 1 << 22  # composed prims that any stage may have
_MOST_REPEATED = 4096  # and for every described prim
_ARC_SLOTS = ("references", "payload", "inheritPaths", "specializes", "variantSelection", "instanceable")


class Block(NamedTuple):
    """Composed prims `base` to `base + n * m` that repeat the m global rows `rows` (ascending) n times; repetition i moves them by `shift[i]`."""

    base: int
    rows: I64
    repeats: int
    shift: I64 | None


class Prototype(NamedTuple):
    """A prototype: composed index of its root, and of its instances."""

    root: int
    instances: list[I64]


@dataclass
class Namespace:
    """Composed prims, parents before children, index 0 the pseudo-root.

    `parent` (composed index), `name` (token id), `stack`: shapes (n,). Sites of stack k: `site_row[first[k]:first[k + 1]]` (global rows, strongest
    first) with `site_rules` (index into `rules`). Prims of blocks have `block` >= 0. Prototype roots are children of the pseudo-root, name id 0.
    """

    parent: I64
    name: I64
    stack: I64
    block: I32
    first: I64
    site_row: I64
    site_rules: I32
    rules: list[tuple[Rule, ...]]
    blocks: list[Block]
    prototypes: list[Prototype]

    def __len__(self) -> int:
        return int(self.parent.size)


class _Item(NamedTuple):
    """Composed prims `ids` (n,) that share `node`; rows of moving nodes shift by `shift` (n,)."""

    node: Node
    ids: I64
    shift: I64 | None
    depth: int
    is_prototype: bool = False


@dataclass
class Namespacer:
    """Builds the namespace of the layer stack of layer `number`."""

    library: Library
    composer: Composer
    rules: dict[tuple[Rule, ...], int] = field(default_factory=dict)

    def build(self, number: int) -> Namespace:
        self._parents: list[I64] = []
        self._names: list[I64] = []
        self._stacks: list[I64] = []
        self._block_of: list[I32] = []
        self._counts: list[I64] = []  # sites by stack
        self._rows: list[I64] = []
        self._site_rules: list[I32] = []
        self._blocks: list[Block] = []
        self._prims = 0
        self._stack_count = 0
        self._arcs: dict[int, I64] = {}
        self._shapes: dict[int, tuple[U64, U64]] = {}
        self._prototypes: dict[tuple[object, ...], tuple[Prototype, object]] = {}
        root = self.composer.root(number)
        queue = [_Item(root, self._emit(np.array([-1]), np.array([0]), root, None), None, 0)]
        while queue:
            queue += self._expand(queue.pop())
        return Namespace(
            np.concatenate(self._parents),
            np.concatenate(self._names),
            np.concatenate(self._stacks),
            np.concatenate(self._block_of),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(self._counts))]),
            np.concatenate(self._rows),
            np.concatenate(self._site_rules),
            list(self.rules),
            self._blocks,
            [p for p, _ in self._prototypes.values()],
        )

    # -- emitting ------------------------------------------------------------------------------------------------------

    def _rule(self, rules: tuple[Rule, ...]) -> int:
        return self.rules.setdefault(rules, len(self.rules))

    def _add(self, parents: I64, names: I64, stacks: I64, block: int) -> I64:
        first, n = self._prims, parents.size
        self._prims += n
        if self._prims > max(_MOST_PRIMS, _MOST_REPEATED * self.library.rows):
            raise Unprovable(f"{self.library.rows} described prims compose to more than {self._prims - n}")
        self._parents.append(parents)
        self._names.append(names)
        self._stacks.append(stacks)
        self._block_of.append(np.full(n, block, np.int32))
        return np.arange(first, first + n, dtype=np.int64)

    def _new_stacks(self, counts: I64, rows: I64, rules: I32) -> int:
        first = self._stack_count
        self._stack_count += counts.size
        self._counts.append(counts)
        self._rows.append(rows)
        self._site_rules.append(rules)
        return first

    def _emit(self, parents: I64, names: I64, node: Node, shift: I64 | None) -> I64:
        """Composed prims (n,) of one node; a stack each when rows move, else one for all."""
        n = parents.size
        sites = [(row, self._rule(k.rules), k.moving) for k in node.walk() for row in k.rows]
        rows = np.array([s[0] for s in sites], np.int64)
        rules = np.array([s[1] for s in sites], np.int32)
        if shift is None or not any(s[2] for s in sites):
            stack = self._new_stacks(np.array([rows.size]), rows, rules)
            return self._add(parents, names, np.full(n, stack), -1)
        moves = np.array([s[2] for s in sites], np.int64)
        all_rows = (rows[None, :] + moves[None, :] * shift[:, None]).reshape(-1)
        stack = self._new_stacks(np.full(n, rows.size), all_rows, np.tile(rules, n))
        return self._add(parents, names, np.arange(stack, stack + n, dtype=np.int64), -1)

    # -- expanding -----------------------------------------------------------------------------------------------------

    def _expand(self, item: _Item) -> list[_Item]:
        if item.depth and not item.is_prototype and self.composer.is_instance(item.node, item.depth):
            return self._instances(item)
        nodes = list(item.node.walk())
        kids, owner = self._child_rows(nodes)
        if not kids.size:
            return []
        names = self._row_names(kids)
        _, inverse, counts = np.unique(names, return_inverse=True, return_counts=True)
        alone = counts[inverse.reshape(-1)] == 1
        plain = alone & (self._arc_count(kids) == 0)
        out: list[_Item] = []
        for k, node in enumerate(nodes):
            mine = plain & (owner == k)
            if mine.any():
                self._bulk(item, node, kids[mine])
        rest = np.flatnonzero(~plain)
        if item.ids.size == 1:
            for k in np.unique(owner[rest[alone[rest]]]).tolist():
                mine = rest[alone[rest] & (owner[rest] == k)]
                out += self._alike(item, nodes[k], kids[mine], names[mine])
            rest = rest[~alone[rest]]
        for name in dict.fromkeys(names[rest].tolist()):
            out += self._one(item, item.node, name, item.shift)
        return out

    def _child_rows(self, nodes: list[Node]) -> tuple[I64, I64]:
        """Global rows of all children that the nodes' rows describe, and which node each comes from."""
        rows: list[I64] = []
        owner: list[I64] = []
        for k, node in enumerate(nodes):
            for row in node.rows:
                number, layer, local = self.library.owner(row)
                kids = layer.children[layer.first[local] : layer.first[local + 1]]
                rows.append(kids.astype(np.int64) + self.library.base[number])
                owner.append(np.full(kids.size, k))
        return (np.concatenate(rows), np.concatenate(owner)) if rows else (np.empty(0, np.int64), np.empty(0, np.int64))

    def _one(self, item: _Item, node: Node, name: int, shift: I64 | None) -> list[_Item]:
        child = self.composer.child(node, self.library.paths.token_string(name), item.depth + 1)
        if child is None:
            return []
        ids = self._emit(item.ids, np.full(item.ids.size, name), child, shift)
        return [_Item(child, ids, shift, item.depth + 1)]

    def _alike(self, item: _Item, node: Node, rows: I64, names: I64) -> list[_Item]:
        """Children (global rows of one node, one parent) in groups of the same shape; each group is composed once."""
        out: list[_Item] = []
        for members in self._same_shape(rows):
            first = members[0]
            name = self.library.paths.token_string(int(names[first]))
            if len(members) == 1:
                out += self._one(item, item.node, int(names[first]), None)
                continue
            child = self.composer.child(_moving(item.node, node), name, item.depth + 1)
            assert child is not None
            shift = rows[members] - rows[first]
            ids = self._emit(np.repeat(item.ids, len(members)), names[members], child, shift)
            out.append(_Item(child, ids, shift, item.depth + 1))
        return out

    def _bulk(self, item: _Item, node: Node, kids: I64) -> None:
        """Subtrees without arcs below the rows `kids` of one node, for every prim of the item."""
        number, layer, _ = self.library.owner(int(kids[0]))
        base = self.library.base[number]
        if not (self.library.owners(kids) == number).all():
            for k in np.unique(self.library.owners(kids)).tolist():
                self._bulk(item, node, kids[self.library.owners(kids) == k])
            return
        rows = _ranges(kids - base, layer.end[kids - base].astype(np.int64))
        m, n = rows.size, item.ids.size
        first = self._prims
        inside = np.searchsorted(rows, layer.parent[rows])
        inside = np.where((inside < m) & (rows[np.minimum(inside, m - 1)] == layer.parent[rows]), inside, -1)
        starts = first + np.arange(n, dtype=np.int64)[:, None] * m
        parents = np.where(inside >= 0, starts + inside, item.ids[:, None]).reshape(-1)
        names = np.tile(self.library.tokens[number][layer.name[rows]], n)
        rows = rows + base
        shift = item.shift if node.moving else None
        rule = self._rule(node.rules)
        if shift is None:
            stack = self._new_stacks(np.ones(m, np.int64), rows, np.full(m, rule, np.int32))
            stacks = np.tile(np.arange(stack, stack + m, dtype=np.int64), n)
        else:
            stack = self._new_stacks(np.ones(n * m, np.int64), (rows + shift[:, None]).reshape(-1), np.full(n * m, rule, np.int32))
            stacks = np.arange(stack, stack + n * m, dtype=np.int64)
        self._add(parents, names, stacks, len(self._blocks))
        self._blocks.append(Block(first, rows, n, shift))

    # -- instances -----------------------------------------------------------------------------------------------------

    def _instances(self, item: _Item) -> list[_Item]:
        """The prims are instances: their content is composed once, from the arcs that begin at them, below a prototype root."""
        arcs = tuple(_direct(item.node, item.depth))
        if any(k.moving for arc in arcs for k in arc.walk()):
            raise Unprovable("an instance's arcs differ from sibling to sibling")
        key = tuple((k.kind, k.stack, k.path) for arc in arcs for k in arc.walk())
        content = _content(item.node, item.depth)
        maps = tuple(k.rules for k in content.walk() if k.rows)
        got = self._prototypes.get(key)
        if got is not None:
            if got[1] != maps:
                raise Unprovable("instances of one prototype map paths differently")
            got[0].instances.append(item.ids)
            return []
        root = self._emit(np.array([0]), np.array([0]), content._replace(rows=(), kids=()), None)
        self._prototypes[key] = Prototype(int(root[0]), [item.ids]), maps
        return [_Item(content, root, None, 1, True)]

    # -- shapes --------------------------------------------------------------------------------------------------------

    def _layer_arcs(self, number: int) -> I64:
        """Prefix sums over a layer's rows of those that author arcs (or instancing)."""
        got = self._arcs.get(number)
        if got is None:
            layer = self.library.layers[number]
            has = (layer.slot[[fd.SLOT[s] for s in _ARC_SLOTS]] >= 0).any(axis=0)
            got = self._arcs[number] = np.concatenate([np.zeros(1, np.int64), np.cumsum(has)])
        return got

    def _arc_count(self, rows: I64) -> I64:
        """Arcs in the subtrees of global rows, shape (n,)."""
        out = np.empty(rows.size, np.int64)
        owners = self.library.owners(rows)
        for number in distinct(owners):
            mine = owners == number
            layer, local = self.library.layers[number], rows[mine] - self.library.base[number]
            sums = self._layer_arcs(number)
            out[mine] = sums[layer.end[local]] - sums[local]
        return out

    def _row_names(self, rows: I64) -> I64:
        out = np.empty(rows.size, np.int64)
        owners = self.library.owners(rows)
        for number in distinct(owners):
            mine = owners == number
            out[mine] = self.library.tokens[number][self.library.layers[number].name[rows[mine] - self.library.base[number]]]
        return out

    def _same_shape(self, rows: I64) -> list[I64]:
        """Positions of `rows` (siblings of one layer) in groups whose subtrees have the same names, arcs and structure."""
        number, layer, _ = self.library.owner(int(rows[0]))
        if rows.size == 1 or not (self.library.owners(rows) == number).all():
            return [np.array([i]) for i in range(rows.size)]
        local = rows - self.library.base[number]
        sizes = layer.end[local] - local
        out: list[I64] = []
        for size in distinct(sizes):
            at = np.flatnonzero(sizes == size)
            group, count = numbered(_signatures(layer, local[at], size))
            order, first = sorted_by(group, count)
            out += [at[order[first[g] : first[g + 1]]] for g in range(count)]
        return out


def _shapes(layer: Layer) -> I64:
    """By row a number that is equal for rows with the same name, arcs and distance to their parent, shape (n,); made once a layer."""
    got = layer.cache.get("shapes")
    if got is None:
        n = layer.path.size
        slots = layer.slot[[fd.SLOT[s] for s in _ARC_SLOTS]]
        rows = np.flatnonzero((slots >= 0).any(axis=0))
        reps = layer.tables.field_rep.view(np.int64)
        arcs = np.zeros(n, np.int64)
        arcs[rows] = numbered(np.where(slots[:, rows] >= 0, reps[np.maximum(slots[:, rows], 0)], -1).T.copy())[0] + 1
        place = (np.arange(n) - layer.parent) << np.int64(32) | layer.name
        got = layer.cache["shapes"] = numbered(np.stack([place, arcs], axis=1))[0]
    return got


def _signatures(layer: Layer, local: I64, size: int) -> I64:
    """What decides the composition of the subtrees at `local` rows, each `size` rows long, but for the names of the roots: shape (n, size)."""
    out = _shapes(layer)[local[:, None] + np.arange(size)]
    roots = layer.slot[[fd.SLOT[s] for s in _ARC_SLOTS]][:, local]
    reps = layer.tables.field_rep.view(np.int64)
    out[:, 0] = numbered(np.where(roots >= 0, reps[np.maximum(roots, 0)], -1).T.copy())[0]
    return out


def _ranges(starts: I64, ends: I64) -> I64:
    """All integers of the half-open ranges, which ascend and do not overlap."""
    sizes = ends - starts
    if starts.size == 1:
        return np.arange(starts[0], ends[0], dtype=np.int64)
    jumps = np.ones(int(sizes.sum()), np.int64)
    jumps[0] = starts[0]
    jumps[np.cumsum(sizes)[:-1]] = starts[1:] - ends[:-1] + 1
    return np.cumsum(jumps)


def _moving(tree: Node, node: Node) -> Node:
    """`tree` with `node` (one of its nodes) marked as moving."""
    if tree is node:
        return tree._replace(moving=True)
    return tree._replace(kids=tuple(_moving(k, node) for k in tree.kids))


def _direct(node: Node, depth: int) -> list[Node]:
    """Nodes of arcs that begin at the prim at `depth`, strongest first; what hangs below them belongs to them."""
    out: list[Node] = []
    for kid in node.kids:
        out += [kid] if kid.rules[0].depth == depth else _direct(kid, depth)
    return out


def _content(node: Node, depth: int) -> Node:
    """`node` without the opinions that an instance at `depth` ignores: those of nodes that no arc of the prim itself brought in.

    They stay as nodes without rows, since later arcs must not lead back to them.
    """
    if node.kind and node.rules[0].depth == depth:
        return _replaced(node, depth)
    kids = tuple(_content(k, depth) for k in node.kids)
    return node._replace(rows=(), kids=tuple(k for k in kids if k.kids or k.rows), rules=_moved(node.rules, depth))


def _replaced(node: Node, depth: int) -> Node:
    """`node` with its rules set down below a prototype root."""
    return node._replace(rules=_moved(node.rules, depth), kids=tuple(_replaced(k, depth) for k in node.kids))


def _moved(rules: tuple[Rule, ...], depth: int) -> tuple[Rule, ...]:
    """Rules of an instance at `depth`, as they hold below its prototype (depth 1); what leads above the instance leads nowhere."""
    return tuple(Rule(r.prefix, 1 if r.depth == depth else r.depth and NOWHERE) for r in rules)
