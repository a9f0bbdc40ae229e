"""List-ops composed from the weakest opinion to the strongest (the list editing rules of Sdf)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from producer.crate.decode import ListOp


def compose(opinions: Sequence[ListOp]) -> list[Any]:
    """The items that remain when `opinions`, strongest first, are applied to an empty list, weakest first."""
    items: list[Any] = []
    for op in reversed(opinions):
        items = apply(op, items)
    return items


def apply(op: ListOp, items: Sequence[Any]) -> list[Any]:
    """`op` applied to a list without duplicates: delete, add, prepend, append, reorder; an explicit list replaces everything."""
    if op.explicit is not None:
        return list(dict.fromkeys(op.explicit))
    gone = set(op.deleted)
    out = [i for i in items if i not in gone]
    present = set(out)
    for item in op.added:
        if item not in present:
            present.add(item)
            out.append(item)
    out = _front(out, op.prepended)
    out = _back(out, op.appended)
    return reorder(out, op.ordered) if op.ordered else out


def _front(items: list[Any], new: Iterable[Any]) -> list[Any]:
    head = list(dict.fromkeys(new))
    lead = set(head)
    return head + [i for i in items if i not in lead] if head else items


def _back(items: list[Any], new: Iterable[Any]) -> list[Any]:
    tail = list(reversed(dict.fromkeys(reversed(list(new)))))
    last = set(tail)
    return [i for i in items if i not in last] + tail if tail else items


def reorder(items: Sequence[Any], order: Sequence[Any]) -> list[Any]:
    """`items` in the wished order: every ordered item takes along the unordered ones that follow it; what precedes all of them stays in front."""
    wanted = list(dict.fromkeys(order))
    leads = set(wanted)
    runs: dict[Any, list[Any]] = {}
    front: list[Any] = []
    here = front
    for item in items:
        if item in leads:
            here = runs.setdefault(item, [])
        here.append(item)
    return front + [i for lead in wanted for i in runs.get(lead, ())]
