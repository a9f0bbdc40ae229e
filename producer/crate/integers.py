"""Compressed integers: differences, a 2-bit code each (the common difference, or a narrow, middle or wide one), then LZ4."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.errors import CrateError
from ovsim.jit import serial
from producer.crate.buffer import U8, Buffer
from producer.crate.lz4 import decompress

I32 = npt.NDArray[np.int32]


@serial
def _little(src: U8, at: int, size: int) -> int:
    """Signed little-endian integer of `size` bytes."""
    value = np.int64(0)
    for k in range(size):
        value |= np.int64(src[at + k]) << np.int64(8 * k)
    shift = np.int64(64 - 8 * size)
    return (value << shift) >> shift


@serial
def _decode(src: U8, count: int, wide: int, out: npt.NDArray[Any]) -> int:
    """Fill `out`; `wide` is the byte size of an integer. Returns the first bad byte of `src`, -1 when all is well."""
    codes = wide
    at = codes + (count * 2 + 7) // 8
    if at > src.size:
        return src.size
    common = _little(src, 0, wide)
    narrow = wide // 4
    value = np.int64(0)
    for first in range(0, count, 4):
        four = np.int64(src[codes + (first >> 2)])
        left = min(4, count - first)
        if four == 0:  # the usual case of long tables
            for i in range(first, first + left):
                value += common
                if wide == 4:
                    value = (value << 32) >> 32
                out[i] = value
            continue
        room = src.size - at >= 4 * wide  # what four codes can take at most
        for i in range(first, first + left):
            code = four & 3
            four >>= 2
            if code == 0:
                value += common
            else:
                size = narrow << (code - 1)
                if not room and at + size > src.size:
                    return at
                if size == 1:
                    value += (np.int64(src[at]) << 56) >> 56
                elif size == 2:
                    value += ((np.int64(src[at]) | (np.int64(src[at + 1]) << 8)) << 48) >> 48
                else:
                    value += _little(src, at, size)
                at += size
            if wide == 4:
                value = (value << 32) >> 32
            out[i] = value
    return -1


def decode(encoded: U8, count: int, wide: int) -> npt.NDArray[Any]:
    """Integers of decompressed data, shape (count,), int32 for `wide` 4, int64 for 8; ValueError with the bad byte when it is too short."""
    out = np.empty(count, np.int32 if wide == 4 else np.int64)
    with np.errstate(over="ignore"):
        bad = int(_decode(encoded, count, wide, out)) if count else -1
    if bad >= 0:
        raise ValueError(bad)
    return out


def read_integers(buffer: Buffer, position: int, end: int, count: int, what: str, wide: int = 4) -> tuple[npt.NDArray[Any], int]:
    """Integers stored at `position` as a byte count and compressed data, and the position after them.

    Shape (count,), int32 or int64 by `wide`. CrateError when the data leave `end`, are broken, or too few for `count`.
    """
    size = buffer.u64(position, f"size of {what}")
    start = position + 8
    if start + size > end:
        raise CrateError(f"{what} of {size} bytes leaves its section", position)
    if count == 0:
        return np.empty(0, np.int32 if wide == 4 else np.int64), start + size
    if count > 4 * 255 * size:  # four codes a byte, 255 bytes a compressed byte
        raise CrateError(f"{count} integers cannot come out of {size} bytes of {what}; the file is corrupt", position)
    cap = wide + (count * 2 + 7) // 8 + count * wide
    buffer.charge(count * wide, position, what)
    encoded = decompress(buffer, start, size, cap, what)
    try:
        return decode(encoded, count, wide), start + size
    except ValueError as e:
        raise CrateError(f"{what} ends before its {count} integers; the file is corrupt", start) from e
