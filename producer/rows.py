"""Reads rows through pxr: authored values of many rows at once, column by column (producer facts, rules 2, 8 to 12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pxr import Gf, Tf, Usd, UsdGeom, Vt

from ovsim.diagnostics import Diagnostics
from ovsim.stage import UNTYPED, PathDictionary, Ragged
from producer import collections, instances, usdvalues
from producer.assemble import Assembler, Cells
from producer.bindings import Bindings
from producer.mismatch import WrongTypes, note_wrong
from producer.plan import Authored, Plan, Planner, RowKind
from producer.provenance import AUTHORED, BLOCKED, DEFAULT, DERIVED, EMPTY, FALLBACK, HIDDEN, SAMPLES
from producer.selection import PHYSICS_BINDING, Role, population
from producer.values import BOOL, MATRIX, PATH, RELATIONSHIP, TYPES, encode

XFORM, RESET, OP_ORDER = "omni:xform", "omni:resetXformStack", "xformOpOrder"
LOCAL_VELOCITIES = "usd-metadata:customData:physics:localSpaceVelocities"
_DEFAULT_TIME = Usd.TimeCode.Default()
_IDENTITY = tuple(np.eye(4).reshape(-1).tolist())


class Row(NamedTuple):
    """A prim that gets a row. `names`: its authored properties, in pxr's order; `prototype`: path of the published prototype of an instance
    root; `local_velocities`: the custom data of that name."""

    path: str
    prim: Any
    kind: RowKind
    names: tuple[str, ...]
    is_xformable: bool
    prototype: str = ""
    local_velocities: Any = None


class _Batch(NamedTuple):
    """Rows that are read in one go: same kind, same authored names; `props` are their pxr properties in the order of the names."""

    kind: RowKind
    rows: list[Row]
    props: list[list[Any]]

    def take(self, which: Sequence[int]) -> _Batch:
        return _Batch(self.kind, [self.rows[k] for k in which], [self.props[k] for k in which])


class RowReader:
    """Turns rows into parts of the assembler."""

    def __init__(
        self,
        planner: Planner,
        paths: PathDictionary,
        assembler: Assembler,
        published_path: Callable[[str], str],
        bindings: Bindings,
        types: WrongTypes,
        schemas_of: Callable[[Any], tuple[str, ...]],
        diagnostics: Diagnostics,
    ) -> None:
        self._planner = planner
        self._paths = paths
        self._assembler = assembler
        self._published_path = published_path
        self._bindings = bindings
        self._diagnostics = diagnostics
        self._ids: dict[str, int] = {"": 1, "/": 1}
        self._target_ids: dict[str, int] = {}
        self._materials: dict[str, str] = {}
        self._types = types
        self._schemas_of = schemas_of

    def read(self, rows: Sequence[Row]) -> Mapping[str, list[str]]:
        """Read rows; returns, by row path, the prim paths that its published relationships target, in the order of their names."""
        self._hops: dict[str, list[str]] = {}
        readable = [r for r in rows if r.kind.role != Role.ANCESTOR]
        self._wrong = self._types.of([r.prim for r in readable])
        self._materials = self._bindings.resolve([r.prim for r in readable if self._consumes(r.kind)])
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for r in rows:
            key = (r.kind, r.names, r.is_xformable, bool(r.prototype), r.path in self._materials, repr(r.local_velocities))
            groups.setdefault(key, []).append(r)
        for (kind, names, *_), group in groups.items():
            self._group(kind, names, group)
        return self._hops

    def path_id(self, path: str) -> int:
        """Path id of a prim path that is spelled as published."""
        got = self._ids.get(path)
        if got is None:
            parent, _, name = path.rpartition("/")
            got = self._ids[path] = self._paths.child(self.path_id(parent), self._paths.token(name))
        return got

    def _any_path_id(self, path: str) -> int:
        return self._paths.path(path) if "." in path else self.path_id(path)

    def _consumes(self, kind: RowKind) -> bool:
        return kind.role == Role.MEMBER and (kind.shows == "subset" or population().consumes_material(kind.schemas))

    # -- one group: types, then states, then columns ---------------------------------------------------------------

    def _group(self, kind: RowKind, names: tuple[str, ...], rows: list[Row]) -> None:
        """Rows of one kind with the same authored names: sort them by the types of their values."""
        if kind.role == Role.ANCESTOR:
            self._emit(kind, rows, {}, {})
            return
        declared = self._planner.declared(kind)
        derivable = self._planner.derivable(kind)
        at = {n: i for i, n in enumerate(names) if n in derivable or self._planner.publishes_binding(kind, n) or self._planner.publishes(kind, n)}
        props = [r.prim.GetAuthoredProperties() for r in rows] if at else [[]] * len(rows)
        batch = _Batch(kind, rows, props)
        usual = {n: Authored(declared[n].type) for n in at if n in declared}
        loose = [n for n in at if n not in declared or self._planner.schemas.is_partial]
        if not loose and not any(r.path in self._wrong for r in rows):
            self._resolve(batch, at, usual)
            return
        buckets: dict[tuple[tuple[str, Authored], ...], list[int]] = {}
        for k, r in enumerate(rows):
            own = {**usual, **{n: Authored(_own_type(props[k][at[n]])) for n in loose}}
            own.update((n, Authored(t)) for n, t in self._wrong.get(r.path, {}).items() if n in own and own[n].type)
            buckets.setdefault(tuple(own.items()), []).append(k)
        for types, which in buckets.items():
            self._resolve(batch.take(which), at, dict(types))

    def _resolve(self, batch: _Batch, at: Mapping[str, int], authored: Mapping[str, Authored]) -> None:
        """Rows with the same types: read, and part from them the rows where a property has no default value."""
        plan = self._planner.plan(batch.kind, authored)
        derivable = self._planner.derivable(batch.kind)
        columns: dict[str, Any] = {}
        odd: set[int] = set()
        for name, usd_type in plan.read.items():
            columns[name] = self._values(batch, at[name], name, usd_type, odd)
        for name in plan.relationships:
            columns[name] = self._targets(batch, at[name], odd, name not in population().instancer)
        for name, prop in authored.items():
            if prop.type and prop.state == DEFAULT and name in derivable and name not in plan.read:
                odd.update(k for k, p in enumerate(batch.props) if _state(p[at[name]]) != DEFAULT)
        if not odd:
            self._emit(batch.kind, batch.rows, self._cells(plan, columns), authored)
            return
        usual = [k for k in range(len(batch.rows)) if k not in odd]
        if usual:
            self._resolve(batch.take(usual), at, authored)
        buckets: dict[tuple[tuple[str, Authored], ...], list[int]] = {}
        for k in sorted(odd):
            own = {n: _with_state(a, batch.props[k][at[n]]) for n, a in authored.items()}
            buckets.setdefault(tuple((n, a) for n, a in own.items() if a), []).append(k)
        for states, which in buckets.items():
            self._resolve(batch.take(which), at, dict(states))

    def _values(self, batch: _Batch, i: int, name: str, usd_type: str, odd: set[int]) -> Any:
        values = [p[i].Get() for p in batch.props]
        absent = [k for k, v in enumerate(values) if v is None]
        if absent:
            odd.update(absent)
            return None
        column = usdvalues.column(self._paths, usd_type, values)
        declared = self._planner.declared(batch.kind).get(name)
        if declared and declared.fallback is not None:
            # only a value that equals the fallback can be the fallback
            like = _equals(column, encode(self._paths, TYPES[declared.type], [declared.fallback]))
            odd.update(int(k) for k in like if not _is_default(batch.props[k][i]))
        return column

    def _targets(self, batch: _Batch, i: int, odd: set[int], hop: bool) -> Ragged:
        offsets = [0]
        flat: list[int] = []
        ids = self._target_ids
        for k, p in enumerate(batch.props):
            targets = _authored_targets(p[i])
            if targets is None:
                odd.add(k)
                targets = []
            for target in targets:
                text = target.pathString
                got = ids.get(text)
                if got is None:
                    got = ids[text] = self._any_path_id(self._published_path(text))
                if hop:
                    self._hops.setdefault(batch.rows[k].path, []).append(text.partition(".")[0])
                flat.append(got)
            offsets.append(len(flat))
        return Ragged(np.array(offsets, np.int64), np.array(flat, np.uint64))

    # -- columns -----------------------------------------------------------------------------------------------------

    def _cells(self, plan: Plan, columns: Mapping[str, Any]) -> dict[str, Cells]:
        cells = {n: Cells(c.type, c.value, c.provenance, True) for n, c in plan.constants.items()}
        cells.update((n, Cells(TYPES[plan.read[n]] if n in plan.read else RELATIONSHIP, v, AUTHORED)) for n, v in columns.items())
        return cells

    def _emit(self, kind: RowKind, rows: list[Row], cells: dict[str, Cells], authored: Mapping[str, Authored]) -> None:
        if rows[0].is_xformable:
            cells |= _transforms(rows, OP_ORDER in rows[0].names or kind.role == Role.ANCESTOR, self._tell_skipped)
        if rows[0].prototype:
            ids = np.array([self.path_id(r.prototype) for r in rows], np.uint64)
            cells[instances.COLUMN] = Cells(PATH, ids, DERIVED)
        if rows[0].path in self._materials:
            ids = np.array([self._paths.path(self._published_path(self._materials[r.path])) for r in rows], np.uint64)
            cells[PHYSICS_BINDING] = Cells(RELATIONSHIP, Ragged(np.arange(ids.size + 1), ids), DERIVED)
        for name in collections.ABOUT.keys() & cells.keys():
            found = [[self.path_id(self._published_path(p)) for p in collections.members(r.prim, name, self._schemas_of)] for r in rows]
            offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
            cells[name] = Cells(RELATIONSHIP, Ragged(offsets, np.array([i for f in found for i in f], np.uint64)), DERIVED)
        if rows[0].local_velocities is not None:
            value = rows[0].local_velocities
            cells[LOCAL_VELOCITIES] = Cells(TYPES["bool" if isinstance(value, bool) else "int"], int(value), AUTHORED, True)
        self._note_wrong(kind, rows, authored)
        ids = np.array([self.path_id(self._published_path(r.path)) for r in rows], np.uint64)
        self._assembler.add(kind.type_name or UNTYPED, kind.schemas, ids, cells)

    def _tell_skipped(self, path: str, op: str, type_name: str) -> None:
        text = f"{op}, a {type_name}, is no transform op of a kind and type that USD knows; it counts as the identity"
        self._diagnostics.add("transform-op-skipped", "warning", text, self._published_path(path), op)

    def _note_wrong(self, kind: RowKind, rows: list[Row], authored: Mapping[str, Authored]) -> None:
        if kind.role == Role.ANCESTOR:
            return
        declared = self._planner.declared(kind)
        wrong = [(n, a.type, declared[n].type) for n, a in authored.items() if n in declared and declared[n].type not in ("", a.type)]
        for r in rows if wrong else ():
            for name, actual, asked in wrong:
                note_wrong(self._diagnostics, self._published_path(r.path), name, actual, asked)


def _own_type(prop: Any) -> str:
    """USD type name of an authored property that nothing declares, "" for a relationship."""
    return str(prop.GetTypeName()) if hasattr(prop, "GetTypeName") else ""


def _authored_targets(relationship: Any) -> list[Any] | None:
    """Targets in order, None when no target list is authored or another kind of property of that name is (rule 12)."""
    try:
        targets = list(relationship.GetTargets())
        return targets if targets or relationship.HasAuthoredTargets() else None
    except Tf.ErrorException:
        return None


def _is_default(attribute: Any) -> bool:
    return bool(attribute.GetResolveInfo(_DEFAULT_TIME).GetSource() == Usd.ResolveInfoSourceDefault)


def _state(attribute: Any) -> str:
    """State of an authored attribute at the default time (see `producer.provenance`)."""
    info = attribute.GetResolveInfo(_DEFAULT_TIME)
    if info.GetSource() == Usd.ResolveInfoSourceDefault:
        return DEFAULT
    if info.ValueIsBlocked():
        return HIDDEN if attribute.HasAuthoredValue() else BLOCKED
    return SAMPLES if attribute.HasAuthoredValue() else EMPTY


def _with_state(authored: Authored, prop: Any) -> Authored | None:
    if not authored.type:
        return authored if _authored_targets(prop) is not None else None
    return Authored(authored.type, _state(prop))


def _equals(column: Any, fallback: Any) -> npt.NDArray[np.int64]:
    """Rows of a column that equal the one fallback; every row of an array column, whose comparison is not worth it."""
    if isinstance(column, Ragged):
        return np.arange(column.offsets.size - 1)
    if isinstance(fallback, Ragged) or column.shape[1:] != fallback.shape[1:]:
        return np.empty(0, np.int64)
    same = column == fallback
    return np.flatnonzero(same if same.ndim == 1 else same.all(axis=1))


_RESET_OP, _INVERSE = "!resetXformStack!", "!invert!"


def _transforms(rows: Sequence[Row], has_ops: bool, skipped: Callable[[str, str, str], None]) -> dict[str, Cells]:
    """`omni:xform` (n, 16), all ops folded at the default time, and `omni:resetXformStack` (rule 2)."""
    if not has_ops:
        return {XFORM: Cells(MATRIX, _IDENTITY, FALLBACK, True), RESET: Cells(BOOL, 0, FALLBACK, True)}
    forms = [UsdGeom.Xformable(r.prim) for r in rows]
    try:
        found = [f.GetLocalTransformation() for f in forms]
    except Tf.ErrorException:
        found = [_folded(f, skipped) for f in forms]
    matrices = np.array(Vt.Matrix4dArray(found)).reshape(len(rows), 16)
    resets = np.array([f.GetResetXformStack() for f in forms], np.uint8)
    return {XFORM: Cells(MATRIX, matrices, AUTHORED), RESET: Cells(BOOL, resets, AUTHORED)}


def _folded(form: UsdGeom.Xformable, skipped: Callable[[str, str, str], None]) -> Gf.Matrix4d:
    """Local matrix op by op; an op of an unknown kind, or whose value has a type that its kind cannot have, is the identity (observed).

    `skipped` is called with the path of the prim, the name of such an op and its USD type.
    """
    local = Gf.Matrix4d(1)
    order = list(form.GetXformOpOrderAttr().Get() or ())
    for name in reversed(order):
        if name == _RESET_OP:
            break
        inverse = name.startswith(_INVERSE)
        attribute = form.GetPrim().GetAttribute(name[len(_INVERSE) :] if inverse else name)
        if not attribute:
            continue  # USD has said so
        try:
            local *= UsdGeom.XformOp(attribute, inverse).GetOpTransform(Usd.TimeCode.Default())
        except Tf.ErrorException:
            skipped(str(form.GetPath()), name, str(attribute.GetTypeName()))
    return local
