"""Columns of stages that are larger than memory: written to files without a name as they are made, and mapped from there.

A mapped column is read-only and looks like any other; the operating system brings in the pages that are read, and the file is gone with the last
array that shows it.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.errors import SpoolError

LEAST = 1 << 22  # bytes of an array that is worth a file
_CHUNK = 1 << 24


class Spool:
    """Keeps large arrays in files of one folder. SpoolError when the folder cannot be written or is full."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)

    def keep(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The same values, read-only from a file; arrays of less than `LEAST` bytes as they are."""
        return values if values.nbytes < LEAST else self._map(np.ascontiguousarray(values), 1)

    def repeat(self, row: npt.NDArray[Any], n: int) -> npt.NDArray[Any]:
        """The single row of `row` (1, ...) n times, shape (n, ...)."""
        return np.repeat(row, n, axis=0) if row.nbytes * n < LEAST else self._map(np.ascontiguousarray(row), n)

    def _map(self, values: npt.NDArray[Any], times: int) -> npt.NDArray[Any]:
        data = values.reshape(-1).view(np.uint8).data
        shape = (values.shape[0] * times, *values.shape[1:])
        many = max(1, _CHUNK // max(1, data.nbytes))
        chunk = memoryview(bytes(data) * many) if times > 1 else data
        try:
            with tempfile.TemporaryFile(prefix="ovsim-", dir=self.folder, buffering=0) as file:
                left = times * data.nbytes
                while left:
                    part = chunk[: min(left, chunk.nbytes)]
                    while part:
                        wrote = file.write(part)
                        part, left = part[wrote:], left - wrote
                return np.asarray(np.memmap(file, values.dtype, "r", shape=shape))
        except OSError as e:
            text = f"cannot keep columns in {self.folder}: {e.strerror or e}; the stage needs room there or in memory, give another folder"
            raise SpoolError(text) from e
