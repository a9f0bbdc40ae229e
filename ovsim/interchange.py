"""The interchange document "columns": every row and column of a stage in the readable form that other tools compare.

`{"file": FILE, "prims": {PATH: {COLUMN: VALUE}}}`, ids as their strings, relationships as lists of paths, vectors, quaternions and matrices as flat
lists, non-finite numbers as the strings "inf", "-inf", "nan". Built-ins (path, parent, children) and the composed world matrix are left out.
Texts are made and joined as Arrow arrays, a column at a time: no cell is ever a Python object.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ovsim.stage import PathDictionary, Ragged, Stage
from ovsim.stage import columns as col
from ovsim.stage.archetype import PRIM_TYPE, SCHEMAS, Archetype

_TEXT = frozenset({col.TOKEN_ID, "ASSET_PATH_ID", "PATH_EXPRESSION_STRING"})
_PATHS = frozenset({col.PATH_ID, col.RELATIONSHIP})


def columns_document(stage: Stage, file: str) -> dict[str, Any]:
    """The document of a stage as Python values; `file` is the name to show."""
    document: dict[str, Any] = json.loads(columns_line(stage, file))
    return document


def columns_line(stage: Stage, file: str) -> str:
    """The document as one line of JSON, prims in path order, without a newline."""
    tables = [_rows(a) for a in stage.archetypes if len(a)]
    body = ""
    if tables:
        paths = pa.concat_arrays([t[0] for t in tables])
        rows = pa.concat_arrays([t[1] for t in tables])
        body = ", ".join(rows.take(pc.array_sort_indices(paths)).to_pylist())
    return f'{{"file": {json.dumps(file)}, "prims": {{{body}}}}}'


def _rows(archetype: Archetype) -> tuple[pa.Array, pa.Array]:
    """Quoted paths and `"path": {columns}` texts of an archetype, shape (n,) each."""
    ids = archetype.path_ids
    constants: dict[str, str] = {}
    if archetype.type_name:
        constants[PRIM_TYPE] = json.dumps(archetype.type_name)
    if archetype.schemas:
        constants[SCHEMAS] = json.dumps(list(archetype.schemas))
    parts: list[Any] = [_path_texts(archetype.paths, ids)]
    lead = ": {"
    for name in sorted([*archetype.names, *constants]):
        parts.append(_text(f"{lead}{json.dumps(name)}: " + constants.get(name, "")))
        if name not in constants:
            parts.append(_cells(archetype.paths, archetype.field(name), archetype.column(name)))
        lead = ", "
    parts.append(_text("}" if len(parts) > 1 else ": {}"))
    return parts[0], pc.binary_join_element_wise(*parts, _text(""))


def _cells(paths: PathDictionary, field: pa.Field, array: pa.Array) -> pa.Array:
    """JSON texts of a column, shape (n,)."""
    view = col.view(array)
    if not isinstance(view, Ragged):
        return _dense(paths, field, view)
    return _bracket(view.offsets, _dense(paths, field, view.values))


def _dense(paths: PathDictionary, field: pa.Field, values: npt.NDArray[Any]) -> pa.Array:
    """JSON texts of dense values, shape (n,) or (n, k)."""
    flat = _flat(paths, field, values.reshape(-1))
    if values.ndim == 1:
        return flat
    return _bracket(np.arange(len(values) + 1, dtype=np.int64) * values.shape[1], flat)


def _flat(paths: PathDictionary, field: pa.Field, values: npt.NDArray[Any]) -> pa.Array:
    metadata = field.metadata or {}
    semantic = col.semantic(field)
    if semantic in _PATHS:
        return _path_texts(paths, values)
    if semantic in _TEXT or metadata.get(b"type") == b"string":
        tokens = paths.token_strings()
        return _by_id(values, lambda ids: [tokens[i] for i in ids.tolist()])
    if values.dtype == np.uint8 and metadata.get(b"type") != b"uchar":
        return pc.if_else(pa.array(values != 0), _text("true"), _text("false"))
    if values.dtype.kind != "f":
        return pa.array(values).cast(pa.large_string())
    finite = np.isfinite(values)
    texts = pa.array(values.astype(np.float64)).cast(pa.large_string())
    if finite.all():
        return texts
    return pc.if_else(pa.array(finite), texts, pc.binary_join_element_wise(_text('"'), texts, _text('"'), _text("")))


def _path_texts(paths: PathDictionary, ids: npt.NDArray[Any]) -> pa.Array:
    return _by_id(ids, lambda unique: paths.path_strings(unique).to_pylist())


def _by_id(ids: npt.NDArray[Any], texts: Any) -> pa.Array:
    """JSON strings of ids, each distinct id spelled once."""
    unique, inverse = np.unique(ids, return_inverse=True)
    spelled = pa.array([json.dumps(t) for t in texts(unique)], pa.large_string())
    return spelled.take(pa.array(inverse.reshape(-1)))


def _bracket(offsets: npt.NDArray[np.int64], texts: pa.Array) -> pa.Array:
    """`[a, b, ...]` of each run of texts."""
    joined = pc.binary_join(pa.LargeListArray.from_arrays(pa.array(offsets), texts), _text(", "))
    return pc.binary_join_element_wise(_text("["), joined, _text("]"), _text(""))


def _text(value: str) -> pa.Scalar:
    return pa.scalar(value, pa.large_string())
