"""`--fix`: a copy of a stage in which every column that population would write stands, with population's value; and the list of changes.

Only what is absent is added and only what the parser cannot read is cast; values that somebody wrote are never changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.check.absent import UNITS
from ovsim.check.columns import expected_type, readable
from ovsim.check.context import Context
from ovsim.contract import Column
from ovsim.diagnostics import Diagnostic
from ovsim.stage import DERIVED, FALLBACK, Archetype, Ragged, Stage
from ovsim.stage import columns as col
from ovsim.stage.archetype import PATH

CHANGES = pa.schema([(n, pa.string()) for n in ("path", "column", "change", "before", "after")] + [("rows", pa.int64())])
_IDENTITY = np.eye(4).reshape(1, 16)
Change = dict[str, Any]


def fix(stage: Stage, custom_joints: tuple[str, ...] = ()) -> tuple[Stage, pa.Table]:
    """The repaired stage and a table of changes: path (of the first row), column, change (`added`, `cast`), before, after, rows.

    Added are: every attribute that type and applied APIs declare, at the schema's fallback; the derived columns; an identity `omni:xform` and
    `omni:resetXformStack` on Xformable rows; missing stage metadata on an existing row of `/`. The path dictionary is shared with the input.
    """
    context = Context(stage, custom_joints)
    changes: list[Change] = []
    made = [_units(context, a, changes) if _is_root(context, a) else a for a in stage.archetypes]
    context = Context(Stage(stage.paths, tuple(made), metadata=stage.metadata), custom_joints)
    repaired = [a if _is_root(context, a) else _repair(context, a, changes) for a in made]
    out = Stage(stage.paths, _joined(repaired), metadata={**stage.metadata, "repaired": True})
    out.diagnostics.extend(d for d in stage.diagnostics if not _mended(d, stage, out))
    return out, pa.Table.from_pylist(changes, CHANGES)


def _mended(told: Diagnostic, before: Stage, after: Stage) -> bool:
    """Whether it is told of a value's type that is no longer so. A column that was left out for its type stays told: its values are lost."""
    if told.code != "wrong-type":
        return False
    was, now = (hit[0].field(told.column).type if (hit := s.find(told.path)) and told.column in hit[0] else None for s in (before, after))
    return was is not None and was != now


def _is_root(context: Context, archetype: Archetype) -> bool:
    hit = context.stage.find("/")
    return hit is not None and hit[0] is archetype


def _units(context: Context, archetype: Archetype, changes: list[Change]) -> Archetype:
    data = context.contract
    wanted = {n: (data.find(n), v) for n, v in UNITS.items() if n not in archetype}
    cells = {}
    for name, (column, value) in wanted.items():
        assert column is not None
        stored = context.stage.paths.token(value) if isinstance(value, str) else value
        dtype = np.uint64 if isinstance(value, str) else np.dtype(column.dtype)
        cells[name] = (
            col.field(name, pa.from_numpy_dtype(np.dtype(dtype)), column.semantic),
            col.dense(np.full(len(archetype), stored, dtype)),
            FALLBACK,
        )
        changes.append(_added(context, archetype, name, value))
    return _with(archetype, cells)


def _repair(context: Context, archetype: Archetype, changes: list[Change]) -> Archetype:
    from producer.assemble import Cells
    from producer.values import contract_type, encode

    n = len(archetype)
    cells: dict[str, tuple[pa.Field, pa.Array, int]] = {}
    for name, constant in context.expected(archetype).items():
        if name in archetype:
            continue
        one = Cells(constant.type, encode(context.stage.paths, constant.type, [constant.value]), constant.provenance)
        cells[name] = (constant.type.field(name), _broadcast(one.data, n), constant.provenance)
        changes.append(_added(context, archetype, name, constant.value))
    if archetype.type_name and context.planner.schemas.facts(archetype.type_name).is_xformable:
        for name, values in (("omni:xform", np.repeat(_IDENTITY, n, axis=0)), ("omni:resetXformStack", np.zeros(n, np.uint8))):
            if name not in archetype:
                array = col.dense(values)
                cells[name] = (col.field(name, array.type), array, DERIVED)
                changes.append(_added(context, archetype, name, "identity" if name == "omni:xform" else False))
    for name in archetype.names:
        column = context.contract.on(archetype.type_name, name)
        if column is not None:
            done = _cast(archetype, name, column)
            if done is not None:
                cells[name] = (contract_type(column).field(name), done, 0)
                changes.append(_change(context, archetype, name, "cast", str(archetype.field(name).type), str(done.type)))
    return _with(archetype, cells)


