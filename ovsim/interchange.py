"""The interchange document "columns": every row and column of a stage in the readable form that other tools compare.

`{"file": FILE, "prims": {PATH: {COLUMN: VALUE}}}`, ids as their strings, relationships as lists of paths, vectors, quaternions and matrices as flat
lists, non-finite numbers as the strings "inf", "-inf", "nan". Built-ins (path, parent, children) and the composed world matrix are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ovsim.stage import PathDictionary, Ragged, Stage
from ovsim.stage import columns as col
from ovsim.stage.archetype import PRIM_TYPE, SCHEMAS, Archetype

_TEXT = frozenset({col.TOKEN_ID, "ASSET_PATH_ID", "PATH_EXPRESSION_STRING"})
_PATHS = frozenset({col.PATH_ID, col.RELATIONSHIP})


def columns_document(stage: Stage, file: str) -> dict[str, Any]:
    """The document of a stage; `file` is the name to show."""
    prims: dict[str, dict[str, Any]] = {}
    for archetype in stage.archetypes:
        paths = stage.paths.path_strings(archetype.path_ids).to_pylist()
        names, columns = _table(archetype)
        for path, *values in zip(paths, *columns):
            prims[path] = dict(zip(names, values))
    return {"file": file, "prims": {p: prims[p] for p in sorted(prims)}}


def columns_line(stage: Stage, file: str) -> str:
    """The document as one line of JSON, without a newline. Joined from column pieces: no row is ever a Python object."""
    rows: list[tuple[str, str]] = []
    for archetype in stage.archetypes:
        paths = stage.paths.path_strings(archetype.path_ids).to_pylist()
        names, columns = _texts(archetype)
        if not names:
            rows.extend((p, f"{json.dumps(p)}: {{}}") for p in paths)
            continue
        head = [json.dumps(n) + ": " for n in names]
        pieces = [[h + v for v in c] for h, c in zip(head, columns)]
        rows.extend((p, f"{json.dumps(p)}: {{{', '.join(cells)}}}") for p, *cells in zip(paths, *pieces))
    rows.sort()
    return f'{{"file": {json.dumps(file)}, "prims": {{{", ".join(text for _, text in rows)}}}}}'


def _table(archetype: Archetype) -> tuple[list[str], list[list[Any]]]:
    names, columns = [], []
    for name, values in _columns(archetype):
        names.append(name)
        columns.append(values)
    return names, columns


def _texts(archetype: Archetype) -> tuple[list[str], list[list[str]]]:
    names, columns = [], []
    for name, values in _columns(archetype):
        names.append(name)
        texts: dict[Any, str] = {}
        if values and isinstance(values[0], (list, dict)):
            columns.append([json.dumps(v) for v in values])
            continue
        for v in set(values):
            texts[v] = json.dumps(v)
        columns.append([texts[v] for v in values])
    return names, columns


def _columns(archetype: Archetype) -> Iterator[tuple[str, list[Any]]]:
    """Name and row values of every column, by name, type and schemas included."""
    n = len(archetype)
    extra: dict[str, Any] = {}
    if archetype.type_name:
        extra[PRIM_TYPE] = archetype.type_name
    if archetype.schemas:
        extra[SCHEMAS] = list(archetype.schemas)
    for name in sorted([*archetype.names, *extra]):
        if name in extra:
            yield name, [extra[name]] * n
        else:
            yield name, _values(archetype.paths, archetype.field(name), archetype.column(name))


def _values(paths: PathDictionary, field: pa.Field, array: pa.Array) -> list[Any]:
    view = col.view(array)
    if isinstance(view, Ragged):
        flat = _flat(paths, field, view.values)
        cuts = view.offsets.tolist()
        return [flat[a:b] for a, b in pairwise(cuts)]
    return _flat(paths, field, view)


def _flat(paths: PathDictionary, field: pa.Field, values: Any) -> list[Any]:
    """Cells of a dense array, shape (n,) or (n, k), as JSON values."""
    semantic = col.semantic(field)
    metadata = field.metadata or {}
    if semantic in _PATHS:
        unique, inverse = np.unique(values, return_inverse=True)
        texts = np.array(paths.path_strings(unique).to_pylist(), object)
        return list(texts[inverse.reshape(-1)]) if unique.size else []
    if values.dtype == np.uint64 and (semantic in _TEXT or _is_string(field)):
        texts = np.array(paths.token_strings(), object)[values.astype(np.int64)]
        return [list(row) for row in texts] if texts.ndim > 1 else list(texts)
    if values.dtype == np.uint8 and metadata.get(b"type") != b"uchar":
        return list(values.astype(bool).tolist())
    cells = list(values.tolist())
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        cells = [[_number(x) for x in row] for row in cells] if values.ndim > 1 else [_number(x) for x in cells]
    return cells


def _is_string(field: pa.Field) -> bool:
    return (field.metadata or {}).get(b"type") == b"string"


def _number(x: float) -> float | str:
    if math.isfinite(x):
        return x
    return "nan" if math.isnan(x) else ("inf" if x > 0 else "-inf")
