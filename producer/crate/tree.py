"""The path tree: depth-first lists of (path index, element token, jump) turned into parent, name and kind by path index.

A jump tells how the next entries hang together: -2 a leaf without sibling, -1 the first child follows, 0 the next sibling follows, j > 0 the first
child follows and the next sibling stands j entries on. A negative element token marks a property.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ovsim.errors import CrateError
from ovsim.jit import serial
from producer.crate.buffer import Buffer
from producer.crate.integers import I32, read_integers
from producer.crate.layout import Section

U8 = npt.NDArray[np.uint8]

NO_PATH, ROOT, PRIM, PROPERTY, OTHER = range(5)
PROBLEMS = (
    "an entry is reached by no jump",
    "a path index is out of range",
    "a path index stands twice",
    "an element token is out of range",
    "a jump leads out of the table",
    "two jumps lead to one entry",
    "a property has children that are no target paths",
)


class PathTree(NamedTuple):
    """Paths by path index, shapes (n,).

    `parent`: path index, -1 for the root and unused indices. `name`: token index. `kind`: NO_PATH (unused), ROOT, PRIM, PROPERTY (of a prim), OTHER
    (variant selections, target paths and everything below either). `order`: path indices in depth-first order, parents first.
    """

    parent: I32
    name: I32
    kind: U8
    order: I32


@serial
def _decode(index: I32, element: I32, jump: I32, special: U8, above: I32, parent: I32, name: I32, kind: U8) -> tuple[int, int]:
    """Fill parent, name, kind; returns (problem, entry) or (-1, 0). `above`: scratch (n,), -2 where no jump has led yet."""
    n = index.size
    for i in range(n):
        me = np.int64(index[i])
        up = np.int64(above[i])
        if i == 0:
            up = -1
        elif up == -2:
            return 0, i
        if me < 0 or me >= parent.size:
            return 1, i
        if kind[me] != 0:
            return 2, i
        token = np.int64(element[i])
        is_property = token < 0
        if is_property:
            token = -token
        if token >= special.size:
            return 3, i
        parent[me] = up
        if i == 0:
            kind[me] = 1
        else:
            name[me] = token
            over = kind[up]
            if over > 3 or (over == 3 and not is_property) or (special[token] and not is_property):
                kind[me] = 4
            elif is_property:
                if over != 2:
                    return 6, i
                kind[me] = 3
            else:
                kind[me] = 2
        j = np.int64(jump[i])
        if j < -2:
            return 4, i
        if j >= -1:
            if i + 1 >= n or i + j >= n:
                return 4, i
            if above[i + 1] != -2:
                return 5, i
            above[i + 1] = up if j == 0 else me
            if j > 0:
                if above[i + j] != -2:
                    return 5, i
                above[i + j] = up
    return -1, 0


def read_tree(buffer: Buffer, section: Section, special: U8) -> PathTree:
    """The path tree of a file. `special`: by token, 1 where the text starts a variant selection or a target path.

    CrateError when the lists contradict each other, with the byte position of the section.
    """
    slots = buffer.u64(section.start, "number of paths")
    count = buffer.u64(section.start + 8, "number of path entries")
    lists = []
    at = section.start + 16
    for what in ("path indices", "path elements", "path jumps"):
        values, at = read_integers(buffer, at, section.end, count, what)
        lists.append(values)
    if slots > 2 * count + 16:
        raise CrateError(f"{slots} paths are claimed but {count} are described; the file is corrupt", section.start)
    buffer.charge(slots * 9 + count * 4, section.start, "the path table")
    tree = PathTree(np.full(slots, -1, np.int32), np.zeros(slots, np.int32), np.zeros(slots, np.uint8), lists[0])
    problem, entry = _decode(lists[0], lists[1], lists[2], special, np.full(count, -2, np.int32), tree.parent, tree.name, tree.kind)
    if problem >= 0:
        raise CrateError(f"path entry {entry}: {PROBLEMS[problem]}; the file is corrupt", section.start)
    return tree