def _cast(archetype: Archetype, name: str, column: Column) -> pa.Array | None:
    """The column in its contract type, when the parser cannot read its number type, lanes fit and every value survives; None otherwise."""
    want, array = expected_type(column), archetype.column(name)
    got = array.type
    if column.array or column.semantic in (col.TOKEN_ID, col.RELATIONSHIP) or readable(got, column) or not _number(got) or not _number(want):
        return None
    if (got.list_size if pa.types.is_fixed_size_list(got) else 1) != column.lanes:
        return None
    source = archetype.values(name)
    if isinstance(source, Ragged):
        return None
    inner = want.value_type if pa.types.is_fixed_size_list(want) else want
    with np.errstate(all="ignore"):
        target = source.astype(inner.to_pandas_dtype())
        kept = np.isclose(target.astype(np.float64), source.astype(np.float64), rtol=1e-6, atol=0, equal_nan=True).all()
    if not kept or (column.dtype == "bool8" and not np.isin(source, (0, 1)).all()):
        return None
    return col.dense(target)


def _number(t: pa.DataType) -> bool:
    inner = t.value_type if pa.types.is_fixed_size_list(t) else t
    return bool(pa.types.is_integer(inner) or pa.types.is_floating(inner))


def _broadcast(data: npt.NDArray[Any] | Ragged, n: int) -> pa.Array:
    if isinstance(data, Ragged):
        k = len(data.values)
        return col.ragged(np.arange(n + 1, dtype=np.int64) * k, np.concatenate([data.values] * n) if k and n else data.values)
    return col.dense(np.repeat(data, n, axis=0))


def _with(archetype: Archetype, cells: dict[str, tuple[pa.Field, pa.Array, int]]) -> Archetype:
    if not cells:
        return archetype
    have = {f.name: (f, a) for f, a in zip(archetype.batch.schema, archetype.batch.columns)}
    have |= {n: (f, a) for n, (f, a, _) in cells.items()}
    names = [PATH, *sorted(n for n in have if n != PATH)]
    arrays = [have[n][1].cast(have[n][0].type) if have[n][1].type != have[n][0].type else have[n][1] for n in names]
    batch = pa.RecordBatch.from_arrays(arrays, schema=pa.schema([have[n][0] for n in names]))
    codes = {n: np.full(len(archetype), p, np.uint8) for n, (_, _, p) in cells.items() if n not in archetype}
    return Archetype(archetype.paths, archetype.type_name, archetype.schemas, batch, {**archetype.provenance, **codes})


def _joined(archetypes: list[Archetype]) -> tuple[Archetype, ...]:
    """Archetypes that became alike (type, schemas, columns) as one."""
    groups: dict[Any, list[Archetype]] = {}
    for a in archetypes:
        groups.setdefault((a.type_name, a.schemas, tuple((f.name, f.type, col.semantic(f)) for f in a.batch.schema)), []).append(a)
    return tuple(_one(parts) for parts in groups.values())


def _one(parts: list[Archetype]) -> Archetype:
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    batch = pa.Table.from_batches([p.batch.cast(first.batch.schema) for p in parts]).combine_chunks().to_batches()[0]
    shared = set.intersection(*(set(p.provenance) for p in parts))
    codes = {n: np.concatenate([p.provenance[n] for p in parts]) for n in sorted(shared)}
    return Archetype(first.paths, first.type_name, first.schemas, batch, codes)


def _added(context: Context, archetype: Archetype, name: str, value: Any) -> Change:
    return _change(context, archetype, name, "added", "absent", str(value))


def _change(context: Context, archetype: Archetype, name: str, change: str, before: str, after: str) -> Change:
    path = context.stage.paths.path_string(int(archetype.path_ids[0])) if len(archetype) else ""
    return {"path": path, "column": name, "change": change, "before": before, "after": after, "rows": len(archetype)}
