"""Ids between the two dictionaries, in bulk: an ovsim PathDictionary on one side, the dictionary of an ovstage Stage on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.bridge.layout import PATH, TOKEN
from ovsim.bridge.native import Live
from ovsim.errors import BridgeError
from ovsim.stage.distinct import distinct
from ovsim.stage.paths import ROOT, PathDictionary

U64 = npt.NDArray[np.uint64]


class Outward:
    """ovsim ids to ovstage ids: `need` marks what will be written, `intern` makes it known to ovstage in three calls, `translate` maps columns."""

    def __init__(self, paths: PathDictionary) -> None:
        self._paths = paths
        self._used = {TOKEN: np.zeros(paths.token_count, bool), PATH: np.zeros(paths.path_count, bool)}
        self._ids: dict[str, U64] = {}
        self._texts: dict[str, int] = {}

    def need_texts(self, *texts: str) -> None:
        """Mark column, type and schema names as used."""
        self._texts.update(dict.fromkeys(texts, 0))

    def need(self, kind: str, ids: npt.NDArray[Any], where: str) -> None:
        """Mark ids as used. BridgeError when one is not of this dictionary."""
        used = self._used[kind]
        if ids.size and int(ids.max()) >= used.size:
            raise BridgeError(
                f"{where}: {kind} id {int(ids.max())} is not one of the stage's dictionary; columns and dictionary belong to two stages"
            )
        used[ids] = True

    def intern(self, live: Live) -> None:
        """Give everything marked an id of ovstage's dictionary."""
        self._texts = dict(zip(self._texts, live.tokens(pa.array(list(self._texts), pa.large_string())).tolist()))
        texts = self._paths.token_strings()
        for kind, used in self._used.items():
            used[0] = False
            at = np.flatnonzero(used)
            out = np.zeros(used.size, np.uint64)
            if kind == TOKEN:
                out[at] = live.tokens(pa.array([texts[i] for i in at.tolist()], pa.large_string()))
            else:
                out[at] = live.paths(self._paths.path_strings(at))
            self._ids[kind] = out

    def text(self, text: str) -> int:
        """ovstage's token id of a marked name."""
        return self._texts[text]

    def translate(self, values: npt.NDArray[Any], lanes: tuple[str, ...]) -> U64:
        """Column of ids, shape (n,) or (n, lanes), as ovstage ids."""
        if len(lanes) == 1:
            return self._ids[lanes[0]][values]
        return np.stack([self._ids[kind][values[:, i]] for i, kind in enumerate(lanes)], axis=1)


class Inward:
    """ovstage ids to ids of a new ovsim PathDictionary: `learn` collects what columns hold, `intern` maps all of it, `translate` maps columns."""

    def __init__(self, live: Live) -> None:
        self.paths = PathDictionary()
        self._live = live
        self._seen: dict[str, list[U64]] = {TOKEN: [], PATH: []}
        self._keys: dict[str, U64] = {}
        self._ids: dict[str, U64] = {}

    def learn(self, kind: str, ids: U64) -> None:
        """Note the ids of a column."""
        self._seen[kind].append(distinct(ids))

    def intern(self) -> None:
        """Give every noted token and path an id of the new dictionary. BridgeError when ovstage does not know one."""
        keys = {kind: _real(seen) for kind, seen in self._seen.items()}
        lengths, names = self._live.path_tokens(keys[PATH])
        self._keys = {TOKEN: _real([keys[TOKEN], names]), PATH: keys[PATH]}
        texts = self._live.token_texts(self._keys[TOKEN])
        self._ids[TOKEN] = self.paths.token_many(texts)
        self._ids[PATH] = self._path_ids(lengths, np.searchsorted(self._keys[TOKEN], names), texts)

    def translate(self, ids: npt.NDArray[Any], lanes: tuple[str, ...]) -> U64:
        """Column of ids, shape (n,) or (n, lanes), as ids of the new dictionary."""
        if len(lanes) == 1:
            return self._one(ids, lanes[0])
        return np.stack([self._one(ids[:, i], kind) for i, kind in enumerate(lanes)], axis=1)

    def _one(self, ids: npt.NDArray[Any], kind: str) -> U64:
        if not self._keys[kind].size:
            return np.zeros(ids.shape, np.uint64)
        got = self._ids[kind][np.minimum(np.searchsorted(self._keys[kind], ids), self._keys[kind].size - 1)]
        return np.where(ids == 0, np.uint64(0), got)

    def _path_ids(self, lengths: npt.NDArray[np.int64], names: npt.NDArray[np.int64], texts: list[str]) -> U64:
        """Ids of paths from their names, one pass a level; ovstage keeps a property in the last name, this dictionary as a name of its own."""
        dotted = np.array(["." in t for t in texts], bool) if texts else np.zeros(0, bool)
        ends = np.cumsum(lengths)
        begins = ends - lengths
        last = np.zeros(names.size, bool)
        last[ends[lengths > 0] - 1] = True
        odd = np.zeros(lengths.size, bool)  # a target in brackets has dots within
        stray = np.flatnonzero(dotted[names] & ~last) if names.size else np.empty(0, np.int64)
        odd[np.searchsorted(ends, stray, side="right")] = True
        prim = self.paths.token_many(t.partition(".")[0] if d else t for t, d in zip(texts, dotted.tolist()))
        tail = self.paths.token_many("." + t.partition(".")[2] if d else "" for t, d in zip(texts, dotted.tolist()))
        ids = np.full(lengths.size, ROOT, np.uint64)
        for level in range(int(lengths.max()) if lengths.size else 0):
            at = np.flatnonzero((lengths > level) & ~odd)
            name = names[begins[at] + level]
            here = prim[name]
            named = here != 0  # a property of the root has no prim name
            ids[at[named]] = self.paths.children_many(ids[at[named]], here[named])
            property_ = tail[name] != 0
            ids[at[property_]] = self.paths.children_many(ids[at[property_]], tail[name][property_])
        for i in np.flatnonzero(odd).tolist():
            ids[i] = self.paths.path("/" + "/".join(texts[n] for n in names[begins[i] : ends[i]].tolist()))
        return ids


def path_texts(live: Live, ids: U64) -> pa.LargeStringArray:
    """Texts of ovstage path ids, shape (n,). BridgeError when ovstage does not know one."""
    inward = Inward(live)
    inward.learn(PATH, ids)
    inward.intern()
    return inward.paths.path_strings(inward.translate(ids, (PATH,)))


def _real(parts: list[U64]) -> U64:
    """Distinct ids without 0."""
    every = distinct(np.concatenate([np.empty(0, np.uint64), *parts]))
    return every[every != 0]
