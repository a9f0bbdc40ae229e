"""Tables of the columns level: what population writes on each joint row, ids as text, one table a joint type.

The schema is the contract's: every column that the joint type reads. A column that the stage does not have is null. A column that the contract does
not know for the type, or that was authored with another type than the contract's, stands in `extra` (name, Arrow type, value as text), so nothing
is lost and nothing is cast.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ovsim.contract import Column
from ovsim.contract.joints import JOINT_TYPES
from ovsim.dataset.schemas import CUSTOM, SLICE, STRINGS, arrow_type, columns_table, contract_columns, schema
from ovsim.stage import Archetype, PathDictionary, Ragged, Stage
from ovsim.stage import columns as col


def blocks(stage: Stage, file: str, custom: tuple[str, ...] = ()) -> Iterator[tuple[str, pa.Table]]:
    """Columns tables of a stage in slices of at most `SLICE` rows, rows in byte order of the path: (table name, rows)."""
    for joint_type in (*JOINT_TYPES, *custom):
        kind = joint_type if joint_type in JOINT_TYPES else CUSTOM
        archetypes = list(stage.with_type(joint_type))
        if not archetypes:
            continue
        paths = stage.paths.path_strings(np.concatenate([a.path_ids for a in archetypes]))
        order = pc.sort_indices(paths).to_numpy().astype(np.int64)
        owner = np.repeat(np.arange(len(archetypes)), [len(a) for a in archetypes])
        first = np.cumsum([0, *(len(a) for a in archetypes)])
        for start in range(0, order.size, SLICE):
            rows = order[start : start + SLICE]
            of = owner[rows]
            parts = [_table(archetypes[k], rows[of == k] - first[k], kind, file) for k in np.unique(of)]
            back = np.argsort(np.argsort(of, kind="stable"), kind="stable")
            yield columns_table(kind), pa.concat_tables(parts).take(pa.array(back)) if len(parts) > 1 else parts[0]


def _table(archetype: Archetype, rows: npt.NDArray[np.int64], kind: str, file: str) -> pa.Table:
    n = rows.size
    want = contract_columns(kind)
    out: dict[str, pa.Array] = {
        "file": pa.repeat(pa.scalar(file, pa.string()), n),
        "path": archetype.paths.path_strings(archetype.path_ids[rows]).cast(pa.string()),
        "type": pa.repeat(pa.scalar(archetype.type_name, pa.string()), n),
        "schemas": _same_list(archetype.schemas, n),
    }
    whole = n == len(archetype) and bool((np.diff(rows) == 1).all())
    strange = []
    for name in archetype.names:
        field, values = archetype.field(name), archetype.column(name)
        values = values if whole else col.take(values, rows)
        spec = want.get(name)
        if spec is not None and _fits(spec, field):
            out[name] = _plain(archetype.paths, field, values, spec)
        else:
            strange.append((name, field, values))
    out["extra"] = _extra(archetype.paths, strange, n)
    target = schema(columns_table(kind))
    return pa.Table.from_arrays([out[f.name] if f.name in out else pa.nulls(n, f.type) for f in target], schema=target)


def _fits(spec: Column, field: pa.Field) -> bool:
    """Whether a column has the contract's type. A string where a token is declared (uint64 without semantic) counts: the parser accepts it."""
    kind = col.semantic(field)
    if spec.semantic == col.TOKEN_ID and not spec.array:
        return field.type == pa.uint64() and kind in (col.TOKEN_ID, "")
    if spec.semantic in (col.TOKEN_ID, col.PATH_ID, col.RELATIONSHIP):
        return kind == spec.semantic
    if spec.dtype == "bool8":
        return field.type == pa.uint8()
    want = arrow_type(spec)
    if pa.types.is_fixed_size_list(want):
        return pa.types.is_fixed_size_list(field.type) and field.type.list_size == want.list_size and field.type.value_type == want.value_type
    if pa.types.is_list(want):
        return pa.types.is_large_list(field.type) and field.type.value_type == want.value_type
    return field.type == want


def _plain(paths: PathDictionary, field: pa.Field, values: pa.Array, spec: Column) -> pa.Array:
    """A column in the dataset's type: ids as text, bool8 as bool, the rest as it is."""
    if spec.semantic in (col.TOKEN_ID, col.PATH_ID, col.RELATIONSHIP):
        return _texts(paths, values, spec.semantic)
    if spec.dtype == "bool8":
        return pa.array(values.to_numpy(zero_copy_only=True) != 0)
    want = arrow_type(spec)
    if pa.types.is_fixed_size_list(want):
        return pa.FixedSizeListArray.from_arrays(values.flatten(), type=want)
    return values.cast(want)


