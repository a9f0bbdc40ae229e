"""Composition of single prims: which opinions a prim has, strongest first (local, then references, then payloads; direct arcs before ancestral).

A `Node` is one source of opinions at a prim: the prim rows of a layer stack at one path, and the nodes that references and payloads brought in below
it. Only these arcs are proved here; inherits, specializes, variant selections, relocates and time offsets raise `Unprovable`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from producer.crate.decode import Arc, ListOp
from producer.crate.errors import Unprovable
from producer.crate.library import LayerStack, Library
from producer.crate.listops import compose

REFERENCE, PAYLOAD = 1, 2
_FORBIDDEN = ("inheritPaths", "specializes", "variantSelection")


NOWHERE = -1


class Rule(NamedTuple):
    """How a node's paths become stage paths: `prefix` is the ancestor at `depth` of the prim that has the node ("/" at depth 0: the identity).

    A rule with depth `NOWHERE` says that these paths have no place in the stage.
    """

    prefix: str
    depth: int


IDENTITY = (Rule("/", 0),)


class Node(NamedTuple):
    """One source of opinions at a prim. `path` in the layer stack's namespace; `rows` global, strongest first; `kids` strongest first."""

    stack: LayerStack
    path: str
    rows: tuple[int, ...]
    kids: tuple[Node, ...]
    kind: int
    rules: tuple[Rule, ...]
    internal: bool = False
    moving: bool = False  # stands for many rows of the same shape (see `namespace`)

    def walk(self) -> Iterator[Node]:
        """This node and all below, strongest first."""
        yield self
        for kid in self.kids:
            yield from kid.walk()


class _Target(NamedTuple):
    """What an arc points at, comparable as list-ops want it: layer number (-1: the same layer stack), prim path ("" the default prim)."""

    layer: int
    path: str
    time: tuple[float, float]


