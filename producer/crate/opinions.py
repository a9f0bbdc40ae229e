"""Resolved prim metadata of opinion stacks: type, specifier, activity, applied schemas; and which prims a stage traversal meets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ovsim.errors import CrateError
from ovsim.jit import serial
from producer.crate import reps as rp
from producer.crate.errors import Unprovable
from producer.crate.library import Library
from producer.crate.listops import compose
from producer.crate.namespace import Namespace

I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
DEF, OVER, CLASS = 0, 1, 2
ANY_TYPE = "__AnyType__"

EXISTS, DEFINED, ABSTRACT, WALKED = 1, 2, 4, 8  # bits of `states`


class Metadata(NamedTuple):
    """By stack, shapes (k,). `kind`: index into `kinds`, pairs of type name and composed `apiSchemas`. `specifier`: DEF, OVER or CLASS."""

    kind: I64
    kinds: list[tuple[str, tuple[str, ...]]]
    specifier: I64
    active: U8


def resolve(library: Library, space: Namespace) -> Metadata:
    """Metadata of all stacks."""
    type_name = _strongest_text(library, space)
    specifier = _specifier(library, space)
    active = _first_value(library, space, "active", rp.BOOL, 1).astype(np.uint8)
    api, lists = _api_lists(library, space)
    pairs, inverse = np.unique(type_name * (len(lists) + 1) + api, return_inverse=True)
    text = library.paths.token_string
    names = [(text(int(p) // (len(lists) + 1)), lists[int(p) % (len(lists) + 1)]) for p in pairs]
    return Metadata(inverse.reshape(-1), names, specifier, active)


def _sites_with(library: Library, space: Namespace, slot: str) -> tuple[I64, I64, I64]:
    """Sites that author a field: site number, stack, global field index."""
    field = library.field(slot)[space.site_row]
    site = np.flatnonzero(field >= 0)
    stack = np.searchsorted(space.first, site, "right") - 1
    return site, stack, field[site]


def _first_value(library: Library, space: Namespace, slot: str, kind: int, absent: int) -> I64:
    """Strongest value of a fixed-size field by stack."""
    _, stack, field = _sites_with(library, space, slot)
    out = np.full(space.first.size - 1, absent, np.int64)
    _all_of(library, field, kind, slot)
    stack, first = np.unique(stack, return_index=True)
    out[stack] = library.values(field[first], kind)
    return out


def _all_of(library: Library, field: I64, kind: int, slot: str) -> None:
    reps = library.rep[field]
    if (rp.types(reps) != kind).any() or rp.flagged(reps, rp.ARRAY).any():
        raise CrateError(f"a field {slot} holds a value of another type; the file is corrupt")


def _strongest_text(library: Library, space: Namespace) -> I64:
    """Token id of the type name by stack, 0 for none: the strongest opinion that names a type."""
    _, stack, field = _sites_with(library, space, "typeName")
    _all_of(library, field, rp.TOKEN, "typeName")
    value = library.values(field, rp.TOKEN)
    says = (value != 0) & (value != library.paths.find_token(ANY_TYPE))
    stack, first = np.unique(stack[says], return_index=True)
    out = np.zeros(space.first.size - 1, np.int64)
    out[stack] = value[says][first]
    return out


def _specifier(library: Library, space: Namespace) -> I64:
    """Strongest defining specifier by stack, OVER when there is none."""
    _, stack, field = _sites_with(library, space, "specifier")
    _all_of(library, field, rp.SPECIFIER, "specifier")
    value = library.values(field, rp.SPECIFIER)
    if value.size and int(value.max()) > CLASS:
        raise CrateError("a specifier is none of def, over, class; the file is corrupt")
    stack, first = np.unique(stack[value != OVER], return_index=True)
    out = np.full(space.first.size - 1, OVER, np.int64)
    out[stack] = value[value != OVER][first]
    return out


def _api_lists(library: Library, space: Namespace) -> tuple[I64, list[tuple[str, ...]]]:
    """Composed `apiSchemas` by stack as an index into the distinct lists; index 0 is the empty list."""
    _, stack, field = _sites_with(library, space, "apiSchemas")
    out = np.zeros(space.first.size - 1, np.int64)
    lists: dict[tuple[str, ...], int] = {(): 0}
    if not stack.size:
        return out, list(lists)
    number = np.searchsorted(library.field_base, field, "right") - 1
    reps, opinion = np.unique(library.rep[field], return_inverse=True)
    _, opinion = np.unique(number * reps.size + opinion.reshape(-1), return_inverse=True)
    opinion = opinion.reshape(-1)
    sample = np.zeros(int(opinion.max()) + 1, np.int64)
    sample[opinion] = field
    ops = []
    for f in sample.tolist():
        layer, rep = library.field_owner(f)
        if (rep >> 48) & 0xFF != rp.TOKEN_LIST:
            raise Unprovable("apiSchemas is no list-op of tokens")
        ops.append(layer.decoder.list_op(rep))
    stacks, first, count = np.unique(stack, return_index=True, return_counts=True)
    alone = count == 1
    by_opinion = np.array([lists.setdefault(tuple(compose([op])), len(lists)) for op in ops])
    out[stacks[alone]] = by_opinion[opinion[first[alone]]]
    seen: dict[bytes, int] = {}
    for k, start, n in zip(stacks[~alone].tolist(), first[~alone].tolist(), count[~alone].tolist()):
        mine = opinion[start : start + n]
        got = seen.get(mine.tobytes())
        if got is None:
            items = tuple(compose([ops[i] for i in mine.tolist()]))
            got = seen[mine.tobytes()] = lists.setdefault(items, len(lists))
        out[k] = got
    return out, list(lists)


def states(space: Namespace, meta: Metadata) -> U8:
    """State bits of composed prims, shape (n,): whether the prim exists, is defined, abstract, met by a traversal."""
    own = np.zeros(len(space), np.uint8)
    roots = np.array([p.root for p in space.prototypes], np.int64)
    own[meta.active[space.stack] != 0] |= 1
    own[meta.specifier[space.stack] != OVER] |= 2
    own[meta.specifier[space.stack] == CLASS] |= 4
    own[roots] = 3
    own[0] = 3
    out = np.zeros(len(space), np.uint8)
    _inherit(space.parent, own, out)
    return out


@serial
def _inherit(parent: I64, own: U8, out: U8) -> None:
    """`own` bits: 1 active, 2 defining, 4 class. A child exists when its parent exists and is active."""
    for i in range(parent.size):
        if i == 0:
            out[0] = 1 | 2 | 8
            continue
        p = parent[i]
        up = out[p]
        bits = 0
        if up & 1 and own[p] & 1:
            bits |= 1
        if bits and up & 2 and own[i] & 2:
            bits |= 2
        if up & 4 or own[i] & 4:
            bits |= 4
        if bits & 1 and bits & 2 and not bits & 4 and own[i] & 1 and up & 8:
            bits |= 8
        out[i] = bits
