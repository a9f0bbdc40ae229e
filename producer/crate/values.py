"""Values of fixed size gathered by type, and arrays one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.errors import CrateError
from ovsim.jit import serial
from producer.crate import reps as rp
from producer.crate.buffer import U8, Buffer
from producer.crate.integers import read_integers
from producer.crate.reps import FIXED, U64, ValueType

_SMALL = 16  # arrays of fewer elements are never compressed
_INTEGERS = ("int", "uint", "int64", "uint64")
_FLOATS = ("half", "float", "double")
_INDEXED = ("token", "string")


@serial
def _copy(data: U8, offset: npt.NDArray[np.int64], stored: U8, size: int, out: npt.NDArray[np.uint8]) -> int:
    """Copy `size` bytes a stored value into `out` (n, size); returns the first row whose bytes leave the file, -1 when none does."""
    for i in range(offset.size):
        if stored[i]:
            at = offset[i]
            if at + size > data.size:
                return i
            for k in range(size):
                out[i, k] = data[at + k]
    return -1


def gather(buffer: Buffer, reps: U64, kind: int) -> npt.NDArray[Any]:
    """Values of the scalar reps `reps`, all of the fixed-size type `kind`: shape (n,), or (n, lanes) for vectors, quaternions (x y z w), matrices.

    Tokens, strings and asset paths come as indices (token, string and token table). CrateError when a value lies outside the file or its type
    cannot be held inline.
    """
    form = FIXED[kind]
    payload = rp.payloads(reps)
    if form.inline == "always":
        return _raw(form, payload)
    inlined = rp.flagged(reps, rp.INLINED)
    size = np.dtype(form.dtype).itemsize * form.lanes
    buffer.charge(reps.size * size, -1, f"{form.name} values")
    raw = np.empty((reps.size, size), np.uint8)
    bad = int(_copy(buffer.data, payload, (~inlined).view(np.uint8), size, raw))
    if bad >= 0:
        raise CrateError(f"a {form.name} value lies outside the file; the file is corrupt", int(payload[bad]))
    out = raw.view(form.dtype)
    if inlined.any():
        if form.inline == "never":
            raise CrateError(f"a {form.name} value is held inline, which its type does not allow; the file is corrupt")
        out[inlined] = _unpack(form, payload[inlined])
    return out if form.lanes > 1 else out[:, 0]


def _raw(form: ValueType, payload: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    bits = (payload & 0xFFFFFFFF).astype(np.uint32)
    if form.name == "bool":
        return (bits & 0xFF != 0).view(np.uint8)
    if form.lanes == 2:
        return bits.view(form.dtype).reshape(-1, 2)
    if np.dtype(form.dtype).itemsize == 4:
        return bits.view(form.dtype)
    return bits.astype(f"<u{np.dtype(form.dtype).itemsize}").view(form.dtype)


def _unpack(form: ValueType, payload: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    bits = (payload & 0xFFFFFFFF).astype(np.uint32)
    if form.inline == "narrow":
        narrow = {"f": np.float32, "i": np.int32, "u": np.uint32}[np.dtype(form.dtype).kind]
        return bits.view(narrow).astype(form.dtype)[:, None]
    lanes = bits.view(np.int8).reshape(-1, 4)
    if form.inline == "bytes":
        return lanes[:, : form.lanes].astype(form.dtype)
    side = {4: 2, 9: 3, 16: 4}[form.lanes]
    out = np.zeros((bits.size, form.lanes), form.dtype)
    out[:, :: side + 1] = lanes[:, :side]
    return out


def read_array(buffer: Buffer, version: tuple[int, int, int], rep: int, limit: int = 1 << 40) -> npt.NDArray[Any]:
    """Elements of one array value, shape (m,) or (m, lanes); tokens, strings and asset paths as indices (asset arrays hold string indices).

    CrateError when the array leaves the file, is of a type without arrays, or its compressed form is broken.
    """
    form = FIXED.get((rep >> 48) & 0xFF)
    at = rep & ((1 << 48) - 1)
    if form is None or rep & int(rp.ARRAY_EDIT):
        raise CrateError("a value claims to be an array of a type that has none", at)
    if at == 0:
        return np.empty((0, form.lanes) if form.lanes > 1 else 0, form.dtype)
    if version < (0, 5, 0):
        at += 4  # the rank, always 1
    wide = 8 if version >= (0, 7, 0) else 4
    count = buffer.u64(at, "size of an array") if wide == 8 else buffer.u32(at, "size of an array")
    at += wide
    if count > limit:
        raise CrateError(f"an array of {count} elements where at most {limit} make sense", at)
    packed = bool(rep & int(rp.COMPRESSED)) and count >= _SMALL
    if packed and form.name in _INTEGERS and version >= (0, 5, 0):
        size = np.dtype(form.dtype).itemsize
        return read_integers(buffer, at, buffer.size, count, "an array", size)[0].view(form.dtype)
    if packed and form.name in _FLOATS and version >= (0, 6, 0):
        return _packed_floats(buffer, at, count, form)
    size = count * np.dtype(form.dtype).itemsize * form.lanes
    data = buffer.span(at, size, f"an array of {count} {form.name} values")
    buffer.charge(size, at, "an array")
    out = np.frombuffer(data.tobytes(), form.dtype)
    return out.reshape(-1, form.lanes) if form.lanes > 1 else out


def _packed_floats(buffer: Buffer, at: int, count: int, form: ValueType) -> npt.NDArray[Any]:
    code = bytes(buffer.span(at, 1, "an array's code"))
    if code == b"i":
        return read_integers(buffer, at + 1, buffer.size, count, "an array")[0].astype(form.dtype)
    if code != b"t":
        raise CrateError(f"an array has the unknown code {code!r}", at)
    entries = buffer.u32(at + 1, "size of a look-up table")
    size = entries * np.dtype(form.dtype).itemsize
    table = np.frombuffer(buffer.span(at + 5, size, "a look-up table").tobytes(), form.dtype)
    index, _ = read_integers(buffer, at + 5 + size, buffer.size, count, "an array")
    if entries == 0 or int(index.max()) >= entries or int(index.min()) < 0:
        raise CrateError(f"an array names an entry beyond the {entries} of its look-up table", at)
    return table[index]
