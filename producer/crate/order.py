"""The order of a stage traversal, for the few stages where it decides who is a target (producer facts, rule 3)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from producer.crate.errors import Unprovable
from producer.crate.library import Library
from producer.crate.namespace import Namespace

I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
_MOST = 50_000  # prims; beyond that USD's own traversal is quicker


def in_order(library: Library, space: Namespace, members: Bool, hops: I64) -> Bool:
    """The target rows: sources in traversal order hop to `hops` (2, m) in the order of their relationships.

    What has a row as an ancestor of something earlier is no target any more, and a member that got its row that way does not hop.
    """
    if len(space) > _MOST or len(space.prototypes) > 1:
        raise Unprovable("targets depend on the order of traversal")
    by_source: dict[int, list[int]] = {}
    for source, target in zip(*hops.tolist()):
        by_source.setdefault(source, []).append(target)
    above: set[int] = set()
    out = np.zeros(len(space), bool)
    for prim in _traversal(library, space):
        if not members[prim]:
            continue
        was_above = prim in above
        _add_ancestors(space, prim, above)
        if was_above:
            continue
        for target in by_source.get(prim, ()):
            if target not in above and not out[target]:
                out[target] = True
                _add_ancestors(space, target, above)
    return out


def _add_ancestors(space: Namespace, prim: int, above: set[int]) -> None:
    parent = int(space.parent[prim])
    while parent > 0 and parent not in above:
        above.add(parent)
        parent = int(space.parent[parent])


def _traversal(library: Library, space: Namespace) -> list[int]:
    """Composed prims depth-first in the order of their composed children; prototypes last."""
    children: dict[int, list[int]] = {}
    for prim, parent in enumerate(space.parent.tolist()):
        if parent >= 0:
            children.setdefault(parent, []).append(prim)
    out = []
    stack = [0]
    while stack:
        prim = stack.pop()
        out.append(prim)
        kids = children.get(prim, [])
        if len(kids) > 1:
            rank = {name: i for i, name in enumerate(_child_names(library, space, prim))}
            kids = sorted(kids, key=lambda k: rank.get(int(space.name[k]), len(rank)))
        stack += reversed(kids)
    return out


def _child_names(library: Library, space: Namespace, prim: int) -> list[int]:
    """Name tokens of the children: those of the weakest opinion first, what stronger ones add behind them."""
    stack = int(space.stack[prim])
    names: dict[int, None] = {}
    for row in reversed(space.site_row[space.first[stack] : space.first[stack + 1]].tolist()):
        _, layer, local = library.owner(row)
        if layer.rep("primOrder", local) is not None:
            raise Unprovable("targets depend on the order of traversal, and children are reordered")
        listed = layer.rep("primChildren", local)
        for text in layer.decoder.texts(listed) if listed is not None else ():
            names.setdefault(library.paths.find_token(text))
    return list(names)
