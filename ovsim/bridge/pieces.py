"""Columns on their way: `Writing` is one ready for ovstage, `Piece` a part of one that ovstage handed out."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.bridge import memory
from ovsim.bridge.layout import SEMANTICS, Layout
from ovsim.errors import BridgeError


class Writing:
    """One column ready for ovstage: attribute token, layout, values (n,) or (n, lanes), and offsets (n + 1,) when rows are arrays.

    With `rows`, uint32 (prims,), the values hold one source row for many prims: prim i takes row `rows[i]`.
    """

    def __init__(
        self,
        token: int,
        layout: Layout,
        values: npt.NDArray[Any],
        offsets: npt.NDArray[np.int64] | None = None,
        rows: npt.NDArray[np.uint32] | None = None,
    ) -> None:
        self.token, self.layout, self.rows = token, layout, rows
        self.values = np.ascontiguousarray(values)
        if offsets is None:
            self._counts, first = np.array([len(self.values)], np.int64), np.zeros(1, np.int64)
        else:
            self._counts, first = np.diff(offsets), offsets[:-1]
        self.tensors = memory.tensors(layout, self.values.ctypes.data, first, self._counts)

    def fill(self, data: Any, tensor_type: Any) -> None:
        """Describe this column in an ovstage write description; the memory stays with this object."""
        data.tensors = ctypes.cast(self.tensors.ctypes.data, ctypes.POINTER(tensor_type))
        data.tensor_count = self.tensors.size
        data.is_array = self.layout.array
        data.semantic = SEMANTICS.index(self.layout.semantic)
        if self.rows is not None:
            data.index_map = ctypes.cast(self.rows.ctypes.data, ctypes.POINTER(ctypes.c_uint32))
            data.count = self.rows.size


class Piece:
    """Part of one column as ovstage handed it out, copied: attribute token, layout, path ids (n,), values (n,) or (n, lanes), offsets (n + 1,)
    when rows are arrays (values are then the rows one behind the other)."""

    def __init__(self, group: Any, listed: npt.NDArray[np.uint64]) -> None:
        raw = group.raw
        count = int(raw.prims.count)
        self.attribute = int(raw.attribute)
        self.paths = listed[_indices(raw.prims.index_map, count, int(raw.prims.offset))]
        described = memory.view(_address(raw.data.tensors), int(raw.data.tensor_count), memory.TENSOR)
        if (described["device_type"] != memory.CPU).any():
            raise BridgeError("a column lies in device memory; the bridge reads stages on the CPU")
        kind = described[0]
        semantic = SEMANTICS[raw.semantic] if 0 <= raw.semantic < len(SEMANTICS) else "NONE"
        self.layout = Layout(int(kind["code"]), int(kind["bits"]), int(kind["lanes"]), bool(raw.is_array), semantic)
        rows = _indices(raw.data.index_map, count, 0)
        if raw.data.mask:
            words = memory.view(_address(raw.data.mask), (count + 63) // 64, np.dtype(np.uint64))
            here = np.unpackbits(words.view(np.uint8), bitorder="little")[:count].astype(bool)
            self.paths, rows = self.paths[here], rows[here]
        lanes, dtype = self.layout.lanes, self.layout.dtype
        self.offsets: npt.NDArray[np.int64] | None = None
        if self.layout.array:
            described = described[rows]
            counts = memory.lengths(described)
            self.offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
            self.values = memory.gather_rows(memory.starts(described), counts, lanes, dtype)
        else:
            stacked = int(memory.lengths(described)[0])
            flat = memory.view(int(memory.starts(described)[0]), stacked * lanes, dtype)
            self.values = (flat.reshape(-1, lanes) if lanes > 1 else flat)[rows]


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _indices(pointer: Any, count: int, offset: int) -> npt.NDArray[np.int64]:
    if not pointer:
        return np.arange(offset, offset + count)
    return memory.view(_address(pointer), count, np.dtype(np.uint32)).astype(np.int64)
