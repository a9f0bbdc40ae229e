"""Foreign memory as NumPy arrays and NumPy memory as DLPack descriptions, whole columns at a time.

The one place that reads through addresses. What ovstage hands out is valid until its group is released, so everything here copies what it keeps.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.bridge.layout import Layout
from ovsim.errors import BridgeError

I64 = npt.NDArray[np.int64]
STRING = np.dtype([("ptr", "u8"), ("length", "u8")])
TENSOR = np.dtype(
    [
        ("data", "u8"),
        ("device_type", "i4"),
        ("device_id", "i4"),
        ("ndim", "i4"),
        ("code", "u1"),
        ("bits", "u1"),
        ("lanes", "u2"),
        ("shape", "u8"),
        ("strides", "u8"),
        ("byte_offset", "u8"),
    ]
)
CPU = 1
_LONG = 512  # bytes from which a row is copied by itself instead of element by element


def view(address: int, size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """`size` elements at an address, without a copy; the memory must outlive the view."""
    if not size:
        return np.empty(0, dtype)
    block: Any = (ctypes.c_char * (size * dtype.itemsize)).from_address(address)
    return np.frombuffer(block, dtype)


class _Whole:
    """All memory from an address on, for NumPy to index; only what is indexed is touched."""

    def __init__(self, address: int, size: int, dtype: np.dtype[Any]) -> None:
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": (size,), "typestr": dtype.str}


def gather(addresses: npt.NDArray[np.uint64], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The element at each address, shape (n,), a copy. Addresses are aligned to the element (BridgeError otherwise)."""
    if not addresses.size:
        return np.empty(0, dtype)
    base, width = int(addresses.min()), dtype.itemsize
    away = (addresses - np.uint64(base)).astype(np.int64)
    if (away % width).any():
        raise BridgeError("elements lie at addresses of different alignment")
    at = away // width
    whole: npt.NDArray[Any] = np.asarray(_Whole(base, int(at.max()) + 1, dtype))
    return whole[at]


def gather_rows(starts: npt.NDArray[np.uint64], counts: I64, lanes: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Rows of `counts[i]` elements of `lanes` at `starts[i]`, one behind the other, shape (sum,) or (sum, lanes), a copy."""
    sizes = counts * lanes
    ends = np.cumsum(sizes)
    out = np.empty(int(ends[-1]) if ends.size else 0, dtype)
    first = ends - sizes
    long = sizes * dtype.itemsize >= _LONG
    for to, source, size in zip(first[long].tolist(), starts[long].tolist(), sizes[long].tolist()):
        out[to : to + size] = view(source, size, dtype)
    short = np.flatnonzero(~long & (sizes > 0))
    if short.size:
        n = sizes[short]
        within = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
        source = np.repeat(starts[short], n) + within.astype(np.uint64) * np.uint64(dtype.itemsize)
        out[np.repeat(first[short], n) + within] = gather(source, dtype)
    return out.reshape(-1, lanes) if lanes > 1 else out


def tensors(layout: Layout, address: int, starts: I64, counts: I64) -> npt.NDArray[Any]:
    """DLPack descriptions of CPU arrays, one a row of `starts` and `counts` (in elements of all lanes), as one structured array.

    `counts` must stay alive as long as the result: each description's shape points into it.
    """
    out = np.zeros(counts.size, TENSOR)
    step = np.uint64(layout.dtype.itemsize * layout.lanes)
    out["data"] = np.uint64(address) + starts.astype(np.uint64) * step
    out["device_type"], out["ndim"] = CPU, 1
    out["code"], out["bits"], out["lanes"] = layout.code, layout.bits, layout.lanes
    out["shape"] = np.uint64(counts.ctypes.data) + np.arange(counts.size, dtype=np.uint64) * np.uint64(8)
    return out


def lengths(described: npt.NDArray[Any]) -> I64:
    """First dimension of each description, 0 for one without dimensions. BridgeError for more than one dimension or strides apart."""
    if (described["ndim"] > 1).any():
        raise BridgeError("an array has more than one dimension")
    out = np.zeros(described.size, np.int64)
    has = (described["ndim"] == 1) & (described["shape"] != 0)
    out[has] = gather(described["shape"][has], np.dtype(np.int64))
    strided = np.flatnonzero(has & (described["strides"] != 0) & (out > 1))
    if strided.size and (gather(described["strides"][strided], np.dtype(np.int64)) != 1).any():
        raise BridgeError("an array's elements do not lie side by side")
    return out


def starts(described: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Address of the first element of each description."""
    return described["data"] + described["byte_offset"]
