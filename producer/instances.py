"""Native instances (producer facts, rule 5): prototypes that carry physics are published once, and their instance roots point at them.

USD numbers prototypes in no fixed order; here they are numbered by the order in which their first instances come, outer ones first, so that the
same stage always gives the same paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

PREFIX = "/__Prototype_"
ROOT_API = "PrototypeRootAPI"
COLUMN = "_protoPath"


def prototype_of(path: str) -> str:
    """The prototype root of a prim or property path at or below a prototype, "" for other paths."""
    if not path.startswith(PREFIX):
        return ""
    return "/" + path[1:].partition(".")[0].partition("/")[0]


def published(instances: Mapping[str, Iterable[str]], with_members: Iterable[str]) -> list[str]:
    """Prototypes that get rows: those with a member row, and those that hold an instance of a published one.

    `instances`: prototype root to the paths of its instances. Sorted by the order described in the module's text.
    """
    out = set(with_members) & set(instances)
    while True:
        more = {prototype_of(i) for p in out for i in instances[p]} - out - {""}
        if not more:
            break
        out |= more
    order: list[str] = []
    queue = [""]
    while queue:
        inside = queue.pop(0)
        found = sorted((i, p) for p in out for i in instances[p] if prototype_of(i) == inside)
        for _, proto in found:
            if proto not in order:
                order.append(proto)
                queue.append(proto)
    return order + sorted(out - set(order))


class Renumbered:
    """Paths with the prototypes' final numbers.

    `order`: the published ones. The numbers of the others of `known` follow, so that what still names one of them meets no published one.
    """

    def __init__(self, order: Sequence[str], known: Iterable[str] = ()) -> None:
        self._names = {old: f"{PREFIX}{n}" for n, old in enumerate(order, 1)}
        self._hidden = {old: f"{PREFIX}{n}" for n, old in enumerate(sorted(set(known) - set(order)), len(order) + 1)}

    def __contains__(self, prototype: str) -> bool:
        return prototype in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def path(self, path: str) -> str:
        """The published spelling of a path."""
        old = prototype_of(path)
        return (self._names.get(old) or self._hidden.get(old, old)) + path[len(old) :] if old else path


class Visible:
    """Paths that mean something to a reader of the stage, whichever number USD gave a prototype.

    `numbers`: the published prototypes; `held`: prototype root to the paths of its instances. Prims of an unpublished prototype, whose number shows
    nowhere, are named by its first instance.
    """

    def __init__(self, numbers: Renumbered, held: Mapping[str, Sequence[str]]) -> None:
        self._numbers, self._held = numbers, held
        self._roots: dict[str, str] = {}

    def path(self, path: str) -> str:
        """A prim path with its prototype's published name, or as the first instance shows it; "" below a prototype that nothing instances."""
        old = prototype_of(path)
        if not old or old in self._numbers:
            return self._numbers.path(path)
        if old not in self._roots:
            self._roots[old] = min(filter(None, map(self.path, self._held.get(old, ()))), default="")
        root = self._roots[old]
        return root and root + path[len(old) :]
