"""Whether two stages say the same: rows by path, ids resolved to texts, values bit for bit, provenance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.stage import columns as col
from ovsim.stage.archetype import Archetype
from ovsim.stage.stage import Stage

_Key = tuple[str, tuple[str, ...], tuple[tuple[str, str, str], ...]]


class Difference(NamedTuple):
    """One difference: `path` of a row or "", `column` or "", and what the two stages say."""

    path: str
    column: str
    left: str
    right: str


def differences(left: Stage, right: Stage, limit: int = 20) -> list[Difference]:
    """The first `limit` differences between two stages; empty when they are equal. Order of rows and ids themselves do not matter."""
    out: list[Difference] = []
    for found in _differences(left, right):
        out.append(found)
        if len(out) >= limit:
            break
    return out


def stage_equal(left: Stage, right: Stage) -> bool:
    """Whether `differences` finds none."""
    return not differences(left, right, 1)


class _Table(NamedTuple):
    """Rows of one kind in path order: paths, and by column (Arrow values with ids resolved, provenance or None)."""

    paths: list[str]
    columns: dict[str, tuple[pa.Array, npt.NDArray[np.uint8] | None]]


def _differences(left: Stage, right: Stage) -> Iterator[Difference]:
    kinds = [_by_kind(s) for s in (left, right)]
    owner = [{p: key for key, parts in k.items() for a in parts for p in _paths(a)} for k in kinds]
    for path in sorted(owner[0].keys() | owner[1].keys()):
        a, b = owner[0].get(path), owner[1].get(path)
        if a != b:
            yield from _kind_difference(path, a, b)
    for key in kinds[0].keys() & kinds[1].keys():
        yield from _table_differences(_table(kinds[0][key]), _table(kinds[1][key]))


def _kind_difference(path: str, a: _Key | None, b: _Key | None) -> Iterator[Difference]:
    if a is None or b is None:
        yield Difference(path, "", "no row" if a is None else "a row", "no row" if b is None else "a row")
        return
    if a[:2] != b[:2]:
        yield Difference(path, "", f"{a[0]} {list(a[1])}", f"{b[0]} {list(b[1])}")
    ours, theirs = ({n: f"{t} {m}" for n, t, m in k[2]} for k in (a, b))
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            yield Difference(path, name, ours.get(name, "no column"), theirs.get(name, "no column"))


def _by_kind(stage: Stage) -> dict[_Key, list[Archetype]]:
    out: dict[_Key, list[Archetype]] = {}
    for a in stage.archetypes:
        fields = tuple((f.name, str(f.type), str(sorted((f.metadata or {}).items()))) for f in (a.field(n) for n in a.names))
        out.setdefault((a.type_name, a.schemas, tuple(sorted(fields))), []).append(a)
    return out


def _paths(a: Archetype) -> list[str]:
    return a.paths.path_strings(a.path_ids).to_pylist()


def _table(parts: list[Archetype]) -> _Table:
    paths = [p for a in parts for p in _paths(a)]
    order = np.array(sorted(range(len(paths)), key=paths.__getitem__), np.int64)
    columns = {}
    for name in parts[0].names:
        values = pa.concat_arrays([_resolved(a, name) for a in parts]).take(pa.array(order))
        codes = [a.provenance.get(name) for a in parts]
        known = None if any(c is None for c in codes) else np.concatenate([c for c in codes if c is not None])[order]
        columns[name] = (values, known)
    return _Table([paths[i] for i in order], columns)


def _resolved(a: Archetype, name: str) -> pa.Array:
    """Column with ids as texts, floats as their bits."""
    field, array = a.field(name), a.column(name)
    semantic = col.semantic(field)
    values = col.view(array)
    flat = values.values if isinstance(values, col.Ragged) else values
    made = _plain(a, flat, semantic, pa.types.is_uint64(_innermost(field.type)))
    if isinstance(values, col.Ragged):
        return pa.LargeListArray.from_arrays(pa.array(values.offsets), made)
    return made


def _plain(a: Archetype, flat: npt.NDArray[Any], semantic: str, is_id: bool) -> pa.Array:
    if semantic in (col.PATH_ID, col.RELATIONSHIP):
        made = a.paths.path_strings(flat.reshape(-1))
    elif is_id and (semantic or flat.ndim == 2 or _are_tokens(a, flat)):
        made = pa.array([a.paths.token_string(int(t)) for t in flat.reshape(-1)], pa.large_string())
    else:
        bits = flat.view(f"u{flat.dtype.itemsize}") if flat.dtype.kind == "f" else flat
        made = pa.array(np.ascontiguousarray(bits).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(made, flat.shape[1]) if flat.ndim == 2 else made


def _are_tokens(a: Archetype, flat: npt.NDArray[Any]) -> bool:
    """A uint64 without a semantic is an authored string where all its numbers are token ids."""
    return bool(flat.size == 0 or int(flat.max()) < a.paths.token_count)


def _innermost(type_: pa.DataType) -> pa.DataType:
    while hasattr(type_, "value_type"):
        type_ = type_.value_type
    return type_


def _table_differences(a: _Table, b: _Table) -> Iterator[Difference]:
    if a.paths != b.paths:
        return  # told of already, row by row
    for name, (ours, our_code) in a.columns.items():
        theirs, their_code = b.columns[name]
        if not ours.equals(theirs):
            for i, (x, y) in enumerate(zip(ours, theirs)):
                if x.as_py() != y.as_py():
                    yield Difference(a.paths[i], name, str(x.as_py()), str(y.as_py()))
        if (our_code is None) != (their_code is None):
            yield Difference(a.paths[0], name, "provenance" if our_code is not None else "no provenance", "the opposite")
        elif our_code is not None and their_code is not None:
            for i in np.flatnonzero(our_code != their_code).tolist():
                yield Difference(a.paths[i], name, f"provenance {our_code[i]}", f"provenance {their_code[i]}")
