"""Authored properties of opinion stacks: one entry a stack and property name, with its resolved opinion at the default time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from producer.crate import reps as rp
from producer.crate.errors import Unprovable
from producer.crate.layer import properties
from producer.crate.library import Library
from producer.crate.namespace import Namespace

I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]

DEFAULT, SAMPLES, EMPTY, BLOCKED, HIDDEN = range(5)  # as in `producer.provenance`
_ODD = (rp.ANIMATION_BLOCK, rp.VALUE)


class Entries(NamedTuple):
    """Sorted by stack. `name`, `type_name`: token ids. `field`: global field of the value or target list, -1 none. `site`: the opinion's site.

    Relationships that several sites give target lists have them in `lists`: entry to [(site, field), ...], strongest first.
    """

    stack: I64
    name: I64
    relationship: U8
    field: I64
    type_name: I64
    state: U8
    site: I64
    lists: dict[int, list[tuple[int, int]]]

    def __len__(self) -> int:
        return int(self.stack.size)

    def of_stack(self, stack: int) -> slice:
        """The entries of one stack."""
        return slice(int(np.searchsorted(self.stack, stack)), int(np.searchsorted(self.stack, stack, "right")))


class _Specs(NamedTuple):
    """Property specs of chosen rows, sorted by global row."""

    row: I64
    name: I64
    relationship: U8
    field: I64
    samples: U8
    type_name: I64


def read(library: Library, space: Namespace, stacks: npt.NDArray[np.bool_], wanted: Callable[[str], bool]) -> Entries:
    """Entries of the chosen stacks (k,), of the properties whose name is `wanted`."""
    site = np.flatnonzero(np.repeat(stacks, np.diff(space.first)))
    specs = _specs(library, space.site_row[site], wanted)
    low, high = np.searchsorted(specs.row, space.site_row[site]), np.searchsorted(specs.row, space.site_row[site], "right")
    count = high - low
    at = spans(low, count)
    if at.size == specs.row.size and np.array_equal(at, np.arange(at.size)):
        at = slice(None)
    specs = _Specs(*(a[at] for a in specs))
    site = np.repeat(site, count)
    stack = np.searchsorted(space.first, site, "right") - 1
    out = _plain(library, specs, site, stack)
    several = np.diff(space.first) > 1
    mixed = several[stack]
    if mixed.any():
        out = _merged(out, _resolve(library, specs, site, stack, np.flatnonzero(mixed)), ~mixed)
    return out


def spans(low: I64, count: I64) -> I64:
    """Concatenated ranges low[i] .. low[i] + count[i]."""
    total = int(count.sum())
    start = np.cumsum(count) - count
    return np.arange(total, dtype=np.int64) + np.repeat(low - start, count)


def _specs(library: Library, rows: I64, wanted: Callable[[str], bool]) -> _Specs:
    parts: list[_Specs] = []
    for number, layer in enumerate(library.layers):
        base = library.base[number]
        chosen = np.zeros(layer.path.size, np.uint8)
        mine = rows[(rows >= base) & (rows < base + layer.path.size)] - base
        if not mine.size:
            continue
        chosen[mine] = 1
        got = properties(layer, chosen, wanted)
        order = np.argsort(got.row, kind="stable") if (np.diff(got.row) < 0).any() else slice(None)
        token, field = library.tokens[number], library.field_base[number]
        types = np.where(got.type_name >= 0, layer.tables.field_rep[np.maximum(got.type_name, 0)] & np.uint64(0xFFFFFFFF), 0).astype(np.int64)
        if types.size and int(types.max()) >= token.size:
            raise Unprovable("a property's type name is no token of its file")
        parts.append(
            _Specs(
                (got.row[order] + base).astype(np.int64),
                token[got.name[order]],
                got.relationship[order],
                np.where(got.value[order] >= 0, got.value[order] + field, -1),
                got.samples[order],
                np.where(got.type_name[order] >= 0, token[types[order]], 0),
            )
        )
    if not parts:
        none = np.empty(0, np.int64)
        return _Specs(none, none, none.astype(np.uint8), none, none.astype(np.uint8), none)
    return parts[0] if len(parts) == 1 else _Specs(*(np.concatenate(c) for c in zip(*parts)))


def _is_blocked(library: Library, field: I64) -> npt.NDArray[np.bool_]:
    """Whether fields (or -1) hold a value block; `Unprovable` for values that only USD composes."""
    reps = np.where(field >= 0, library.rep[np.maximum(field, 0)], np.uint64(0))
    kind = rp.types(reps)
    if np.isin(kind, _ODD).any() or rp.flagged(reps, rp.ARRAY_EDIT)[kind != rp.BLOCK].any():
        raise Unprovable("an attribute's default is an array edit or an animation block")
    return kind == rp.BLOCK


def _plain(library: Library, specs: _Specs, site: I64, stack: I64) -> Entries:
    """Entries as if every site stood alone."""
    blocked = _is_blocked(library, specs.field)
    state = np.where(specs.field >= 0, DEFAULT, np.where(specs.samples != 0, SAMPLES, EMPTY)).astype(np.uint8)
    state[blocked] = np.where(specs.samples[blocked] != 0, HIDDEN, BLOCKED)
    return Entries(stack, specs.name, specs.relationship, specs.field, specs.type_name, state, site, {})


def _resolve(library: Library, specs: _Specs, site: I64, stack: I64, at: I64) -> Entries:
    """Entries of stacks with several sites: one a name, the strongest opinion with a value winning."""
    order = at[np.lexsort((site[at], specs.name[at], stack[at]))]
    new = np.ones(order.size, bool)
    new[1:] = (stack[order[1:]] != stack[order[:-1]]) | (specs.name[order[1:]] != specs.name[order[:-1]])
    group = np.cumsum(new) - 1
    n = int(group[-1]) + 1
    field, relationship = specs.field[order], specs.relationship[order]
    first = order[new]
    if (relationship != relationship[new][group]).any():
        raise Unprovable("a property is an attribute in one layer and a relationship in another")
    if (specs.type_name[order] != specs.type_name[first][group]).any():
        raise Unprovable("layers give an attribute different types")
    has = field >= 0
    position = np.arange(order.size)
    winner = np.full(n, -1, np.int64)
    groups_with, lead = np.unique(group[has], return_index=True)
    winner[groups_with] = position[has][lead]
    won = winner >= 0
    best = np.where(won, field[np.maximum(winner, 0)], -1)
    sampled = specs.samples[order] != 0
    any_samples = np.zeros(n, bool)
    any_samples[group[sampled]] = True
    before = np.zeros(n, bool)  # samples in an opinion at least as strong as the winning one
    strong = sampled & (position <= winner[group])
    before[group[strong]] = True
    state = np.where(won, DEFAULT, np.where(any_samples, SAMPLES, EMPTY)).astype(np.uint8)
    blocked = _is_blocked(library, best)
    state[blocked] = np.where(before[blocked], HIDDEN, BLOCKED)
    lists: dict[int, list[tuple[int, int]]] = {}
    is_relation = relationship[new] != 0
    counts = np.bincount(group[has], minlength=n)
    bounds = np.append(np.flatnonzero(new), order.size)
    for g in np.flatnonzero(is_relation & (counts > 1)).tolist():
        mine = range(int(bounds[g]), int(bounds[g + 1]))
        lists[g] = [(int(site[order[i]]), int(field[i])) for i in mine if has[i]]
    where = order[np.where(won, winner, np.flatnonzero(new))]
    return Entries(stack[first], specs.name[first], relationship[new], best, specs.type_name[first], state, site[where], lists)


def _merged(plain: Entries, mixed: Entries, keep: npt.NDArray[np.bool_]) -> Entries:
    """The plain entries that stay and the resolved ones, sorted by stack."""
    kept = [a[keep] for a in plain[:-1]]
    n = kept[0].size
    joined = [np.concatenate([a, b]) for a, b in zip(kept, mixed[:-1])]
    order = np.argsort(joined[0], kind="stable")
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return Entries(*(a[order] for a in joined), {int(place[n + g]): found for g, found in mixed.lists.items()})
