"""Value types: which column a USD value type becomes (producer facts, rules 9 and 10).

Plain data, no pxr: both readers use it. A *plain value* is a Python number, str (token, string, expression), a tuple of numbers (vectors, quaternions
x y z w, matrices row by row), (authored, resolved) strings for an asset, or for arrays a NumPy array (n,) / (n, k) or a list of plain texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.contract import Column
from ovsim.stage import PathDictionary, Ragged, roles
from ovsim.stage import columns as col

ASSET = "ASSET_PATH_ID"
EXPRESSION = "PATH_EXPRESSION_STRING"
_SEMANTIC = {"token": col.TOKEN_ID, "asset": ASSET, "expression": EXPRESSION, "path": col.PATH_ID, "relationship": col.RELATIONSHIP}
_ROLES: dict[str, tuple[str, tuple[int, ...]]] = {
    "point": ("POINT", (3,)),
    "vector": ("VECTOR", (3,)),
    "normal": ("NORMAL", (3,)),
    "color": ("COLOR", (3, 4)),
    "texCoord": ("TEXTURE_COORDINATE", (2, 3)),
    "quat": ("QUATERNION", (0,)),
}
"""Value type base to its geometric role and widths; a quaternion's name has no width."""


@dataclass(frozen=True)
class ColumnType:
    """Storage of a column: NumPy dtype name, lanes, array or not; `kind` is number, bool, token, string, asset, expression, path or relationship.

    `role` is the geometric role of the value type, "" without one; types that differ in it alone are the same storage.
    """

    dtype: str
    lanes: int = 1
    array: bool = False
    kind: str = "number"
    role: str = field(default="", compare=False)

    @property
    def is_text(self) -> bool:
        """Whether plain values are texts that are stored as token ids."""
        return self.kind in ("token", "string", "asset", "expression")

    def field(self, name: str) -> pa.Field:
        """Arrow field of a column of this type. Strings (ids without a semantic) and uint8 that are no bools say so in their metadata."""
        item = pa.from_numpy_dtype(np.dtype(self.dtype))
        item = pa.list_(item, self.lanes) if self.lanes > 1 else item
        semantic = _SEMANTIC.get(self.kind, "")
        if self.dtype.startswith("float"):
            semantic = roles.mark(name, self.role, self.lanes)
        made = col.field(name, pa.large_list(item) if self.array else item, semantic)
        if self.kind == "string" or (self.dtype == "uint8" and self.kind != "bool"):
            return made.with_metadata({b"type": b"string" if self.kind == "string" else b"uchar"})
        return made


def _table() -> dict[str, ColumnType]:
    scalar = {
        "bool": ColumnType("uint8", kind="bool"),
        "uchar": ColumnType("uint8"),
        "int": ColumnType("int32"),
        "uint": ColumnType("uint32"),
        "int64": ColumnType("int64"),
        "uint64": ColumnType("uint64"),
        "half": ColumnType("float16"),
        "float": ColumnType("float32"),
        "double": ColumnType("float64"),
        "timecode": ColumnType("float64", role="TIME_CODE"),
        "token": ColumnType("uint64", kind="token"),
        "string": ColumnType("uint64", kind="string"),
        "asset": ColumnType("uint64", 2, kind="asset"),
        "pathExpression": ColumnType("uint64", kind="expression"),
    }
    letters = {"h": "float16", "f": "float32", "d": "float64"}
    for base in ("half", "float", "double", "int"):
        for k in (2, 3, 4):
            scalar[f"{base}{k}"] = ColumnType(scalar[base].dtype, k)
    for letter, dtype in letters.items():
        for base, (role, widths) in _ROLES.items():
            for k in widths:
                scalar[f"{base}{k or ''}{letter}"] = ColumnType(dtype, k or 4, role=role)
    for k in (2, 3, 4):
        scalar[f"matrix{k}d"] = ColumnType("float64", k * k, role="MATRIX")
    scalar["frame4d"] = ColumnType("float64", 16, role="FRAME")
    arrays = {f"{n}[]": replace(t, array=True) for n, t in scalar.items() if n != "pathExpression"}
    return {**scalar, **arrays}


TYPES = _table()
"""USD value type name to column type. A type that is missing here (opaque, pathExpression[]) is never published."""

MATRIX = TYPES["matrix4d"]
BOOL = TYPES["bool"]
PATH = ColumnType("uint64", kind="path")
RELATIONSHIP = ColumnType("uint64", array=True, kind="relationship")


def contract_type(column: Column) -> ColumnType:
    """Column type of a contract column."""
    if column.semantic == col.RELATIONSHIP:
        return RELATIONSHIP
    if column.semantic == col.TOKEN_ID:
        return ColumnType("uint64", array=column.array, kind="token")
    if column.dtype == "bool8":
        return ColumnType("uint8", column.lanes, column.array, "bool")
    return ColumnType(column.dtype, column.lanes, column.array)


def encode(paths: PathDictionary, type_: ColumnType, values: Sequence[Any]) -> npt.NDArray[Any] | Ragged:
    """Plain values, one a row, as the column's storage: (n,), (n, k), or `Ragged` for array types; texts are interned as tokens."""
    if type_.array:
        offsets = np.cumsum([0, *(len(v) for v in values)], dtype=np.int64)
        flat = [_flat(paths, type_, v) for v in values if len(v)]
        shape = (0, type_.lanes) if type_.lanes > 1 else (0,)
        return Ragged(offsets, np.concatenate(flat) if flat else np.zeros(shape, type_.dtype))
    return _flat(paths, type_, values)


def _flat(paths: PathDictionary, type_: ColumnType, values: Sequence[Any]) -> npt.NDArray[Any]:
    if not type_.is_text:
        with np.errstate(over="ignore"):
            out = np.asarray(values).astype(type_.dtype)
        return out.reshape(len(values), type_.lanes) if type_.lanes > 1 else out
    if type_.kind == "asset":
        return paths.token_many(t for pair in values for t in pair).reshape(len(values), 2)
    return paths.token_many(values)
