"""Rows in groups: prims of one kind whose stacks author the same properties, with the same types and states."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ovsim.jit import serial
from producer.crate.entries import Entries
from producer.crate.errors import Unprovable
from producer.crate.numbering import numbered, sorted_by

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
U8 = npt.NDArray[np.uint8]


class Group(NamedTuple):
    """Rows `rows` (n,) (numbers of the caller) that share their properties.

    `stacks` (u,): positions in `Entries.stacks`; row i has stack `spread[i]` of them (a full slice: row i has stack i). `first`: entries of the first
    stack, which stand for all; `field` (names, u): their fields by stack, names in the order of `first`.
    """

    rows: I64
    stacks: I64
    spread: I64 | slice
    first: slice
    field: I32

    def entries(self, found: Entries, slot: int) -> I64:
        """Entry numbers of one name by stack, shape (u,)."""
        name = found.name[self.first.start + slot]
        out = np.empty(self.stacks.size, np.int64)
        _locate(found.first, found.name, self.stacks, name, out)
        return out


def groups(found: Entries, stack: I64, kind: I64, extra: I64, order: I64, tokens: int) -> list[Group]:
    """Groups of rows: `stack` (n,) position in `found.stacks`, `kind` (n,) equal for rows of one stack, `extra` (n,) any other difference of rows.

    `order` (s,): a number by stack that tells stacks apart beyond their signatures. `tokens`: how many token ids there are.
    """
    signature = np.zeros(found.stacks.size, np.int64)
    by_kind = np.full(found.stacks.size, -1, np.int64)
    by_kind[stack] = kind
    with np.errstate(over="ignore"):
        _sign(found.first, found.name, found.type_name, found.kind, found.relationship, found.state, found.field, signature)
    of_stack, count = numbered(np.stack([signature, by_kind, order], axis=1))
    of_row, n = numbered(np.stack([of_stack[stack], extra], axis=1))
    by_stack = sorted_by(of_stack, count)
    rank = np.empty(found.stacks.size, np.int64)
    rank[by_stack[0]] = np.arange(found.stacks.size) - np.repeat(by_stack[1][:-1], np.diff(by_stack[1]))
    by_row = sorted_by(of_row, n)
    slot = np.full(tokens, -1, np.int32)
    made: dict[int, tuple[I64, slice, I32]] = {}
    out = []
    for g in range(n):
        rows = by_row[0][by_row[1][g] : by_row[1][g + 1]]
        s = int(of_stack[stack[rows[0]]])
        if s not in made:
            stacks = by_stack[0][by_stack[1][s] : by_stack[1][s + 1]]
            made[s] = (stacks, *_matrix(found, stacks, slot))
        stacks, first, field = made[s]
        ranks = rank[stack[rows]]
        spread = slice(None) if rows.size == stacks.size and np.array_equal(ranks, np.arange(rows.size)) else ranks
        out.append(Group(rows, stacks, spread, first, field))
    return out


def _matrix(found: Entries, stacks: I64, slot: I32) -> tuple[slice, I32]:
    first = slice(int(found.first[stacks[0]]), int(found.first[stacks[0] + 1]))
    names = found.name[first]
    slot[names] = np.arange(names.size)
    field = np.full((names.size, stacks.size), -2, np.int32)
    shared = (found.name, found.type_name, found.kind, found.relationship, found.state)
    bad = int(_fill(found.first, *shared, found.field, stacks, slot, field))
    slot[names] = -1
    if bad >= 0:
        raise Unprovable("a prim describes a property twice")
    return first, field


@serial
def _sign(first: I64, name: I32, type_name: I32, kind: U8, relationship: U8, state: U8, field: I32, out: I64) -> None:
    """A fingerprint a stack, whatever the order of its entries (`_fill` checks what it stands for)."""
    for i in range(out.size):
        total = np.int64(0)
        for e in range(first[i], first[i + 1]):
            x = (np.int64(name[e]) << 32) ^ (np.int64(type_name[e]) << 12) ^ (np.int64(kind[e]) << 4) ^ np.int64(state[e])
            x ^= (np.int64(relationship[e]) << 63) ^ (np.int64(1 if field[e] >= 0 else 0) << 62)
            x = (x ^ (x >> 30)) * np.int64(-4658895280553007687)
            x = (x ^ (x >> 27)) * np.int64(-7723592293110705685)
            total += x ^ (x >> 31)
        out[i] = total


@serial
def _fill(first: I64, name: I32, type_name: I32, kind: U8, relationship: U8, state: U8, value: I32, stacks: I64, slot: I32, field: I32) -> int:
    """Fill `field`; returns a stack whose entries are not one a slot and like those of the first stack, -1 when all are."""
    base = first[stacks[0]]
    for u in range(stacks.size):
        lo, hi = first[stacks[u]], first[stacks[u] + 1]
        if hi - lo != field.shape[0]:
            return u
        for e in range(lo, hi):
            s = slot[name[e]]
            if s < 0 or field[s, u] != -2:
                return u
            like = base + s
            if type_name[e] != type_name[like] or kind[e] != kind[like] or relationship[e] != relationship[like] or state[e] != state[like]:
                return u
            field[s, u] = value[e]
    return -1


@serial
def _locate(first: I64, name: I32, stacks: I64, wanted: Any, out: I64) -> None:
    for u in range(stacks.size):
        for e in range(first[stacks[u]], first[stacks[u] + 1]):
            if name[e] == wanted:
                out[u] = e
