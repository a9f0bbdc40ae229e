"""A dictionary that behaves like ovstage's as far as ids go, so that the mapping is tested without it (real_bridge tests the real one)."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.bridge.layout import Layout
from ovsim.errors import BridgeError

U64 = npt.NDArray[np.uint64]
FIRST = 1 << 32  # both kinds of ids share one counter that starts here


class FakeLive:
    """Tokens and paths with sparse ids; a path's tokens are its names, a property stays in the last one."""

    def __init__(self) -> None:
        self.ids: dict[tuple[str, str], int] = {}
        self.calls: list[str] = []

    def _intern(self, kind: str, text: str) -> int:
        return self.ids.setdefault((kind, text), FIRST + 3 * len(self.ids))

    def tokens(self, texts: pa.Array) -> U64:
        self.calls.append("tokens")
        return np.array([self._intern("token", t) if t else 0 for t in texts.to_pylist()], np.uint64)

    def paths(self, texts: pa.Array) -> U64:
        self.calls.append("paths")
        return np.array([self._intern("path", t) for t in texts.to_pylist()], np.uint64)

    def _texts(self, kind: str, ids: U64) -> list[str]:
        known = {v: t for (k, t), v in self.ids.items() if k == kind}
        try:
            return [known[int(i)] for i in ids]
        except KeyError as e:
            raise BridgeError(f"a {kind} id is not one of the stage's dictionary: {e}") from e

    def token_texts(self, ids: U64) -> list[str]:
        return self._texts("token", ids)

    def path_tokens(self, ids: U64) -> tuple[npt.NDArray[np.int64], U64]:
        names = [[x for x in t.split("/") if x] for t in self._texts("path", ids)]
        flat = self.tokens(pa.array([n for row in names for n in row], pa.large_string()))
        return np.array([len(n) for n in names], np.int64), flat


def piece(live: FakeLive, paths: Iterable[str], layout: Layout, values: Any, offsets: Any = None) -> Any:
    """A piece of a column as ovstage would hand it out."""
    ids = live.paths(pa.array(list(paths), pa.large_string()))
    return SimpleNamespace(paths=ids, layout=layout, values=np.asarray(values), offsets=None if offsets is None else np.asarray(offsets, np.int64))
