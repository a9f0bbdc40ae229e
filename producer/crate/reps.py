"""Value reps: 64 bits that hold a type, flags, and either the value itself or the offset where it is stored."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

ARRAY = np.uint64(1 << 63)
INLINED = np.uint64(1 << 62)
COMPRESSED = np.uint64(1 << 61)
ARRAY_EDIT = np.uint64(1 << 60)
_PAYLOAD = np.uint64((1 << 48) - 1)
_TYPE_SHIFT = np.uint64(48)


class ValueType(NamedTuple):
    """How values of one type are held.

    `inline`: "always" (raw bits in the rep), "narrow" (float for double, int32 for int64), "bytes" (an int8 a lane), "diagonal" (an int8 a diagonal
    entry of a matrix), "never"; the alternative is `lanes` values of `dtype` at the offset. Tokens, strings and asset paths are indices.
    """

    name: str
    dtype: Any
    lanes: int
    inline: str


_SCALARS = {
    1: ValueType("bool", np.uint8, 1, "always"),
    2: ValueType("uchar", np.uint8, 1, "always"),
    3: ValueType("int", np.int32, 1, "always"),
    4: ValueType("uint", np.uint32, 1, "always"),
    5: ValueType("int64", np.int64, 1, "narrow"),
    6: ValueType("uint64", np.uint64, 1, "narrow"),
    7: ValueType("half", np.float16, 1, "always"),
    8: ValueType("float", np.float32, 1, "always"),
    9: ValueType("double", np.float64, 1, "narrow"),
    10: ValueType("string", np.uint32, 1, "always"),
    11: ValueType("token", np.uint32, 1, "always"),
    12: ValueType("asset", np.uint32, 1, "always"),
    13: ValueType("matrix2d", np.float64, 4, "diagonal"),
    14: ValueType("matrix3d", np.float64, 9, "diagonal"),
    15: ValueType("matrix4d", np.float64, 16, "diagonal"),
    16: ValueType("quatd", np.float64, 4, "never"),
    17: ValueType("quatf", np.float32, 4, "never"),
    18: ValueType("quath", np.float16, 4, "never"),
    42: ValueType("specifier", np.uint32, 1, "always"),
    43: ValueType("permission", np.uint32, 1, "always"),
    44: ValueType("variability", np.uint32, 1, "always"),
    56: ValueType("timecode", np.float64, 1, "never"),
}
_LANE = {"d": np.float64, "f": np.float32, "h": np.float16, "i": np.int32}
_VECTORS = {
    19 + 4 * (k - 2) + i: ValueType(f"vec{k}{c}", _LANE[c], k, "always" if (k, c) == (2, "h") else "bytes")
    for k in (2, 3, 4)
    for i, c in enumerate("dfhi")
}
FIXED: dict[int, ValueType] = {**_SCALARS, **_VECTORS}  # types of fixed size, by type number

BOOL, TOKEN, STRING, ASSET, FLOAT, DOUBLE, HALF = 1, 11, 10, 12, 8, 9, 7
DICTIONARY, TOKEN_LIST, STRING_LIST, PATH_LIST, REFERENCE_LIST = 31, 32, 33, 34, 35
TOKEN_VECTOR, SPECIFIER, VARIABILITY = 41, 42, 44
SELECTIONS, TIME_SAMPLES, PAYLOAD, OFFSETS, STRINGS, BLOCK, VALUE, PAYLOAD_LIST = 45, 46, 47, 49, 50, 51, 52, 55
RELOCATES, SPLINE, ANIMATION_BLOCK = 58, 59, 60
NEWEST_TYPE = 60


def types(reps: U64) -> npt.NDArray[np.uint8]:
    """Type numbers, shape (n,)."""
    return ((reps >> _TYPE_SHIFT) & np.uint64(0xFF)).astype(np.uint8)


def payloads(reps: U64) -> I64:
    """Payloads, shape (n,): the inlined bits or the file offset."""
    return (reps & _PAYLOAD).astype(np.int64)


def flagged(reps: U64, flag: np.uint64) -> npt.NDArray[np.bool_]:
    """Whether a flag is set, shape (n,)."""
    return (reps & flag) != 0
