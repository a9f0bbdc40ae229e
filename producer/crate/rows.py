"""Rows to columns: composed prims of one kind with the same authored properties are read together, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ovsim.diagnostics import Diagnostics
from ovsim.stage import AUTHORED, DERIVED, FALLBACK, UNTYPED, Ragged
from producer import instances, provenance
from producer.assemble import Assembler, Cells
from producer.crate import entries as en
from producer.crate import reps as rp
from producer.crate import transforms
from producer.crate.entries import Entries
from producer.crate.errors import Unprovable
from producer.crate.jit import serial
from producer.crate.kinds import crate_type
from producer.crate.library import Library
from producer.crate.namespace import Namespace
from producer.crate.reps import FIXED
from producer.crate.targets import Targets
from producer.crate.values import read_array
from producer.mismatch import note_wrong
from producer.plan import Authored, Planner, RowKind
from producer.rows import OP_ORDER, RESET, XFORM
from producer.selection import Role
from producer.values import BOOL, MATRIX, PATH, RELATIONSHIP, TYPES

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
OP_PREFIX = "xformOp"
_IDENTITY = tuple(np.eye(4).reshape(-1).tolist())
_STATES = (provenance.DEFAULT, provenance.SAMPLES, provenance.EMPTY, provenance.BLOCKED, provenance.HIDDEN)


class Rows(NamedTuple):
    """Composed prims that get rows, shapes (n,): `prim`, `kind` (index into `kinds`), `prototype` (path id of an instance's prototype, 0 none)."""

    prim: I64
    kind: I64
    kinds: list[RowKind]
    prototype: I64


class _Group(NamedTuple):
    """Rows of one kind whose stacks author the same properties: prims (n,), `spread` (n,) to distinct stacks, `at` (names, u) entry numbers."""

    kind: RowKind
    prims: I64
    prototype: I64
    spread: I64 | slice
    slots: dict[int, int]
    at: I64
    first: slice


class RowReader:
    """Turns rows into parts of the assembler."""

    def __init__(
        self,
        planner: Planner,
        library: Library,
        space: Namespace,
        targets: Targets,
        assembler: Assembler,
        diagnostics: Diagnostics,
    ) -> None:
        self._planner = planner
        self._library = library
        self._space = space
        self._targets = targets
        self._assembler = assembler
        self._diagnostics = diagnostics
        self._text = library.paths.token_string
        self._order = library.paths.token(OP_ORDER)

    def read(self, rows: Rows, entries: Entries) -> I64:
        """Read rows; returns the composed prims that their published relationships target (with repetitions)."""
        hops: list[I64] = [np.empty(0, np.int64)]
        for group in self._groups(rows, entries):
            hops.append(self._read(group, entries))
        return np.concatenate(hops)

    # -- grouping ------------------------------------------------------------------------------------------------------

    def _groups(self, rows: Rows, entries: Entries) -> list[_Group]:
        stacks, stack_of = np.unique(self._space.stack[rows.prim], return_inverse=True)
        stack_of = stack_of.reshape(-1)
        low = np.searchsorted(entries.stack, stacks)
        count = np.searchsorted(entries.stack, stacks, "right") - low
        signature = self._signatures(entries, low, count)
        key = np.stack([rows.kind, (rows.prototype > 0).astype(np.int64), signature[stack_of]])
        order = np.lexsort(key)
        new = np.ones(order.size, bool)
        new[1:] = (key[:, order[1:]] != key[:, order[:-1]]).any(axis=0)
        bounds = np.append(np.flatnonzero(new), order.size)
        out = []
        names, local = np.unique(entries.name, return_inverse=True)
        local = local.reshape(-1)
        for lo, hi in zip(bounds[:-1].tolist(), bounds[1:].tolist()):
            mine = np.sort(order[lo:hi])
            used, spread = np.unique(stack_of[mine], return_inverse=True)
            spread = spread.reshape(-1)
            first = slice(int(low[used[0]]), int(low[used[0]] + count[used[0]]))
            at = self._matrix(entries, local, names.size, low[used], count[used], first)
            slots = {int(n): i for i, n in enumerate(entries.name[first])}
            whole: I64 | slice = slice(None) if used.size == mine.size and (spread == np.arange(mine.size)).all() else spread
            out.append(_Group(rows.kinds[int(rows.kind[mine[0]])], rows.prim[mine], rows.prototype[mine], whole, slots, at, first))
        return out

    def _signatures(self, entries: Entries, low: I64, count: I64) -> I64:
        """Fingerprints of what stacks author: names, types, states (checked exactly by `_matrix`)."""
        reps = np.where(entries.field >= 0, self._library.rep[np.maximum(entries.field, 0)], np.uint64(0))
        word = entries.name.astype(np.uint64) << np.uint64(32) ^ entries.type_name.astype(np.uint64) << np.uint64(8) ^ entries.state.astype(np.uint64)
        word ^= rp.types(reps).astype(np.uint64) << np.uint64(56) ^ entries.relationship.astype(np.uint64) << np.uint64(7)
        if self._order in entries.name:  # another order of ops is another kind of row
            ops = entries.name == self._order
            word[ops] ^= _mixed(reps[ops])
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(word))])
        return (sums[low + count] - sums[low]).view(np.int64)

    def _matrix(self, entries: Entries, local: I64, names: int, low: I64, count: I64, first: slice) -> I64:
        """Entry numbers by name and stack, shape (names of the first stack, u)."""
        slot = np.full(names, -1, np.int64)
        slot[local[first]] = np.arange(first.stop - first.start)
        at = np.full((first.stop - first.start, low.size), -1, np.int64)
        if int(_fill(low, count, local, slot, at)) >= 0:
            raise Unprovable("a prim describes a property twice")
        return at

    # -- reading -------------------------------------------------------------------------------------------------------

    def _read(self, group: _Group, entries: Entries) -> I64:
        authored, names = self._authored(group, entries)
        plan = self._planner.plan(group.kind, authored)
        cells = {n: Cells(c.type, c.value, c.provenance, True) for n, c in plan.constants.items()}
        hops = []
        for name, usd_type in plan.read.items():
            cells[name] = Cells(TYPES[usd_type], self._values(group, entries, names[name], usd_type), AUTHORED)
        for name in plan.relationships:
            column, found = self._targets.column(entries, group.at[names[name]], group.prims, group.spread)
            cells[name] = Cells(RELATIONSHIP, column, AUTHORED)
            hops.append(found[found >= 0])
        if self._planner.schemas.facts(group.kind.type_name).is_xformable:
            cells |= self._transforms(group, entries)
        if group.prims.size and group.prototype[0]:
            cells[instances.COLUMN] = Cells(PATH, group.prototype.astype(np.uint64), DERIVED)
        self._note_wrong(group, authored)
        ids = self._targets.path_of[group.prims].astype(np.uint64)
        self._assembler.add(group.kind.type_name or UNTYPED, group.kind.schemas, ids, cells)
        return np.concatenate(hops) if hops else np.empty(0, np.int64)

    def _authored(self, group: _Group, entries: Entries) -> tuple[dict[str, Authored], dict[str, int]]:
        """What the plan asks for, and the slot of each name."""
        kind, planner = group.kind, self._planner
        out: dict[str, Authored] = {}
        slots: dict[str, int] = {}
        if kind.role == Role.ANCESTOR:
            return out, slots
        declared, derivable = planner.declared(kind), planner.derivable(kind)
        for token, slot in group.slots.items():
            name = self._text(token)
            if not (name in derivable or planner.publishes_binding(kind, name) or planner.publishes(kind, name)):
                continue
            e = int(group.at[slot, 0])
            is_relation = bool(entries.relationship[e])
            own = declared.get(name)
            if own is not None and (own.type == "") != is_relation:
                raise Unprovable(f"{name} is declared as one kind of property and authored as the other")
            if is_relation:
                if entries.field[e] < 0:
                    continue
                out[name] = Authored("")
            else:
                state = _STATES[int(entries.state[e])]
                usd_type = self._text(int(entries.type_name[e])) if state == provenance.DEFAULT or own is None else own.type
                out[name] = Authored(usd_type, state)
            slots[name] = slot
        return out, slots

    def _values(self, group: _Group, entries: Entries, slot: int, usd_type: str) -> Any:
        """Column storage of an attribute, one value a row."""
        fields = entries.field[group.at[slot]]
        want = crate_type(usd_type)
        reps = self._library.rep[fields]
        if want is None or TYPES[usd_type].kind == "asset":
            raise Unprovable(f"values of type {usd_type} are read by USD")
        kind, is_array = want
        if (rp.types(reps) != kind).any() or (rp.flagged(reps, rp.ARRAY) != is_array).any():
            raise Unprovable(f"a value is not of the type {usd_type} that its attribute has")
        if is_array:
            return self._arrays(fields, kind, usd_type, group.spread)
        values = self._library.values(fields, kind)
        dtype = TYPES[usd_type].dtype
        return values[group.spread] if values.dtype == np.dtype(dtype) else values.astype(dtype)[group.spread]

    def _arrays(self, fields: I64, kind: int, usd_type: str, spread: I64 | slice) -> Ragged:
        type_ = TYPES[usd_type]
        seen: dict[tuple[int, int], Any] = {}
        parts = []
        for field in fields.tolist():
            number = int(np.searchsorted(self._library.field_base, field, "right")) - 1
            rep = int(self._library.rep[field])
            got = seen.get((number, rep))
            if got is None:
                tables = self._library.layers[number].tables
                raw = read_array(tables.buffer, tables.layout.version, rep)
                got = seen[number, rep] = self._library.texts(number, raw, kind == rp.STRING) if type_.is_text else raw
            parts.append(got)
        sizes = np.array([len(p) for p in parts], np.int64)
        shape = (0, type_.lanes) if type_.lanes > 1 else (0,)
        flat = np.concatenate([p.astype(type_.dtype, copy=False) for p in parts]) if sizes.sum() else np.zeros(shape, type_.dtype)
        if isinstance(spread, slice):
            return Ragged(np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), flat)
        start = np.cumsum(sizes) - sizes
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[spread])])
        return Ragged(offsets, flat[en.spans(start[spread], sizes[spread])])

    # -- transforms ----------------------------------------------------------------------------------------------------

    def _transforms(self, group: _Group, entries: Entries) -> dict[str, Cells]:
        """`omni:xform` (n, 16) and `omni:resetXformStack` (rule 2)."""
        slot = group.slots.get(self._order)
        if slot is None:
            code = AUTHORED if group.kind.role == Role.ANCESTOR else FALLBACK
            return {XFORM: Cells(MATRIX, _IDENTITY, code, True), RESET: Cells(BOOL, 0, code, True)}
        e = group.at[slot]
        order = self._op_order(entries, int(e[0])) if entries.state[e[0]] == en.DEFAULT else []
        ops, resets = transforms.parse(order)
        values: dict[str, tuple[str, npt.NDArray[Any]]] = {}
        for op in ops:
            token = self._library.paths.find_token(op.attribute)
            if token not in group.slots:
                raise Unprovable(f"{op.attribute} stands in an order but is not authored")
            which = group.at[group.slots[token]]
            if entries.relationship[which[0]]:
                raise Unprovable(f"{op.attribute} is a relationship")
            if entries.state[which[0]] == en.DEFAULT:
                values[op.attribute] = self._numbers(entries.field[which])
        matrix = transforms.compose(ops, values, e.size)[group.spread]
        return {XFORM: Cells(MATRIX, matrix, AUTHORED), RESET: Cells(BOOL, int(resets), AUTHORED, True)}

    def _op_order(self, entries: Entries, entry: int) -> list[str]:
        layer, rep = self._library.field_owner(int(entries.field[entry]))
        if (rep >> 48) & 0xFF != rp.TOKEN or not rep & int(rp.ARRAY):
            raise Unprovable("an xformOpOrder is no array of tokens")
        return layer.decoder.texts(rep)

    def _numbers(self, fields: I64) -> tuple[str, npt.NDArray[Any]]:
        reps = self._library.rep[fields]
        kind = int(rp.types(reps[:1])[0])
        if kind not in FIXED or (rp.types(reps) != kind).any() or rp.flagged(reps, rp.ARRAY).any():
            raise Unprovable("the value of a transform op is no number, vector, quaternion or matrix")
        return FIXED[kind].name, self._library.values(fields, kind)

    def _note_wrong(self, group: _Group, authored: Mapping[str, Authored]) -> None:
        declared = self._planner.declared(group.kind)
        for name, prop in authored.items():
            own = declared.get(name)
            if own is not None and own.type and prop.type != own.type:
                for path in self._library.paths.path_strings(self._targets.path_of[group.prims]).to_pylist():
                    note_wrong(self._diagnostics, path, name, prop.type, own.type)


@serial
def _fill(low: I64, count: I64, name: I64, slot: I64, at: I64) -> int:
    """Fill `at` (slots, u); returns the first stack whose entries are not exactly one a slot, -1 when all are."""
    for u in range(low.size):
        if count[u] != at.shape[0]:
            return u
        for e in range(low[u], low[u] + count[u]):
            s = slot[name[e]]
            if s < 0 or at[s, u] >= 0:
                return u
            at[s, u] = e
    return -1


def _mixed(words: U64) -> U64:
    """Well mixed 64-bit words (the finaliser of splitmix64)."""
    x = words + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
