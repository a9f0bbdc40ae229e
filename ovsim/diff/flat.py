"""Tables with a row a joint, flattened so that any two can be compared column by column (structs to dotted names, axis lists to one name an axis)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ovsim.errors import TableError

PATH = "path"
_AXIS = "axis"


@dataclass
class FlatColumn:
    """One value a joint: `values` (n,) or (n, k) numbers, or (n,) objects (strings, tuples); `valid` (n,) bool, False = absent.

    `kinds` (n,) objects or None: the storage type of each value where that is worth comparing.
    """

    values: npt.NDArray[Any]
    valid: npt.NDArray[np.bool_]
    kinds: npt.NDArray[Any] | None = None


@dataclass
class Flat:
    """Joints by path (distinct strings) and their flattened columns."""

    paths: list[str]
    columns: dict[str, FlatColumn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.row = {p: i for i, p in enumerate(self.paths)}
        if len(self.row) != len(self.paths):
            seen: set[str] = set()
            twice = next(p for p in self.paths if p in seen or seen.add(p))  # type: ignore[func-returns-value]
            raise TableError(f"{twice} has more than one row; a joint has one row a table")

    def get(self, path: str, column: str) -> Any:
        """The value of one joint, None when absent."""
        at, got = self.row.get(path), self.columns.get(column)
        return None if at is None or got is None or not got.valid[at] else plain(got.values[at])

    def only(self, rows: npt.NDArray[np.int64]) -> Flat:
        """The joints of some rows."""
        kept = {n: FlatColumn(c.values[rows], c.valid[rows], None if c.kinds is None else c.kinds[rows]) for n, c in self.columns.items()}
        return Flat([self.paths[i] for i in rows.tolist()], kept)


def plain(value: Any) -> Any:
    """A NumPy value as a Python one; vectors as tuples."""
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    return value.item() if isinstance(value, np.generic) else value


def from_arrow(table: pa.Table, what: str = "the table") -> Flat:
    """Flatten a table that has a `path` column of strings. TableError when it has none, holds nulls in it, or a path twice."""
    if PATH not in table.schema.names:
        raise TableError(f"{what} has no column `{PATH}` with the joints' prim paths; it has {', '.join(table.schema.names[:8]) or 'none at all'}")
    kind = table.schema.field(PATH).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise TableError(f"the column `{PATH}` of {what} holds {kind}, not strings; write prim paths like /World/robot/joint")
    paths = table.column(PATH).to_pylist()
    if any(p is None for p in paths):
        raise TableError(f"the column `{PATH}` of {what} holds nulls; every row needs its prim path")
    out = Flat(paths)
    for name in table.schema.names:
        if name != PATH:
            array = table.column(name).combine_chunks()
            array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
            _flatten(out.columns, name, array, np.ones(len(paths), np.bool_))
    return out


def _flatten(out: dict[str, FlatColumn], name: str, array: pa.Array, outer: npt.NDArray[np.bool_]) -> None:
    t = array.type
    valid = outer & np.asarray(pc.is_valid(array))
    if pa.types.is_dictionary(t):
        _flatten(out, name, array.dictionary_decode(), outer)
    elif pa.types.is_struct(t):
        for i in range(t.num_fields):
            _flatten(out, f"{name}.{t.field(i).name}", array.field(i), valid)
    elif _is_list(t) and pa.types.is_struct(t.value_type) and t.value_type.get_field_index(_AXIS) >= 0:
        _axes(out, name, array, valid)
    elif _is_list(t) or pa.types.is_fixed_size_list(t):
        out[name] = _list(array, valid)
    elif pa.types.is_boolean(t) or pa.types.is_integer(t) or pa.types.is_floating(t):
        filled = pc.fill_null(array, pa.scalar(False if pa.types.is_boolean(t) else 0, t)) if array.null_count else array
        out[name] = FlatColumn(np.asarray(filled.to_numpy(zero_copy_only=False)), valid)
    else:
        out[name] = FlatColumn(objects(array.to_pylist()), valid)


def _is_list(t: pa.DataType) -> bool:
    return bool(pa.types.is_list(t) or pa.types.is_large_list(t))


def _list(array: pa.Array, valid: npt.NDArray[np.bool_]) -> FlatColumn:
    numeric = pa.types.is_floating(array.type.value_type) or pa.types.is_integer(array.type.value_type)
    sizes = np.unique(pc.list_value_length(array).drop_null().to_numpy())
    inside = array.flatten() if numeric and sizes.size == 1 and sizes[0] else None  # of the lists that are no nulls
    if inside is not None and not inside.null_count:
        out = np.zeros((len(array), int(sizes[0])), array.type.value_type.to_pandas_dtype())
        out[np.asarray(pc.is_valid(array))] = np.asarray(inside).reshape(-1, int(sizes[0]))
        return FlatColumn(out, valid)
    rows = array.to_pylist()
    return FlatColumn(objects(None if r is None else _frozen(r) for r in rows), valid)


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(v) for v in value)
    return tuple(sorted((k, _frozen(v)) for k, v in value.items())) if isinstance(value, dict) else value


def _axes(out: dict[str, FlatColumn], name: str, array: pa.Array, valid: npt.NDArray[np.bool_]) -> None:
    """One group of columns an axis, and `name.order`: the axes as they stand in the list."""
    offsets = np.asarray(array.offsets)
    records = array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    axes = records.field(records.type.get_field_index(_AXIS)).to_pylist()
    lists = pc.list_value_length(array).fill_null(0).to_numpy()
    owner = np.repeat(np.arange(len(array)), lists)
    starts = np.cumsum(lists) - lists
    out[f"{name}.order"] = FlatColumn(objects(tuple(axes[s : s + n]) for s, n in zip(starts, lists)), valid)
    names = np.array([str(a) for a in axes], object)
    for axis in sorted(set(names.tolist())):
        at = np.flatnonzero(names == axis)
        rows = owner[at]
        if np.unique(rows).size != rows.size:
            continue  # the order column tells of an axis that stands twice
        group: dict[str, FlatColumn] = {}
        taken = records.take(pa.array(at))
        for i in range(records.type.num_fields):
            child = records.type.field(i).name
            if child != _AXIS:
                _flatten(group, f"{name}.{axis}.{child}", taken.field(i), np.ones(at.size, np.bool_))
        for key, part in group.items():
            out[key] = spread(part, rows, len(array))


def spread(part: FlatColumn, rows: npt.NDArray[np.int64], n: int) -> FlatColumn:
    """A column of some rows as one of all n rows, absent elsewhere."""
    values = np.zeros((n, *part.values.shape[1:]), part.values.dtype)
    valid = np.zeros(n, np.bool_)
    values[rows], valid[rows] = part.values, part.valid
    kinds = None
    if part.kinds is not None:
        kinds = np.full(n, None, object)
        kinds[rows] = part.kinds
    return FlatColumn(values, valid, kinds)


def objects(values: Iterable[Any]) -> npt.NDArray[Any]:
    """A 1-d object array (NumPy would make tuples into a second dimension)."""
    rows: Sequence[Any] = list(values)
    out = np.empty(len(rows), object)
    out[:] = rows
    return out
