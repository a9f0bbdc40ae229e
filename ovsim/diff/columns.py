"""The columns level: what stands in the joint rows of a stage, or in USD itself, flattened."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ovsim import contract
from ovsim.contract.joints import JOINT_TYPES
from ovsim.diff.comparator import LEFT_ONLY, RIGHT_ONLY, Difference
from ovsim.diff.flat import Flat, FlatColumn, objects, spread
from ovsim.stage import Archetype, Ragged, Stage
from ovsim.stage import columns as col
from ovsim.stage.archetype import PRIM_TYPE, SCHEMAS


def of_stage(stage: Stage, custom_joints: Sequence[str] = ()) -> Flat:
    """The joint rows of a stage: tokens as texts, relationships as tuples of path strings, the rest as numbers."""
    kept = [a for a in stage.archetypes if a.type_name in (*JOINT_TYPES, *custom_joints) and len(a)]
    ids = np.concatenate([a.path_ids for a in kept]) if kept else np.empty(0, np.uint64)
    out = Flat(stage.paths.path_strings(ids).to_pylist())
    parts: dict[str, list[tuple[FlatColumn, np.ndarray[Any, Any]]]] = {}
    first = 0
    for a in kept:
        rows = np.arange(first, first + len(a))
        first += len(a)
        for name, column in _columns(a).items():
            parts.setdefault(name, []).append((column, rows))
    for name, found in parts.items():
        out.columns[name] = _merge(found, len(out.paths))
    return out


def of_attributes(joints: Mapping[str, Mapping[str, tuple[Any, str]]]) -> Flat:
    """Joints as `consumer.usd.joint_attributes` gives them."""
    out = Flat(list(joints))
    rows: dict[str, list[tuple[int, Any, str]]] = {}
    for row, found in enumerate(joints.values()):
        for name, (value, kind) in found.items():
            rows.setdefault(name, []).append((row, value, kind))
    for name, cells in rows.items():
        at = np.array([c[0] for c in cells], np.int64)
        part = FlatColumn(_numbers([c[1] for c in cells]), np.ones(at.size, np.bool_), objects(c[2] for c in cells))
        out.columns[name] = spread(part, at, len(out.paths))
    return out


def unpublished(difference: Difference) -> bool:
    """Whether a difference of the columns level is a USD attribute that population never publishes: a name that no physics schema has."""
    from producer import schemas

    if difference.field in ("", PRIM_TYPE, SCHEMAS) or difference.kind not in (LEFT_ONLY, RIGHT_ONLY):
        return False
    return difference.field not in schemas.load().known and not difference.field.startswith("material:binding")


def _numbers(values: list[Any]) -> np.ndarray[Any, Any]:
    try:
        if not any(isinstance(v, str) or (isinstance(v, tuple) and (not v or isinstance(v[0], str))) for v in values):
            return np.array(values, np.float64)
    except (TypeError, ValueError):
        pass
    return objects(values)


def _columns(a: Archetype) -> dict[str, FlatColumn]:
    n, every = len(a), np.ones(len(a), np.bool_)
    out = {PRIM_TYPE: FlatColumn(objects([a.type_name] * n), every, objects(["token"] * n))}
    if a.schemas:
        out[SCHEMAS] = FlatColumn(objects([a.schemas] * n), every, objects(["tokens"] * n))
    for name in a.names:
        values, kind = _values(a, name)
        out[name] = FlatColumn(values, every, objects([kind] * n))
    return out


def _values(a: Archetype, name: str) -> tuple[np.ndarray[Any, Any], str]:
    field = a.field(name)
    semantic, got = col.semantic(field), a.values(name)
    if isinstance(got, Ragged):
        if semantic in (col.RELATIONSHIP, col.PATH_ID):
            good = got.values.size == 0 or int(got.values.max()) < a.paths.path_count
            texts = a.paths.path_strings(got.values).to_pylist() if good else [f"<path id {v}>" for v in got.values.tolist()]
        elif semantic == col.TOKEN_ID:
            texts = [_token(a, int(t)) for t in got.values]
        else:
            texts = got.values.tolist()
        rows = objects(tuple(texts[i:j]) for i, j in itertools.pairwise(got.offsets.tolist()))
        return rows, "targets" if semantic == col.RELATIONSHIP else "token[]" if semantic == col.TOKEN_ID else _kind(field.type)
    column = contract.load().find(name)
    if got.dtype == np.uint64 and got.ndim == 1 and (semantic == col.TOKEN_ID or (column is not None and column.semantic == col.TOKEN_ID)):
        return objects(_token(a, int(t)) for t in got), "token" if semantic == col.TOKEN_ID else "string"
    if got.dtype == np.uint64 and got.ndim == 1 and not semantic and column is None:
        return objects(_token(a, int(t)) for t in got), "string"  # population stores strings so, and a joint has no other 64-bit attribute
    if got.dtype == np.uint64 and semantic == col.PATH_ID:
        return objects(a.paths.path_strings(got).to_pylist()), "path"
    return got.astype(np.float64), _kind(field.type)


def _token(a: Archetype, token: int) -> str:
    return a.paths.token_string(token) if token < a.paths.token_count else f"<token id {token}>"


def _kind(t: pa.DataType) -> str:
    if pa.types.is_large_list(t) or pa.types.is_list(t):
        return f"{_kind(t.value_type)}[]"
    return f"{t.value_type}[{t.list_size}]" if pa.types.is_fixed_size_list(t) else str(t)


def _merge(parts: list[tuple[FlatColumn, np.ndarray[Any, Any]]], n: int) -> FlatColumn:
    shapes = {(p.values.dtype == object, p.values.shape[1:]) for p, _ in parts}
    if len(shapes) > 1:
        parts = [(FlatColumn(objects(tuple(v) if np.ndim(v) else v for v in p.values.tolist()), p.valid, p.kinds), r) for p, r in parts]
    out = spread(*parts[0], n)
    for part, rows in parts[1:]:
        out.values[rows], out.valid[rows] = part.values, part.valid
        if out.kinds is not None and part.kinds is not None:
            out.kinds[rows] = part.kinds
    return out
