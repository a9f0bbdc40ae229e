"""Stored values of variable size, one at a time: list-ops, vectors of texts, dictionaries, selections, references and payloads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ovsim.errors import CrateError
from producer.crate import reps as rp
from producer.crate.tables import Tables
from producer.crate.values import gather, read_array

_DEEPEST = 32  # dictionaries in dictionaries


class ListOp(NamedTuple):
    """A list-op: `explicit` is None unless the whole list is given; the items are tokens, path indices, `Arc`s or ints."""

    explicit: tuple[Any, ...] | None
    added: tuple[Any, ...] = ()
    prepended: tuple[Any, ...] = ()
    appended: tuple[Any, ...] = ()
    deleted: tuple[Any, ...] = ()
    ordered: tuple[Any, ...] = ()


class Arc(NamedTuple):
    """A reference or payload: asset path ("": the same layer stack), path index of the prim (-1: the default prim), time offset and scale."""

    asset: str
    prim: int
    offset: float = 0.0
    scale: float = 1.0


class Decoder:
    """Reads stored values of one file in sequence; every step is checked, and no value is visited more often than the file is long."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.buffer = tables.buffer
        self.version = tables.layout.version
        self._steps = tables.buffer.size + 1024

    # -- whole values ----------------------------------------------------------------------------------------------

    def list_op(self, rep: int) -> ListOp:
        """A list-op of tokens, strings, paths, references, payloads or ints; a single payload comes as its explicit list."""
        kind, at = (rep >> 48) & 0xFF, rep & ((1 << 48) - 1)
        if kind == rp.PAYLOAD:
            item, _ = self._arc(at, self.version >= (0, 8, 0))
            return ListOp((item,) if item.asset or item.prim >= 0 else ())
        if kind not in _ITEMS:
            raise CrateError(f"a value of type {kind} stands where a list-op is due", at)
        bits = int(self.buffer.span(at, 1, "a list-op")[0])
        at += 1
        lists: list[tuple[Any, ...]] = []
        for bit in (2, 4, 32, 64, 8, 16):  # explicit, added, prepended, appended, deleted, ordered
            items: tuple[Any, ...] = ()
            if bits & bit:
                items, at = self._items(kind, at)
            lists.append(items)
        explicit = lists[0] if bits & 1 else None
        return ListOp(explicit, *lists[1:])

    def texts(self, rep: int) -> list[str]:
        """Texts of a token vector, a string vector, or a token or string array."""
        kind, at = (rep >> 48) & 0xFF, rep & ((1 << 48) - 1)
        if rep & int(rp.ARRAY) and kind in (rp.TOKEN, rp.STRING):
            index = read_array(self.buffer, self.version, rep)
            return [self._text(int(i), kind == rp.STRING, at) for i in index]
        if kind not in (rp.TOKEN_VECTOR, rp.STRINGS):
            raise CrateError(f"a value of type {kind} stands where a list of texts is due", at)
        return list(self._items(kind, at)[0])

    def text(self, rep: int) -> str:
        """Text of an inlined token, string or asset path."""
        kind, index = (rep >> 48) & 0xFF, rep & 0xFFFFFFFF
        if kind not in (rp.TOKEN, rp.STRING, rp.ASSET):
            raise CrateError(f"a value of type {kind} stands where a text is due")
        return self._text(index, kind == rp.STRING, -1)

    def has_offsets(self, rep: int) -> bool:
        """Whether a vector of time offsets holds any that is not the identity."""
        at = rep & ((1 << 48) - 1)
        if (rep >> 48) & 0xFF != rp.OFFSETS:
            raise CrateError("a value of another type stands where time offsets are due", at)
        count = self.buffer.u64(at, "time offsets")
        pairs = np.frombuffer(self.buffer.span(at + 8, count * 16, "time offsets").tobytes(), "<f8").reshape(-1, 2)
        return bool((pairs != (0.0, 1.0)).any())

    def selections(self, rep: int) -> dict[str, str]:
        """Variant selections, set to variant."""
        at = rep & ((1 << 48) - 1)
        if (rep >> 48) & 0xFF != rp.SELECTIONS:
            raise CrateError("a value of another type stands where variant selections are due", at)
        count = self.buffer.u64(at, "variant selections")
        pairs = self.buffer.span(at + 8, count * 8, "variant selections").tobytes()
        index = np.frombuffer(pairs, "<u4").reshape(-1, 2)
        return {self._text(int(k), True, at): self._text(int(v), True, at) for k, v in index}

    def dictionary(self, rep: int) -> dict[str, Any]:
        """A dictionary, nested ones included; values that population never reads come as None."""
        if rep & int(rp.INLINED):
            return {}
        return self._dictionary(rep & ((1 << 48) - 1), 0)[0]

    def scalar(self, rep: int) -> Any:
        """A fixed-size scalar as a NumPy value, texts as str."""
        kind = (rep >> 48) & 0xFF
        if kind in (rp.TOKEN, rp.STRING, rp.ASSET):
            return self.text(rep)
        if kind not in rp.FIXED or rep & int(rp.ARRAY | rp.ARRAY_EDIT):
            raise CrateError(f"a value of type {kind} stands where a number is due", rep & ((1 << 48) - 1))
        return gather(self.buffer, np.array([rep], np.uint64), kind)[0]

    # -- parts -------------------------------------------------------------------------------------------------------

    def _step(self, at: int) -> None:
        self._steps -= 1
        if self._steps < 0:
            raise CrateError("stored values refer to each other more often than the file is long; the file is corrupt", at)

    def _text(self, index: int, is_string: bool, at: int) -> str:
        tables = self.tables
        if is_string:
            if index >= tables.strings.size:
                raise CrateError(f"string {index} is beyond the {tables.strings.size} of the file", at)
            index = int(tables.strings[index])
        if index >= len(tables.tokens):
            raise CrateError(f"token {index} is beyond the {len(tables.tokens)} of the file", at)
        return tables.tokens[index]

    def _items(self, kind: int, at: int) -> tuple[tuple[Any, ...], int]:
        count = self.buffer.u64(at, "number of items")
        at += 8
        form = _ITEMS[kind]
        if form == "arc":
            arcs = []
            for _ in range(count):
                self._step(at)
                arc, at = self._arc(at, kind == rp.REFERENCE_LIST or self.version >= (0, 8, 0), kind == rp.REFERENCE_LIST)
                arcs.append(arc)
            return tuple(arcs), at
        width = 8 if form in ("<i8", "<u8") else 4
        raw = np.frombuffer(self.buffer.span(at, count * width, "items of a list").tobytes(), form if width == 8 or form == "<i4" else "<u4")
        self.buffer.charge(count * 32, at, "items of a list")
        at += count * width
        if form == "path":
            if raw.size and int(raw.max()) >= self.tables.paths.parent.size:
                raise CrateError(f"path {int(raw.max())} is beyond the {self.tables.paths.parent.size} of the file", at)
            return tuple(raw.tolist()), at
        if form in ("token", "string"):
            return tuple(self._text(i, form == "string", at) for i in raw.tolist()), at
        return tuple(raw.tolist()), at

    def _arc(self, at: int, with_offset: bool, with_data: bool = False) -> tuple[Arc, int]:
        asset = self._text(self.buffer.u32(at, "a reference"), True, at)
        prim = self.buffer.u32(at + 4, "a reference")
        paths = self.tables.paths
        if prim >= paths.parent.size:
            raise CrateError(f"path {prim} is beyond the {paths.parent.size} of the file", at)
        at += 8
        offset, scale = 0.0, 1.0
        if with_offset:
            offset, scale = np.frombuffer(self.buffer.span(at, 16, "a time offset").tobytes(), "<f8").tolist()
            at += 16
        if with_data:
            _, at = self._dictionary(at, 0)
        return Arc(asset, prim if paths.kind[prim] else -1, offset, scale), at

    def _dictionary(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        if depth > _DEEPEST:
            raise CrateError(f"dictionaries nest deeper than {_DEEPEST}", at)
        count = self.buffer.u64(at, "a dictionary")
        at += 8
        out: dict[str, Any] = {}
        for _ in range(count):
            self._step(at)
            key = self._text(self.buffer.u32(at, "a dictionary's key"), True, at)
            jump = self.buffer.i64(at + 4, "a dictionary's value")
            at += 4 + jump
            if jump < 8:
                raise CrateError("a dictionary's value points backwards", at)
            rep = self.buffer.u64(at, "a dictionary's value")
            at += 8
            out[key] = self._any(rep, depth + 1)
        return out, at

    def _any(self, rep: int, depth: int) -> Any:
        kind = (rep >> 48) & 0xFF
        if kind == rp.DICTIONARY and not rep & int(rp.INLINED):
            return self._dictionary(rep & ((1 << 48) - 1), depth)[0]
        if kind in rp.FIXED and not rep & int(rp.ARRAY | rp.ARRAY_EDIT):
            return self.scalar(rep)
        return None


_ITEMS = {
    rp.TOKEN_LIST: "token",
    rp.STRING_LIST: "string",
    rp.PATH_LIST: "path",
    rp.REFERENCE_LIST: "arc",
    rp.PAYLOAD_LIST: "arc",
    36: "<i4",
    37: "<i8",
    38: "<u4",
    39: "<u8",
    40: "path",
    rp.TOKEN_VECTOR: "token",
    rp.STRINGS: "string",
}
