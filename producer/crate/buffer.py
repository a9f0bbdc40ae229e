"""Bytes of one file with every access checked, and a memory budget that the file's size justifies."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ovsim.errors import CrateError, SourceError

U8 = npt.NDArray[np.uint8]

FREE = 64 << 20  # bytes that any file may cost
RATIO = 256  # LZ4 expands at most 255 times; what real files need stays far below


class Buffer:
    """Read-only bytes of a file.

    `charge` keeps the sum of all decoded tables below `FREE + RATIO * size`: a small hostile file cannot ask for much memory.
    """

    def __init__(self, data: bytes | U8) -> None:
        self.data: U8 = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
        self.data.flags.writeable = False
        self.size = int(self.data.size)
        self._left = FREE + RATIO * self.size
        self._lock = threading.Lock()

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Buffer:
        """The whole file; SourceError when it cannot be read.

        Read, not mapped: a file that shrinks under a mapping would kill the process.
        """
        try:
            return cls(np.frombuffer(Path(path).read_bytes(), np.uint8).view())
        except OSError as e:
            raise SourceError(f"cannot read {os.fspath(path)}: {e.strerror or e}; check the path and its permissions") from e

    def span(self, position: int, size: int, what: str) -> U8:
        """`size` bytes from `position`; CrateError when they leave the file."""
        if position < 0 or size < 0 or position + size > self.size:
            raise CrateError(f"{what} of {size} bytes leaves the file of {self.size} bytes; the file is truncated or corrupt", position)
        return self.data[position : position + size]

    def u64(self, position: int, what: str) -> int:
        return int.from_bytes(self.span(position, 8, what).tobytes(), "little")

    def i64(self, position: int, what: str) -> int:
        return int.from_bytes(self.span(position, 8, what).tobytes(), "little", signed=True)

    def u32(self, position: int, what: str) -> int:
        return int.from_bytes(self.span(position, 4, what).tobytes(), "little")

    def charge(self, size: int, position: int, what: str) -> None:
        """Account for `size` bytes of decoded data; CrateError when the file cannot justify them."""
        with self._lock:
            self._left -= size
            left = self._left
        if size < 0 or left < 0:
            raise CrateError(f"{what} asks for {size} bytes, more than a file of {self.size} bytes can mean; the file is corrupt", position)
