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
from producer.crate.grouping import Group, groups
from producer.crate.kinds import crate_type
from producer.crate.library import Library
from producer.crate.namespace import Namespace
from producer.crate.numbering import repeated, spans
from producer.crate.reps import FIXED
from producer.crate.targets import Targets
from producer.crate.values import read_array
from producer.mismatch import note_wrong
from producer.plan import Authored, Planner, RowKind
from producer.rows import OP_ORDER, RESET, XFORM
from producer.selection import Role
from producer.values import BOOL, MATRIX, PATH, RELATIONSHIP, TYPES

I64 = npt.NDArray[np.int64]
OP_PREFIX = "xformOp"
_IDENTITY = tuple(np.eye(4).reshape(-1).tolist())
_STATES = (provenance.DEFAULT, provenance.SAMPLES, provenance.EMPTY, provenance.BLOCKED, provenance.HIDDEN)


class Rows(NamedTuple):
    """Composed prims that get rows, shapes (n,): `prim`, `kind` (index into `kinds`), `prototype` (path id of an instance's prototype, 0 none)."""

    prim: I64
    kind: I64
    kinds: list[RowKind]
    prototype: I64


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
        """Read rows, whose stacks all have entries; returns (source, target) pairs of composed prims, shape (2, m), of their published
        relationships."""
        position = np.empty(self._space.first.size - 1, np.int64)
        position[entries.stacks] = np.arange(entries.stacks.size)
        order, self._orders = self._op_orders(entries)
        stack = position[self._space.stack[rows.prim]]
        hops: list[I64] = [np.empty((2, 0), np.int64)]
        for group in groups(entries, stack, rows.kind, (rows.prototype > 0).astype(np.int64), order, self._library.paths.token_count):
            hops.append(self._read(group, rows, entries, int(order[group.stacks[0]])))
        return np.concatenate(hops, axis=1)

    def _op_orders(self, entries: Entries) -> tuple[I64, list[list[str]]]:
        """By stack a number of its order of transform ops, 0 without a value, and the orders by number."""
        out = np.zeros(entries.stacks.size, np.int64)
        at = np.flatnonzero((entries.name == self._order) & (entries.state == en.DEFAULT) & (entries.relationship == 0))
        field = entries.field[at].astype(np.int64)
        known: dict[tuple[str, ...], int] = {(): 0}
        by_entry = np.empty(at.size, np.int64)
        for _, mine in self._library.by_layer(field):
            reps, inverse = np.unique(self._library.rep[field[mine]], return_inverse=True)
            sample = np.zeros(reps.size, np.int64)
            sample[inverse.reshape(-1)] = field[mine]
            numbers = np.array([known.setdefault(tuple(self._op_order(int(f))), len(known)) for f in sample], np.int64)
            by_entry[mine] = numbers[inverse.reshape(-1)]
        out[np.searchsorted(entries.first, at, "right") - 1] = by_entry
        return out, [list(k) for k in known]

    # -- reading -------------------------------------------------------------------------------------------------------

    def _read(self, group: Group, rows: Rows, entries: Entries, order: int) -> I64:
        kind, prims, prototype = rows.kinds[int(rows.kind[group.rows[0]])], rows.prim[group.rows], rows.prototype[group.rows]
        authored, names = self._authored(kind, group, entries)
        plan = self._planner.plan(kind, authored)
        cells = {n: Cells(c.type, c.value, c.provenance, True) for n, c in plan.constants.items()}
        hops = []
        for name, usd_type in plan.read.items():
            cells[name] = Cells(TYPES[usd_type], self._values(group.field[names[name]], group.spread, usd_type), AUTHORED)
        for name in plan.relationships:
            column, pairs = self._targets.column(entries, group.entries(entries, names[name]), prims, group.spread)
            cells[name] = Cells(RELATIONSHIP, column, AUTHORED)
            hops.append(pairs)
        if self._planner.schemas.facts(kind.type_name).is_xformable:
            cells |= self._transforms(kind.role, group, entries, self._orders[order])
        if prototype[0]:
            cells[instances.COLUMN] = Cells(PATH, prototype.astype(np.uint64), DERIVED)
        self._note_wrong(kind, prims, authored)
        ids = self._targets.path_of[prims].astype(np.uint64)
        self._assembler.add(kind.type_name or UNTYPED, kind.schemas, ids, cells)
        return np.concatenate(hops, axis=1) if hops else np.empty((2, 0), np.int64)

    def _authored(self, kind: RowKind, group: Group, entries: Entries) -> tuple[dict[str, Authored], dict[str, int]]:
        """What the plan asks for, and the slot of each name."""
        planner = self._planner
        out: dict[str, Authored] = {}
        slots: dict[str, int] = {}
        if kind.role == Role.ANCESTOR:
            return out, slots
        declared, derivable = planner.declared(kind), planner.derivable(kind)
        for slot, e in enumerate(range(group.first.start, group.first.stop)):
            name = self._text(int(entries.name[e]))
            if not (name in derivable or planner.publishes_binding(kind, name) or planner.publishes(kind, name)):
                continue
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

    def _values(self, field: npt.NDArray[np.int32], spread: I64 | slice, usd_type: str) -> Any:
        """Column storage of an attribute with fields (u,), one value a row."""
        fields = field.astype(np.int64)
        want = crate_type(usd_type)
        reps = self._library.rep[fields]
        if want is None or TYPES[usd_type].kind == "asset":
            raise Unprovable(f"values of type {usd_type} are read by USD")
        kind, is_array = want
        if (rp.types(reps) != kind).any() or (rp.flagged(reps, rp.ARRAY) != is_array).any():
            raise Unprovable(f"a value is not of the type {usd_type} that its attribute has")
        if is_array:
            return self._arrays(fields, kind, usd_type, spread)
        values = self._library.values(fields, kind)
        dtype = TYPES[usd_type].dtype
        return repeated(values if values.dtype == np.dtype(dtype) else values.astype(dtype), spread)

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
        return Ragged(offsets, flat[spans(start[spread], sizes[spread])])

    # -- transforms ----------------------------------------------------------------------------------------------------

    def _transforms(self, role: Role, group: Group, entries: Entries, order: list[str]) -> dict[str, Cells]:
        """`omni:xform` (n, 16) and `omni:resetXformStack` (rule 2)."""
        slots = {int(n): i for i, n in enumerate(entries.name[group.first])}
        if self._order not in slots:
            code = AUTHORED if role == Role.ANCESTOR else FALLBACK
            return {XFORM: Cells(MATRIX, _IDENTITY, code, True), RESET: Cells(BOOL, 0, code, True)}
        ops, resets = transforms.parse(order)
        values: dict[str, tuple[str, npt.NDArray[Any]]] = {}
        for op in ops:
            slot = slots.get(self._library.paths.find_token(op.attribute))
            if slot is None:
                raise Unprovable(f"{op.attribute} stands in an order but is not authored")
            e = group.first.start + slot
            if entries.relationship[e]:
                raise Unprovable(f"{op.attribute} is a relationship")
            if entries.state[e] == en.DEFAULT:
                values[op.attribute] = self._numbers(group.field[slot].astype(np.int64))
        matrix = repeated(transforms.compose(ops, values, group.stacks.size), group.spread)
        return {XFORM: Cells(MATRIX, matrix, AUTHORED), RESET: Cells(BOOL, int(resets), AUTHORED, True)}

    def _op_order(self, field: int) -> list[str]:
        layer, rep = self._library.field_owner(field)
        if (rep >> 48) & 0xFF != rp.TOKEN or not rep & int(rp.ARRAY):
            raise Unprovable("an xformOpOrder is no array of tokens")
        return layer.decoder.texts(rep)

    def _numbers(self, fields: I64) -> tuple[str, npt.NDArray[Any]]:
        reps = self._library.rep[fields]
        kind = int(rp.types(reps[:1])[0])
        if kind not in FIXED or (rp.types(reps) != kind).any() or rp.flagged(reps, rp.ARRAY).any():
            raise Unprovable("the value of a transform op is no number, vector, quaternion or matrix")
        return FIXED[kind].name, self._library.values(fields, kind)

    def _note_wrong(self, kind: RowKind, prims: I64, authored: Mapping[str, Authored]) -> None:
        declared = self._planner.declared(kind)
        for name, prop in authored.items():
            own = declared.get(name)
            if own is not None and own.type and prop.type != own.type:
                for path in self._library.paths.path_strings(self._targets.path_of[prims]).to_pylist():
                    note_wrong(self._diagnostics, path, name, prop.type, own.type)
