"""Values of many kinds to a dense column of the contract's type."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim import contract
from ovsim.contract import Column
from ovsim.errors import ColumnError, PathError
from ovsim.stage import columns as col
from ovsim.stage.paths import PathDictionary

_NUMPY = {"bool8": np.uint8}


def to_column(paths: PathDictionary, name: str, values: Any, rows: int) -> tuple[pa.Field, pa.Array]:
    """Field and dense Arrow array of one column.

    Arrow arrays of numbers (or `(field, array)` pairs) are taken as they are, so that population's wrongly typed columns can be stored. Everything
    else, Arrow strings and bits too, is brought to the contract's type, or to its own type when the contract has no such column. ColumnError names
    the column when values do not fit.
    """
    field: pa.Field | None = None
    if isinstance(values, tuple) and len(values) == 2 and isinstance(values[0], pa.Field):
        field, values = values
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    spec = contract.load().find(name)
    if isinstance(values, pa.Array) and _as_python(values.type):
        field, values = None, values.to_pylist()
    if isinstance(values, pa.Array):
        array = values
        field = field or col.field(name, array.type, _semantic(spec, array.type))
    else:
        try:
            array = _relationship(paths, values) if spec and spec.array and spec.semantic == col.RELATIONSHIP else _array(paths, spec, values)
        except (TypeError, ValueError, OverflowError, pa.ArrowInvalid, pa.ArrowTypeError) as e:
            want = spec.type if spec else "numbers, strings or fixed-size rows"
            raise ColumnError(f"column {name} wants {want}: {e}") from e
        field = col.field(name, array.type, _semantic(spec, array.type, values))
    if len(array) != rows:
        raise ColumnError(f"column {name} has {len(array)} values for {rows} rows")
    if array.null_count:
        raise ColumnError(f"column {name} holds {array.null_count} nulls; an absent value is an absent column, so add those rows apart")
    _storable(name, array)
    if spec:
        _lanes(name, spec, array)
    return field, array


def _as_python(type_: pa.DataType) -> bool:
    """Whether a stage stores such values otherwise: texts as ids, bits as bytes."""
    if pa.types.is_dictionary(type_) or pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return _as_python(type_.value_type)
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_) or pa.types.is_boolean(type_))


def _storable(name: str, array: pa.Array) -> None:
    try:
        values = col.view(array)
        kind = (values.values if isinstance(values, col.Ragged) else values).dtype.kind
    except (AttributeError, ValueError, NotImplementedError, pa.ArrowException, ColumnError) as e:
        raise ColumnError(f"column {name} cannot be stored as {array.type}; give numbers, fixed-size rows or lists of them ({e})") from e
    if kind not in "fiub":
        raise ColumnError(f"column {name} cannot be stored as {array.type}; give numbers, fixed-size rows or lists of them")


def _semantic(spec: Column | None, type_: pa.DataType, values: Any = None) -> str:
    if spec and spec.semantic in (col.TOKEN_ID, col.RELATIONSHIP):
        stored = type_.value_type if spec.array and hasattr(type_, "value_type") else type_
        return spec.semantic if pa.types.is_uint64(stored) else ""
    return ""


def _lanes(name: str, spec: Column, array: pa.Array) -> None:
    inner = array.type.value_type if pa.types.is_list(array.type) or pa.types.is_large_list(array.type) else array.type
    lanes = inner.list_size if pa.types.is_fixed_size_list(inner) else 1
    if lanes != spec.lanes:
        raise ColumnError(f"column {name} wants {spec.type}, not {lanes} lane{'s' if lanes != 1 else ''}")


def _relationship(paths: PathDictionary, values: Any) -> pa.Array:
    if isinstance(values, np.ndarray) and values.dtype.kind in "ui" and values.ndim == 1:
        return col.ragged(np.arange(values.size + 1), values.astype(np.uint64))
    rows = [[v] if isinstance(v, str) else list(v) for v in values]
    try:
        return col.relationship(paths, rows)
    except (AttributeError, PathError) as e:
        raise ValueError(f"a target is not an absolute path string ({e})") from e


def _array(paths: PathDictionary, spec: Column | None, values: Any) -> pa.Array:
    if isinstance(values, col.Ragged):
        return col.ragged(values.offsets, values.values)
    a = np.asarray(values)
    if a.dtype.kind in "UO":
        if a.ndim != 1 or not all(isinstance(v, str) for v in a.reshape(-1)):
            raise TypeError("values are neither numbers nor strings, one a row")
        if spec and spec.semantic != col.TOKEN_ID:
            raise TypeError("strings given")
        return col.dense(paths.token_many(a.tolist()))
    if spec is None or spec.array:
        return col.dense(a)
    if spec.semantic == col.TOKEN_ID and a.dtype.kind not in "ui":
        raise TypeError(f"token ids or strings, not {a.dtype}")
    return col.dense(_cast(a, np.dtype(_NUMPY.get(spec.dtype, spec.dtype)), spec))


def _cast(a: npt.NDArray[Any], want: np.dtype[Any], spec: Column) -> npt.NDArray[Any]:
    kinds = {"f": "fiu", "i": "iub", "u": "iub"}[want.kind]
    if a.size and (a.dtype.kind not in kinds or (spec.dtype == "bool8" and not np.isin(a, (0, 1)).all())):
        raise TypeError(f"{a.dtype} values given")
    with np.errstate(over="ignore"):
        out = a.astype(want)
    if want.kind != "f" and a.size and not np.array_equal(out, a):
        raise OverflowError(f"a value does not fit {want}")
    return out
