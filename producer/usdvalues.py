"""pxr values to plain values and to NumPy columns: the one place that knows pxr's value classes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.stage import PathDictionary, Ragged
from producer.values import TYPES, ColumnType, encode


def plain(usd_type: str, value: Any) -> Any:
    """A plain value (see `producer.values`) of a pxr value of that type."""
    type_ = TYPES.get(usd_type)
    if type_ is None:
        return None
    if type_.array:
        return _plain_array(type_, value)
    return _plain_scalar(type_, value)


def _plain_scalar(type_: ColumnType, value: Any) -> Any:
    if type_.kind == "asset":
        return (value.path, value.resolvedPath)
    if type_.is_text:
        return value.GetText() if type_.kind == "expression" else str(value)
    if type_.lanes == 1:
        return value.GetValue() if hasattr(value, "GetValue") else value
    if hasattr(value, "GetImaginary"):
        return (*(float(x) for x in value.GetImaginary()), float(value.GetReal()))
    return tuple(np.array(value).reshape(-1).tolist())


def _plain_array(type_: ColumnType, value: Any) -> Any:
    if type_.kind == "asset":
        return [(v.path, v.resolvedPath) for v in value]
    if type_.is_text:
        return [str(v) for v in value]
    if type_.lanes > 1:
        return np.array(value, type_.dtype).reshape(len(value), type_.lanes)
    return np.array(value, type_.dtype).reshape(len(value))


@lru_cache
def python_types(usd_type: str) -> frozenset[type]:
    """Python classes in which pxr hands out values of a type; several types share float, int and str."""
    from pxr import Sdf

    default = Sdf.ValueTypeNames.Find(usd_type).defaultValue
    classes = {type(default)}
    if usd_type in ("half", "float", "double"):
        classes = {float}
    elif usd_type in ("int", "uint", "int64", "uint64", "uchar"):
        classes = {int}
    elif usd_type == "bool":
        classes = {bool}
    return frozenset(classes)


def type_name(type_: ColumnType) -> str:
    """A USD type name that is stored as `type_`; ValueError when there is none."""
    for name, candidate in TYPES.items():
        if candidate == type_:
            return name
    raise ValueError(f"no USD type is stored as {type_}")


def column(paths: PathDictionary, usd_type: str, values: Sequence[Any]) -> npt.NDArray[Any] | Ragged:
    """pxr values of one type, one a row, as column storage: (n,), (n, k) or `Ragged`. Vectors, quaternions and matrices go through one Vt array."""
    type_ = TYPES[usd_type]
    if type_.array:
        return encode(paths, type_, [_plain_array(type_, v) for v in values])
    if type_.kind in ("token", "string"):
        return paths.token_many(values)
    if type_.is_text:
        return encode(paths, type_, [_plain_scalar(type_, v) for v in values])
    if type_.lanes == 1:
        if usd_type == "timecode":
            values = [v.GetValue() for v in values]
        return np.array(values, type_.dtype)
    # quaternions lie in memory as x, y, z, w: the order of the columns (rule 10)
    return np.array(_vt_array(usd_type)(values), type_.dtype).reshape(len(values), type_.lanes)


@lru_cache
def _vt_array(usd_type: str) -> Any:
    from pxr import Sdf

    return type(Sdf.ValueTypeNames.Find(f"{usd_type}[]").defaultValue)
