"""LZ4 blocks, plain and chunked, as crate files hold them: a count byte (0: one block follows), else int32-sized chunks.

The decompressed size is often not stored. A first pass walks the sequences without copying, which gives the exact size before anything is
allocated and refuses broken blocks; pyarrow's `lz4_raw` codec then does the copying.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.errors import CrateError
from ovsim.jit import serial
from producer.crate.buffer import U8, Buffer

CHUNK = 0x7E000000  # the largest input of one LZ4 block
_CODEC = pa.Codec("lz4_raw")


@serial
def _measure(src: U8, cap: int) -> int:
    """Decompressed size of one block; -1 - position of the first bad byte; stops with a size above `cap`."""
    n = src.size
    i = 0
    out = 0
    while i < n:
        start = i
        token = np.int64(src[i])
        i += 1
        length = token >> 4
        if length == 15:
            more = 255
            while more == 255:
                if i >= n:
                    return -1 - start
                more = np.int64(src[i])
                i += 1
                length += more
        i += length
        out += length
        if i == n:
            return out
        if i + 2 > n or out > cap:
            return out if out > cap and i <= n else -1 - start
        offset = np.int64(src[i]) | (np.int64(src[i + 1]) << 8)
        i += 2
        if offset == 0 or offset > out:
            return -1 - start
        length = token & 15
        if length == 15:
            more = 255
            while more == 255:
                if i >= n:
                    return -1 - start
                more = np.int64(src[i])
                i += 1
                length += more
        out += length + 4
    return -1 - n  # a block ends with literals


def _block(buffer: Buffer, position: int, size: int, cap: int, what: str) -> npt.NDArray[np.uint8]:
    src = buffer.span(position, size, what)
    cap = min(cap, 1 << 62)
    out = int(_measure(src, cap))
    if out < 0:
        raise CrateError(f"{what} is no valid LZ4 block; the file is corrupt", position - 1 - out)
    if out > cap:
        raise CrateError(f"{what} expands to more than the {cap} bytes that it may hold; the file is corrupt", position)
    buffer.charge(out, position, what)
    if out == 0:
        return np.empty(0, np.uint8)
    try:
        return np.frombuffer(_CODEC.decompress(pa.py_buffer(src), out), np.uint8)
    except (OSError, pa.ArrowException) as e:
        raise CrateError(f"{what} is no valid LZ4 block ({e}); the file is corrupt", position) from e


def decompress(buffer: Buffer, position: int, size: int, cap: int, what: str) -> npt.NDArray[np.uint8]:
    """Decompressed bytes of the data at `position`, shape (m,) with m <= cap; CrateError with the position when broken or larger than `cap`."""
    if size < 1:
        raise CrateError(f"{what} is empty", position)
    chunks = int(buffer.span(position, 1, what)[0])
    if chunks == 0:
        return _block(buffer, position + 1, size - 1, cap, what)
    parts = []
    at, end, left = position + 1, position + size, cap
    for _ in range(chunks):
        length = int.from_bytes(buffer.span(at, 4, what).tobytes(), "little", signed=True)
        if length <= 0 or at + 4 + length > end:
            raise CrateError(f"a chunk of {what} has the impossible size {length}", at)
        parts.append(_block(buffer, at + 4, length, min(left, CHUNK), what))
        left -= parts[-1].size
        at += 4 + length
    return np.concatenate(parts)
