"""The ovstage binding as bulk calls over NumPy memory: texts to ids and back, path lists, whole-column writes and reads.

ovstage is imported on first use and only of a version whose binding is known; a process that has loaded pxr is refused, because two USD builds in
one process break each other. Every call here takes or gives whole arrays; nothing loops over rows.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ovsim.bridge import memory
from ovsim.bridge.pieces import Piece, Writing
from ovsim.errors import BridgeError
from ovsim.stage.archetype import PATH, PRIM_TYPE
from ovsim.stage.distinct import distinct

U64 = npt.NDArray[np.uint64]
SUPPORTED = (0, 2)  # major, minor of ovstage; ovphysx 0.6 brings this one
_TOKENS_A_PATH = 8  # room for the first try at taking paths apart
_checked: set[int] = set()


def module() -> ModuleType:
    """The ovstage package. BridgeError when it is missing, of an unknown version, or when this process has loaded pxr."""
    if "pxr" in sys.modules:
        raise BridgeError("this process has loaded pxr, and ovstage brings a USD of its own; run the bridge in a process without pxr")
    try:
        import ovstage
    except ImportError as e:
        raise BridgeError(
            f"ovstage is not installed in this environment ({sys.executable}); install ovphysx==0.6.3, numpy and pyarrow into one without usd-core"
        ) from e
    if id(ovstage) not in _checked:
        _check(ovstage)
        _checked.add(id(ovstage))
    return ovstage


def _check(ovstage: ModuleType) -> None:
    try:
        version = tuple(ovstage.library_version())
    except (OSError, RuntimeError, AttributeError, TypeError) as e:
        raise BridgeError(f"ovstage is installed but does not load: {e}") from e
    shown = ".".join(map(str, version))
    if version[:2] != SUPPORTED:
        raise BridgeError(f"ovstage {shown} is installed, the bridge knows {SUPPORTED[0]}.{SUPPORTED[1]}; install ovphysx==0.6.3, which brings it")
    from ovstage._src import bindings, dlpack

    for mine, theirs in ((memory.STRING, bindings.ovx_string_t), (memory.TENSOR, dlpack.DLTensor)):
        if mine.itemsize != ctypes.sizeof(theirs):
            raise BridgeError(f"ovstage {shown} lays {theirs.__name__} out in another way than the bridge; install ovphysx==0.6.3")


class Live:
    """An ovstage Stage and its path dictionary, seen as arrays. BridgeError when the stage is destroyed or no ovstage Stage."""

    def __init__(self, stage: Any) -> None:
        self.ovstage = module()
        if not isinstance(stage, self.ovstage.Stage):
            raise BridgeError(f"an ovstage.Stage is wanted, not {type(stage).__name__}")
        if not stage._inst:
            raise BridgeError("the ovstage Stage was destroyed; make a new one")
        from ovstage._src import bindings, dlpack
        from ovstage._src.types import Operation

        self.stage, self.dictionary = stage, self.ovstage.PathDictionary(stage)
        self._b, self._tensor, self._operation = bindings, dlpack.DLTensor, Operation

    @contextmanager
    def told(self, what: str) -> Iterator[None]:
        """Turns ovstage's own exceptions into a BridgeError that says what was being done."""
        try:
            yield
        except (self.ovstage.OvstageError, self.ovstage.OvxError, TypeError, ValueError) as e:
            raise BridgeError(f"{what}: {e}") from e

    def _call(self, slot: str, *arguments: Any) -> None:
        self.dictionary._check(getattr(self.dictionary._vtable, slot)(self.dictionary._context, *arguments))

    # -- texts and ids ------------------------------------------------------------------------------------------------

    def tokens(self, texts: pa.LargeStringArray) -> U64:
        """Token ids of texts, shape (n,), interned in one call; the empty text is id 0."""
        there = np.asarray(pc.not_equal(texts, ""))
        ids = np.zeros(len(texts), np.uint64)
        with self.told("interning tokens"):
            ids[there] = self._intern("create_tokens_from_strings", texts.filter(pa.array(there)), self._b.ovx_token_t)
        return ids

    def paths(self, texts: pa.LargeStringArray) -> U64:
        """Path ids of absolute path texts, shape (n,), interned in one call. BridgeError names the text that ovstage refuses."""
        try:
            return self._intern("create_paths_from_strings", texts, self._b.ovx_primpath_t)
        except self.ovstage.OvxError as e:
            raise BridgeError(f"{self._refused(texts)} is no path to ovstage ({e}); rename the prim or drop the target") from e

    def _intern(self, slot: str, texts: pa.LargeStringArray, type_: Any) -> U64:
        out = np.zeros(len(texts), np.uint64)
        if out.size:
            _, offsets, data = texts.buffers()
            at = memory.view(offsets.address + 8 * texts.offset, out.size + 1, np.dtype(np.int64))
            views = np.zeros(out.size, memory.STRING)
            views["ptr"] = np.uint64(data.address) + at[:-1].astype(np.uint64)
            views["length"] = np.diff(at)
            self._call(slot, _pointer(views, self._b.ovx_string_t), out.size, _pointer(out, type_))
        return out

    def _refused(self, texts: pa.LargeStringArray) -> str:
        """The first text that cannot be interned, found by halving."""
        low, high = 0, len(texts)
        while high - low > 1:
            middle = (low + high) // 2
            try:
                self._intern("create_paths_from_strings", texts[low:middle], self._b.ovx_primpath_t)
                low = middle
            except self.ovstage.OvxError:
                high = middle
        return repr(texts[low].as_py())

    def token_texts(self, ids: U64) -> list[str]:
        """Texts of distinct token ids, none of them 0. BridgeError when one is not of the stage's dictionary."""
        ids = np.ascontiguousarray(ids, np.uint64)
        views = np.zeros(ids.size, memory.STRING)
        if ids.size:
            with self.told("a token id is not one of the stage's dictionary"):
                self._call("get_strings_from_tokens", _pointer(ids, self._b.ovx_token_t), ids.size, _pointer(views, self._b.ovx_string_t))
        if not views["length"].all():  # ovstage answers an unknown id with no text
            raise BridgeError(f"token id {int(ids[views['length'] == 0][0])} is not one of the stage's dictionary")
        pairs = zip(views["ptr"].tolist(), views["length"].tolist())  # distinct tokens, not rows
        return [ctypes.string_at(ptr, length).decode("utf-8", "replace") for ptr, length in pairs]

    def path_tokens(self, ids: U64) -> tuple[npt.NDArray[np.int64], U64]:
        """Names of paths as token ids: how many each path has, shape (n,), and all of them one behind the other, the root's child first.

        BridgeError when an id is not of the stage's dictionary.
        """
        token, lengths, parts, start, room = self._b.ovx_token_t, np.zeros(ids.size, np.int64), [np.empty(0, np.uint64)], 0, 1024
        while start < ids.size:
            rest = np.ascontiguousarray(ids[start:], np.uint64)
            room = max(rest.size * _TOKENS_A_PATH, 2 * room)
            buffer, where, counts = np.zeros(room, np.uint64), np.zeros(rest.size, np.uint64), np.zeros(rest.size, np.uint64)
            done = ctypes.c_size_t(0)
            into = (_pointer(buffer, token), room, _pointer(where, ctypes.POINTER(token)), _pointer(counts, ctypes.c_size_t), ctypes.byref(done))
            with self.told("a path id is not one of the stage's dictionary"):
                self._call("get_tokens_from_paths", _pointer(rest, self._b.ovx_primpath_t), rest.size, *into)
            lengths[start : start + done.value] = counts[: done.value]
            parts.append(buffer[: int(counts[: done.value].sum())])
            start += done.value
        return lengths, np.concatenate(parts)

    # -- writing ------------------------------------------------------------------------------------------------------

    def write(self, path_ids: U64, columns: Sequence[Writing], ordinal: int, where: str) -> None:
        """Upsert columns of the given prims in one call; rows are made where they are new. BridgeError, led by `where`, when ovstage refuses."""
        batch = (self._b.ovstage_attribute_write_t * len(columns))()
        for slot, column in zip(batch, columns):
            slot.attribute.token = column.token
            column.fill(slot.data, self._tensor)
        first = ctypes.cast(batch, ctypes.POINTER(self._b.ovstage_attribute_write_t))
        with self.told(where), self._prims(path_ids) as query:
            done = self.stage._api.ovstage_write_attributes(self.stage._inst, query.handle, first, len(columns), ordinal, 0)
            self._operation(self.stage, done.status, done.op_index, keepalive=[batch, columns]).wait()

    def seal(self, ordinal: int) -> None:
        """Advance the write floor of everything to `ordinal`, so that readers see what was written."""
        with self.told(f"sealing ordinal {ordinal}"):
            self.stage.advance_write_floor(ordinal=ordinal).wait()

    def floor(self, attribute: int | None = None) -> int:
        """Write floor of one attribute (token id) or of the whole stage: ordinals up to it are sealed. 0 for a new stage."""
        with self.told("asking for the write floor"), self.stage.get_attribute_write_floor(attribute) as query:
            query.wait()
            return int(query.fetch())

    # -- reading ------------------------------------------------------------------------------------------------------

    def attributes(self) -> list[int]:
        """Token ids of every attribute that the stage's prims have, as discovery lists them (built-ins are never listed)."""
        with self.told("querying the stage"), self.stage.query() as query:
            query.wait()
            return list(query.result().attributes)

    def pieces(self, attributes: Sequence[int], ordinal: int, query: Any = None) -> Iterator[Piece]:
        """Columns of the prims of a query, or of the whole stage, in the pieces that ovstage keeps them in, as they stand at a sealed ordinal."""
        if query is None:
            with self.told("querying the stage"), self.stage.query() as every:
                every.wait()
                yield from self.pieces(attributes, ordinal, every)
            return
        latest = self.ovstage.OrdinalRange.latest(ordinal)
        with self.told("reading columns"), self.stage.read_attributes(query, list(attributes), latest) as read:
            read.wait()
            for group in read.groups():
                with group:
                    if not group.is_delete and group.prim_count:
                        yield Piece(group, self.list_paths(group.prim_list))

    def types(self, ordinal: int) -> Iterator[tuple[str, U64]]:
        """Each type text with the path ids of its prims.

        ovstage hands the type column out in one piece a prim, but a filter on a type in one piece for all; so one prim tells each type.
        """
        left = self._typed("HAS", [], ordinal)
        token = self.dictionary.intern_token(PRIM_TYPE)
        while left.size:
            with self._prims(left[:1]) as query:
                found = [p for p in self.pieces([token], ordinal, query) if p.values[0]]
            here = left[:1]
            if found:
                (text,) = self.token_texts(found[0].values.astype(np.uint64))
                here = distinct(np.concatenate([self._typed("IN", [text], ordinal), here]))
                yield text, here
            left = np.setdiff1d(left, here, assume_unique=True)

    def _typed(self, operator: str, values: list[str], ordinal: int) -> U64:
        o = self.ovstage
        wanted = o.Filter([o.Predicate(PRIM_TYPE, getattr(o.FilterOp, operator), values)])
        with self.told("querying types"), self.stage.query(wanted) as query:
            query.wait()
            listed = [p.paths for p in self.pieces([self.dictionary.intern_token(PATH)], ordinal, query)]
        return distinct(np.concatenate([np.empty(0, np.uint64), *listed]))

    @contextmanager
    def _prims(self, path_ids: U64) -> Iterator[Any]:
        """A query for exactly these prims."""
        ids, handle = np.ascontiguousarray(path_ids, np.uint64), np.zeros(1, np.uint64)
        self._call("create_path_list_from_paths", _pointer(ids, self._b.ovx_primpath_t), ids.size, _pointer(handle, self._b.ovx_primpath_list_t))
        with self.dictionary._track(int(handle[0])) as prims, self.stage.query_from_path_list(prims) as query:
            yield query

    def list_paths(self, handle: int) -> U64:
        """Path ids of a path list, shape (n,)."""
        count = self.dictionary.path_list_count(handle)
        out, got = np.zeros(count, np.uint64), ctypes.c_size_t(0)
        self._call("get_paths_from_path_list", handle, 0, count, _pointer(out, self._b.ovx_primpath_t), ctypes.byref(got))
        return out


def _pointer(array: npt.NDArray[Any], type_: Any) -> Any:
    return ctypes.cast(array.ctypes.data, ctypes.POINTER(type_))
