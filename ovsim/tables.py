"""Tables by column name: Parquet or Arrow IPC files whose rows are prims, as a Stage.

A table has a row a prim and these columns:

* `path`: the prim's absolute path, strings, distinct; `/` for the stage metadata.
* `usd-prim-type`: the type token, strings; null or missing for a typeless prim.
* `usd-schemas`: the applied schemas, lists of strings; null or missing for none.
* every further column under its contract name. A null means that the prim has no such column. Tokens are strings, relationships lists of path
  strings (or one string), vectors and matrices lists of numbers of one length, bools bool or uint8.

Several files (a directory of tables) are read as one stage; a prim may not occur twice.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ovsim import contract
from ovsim.errors import ColumnError, PathError, TableError
from ovsim.stage import Stage, StageBuilder
from ovsim.stage import columns as col
from ovsim.stage.archetype import PRIM_TYPE, SCHEMAS

PATH = "path"
PARQUET = (".parquet", ".pq")
IPC = (".arrow", ".feather", ".ipc")
SUFFIXES = PARQUET + IPC


def is_table(where: str | os.PathLike[str]) -> bool:
    """Whether a file name says that it is a table, or a directory holds some."""
    place = Path(where)
    return bool(_files(place)) if place.is_dir() else place.suffix.lower() in SUFFIXES


def read_table(where: str | os.PathLike[str]) -> pa.Table:
    """One Parquet or Arrow IPC file (file or stream format). TableError when it cannot be read."""
    place = Path(where)
    try:
        if place.suffix.lower() in PARQUET:
            import pyarrow.parquet as pq  # loads slowly, and most commands read no Parquet

            return pq.read_table(place)
        data = pa.memory_map(str(place))
        try:
            table = pa.ipc.open_file(data).read_all()
        except pa.ArrowInvalid:
            data.seek(0)
            table = pa.ipc.open_stream(data).read_all()
        table.validate(full=True)
        return table
    except (OSError, pa.ArrowException) as e:
        raise TableError(f"{place} is not a readable table: {e}") from e


def read_stage(where: str | os.PathLike[str]) -> Stage:
    """The prims of a table file, or of all table files of a directory, as a Stage.

    TableError when a file is unreadable, has no `path` column of strings, or repeats a path. A column that cannot be stored becomes a diagnostic
    (`wrong-lanes`, `wrong-type`) and is left out, which is what the parser makes of it.
    """
    place = Path(where)
    files = _files(place) if place.is_dir() else [place]
    stage = stage_of([(str(f), read_table(f)) for f in files])
    stage.metadata.update(source=str(place), route="table")
    return stage


def stage_of(tables: Sequence[tuple[str, pa.Table]]) -> Stage:
    """Named tables in memory as a Stage; the names stand in messages. Errors as `read_stage`."""
    builder = StageBuilder()
    for name, table in tables:
        _add(builder, name, table)
    try:
        return builder.finish()
    except PathError as e:
        raise TableError(f"{', '.join(n for n, _ in tables)}: {e}") from e


def _files(directory: Path) -> list[Path]:
    return sorted(f for f in directory.iterdir() if f.suffix.lower() in SUFFIXES)


def _add(builder: StageBuilder, name: str, table: pa.Table) -> None:
    if PATH not in table.schema.names:
        had = ", ".join(table.schema.names[:8]) or "none"
        raise TableError(f"{name} has no column `{PATH}` with the prim paths (it has {had}); add one, strings like /World/robot/joint")
    if len(set(table.schema.names)) != len(table.schema.names):
        twice = next(n for n in table.schema.names if table.schema.names.count(n) > 1)
        raise TableError(f"{name} has two columns called {twice}")
    paths = _strings(name, table, PATH)
    lost = next((i for i, p in enumerate(paths) if p is None), None)
    if lost is not None:
        raise TableError(f"{name}: row {lost} has no {PATH}")
    _distinct(name, paths)
    types = _strings(name, table, PRIM_TYPE) if PRIM_TYPE in table.schema.names else [None] * len(paths)
    schemas = _schemas(name, table)
    columns = {n: _array(table, n) for n in sorted(table.schema.names) if n not in (PATH, PRIM_TYPE, SCHEMAS)}
    present = {n: np.asarray(pc.is_valid(a)) for n, a in columns.items()}
    keys: dict[tuple[Any, ...], list[int]] = {}
    masks = np.column_stack(list(present.values())) if present else np.zeros((len(paths), 0), np.bool_)
    for row, mask in enumerate(masks):
        keys.setdefault((types[row] or "", schemas[row], mask.tobytes()), []).append(row)
    for (type_name, listed, _), rows in keys.items():
        at = np.array(rows, np.int64)
        named = {n: a.take(pa.array(at)) for n, a in columns.items() if present[n][at[0]]}
        stored = {n: s for n, a in named.items() if (s := _stored(builder, n, a, [paths[i] for i in rows])) is not None}
        try:
            builder.add(type_name, [str(paths[i]) for i in rows], stored, listed)
        except (PathError, ColumnError) as e:
            raise TableError(f"{name}: {e}") from e


def _array(table: pa.Table, name: str) -> pa.Array:
    got = table.column(name)
    array = got.chunk(0) if got.num_chunks == 1 else got.combine_chunks()
    array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _strings(name: str, table: pa.Table, column: str) -> list[str | None]:
    array = _array(table, column)
    if not _is_text(array.type) and not pa.types.is_null(array.type):
        raise TableError(f"{name}: the column {column} holds {array.type}, not strings; ids mean nothing outside their stage")
    return array.to_pylist()


def _schemas(name: str, table: pa.Table) -> list[tuple[str, ...]]:
    if SCHEMAS not in table.schema.names:
        return [()] * table.num_rows
    array = _array(table, SCHEMAS)
    if pa.types.is_null(array.type):
        return [()] * table.num_rows
    if not _is_list(array.type) or not _is_text(array.type.value_type):
        raise TableError(f"{name}: the column {SCHEMAS} holds {array.type}, not lists of strings")
    return [tuple(sorted({s for s in row if s})) if row else () for row in array.to_pylist()]


def _distinct(name: str, paths: Sequence[str | None]) -> None:
    seen: set[str | None] = set()
    for path in paths:
        if path in seen:
            raise TableError(f"{name}: {path} has more than one row; a prim has one row")
        seen.add(path)


def _is_text(t: pa.DataType) -> bool:
    return bool(pa.types.is_string(t) or pa.types.is_large_string(t))


def _is_list(t: pa.DataType) -> bool:
    return bool(pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t))


def _stored(builder: StageBuilder, name: str, array: pa.Array, paths: Sequence[Any]) -> Any:
    """The column in a form that the builder stores with its own type; None, with a diagnostic, when there is no such form."""
    spec = contract.load().find(name)
    t = array.type
    if pa.types.is_boolean(t):
        return array.cast(pa.uint8())
    if _is_text(t):
        if spec is not None and spec.semantic == col.RELATIONSHIP:
            return [[v] for v in array.to_pylist()]
        if spec is None or spec.semantic == col.TOKEN_ID:
            return array.to_pylist()
        return _refuse(builder, "wrong-type", name, f"strings where {spec.type} is declared", paths)
    if not _is_list(t):
        if pa.types.is_integer(t) or pa.types.is_floating(t):
            return array
        return _refuse(builder, "wrong-type", name, f"{t} cannot be a column", paths)
    if _is_text(t.value_type):
        if spec is not None and spec.semantic == col.RELATIONSHIP:
            return array.to_pylist()
        if spec is None or spec.semantic == col.TOKEN_ID:
            rows = array.to_pylist()
            return col.ragged(np.cumsum([0, *map(len, rows)]), builder.paths.token_many(str(t) for r in rows for t in r))
    if spec is not None and spec.array:
        return array
    return _vector(builder, name, spec, array, paths)


def _vector(builder: StageBuilder, name: str, spec: contract.Column | None, array: pa.Array, paths: Sequence[Any]) -> Any:
    lanes = set(pc.list_value_length(array).to_pylist())
    want = spec.lanes if spec is not None else next(iter(lanes), 0)
    if lanes != {want} or array.flatten().null_count:
        shape = f"{' or '.join(str(n) for n in sorted(lanes))} lanes" if lanes != {want} else "nulls inside"
        return _refuse(builder, "wrong-lanes", name, f"{shape} where {spec.type if spec else 'one number of lanes'} is declared", paths)
    inner = array.type.value_type
    if not (pa.types.is_integer(inner) or pa.types.is_floating(inner)):
        return _refuse(builder, "wrong-type", name, f"{array.type} where {spec.type if spec else 'numbers'} is declared", paths)
    flat: npt.NDArray[Any] = np.asarray(array.flatten())
    return col.dense(flat.reshape(len(array), want)) if want > 1 else col.dense(flat)


def _refuse(builder: StageBuilder, code: str, name: str, what: str, paths: Sequence[Any]) -> None:
    more = f" ({len(paths)} rows, this is the first)" if len(paths) > 1 else ""
    message = f"{what}; the parser reads no such column, so it counts as absent: write it as declared{more}"
    builder.diagnostics.add(code, "error", message, str(paths[0]), name)