class Composer:
    """Computes nodes and caches those that arcs point at."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._cache: dict[tuple[LayerStack, str], Node] = {}
        self._open: set[tuple[LayerStack, str]] = set()
        self._targets: dict[tuple[int, int], ListOp] = {}

    def root(self, number: int) -> Node:
        """The pseudo-root of the layer stack of layer `number`."""
        stack = self.library.stack(number)
        return Node(stack, "/", tuple(self.library.base[i] for i in stack.layers), (), 0, IDENTITY)

    def child(self, node: Node, name: str, depth: int) -> Node | None:
        """The child `name` of the prim that has `node`, at `depth` (children of the pseudo-root: 1); None when nothing describes it."""
        bare = self._step(node, name)
        return None if bare is None else self._with_arcs(bare, depth, ())

    def is_instance(self, node: Node, depth: int) -> bool:
        """Whether the prim at `depth` is a native instance: `instanceable` is true and an arc begins at it."""
        for k in node.walk():
            for row in k.rows:
                _, layer, local = self.library.owner(row)
                rep = layer.rep("instanceable", local)
                if rep is not None:
                    direct = any(n.rules[0].depth == depth for kid in node.kids for n in kid.walk())
                    return direct and bool(layer.decoder.scalar(rep))
        return False

    def _step(self, node: Node, name: str) -> Node | None:
        find = self.library.child_row
        rows = tuple(r for r in (find(row, name) for row in node.rows) if r >= 0)
        kids = tuple(k for k in (self._step(kid, name) for kid in node.kids) if k is not None)
        if not rows and not kids:
            return None
        return node._replace(path=f"{node.path if node.path != '/' else ''}/{name}", rows=rows, kids=kids)

    def _with_arcs(self, node: Node, depth: int, above: tuple[Node, ...]) -> Node:
        """`node` with the arcs that its own rows author added, and those of its kids; `above` are the nodes that brought it in."""
        chain = (*above, node)
        kids = tuple(self._with_arcs(k, depth, chain) for k in node.kids)
        self._check(node)
        references = self._arcs(chain, "references", REFERENCE, depth)
        payloads = self._arcs(chain, "payload", PAYLOAD, depth)
        old_references = tuple(k for k in kids if k.kind == REFERENCE)
        old_payloads = tuple(k for k in kids if k.kind == PAYLOAD)
        return node._replace(kids=references + old_references + payloads + old_payloads)

    def _check(self, node: Node) -> None:
        for row in node.rows:
            _, layer, local = self.library.owner(row)
            for slot in _FORBIDDEN:
                if layer.rep(slot, local) is not None:
                    raise Unprovable(f"{layer.path_string(int(layer.path[local]))} in {layer.identifier} authors {slot}")

    def _arcs(self, chain: tuple[Node, ...], slot: str, kind: int, depth: int) -> tuple[Node, ...]:
        node = chain[-1]
        ops = []
        for row in node.rows:
            number, layer, local = self.library.owner(row)
            rep = layer.rep(slot, local)
            if rep is not None:
                ops.append(self._resolved(number, rep, slot))
        return tuple(self._graft(chain, t, kind, depth) for t in compose(ops)) if ops else ()

    def _resolved(self, number: int, rep: int, slot: str) -> ListOp:
        """A list-op whose items are `_Target`s."""
        got = self._targets.get((number, rep))
        if got is None:
            layer = self.library.layers[number]
            raw = layer.decoder.list_op(rep)

            def target(arc: Arc) -> _Target:
                at = self.library.arc_layer_number(arc.asset, layer.identifier) if arc.asset else -1
                return _Target(at, layer.path_string(arc.prim) if arc.prim >= 0 else "", (arc.offset, arc.scale))

            if any(not isinstance(i, Arc) for op in raw if op for i in op):
                raise Unprovable(f"{slot} in {layer.identifier} are no arcs")
            explicit = None if raw.explicit is None else tuple(target(i) for i in raw.explicit)
            got = ListOp(explicit, *(tuple(target(i) for i in items) for items in raw[1:]))
            self._targets[number, rep] = got
        return got

    def _graft(self, chain: tuple[Node, ...], target: _Target, kind: int, depth: int) -> Node:
        node = chain[-1]
        if target.time != (0.0, 1.0):
            raise Unprovable(f"an arc at {node.path} has a time offset")
        internal = target.layer < 0
        stack = node.stack if internal else self.library.stack(target.layer)
        path = target.path or self._default_prim(stack)
        for outer in chain:
            if outer.stack == stack and (_is_within(outer.path, path) or _is_within(path, outer.path)):
                raise Unprovable(f"an arc at {node.path} leads back to {path}")
        found = self._at(stack, path)
        return _placed(found._replace(kind=kind, internal=internal), node.rules, depth)

    def _default_prim(self, stack: LayerStack) -> str:
        layer = self.library.layers[stack.layers[0]]
        name = layer.text("defaultPrim", 0)
        if not name:
            raise Unprovable(f"{layer.identifier} is referenced without a prim path and has no default prim")
        return name if name.startswith("/") else f"/{name}"

    def _at(self, stack: LayerStack, path: str) -> Node:
        """The node of a prim path in a layer stack, with everything that its ancestors bring in."""
        key = (stack, path)
        got = self._cache.get(key)
        if got is None:
            if key in self._open:
                raise Unprovable(f"arcs lead from {path} back to itself")
            self._open.add(key)
            try:
                if path == "/":
                    got = Node(stack, "/", tuple(self.library.base[i] for i in stack.layers), (), 0, IDENTITY)
                else:
                    above, _, name = path.rpartition("/")
                    parent = self._at(stack, above or "/")
                    if above and self.is_instance(parent, above.count("/")):
                        raise Unprovable(f"an arc points at {path}, which lies below an instance")
                    found = self.child(parent, name, path.count("/"))
                    if found is None or not any(n.rows for n in found.walk()):
                        raise Unprovable(f"an arc points at {path}, which is not there")
                    got = found
            finally:
                self._open.discard(key)
            self._cache[key] = got
        return got


def _is_within(path: str, root: str) -> bool:
    return root in ("/", path) or path.startswith(root + "/")


def _placed(node: Node, outer: tuple[Rule, ...], depth: int) -> Node:
    """`node` brought in at `depth` under a node with the rules `outer`, which internal arcs fall back on."""
    rules = (Rule(node.path, depth), *(outer if node.internal else ()))
    return node._replace(rules=rules, kids=tuple(_placed(k, rules, depth) for k in node.kids))
