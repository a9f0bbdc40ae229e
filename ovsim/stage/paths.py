"""Path dictionary: tokens and paths as two id spaces (design: "Stage"; contract block `prim`).

Token id 0 is "no token", path id 0 "no path", path id 1 the pseudo-root `/`. Ids are dense and stable: a path is a pair
(parent path id, name token id), parents always have smaller ids than their children, and strings are made only when asked for.
A property path is a child whose name token starts with `.`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ovsim.errors import PathError
from ovsim.stage.distinct import distinct

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
ROOT = 1
_LIMIT = 2**32 - 1


class PathDictionary:
    """Interned tokens and paths of one stage."""

    def __init__(self) -> None:
        self._tokens: list[str] = [""]
        self._token_ids: dict[str, int] = {"": 0}
        self._property_tokens: list[int] = []
        self._parent: U32 = np.zeros(64, np.uint32)
        self._name: U32 = np.zeros(64, np.uint32)
        self._count = 2  # no path, and the pseudo-root
        self._index_keys: U64 = np.empty(0, np.uint64)  # sorted (parent, name) keys of the first `_indexed` paths
        self._index_ids: U32 = np.empty(0, np.uint32)
        self._indexed = 2
        self._recent: dict[int, int] = {}  # key -> id of paths interned since the index was built

    # -- tokens ---------------------------------------------------------------------------------------------------

    @property
    def token_count(self) -> int:
        """How many token ids exist, id 0 included."""
        return len(self._tokens)

    def token(self, text: str) -> int:
        """Token id of `text`, interned if new."""
        got = self._token_ids.get(text)
        if got is None:
            got = len(self._tokens)
            self._tokens.append(text)
            self._token_ids[text] = got
            if text[:1] == ".":
                self._property_tokens.append(got)
        return got

    def find_token(self, text: str) -> int:
        """Token id of `text`, 0 when it was never interned."""
        return self._token_ids.get(text, 0)

    def token_string(self, token: int) -> str:
        """Text of a token id; PathError when the id is unknown."""
        if not 0 <= token < len(self._tokens):
            raise PathError(f"token id {token} is not one of this dictionary's {len(self._tokens)}")
        return self._tokens[token]

    def token_many(self, texts: Iterable[str]) -> U64:
        """Token ids, shape (n,), uint64."""
        wanted = list(texts)
        known = self._token_ids
        fresh = [t for t in dict.fromkeys(wanted) if t not in known]
        first = len(self._tokens)
        known.update(zip(fresh, range(first, first + len(fresh))))
        self._tokens += fresh
        self._property_tokens += [first + k for k, text in enumerate(fresh) if text[:1] == "."]
        return np.fromiter(map(known.__getitem__, wanted), np.uint64, len(wanted))

    def token_strings(self) -> Sequence[str]:
        """All token texts by id (read-only use)."""
        return self._tokens

    @property
    def property_tokens(self) -> Sequence[int]:
        """Token ids of property names, those with a leading dot (read-only use)."""
        return self._property_tokens

    # -- paths ----------------------------------------------------------------------------------------------------

    @property
    def path_count(self) -> int:
        """How many path ids exist, ids 0 and 1 included."""
        return self._count

    @property
    def parents(self) -> U32:
        """Parent path id by path id, shape (path_count,), read-only view; 0 for ids 0 and 1."""
        return _frozen(self._parent[: self._count])

    @property
    def names(self) -> U32:
        """Name token id by path id, shape (path_count,), read-only view; 0 for ids 0 and 1."""
        return _frozen(self._name[: self._count])

    def path(self, text: str) -> int:
        """Path id of an absolute prim or property path, interned with its ancestors; PathError when malformed."""
        here = ROOT
        for name in split_path(text):
            here = self.child(here, self.token(name))
        return here

    def find(self, text: str) -> int:
        """Path id of `text`, 0 when this dictionary does not hold it; PathError when malformed."""
        here = ROOT
        for name in split_path(text):
            token = self._token_ids.get(name)
            here = 0 if token is None else self._lookup(here << 32 | token)
            if not here:
                return 0
        return here

    def child(self, parent: int, name: int) -> int:
        """Path id of the child `name` (token id) of `parent`, interned if new."""
        key = parent << 32 | name
        got = self._lookup(key)
        if not got:
            got = self._append_room(1)
            self._parent[got] = parent
            self._name[got] = name
            self._recent[key] = got
        return got

    def children_many(self, parents: npt.ArrayLike, names: npt.ArrayLike) -> U64:
        """Path ids of (parent id, name token id) pairs, shape (n,), interned where new, in one vectorised pass."""
        parent = np.asarray(parents, np.uint64)
        keys = parent << np.uint64(32) | np.asarray(names, np.uint64)
        if parent.size and (int(parent.max()) >= self._count or int(parent.min()) < ROOT):
            raise PathError("a child names a parent path id that this dictionary does not hold")
        unique, inverse = np.unique(keys, return_inverse=True)
        self._reindex()
        at = np.searchsorted(self._index_keys, unique)
        at_ok = np.minimum(at, max(self._index_keys.size - 1, 0))
        known = self._index_keys[at_ok] == unique if self._index_keys.size else np.zeros(unique.size, bool)
        ids = np.zeros(unique.size, np.uint64)
        if known.any():
            ids[known] = self._index_ids[at_ok[known]]
        fresh = unique[~known]
        ids[~known] = self.append(fresh >> np.uint64(32), fresh & np.uint64(0xFFFFFFFF))
        return ids[inverse.reshape(-1)]

    def append(self, parents: npt.ArrayLike, names: npt.ArrayLike) -> U64:
        """Append paths known to be new and distinct, shape (n,); returns their ids.

        Parents must exist or come earlier in the same call (PathError). Distinctness is the caller's promise: the crate
        reader and snapshots check it for their tables.
        """
        parent = np.asarray(parents)
        name = np.asarray(names)
        first = self._append_room(parent.size)
        ids = np.arange(first, first + parent.size, dtype=np.uint64)
        if parent.size and (np.any(parent >= ids) or np.any(parent < ROOT) or int(name.max()) >= len(self._tokens)):
            self._count = first
            raise PathError("paths must follow their parents and use interned name tokens")
        self._parent[first : self._count] = parent
        self._name[first : self._count] = name
        return ids

    def path_string(self, path: int) -> str:
        """Text of one path id; "" for id 0, PathError when unknown."""
        if not 0 <= path < self._count:
            raise PathError(f"path id {path} is not one of this dictionary's {self._count}")
        if path <= ROOT:
            return "/" if path else ""
        parts: list[str] = []
        while path > ROOT:
            name = self._tokens[self._name[path]]
            parts.append(name if name.startswith(".") else "/" + name)
            path = int(self._parent[path])
        return "".join(reversed(parts))

    def path_strings(self, paths: npt.ArrayLike) -> pa.LargeStringArray:
        """Texts of many path ids as one Arrow array, shape (n,), built level by level."""
        ids = np.asarray(paths, np.int64)
        if ids.size == 0:
            return pa.array([], pa.large_string())
        if int(ids.max()) >= self._count or int(ids.min()) < 0:
            raise PathError("a path id is not in this dictionary")
        if ids.size < 64:
            return pa.array([self.path_string(int(i)) for i in ids], pa.large_string())
        chain = [distinct(ids, self._count)]
        while chain[-1].size and chain[-1][-1] > ROOT:
            above = chain[-1][chain[-1] > ROOT]
            chain.append(distinct(self._parent[above].astype(np.int64), self._count))
            if len(chain) > 128:  # absurdly deep: level passes would be quadratic
                return pa.array([self.path_string(int(i)) for i in ids], pa.large_string())
        glue = pa.scalar("", pa.large_string())
        spelled = _Spelled(self._tokens)
        below_ids = np.empty(0, np.int64)
        below = pa.array([], pa.large_string())
        for level in reversed(chain):
            deep = level[level > ROOT]
            lead = below.take(pa.array(np.searchsorted(below_ids, self._parent[deep].astype(np.int64))))
            texts = pc.binary_join_element_wise(lead, spelled(self._name[deep]), glue)
            heads = pa.array([""] * (level.size - deep.size), pa.large_string())  # `/` itself adds nothing to its children
            below, below_ids = pa.concat_arrays([heads, texts]), level
        out = below.take(pa.array(np.searchsorted(below_ids, ids)))
        roots = np.flatnonzero(ids == ROOT)
        if roots.size:
            out = pc.if_else(pa.array(ids == ROOT), pa.scalar("/", pa.large_string()), out)
        return out

    # -- inside ---------------------------------------------------------------------------------------------------

    def _append_room(self, n: int) -> int:
        first, need = self._count, self._count + n
        if need > _LIMIT:
            raise PathError(f"more than {_LIMIT} paths in one dictionary")
        if need > self._parent.size:
            size = max(need, self._parent.size * 3 // 2)
            for field in ("_parent", "_name"):
                grown = np.zeros(size, np.uint32)
                grown[:first] = getattr(self, field)[:first]
                setattr(self, field, grown)
        self._count = need
        return first

    def _lookup(self, key: int) -> int:
        got = self._recent.get(key)
        if got is not None:
            return got
        if self._indexed + len(self._recent) < self._count:
            self._reindex()
        if self._index_keys.size:
            at = int(np.searchsorted(self._index_keys, np.uint64(key)))
            if at < self._index_keys.size and int(self._index_keys[at]) == key:
                return int(self._index_ids[at])
        return 0

    def _reindex(self) -> None:
        if self._indexed == self._count:
            return
        ids = np.arange(2, self._count, dtype=np.uint32)
        keys = self._parent[2 : self._count].astype(np.uint64) << np.uint64(32) | self._name[2 : self._count]
        order = np.argsort(keys, kind="stable")
        self._index_keys, self._index_ids = keys[order], ids[order]
        self._indexed = self._count
        self._recent = {}


class _Spelled:
    """Names with their separators, as large_string; of a few paths in a large dictionary only the names they use are spelled."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._all: pa.LargeStringArray | None = None

    def __call__(self, names: U32) -> pa.LargeStringArray:
        if self._all is None and names.size * 8 < len(self._tokens):
            used, place = np.unique(names, return_inverse=True)
            return self._spell([self._tokens[i] for i in used]).take(pa.array(place.reshape(-1)))
        if self._all is None:
            self._all = self._spell(self._tokens)
        return self._all.take(pa.array(names))

    @staticmethod
    def _spell(tokens: list[str]) -> pa.LargeStringArray:
        return pa.array([t if t.startswith(".") else "/" + t for t in tokens], pa.large_string())


def split_path(text: str) -> list[str]:
    """Names of an absolute path, a property as a last name with its leading dot; PathError when malformed."""
    if not text.startswith("/") or (len(text) > 1 and text.endswith("/")) or "//" in text or "\0" in text:
        raise PathError(f"{text!r} is not an absolute prim path; write it like /World/robot/joint")
    if text == "/":
        return []
    prim, dot, prop = text.partition(".")
    names = prim[1:].split("/") if len(prim) > 1 else []
    return [*names, "." + prop] if dot else names


def _frozen(a: U32) -> U32:
    view = a.view()
    view.flags.writeable = False
    return view
