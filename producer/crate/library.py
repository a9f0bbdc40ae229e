"""All layers of a stage behind one numbering: global prim rows, one token numbering, layer stacks."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim.errors import CrateError
from ovsim.stage import PathDictionary
from producer.crate import assets
from producer.crate import fields as fd
from producer.crate.errors import Unprovable
from producer.crate.layer import SIDE_BY_SIDE, Layer, check_children, property_names
from producer.crate.numbering import distinct
from producer.crate.reps import ASSET, FIXED, STRING, TOKEN
from producer.crate.values import gather

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LayerStack:
    """Layers (numbers in the library), strongest first; the first is the root layer."""

    layers: tuple[int, ...]


class Library:
    """Layers by number, loaded on demand; `base[i]` is the global row of layer i's pseudo-root. Tokens are those of the path dictionary."""

    def __init__(self, paths: PathDictionary, load: Callable[[str], Layer] = assets.load) -> None:
        self.paths = paths
        self.layers: list[Layer] = []
        self.base: list[int] = []
        self.tokens: list[I64] = []  # local token index to token id, by layer
        self.rows = 0
        self._load = load
        self._numbers: dict[str, int] = {}
        self._stacks: dict[int, LayerStack] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._ahead: list[Future[list[int]]] = []

    def layer_number(self, path: str) -> int:
        """Number of the layer in file `path` (a real path)."""
        got = self._numbers.get(path)
        return self.add(path, self._load(path)) if got is None else got

    def arc_layer_number(self, asset: str, anchor: str) -> int:
        """Number of the layer that an arc of layer `anchor` names. `Unprovable` when that layer is broken: USD tells of it and goes on without."""
        path = assets.locate(asset, anchor)
        try:
            return self.layer_number(path)
        except Unprovable:
            raise
        except CrateError as e:
            raise Unprovable(f"layer {e.of(path)}") from e

    def add(self, path: str, layer: Layer) -> int:
        """Number a layer that is loaded already."""
        check_children(layer)
        number = self._numbers[path] = len(self.layers)
        self.layers.append(layer)
        self.base.append(self.rows)
        self.tokens.append(self.paths.token_many(layer.tables.tokens).astype(np.int64))
        self.rows += layer.path.size
        if layer.path.size > SIDE_BY_SIDE:  # the index of its properties is made beside what comes before anybody asks for it
            self._pool = self._pool or ThreadPoolExecutor(1)
            self._ahead.append(self._pool.submit(property_names, layer))
        return number

    def indexed(self) -> None:
        """Wait for the indices of properties that were begun. What is wrong with one is told to whoever asks for it next."""
        for begun in self._ahead:
            begun.exception()
        if self._pool:
            self._pool.shutdown()
        self._pool, self._ahead = None, []

    def stack(self, number: int) -> LayerStack:
        """Layer stack that has layer `number` as its root."""
        got = self._stacks.get(number)
        if got is None:
            layers: list[int] = []
            self._collect(number, layers)
            got = self._stacks[number] = LayerStack(tuple(layers))
        return got

    def _collect(self, number: int, out: list[int]) -> None:
        if number in out:
            raise Unprovable(f"layer {self.layers[number].identifier} stands twice in one layer stack")
        out.append(number)
        layer = self.layers[number]
        listed = layer.rep("subLayers", 0)
        for asset in layer.decoder.texts(listed) if listed is not None else ():
            self._collect(self.arc_layer_number(asset, layer.identifier), out)
        offsets = layer.rep("subLayerOffsets", 0)
        if offsets is not None and layer.decoder.has_offsets(offsets):
            raise Unprovable(f"layer {layer.identifier} has sublayers with time offsets")

    # -- global rows -------------------------------------------------------------------------------------------------

    def owner(self, row: int) -> tuple[int, Layer, int]:
        """Layer number, layer and local row of a global row."""
        number = bisect.bisect_right(self.base, row) - 1
        return number, self.layers[number], row - self.base[number]

    def owners(self, rows: I64) -> I64:
        """Layer numbers of global rows, shape (n,)."""
        if len(self.layers) == 1:
            return np.zeros(rows.size, np.int64)
        return np.searchsorted(np.array(self.base), rows, "right") - 1

    def seal(self) -> None:
        """Join the layers' tables once all layers are loaded: value reps and prim fields by global numbers."""
        sizes = [layer.tables.field_rep.size for layer in self.layers]
        self.field_base = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        self.row_base = np.array(self.base, np.int64)
        one = len(self.layers) == 1
        self.rep = self.layers[0].tables.field_rep if one else np.concatenate([x.tables.field_rep for x in self.layers])

    def field(self, slot: str) -> I64:
        """Global field index of a prim field by global row, -1 where it is not authored."""
        parts = []
        for base, layer in zip(self.field_base, self.layers):
            local = layer.slot[fd.SLOT[slot]].astype(np.int64)
            parts.append(np.where(local >= 0, local + base, -1))
        return np.concatenate(parts)

    def field_owner(self, field: int) -> tuple[Layer, int]:
        """Layer and value rep of a global field index."""
        number = int(np.searchsorted(self.field_base, field, "right")) - 1
        return self.layers[number], int(self.rep[field])

    def by_layer(self, fields: I64) -> Iterator[tuple[int, slice | npt.NDArray[np.bool_]]]:
        """Layer numbers of global field indices (none negative) and which of them belong to each."""
        if len(self.layers) == 1 or fields.size == 0:
            yield 0, slice(None)
            return
        owner = np.searchsorted(self.field_base, fields, "right") - 1
        for number in distinct(owner):
            yield number, owner == number

    def values(self, fields: I64, kind: int) -> npt.NDArray[Any]:
        """Values of global fields, all of the fixed-size type `kind`: (n,) or (n, lanes); tokens, strings and asset paths as token ids."""
        form = FIXED[kind]
        text = kind in (TOKEN, STRING, ASSET)
        out = np.empty((fields.size, form.lanes) if form.lanes > 1 else fields.size, np.int64 if text else form.dtype)
        for number, mine in self.by_layer(fields):
            tables = self.layers[number].tables
            got = gather(tables.buffer, self.rep[fields[mine]], kind)
            out[mine] = self.texts(number, got, kind == STRING) if text else got
        return out

    def texts(self, number: int, index: npt.NDArray[Any], is_string: bool) -> I64:
        tables = self.layers[number].tables
        if is_string:
            if index.size and int(index.max()) >= tables.strings.size:
                raise CrateError(f"string {int(index.max())} is beyond the {tables.strings.size} of the file")
            index = tables.strings[index]
        if index.size and int(index.max()) >= self.tokens[number].size:
            raise CrateError(f"token {int(index.max())} is beyond the {self.tokens[number].size} of the file")
        return self.tokens[number][index]

    def child_row(self, row: int, name: str) -> int:
        """Global row of a child, -1 when the layer describes none."""
        number, layer, local = self.owner(row)
        kids = layer.children_of(local)
        got = kids.get(name, -1)
        return got + self.base[number] if got >= 0 else -1

    def find(self, number: int, path: str) -> int:
        """Global row of a prim path in a layer, -1 when the layer describes none."""
        row = self.base[number]
        for name in path.split("/")[1:] if path != "/" else ():
            row = self.child_row(row, name)
            if row < 0:
                return -1
        return row
