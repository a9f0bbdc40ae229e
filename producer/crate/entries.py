"""Authored properties of opinion stacks: one entry a stack and property name, with its resolved opinion at the default time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from producer.crate import reps as rp
from producer.crate.errors import Unprovable
from producer.crate.layer import ODD, RELATION, SAMPLED, Properties, properties
from producer.crate.library import Library
from producer.crate.namespace import Namespace
from producer.crate.numbering import distinct, spans

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
U8 = npt.NDArray[np.uint8]

DEFAULT, SAMPLES, EMPTY, BLOCKED, HIDDEN = range(5)  # as in `producer.provenance`


class Entries(NamedTuple):
    """Entries of stacks `stacks` (s,), ascending; those of stack i are `first[i]:first[i + 1]`.

    `name`, `type_name`: token ids. `field`: global field of the value or target list, -1 none. `kind`: crate type of the value. `site`: the opinion's
    site. Relationships whose targets several sites edit have those in `lists`: entry to [(site, field), ...], strongest first.
    """

    stacks: I64
    first: I64
    name: I32
    type_name: I32
    field: I32
    kind: U8
    relationship: U8
    state: U8
    site: I32
    lists: dict[int, list[tuple[int, int]]]


def read(library: Library, space: Namespace, stacks: I64, wanted: Callable[[str], bool]) -> Entries:
    """Entries of the stacks (s,), ascending, of the properties whose name is `wanted`."""
    sites = spans(space.first[stacks], np.diff(space.first)[stacks])
    specs = _specs(library, space.site_row[sites], wanted)
    if ((specs.flags & ODD != 0) & (specs.kind != rp.BLOCK)).any() or np.isin(
        specs.kind[specs.flags & RELATION == 0], (rp.ANIMATION_BLOCK, rp.VALUE)
    ).any():
        raise Unprovable("an attribute's default is an array edit or an animation block")
    width = np.diff(space.first)[stacks]
    site = np.repeat(sites.astype(np.int32), specs.sizes)
    if (width == 1).all():
        first = np.concatenate([np.zeros(1, np.int64), np.cumsum(specs.sizes)])
        return Entries(stacks, first, *_opinions(specs), site, {})
    return _resolve(specs, site, stacks, width)


def _specs(library: Library, rows: I64, wanted: Callable[[str], bool]) -> Properties:
    """Property specs of global rows, in their order."""
    owner = library.owners(rows)
    numbers = distinct(owner)
    parts = []
    for number in numbers:
        mine = rows[owner == number] - library.base[number] if len(numbers) > 1 else rows - library.base[number]
        parts.append(properties(library.layers[number], mine, wanted, library.tokens[number], int(library.field_base[number])))
    if len(parts) == 1:
        return parts[0]
    if not parts:
        none: Any = np.empty(0, np.int32)
        return Properties(np.empty(0, np.int64), none, none, none, none.astype(np.uint8), none.astype(np.uint8))
    place = np.argsort(np.concatenate([np.flatnonzero(owner == n) for n in numbers]), kind="stable")
    count = np.concatenate([p.sizes for p in parts])
    at = spans((np.cumsum(count) - count)[place], count[place])
    return Properties(count[place], *(np.concatenate(c)[at] for c in list(zip(*parts))[1:]))


def _opinions(specs: Properties) -> tuple[I32, I32, I32, U8, U8, U8]:
    """Name, type, field, kind, relationship, state of every spec taken by itself."""
    sampled = specs.flags & SAMPLED != 0
    state = np.where(specs.field >= 0, np.uint8(DEFAULT), np.where(sampled, np.uint8(SAMPLES), np.uint8(EMPTY)))
    blocked = np.flatnonzero((specs.kind == rp.BLOCK) & (specs.flags & RELATION == 0))
    state[blocked] = np.where(sampled[blocked], HIDDEN, BLOCKED)
    return specs.name, specs.type_name, specs.field, specs.kind, specs.flags & np.uint8(RELATION), state


def _resolve(specs: Properties, site: I32, stacks: I64, width: I64) -> Entries:
    """Entries where stacks have several sites: one a stack and name, the strongest opinion with a value winning."""
    by_site = np.repeat(np.arange(stacks.size), width)
    stack = np.repeat(by_site, specs.sizes)
    name, type_name, field, kind, relationship, state = _opinions(specs)
    # specs stand by stack and strength; only stacks with several sites can name a property twice
    several = (width > 1)[stack]
    at = np.flatnonzero(several)
    order = at[np.lexsort((site[at], name[at], stack[at]))]
    new = np.ones(order.size, bool)
    new[1:] = (stack[order[1:]] != stack[order[:-1]]) | (name[order[1:]] != name[order[:-1]])
    group = np.cumsum(new) - 1
    lead = order[new]
    if (relationship[order] != relationship[lead][group]).any():
        raise Unprovable("a property is an attribute in one layer and a relationship in another")
    if (type_name[order] != type_name[lead][group]).any():
        raise Unprovable("layers give an attribute different types")
    has = np.flatnonzero(field[order] >= 0)
    with_value, first_value = np.unique(group[has], return_index=True)
    winner = np.full(lead.size, -1, np.int64)
    winner[with_value] = has[first_value]
    sampled = specs.flags[order] & SAMPLED != 0
    any_samples, as_strong = np.zeros(lead.size, bool), np.zeros(lead.size, bool)
    any_samples[group[sampled]] = True
    as_strong[group[sampled & (np.arange(order.size) <= winner[group])]] = True
    best = np.where(winner >= 0, order[np.maximum(winner, 0)], lead)
    resolved = np.where(winner >= 0, DEFAULT, np.where(any_samples, SAMPLES, EMPTY)).astype(np.uint8)
    blocked = (winner >= 0) & (kind[best] == rp.BLOCK) & (relationship[best] == 0)
    resolved[blocked] = np.where(as_strong[blocked], HIDDEN, BLOCKED)
    state[best] = resolved

    keep = ~several
    keep[best] = True
    number = np.cumsum(keep) - 1
    lists: dict[int, list[tuple[int, int]]] = {}
    several_lists = np.flatnonzero((np.bincount(group[has], minlength=lead.size) > 1) & (relationship[lead] != 0))
    bounds = np.append(np.flatnonzero(new), order.size)
    for g in several_lists.tolist():
        mine = [int(o) for o in order[bounds[g] : bounds[g + 1]] if field[o] >= 0]
        lists[int(number[best[g]])] = [(int(site[o]), int(field[o])) for o in mine]
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(stack[keep], minlength=stacks.size))])
    kept: list[Any] = [a[keep] for a in (name, type_name, field, kind, relationship, state, site)]
    return Entries(stacks, first, kept[0], kept[1], kept[2], kept[3], kept[4], kept[5], kept[6], lists)
