"""Memory that calls can share: arrays by name, grown when a call needs more.

Touching fresh memory costs more than resolving a joint, so a caller that resolves again and again hands the same `Buffers` to each call.
The arrays of a result are then good until the next call with the same buffers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.memory import LINE

Array = npt.NDArray[Any]


class Buffers:
    """Arrays by key; what they hold between calls is nobody's business, except that `zeros` stay zero as long as nobody writes them."""

    def __init__(self) -> None:
        self._kept: dict[Any, Array] = {}
        self._views: dict[Any, Array] = {}  # the last one of each key

    def empty(self, key: Any, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """An array of any content."""
        return self._view(key, shape, np.dtype(dtype), np.empty)

    def zeros(self, key: Any, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """An array of zeros that the caller only reads; pages that nobody touches cost nothing."""
        return self._view(("zeros", key), shape, np.dtype(dtype), np.zeros)

    def cleared(self, key: Any, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """An array of zeros that the caller may write."""
        kept = self._kept.get(key)
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if kept is None or kept.size < size:
            self._kept[key] = _aligned(np.zeros, size)
            return self._view(key, shape, np.dtype(dtype), np.zeros)
        view = self._view(key, shape, np.dtype(dtype), np.zeros)
        view[...] = 0
        return view

    @property
    def nbytes(self) -> int:
        """Bytes that are kept."""
        return sum(a.nbytes for a in self._kept.values())

    def _view(self, key: Any, shape: tuple[int, ...], dtype: np.dtype[Any], make: Any) -> Array:
        known = self._views.get(key)
        if known is not None and known.shape == shape and known.dtype == dtype:
            return known
        size = math.prod(shape) * dtype.itemsize
        kept = self._kept.get(key)
        if kept is None or kept.size < size:
            kept = self._kept[key] = _aligned(make, size)
        view: Array = kept[:size].view(dtype).reshape(shape)
        self._views[key] = view
        return view


def _aligned(make: Any, size: int) -> Array:
    """Bytes that start with a cache line, so that passes can write whole lines."""
    room: Array = make(size + LINE, np.uint8)
    start = -room.__array_interface__["data"][0] % LINE
    return room[start : start + size]