def _texts(paths: PathDictionary, values: pa.Array, semantic: str) -> pa.Array:
    view = col.view(values)
    if isinstance(view, Ragged):
        flat = _texts(paths, pa.array(np.ascontiguousarray(view.values)), semantic)
        return pa.ListArray.from_arrays(pa.array(view.offsets.astype(np.int32)), flat, type=STRINGS)
    if semantic == col.TOKEN_ID:
        return _tokens(paths, view)
    return paths.path_strings(view).cast(pa.string())


def _tokens(paths: PathDictionary, ids: npt.NDArray[Any]) -> pa.Array:
    each, back = np.unique(ids, return_inverse=True)
    return pa.array([paths.token_string(int(i)) for i in each], pa.string()).take(pa.array(back.reshape(-1)))


def _same_list(texts: tuple[str, ...], n: int) -> pa.Array:
    """The same list of strings in each of n rows."""
    flat = pa.array(texts, pa.string()).take(pa.array(np.tile(np.arange(len(texts)), n)))
    return pa.ListArray.from_arrays(pa.array(np.arange(n + 1, dtype=np.int32) * np.int32(len(texts))), flat, type=STRINGS)


def _extra(paths: PathDictionary, strange: list[tuple[str, pa.Field, pa.Array]], n: int) -> pa.Array:
    """List of (name, type, value) of each row: the columns of an archetype are the same in every row, so the lists have one length."""
    k = len(strange)
    flat = schema("columns_PhysicsJoint").field("extra").type.value_type
    if not k:
        empty = pa.array([], flat)
        return pa.ListArray.from_arrays(pa.array(np.zeros(n + 1, np.int32)), empty, type=pa.list_(pa.field("element", flat)))
    order = pa.array(np.arange(k * n).reshape(k, n).T.reshape(-1))  # column-wise to row-wise
    values = pa.concat_arrays([_text(paths, f, v) for _, f, v in strange]).take(order)
    numbers = pa.array(np.tile(np.arange(k), n))
    names = pa.array([name for name, _, _ in strange], pa.string()).take(numbers)
    types = pa.array([_type(f) for _, f, _ in strange], pa.string()).take(numbers)
    structs = pa.StructArray.from_arrays([names, types, values], fields=list(flat))
    offsets = pa.array(np.arange(n + 1, dtype=np.int32) * np.int32(k))
    return pa.ListArray.from_arrays(offsets, structs, type=pa.list_(pa.field("element", flat)))


def _type(field: pa.Field) -> str:
    kind = col.semantic(field)
    if kind == col.TOKEN_ID:
        return "token"
    return "path" if kind else str(field.type)


def _text(paths: PathDictionary, field: pa.Field, values: pa.Array) -> pa.Array:
    """Values as text: a number as Arrow prints it, a list as `[a, b]`, ids as what they name."""
    kind = col.semantic(field)
    view = col.view(values)
    if isinstance(view, Ragged):
        flat = _text(paths, pa.field(field.name, pa.uint64(), metadata=field.metadata), pa.array(_first_lane(view.values)))
        lists: Any = pa.ListArray.from_arrays(pa.array((view.offsets * _lanes(view.values)).astype(np.int32)), flat)
        return _bracket(lists)
    if kind in (col.TOKEN_ID, col.PATH_ID, col.RELATIONSHIP):
        return _texts(paths, values, kind)
    if view.ndim == 2:
        flat = pa.array(np.ascontiguousarray(view.reshape(-1))).cast(pa.string())
        return _bracket(pa.ListArray.from_arrays(pa.array(np.arange(len(view) + 1, dtype=np.int32) * np.int32(view.shape[1])), flat))
    return pa.array(np.ascontiguousarray(view)).cast(pa.string())


def _lanes(values: npt.NDArray[Any]) -> int:
    return 1 if values.ndim == 1 else int(values.shape[1])


def _first_lane(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(values.reshape(-1))


def _bracket(lists: pa.ListArray) -> pa.Array:
    return pc.binary_join_element_wise("[", pc.binary_join(lists, ", "), "]", "")
