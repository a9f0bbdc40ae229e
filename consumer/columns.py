"""Column adaptor: what the parser reads from an archetype's columns (spec 2.2; authored types: population facts, rule 9).

A column comes as `(values, step)`: kernels read `values[i * step]`, so an absent column is one parser default with step 0. Whether it is absent,
or of a type that the parser cannot read, is a fact of the archetype; nothing is decided row by row.

Types that the parser reads, observed on 0.6.3 (recorded stage array_values): a float column as float32 or float64; a matrix likewise; a bool column
as bool8 only; a token as uint64 with or without its semantic, the first lane of an asset path too; a relationship as a list of uint64. In an array
column a float value is read from a row that holds just as many numbers as it has lanes, a bool or token from the first element of a row that has one;
other rows keep the parser default. Anything else (half, integers, other lane counts) counts as absent.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim import contract
from ovsim.diagnostics import Diagnostics
from ovsim.jit import readonly
from ovsim.stage import Archetype, Ragged

ReadColumn = tuple[npt.NDArray[Any], int]
_NO_TARGETS = readonly(np.empty(0, np.uint64))
_NO_OFFSETS = readonly(np.zeros(2, np.int64))
_NO_TOKEN: ReadColumn = (readonly(np.zeros(1, np.uint64)), 0)


class ColumnReader:
    """Reads the columns of one archetype; every column that cannot be read as declared becomes one diagnostic."""

    def __init__(self, archetype: Archetype, diagnostics: Diagnostics) -> None:
        self.archetype = archetype
        self.diagnostics = diagnostics

    def lists(self, api: str, instance: str = "") -> bool:
        """Whether the rows list the API (gate of spec 2.2)."""
        return (f"{api}:{instance}" if instance else api) in self.archetype.schemas

    def float32(self, name: str, gate: bool = True, default: Any = None) -> ReadColumn:
        """A float column, float32 (n,) or (n, k) with step 1, or the parser default with step 0 when absent, gated off or unreadable."""
        if not (gate and name in self.archetype) and default is None:
            return absent_float(name)
        fallback = np.asarray(_parser_default(name) if default is None else default, np.float32)
        if gate and name in self.archetype:
            lanes = fallback.size if fallback.ndim else 0
            got = self.archetype.values(name)
            if isinstance(got, Ragged) and got.values.dtype in (np.float32, np.float64):
                got = self._from_arrays(name, got, fallback.astype(got.values.dtype), exact=True)
            if not isinstance(got, Ragged) and got.dtype in (np.float32, np.float64) and (got.shape[1] if got.ndim > 1 else 0) == lanes:
                if got.dtype == np.float64:
                    self._tell("column-cast", "info", name, f"float64 where float32 is declared; {len(got)} values are cast")
                    with np.errstate(over="ignore"):
                        got = got.astype(np.float32)
                return readonly(got), 1
            self._unreadable(name, "float32" + (f"[{lanes}]" if lanes else ""), fallback.tolist())
        return _default_float(fallback)

    def boolean(self, name: str, gate: bool = True, default: bool | None = None) -> ReadColumn:
        """A bool column, uint8 (n,) of 0 and 1 with step 1, or the parser default with step 0."""
        if not (gate and name in self.archetype) and default is None:
            return _absent_bool(name)
        fallback = int(_parser_default(name) if default is None else default)
        if gate and name in self.archetype:
            got = self.archetype.values(name)
            if isinstance(got, Ragged) and got.values.dtype in (np.uint8, np.bool_):
                got = self._from_arrays(name, got, np.asarray(fallback, got.values.dtype))
            if not isinstance(got, Ragged) and got.dtype in (np.uint8, np.bool_) and got.ndim == 1:
                return readonly(got.view(np.uint8)), 1
            self._unreadable(name, "bool8", bool(fallback))
        return readonly(np.array([fallback], np.uint8)), 0

    def matrix(self, name: str) -> npt.NDArray[np.float64] | None:
        """A matrix column, float64 (n, 16), or None when absent or unreadable."""
        if name not in self.archetype:
            return None
        got = self.archetype.values(name)
        if not isinstance(got, Ragged) and got.dtype in (np.float32, np.float64) and got.ndim == 2 and got.shape[1] == 16:
            return readonly(got.astype(np.float64, copy=False))
        self._unreadable(name, "float64[16]", "no matrix")
        return None

    def token(self, name: str, gate: bool = True, arrays: bool = True) -> ReadColumn:
        """A token column, token ids uint64 (n,) with step 1, or token id 0 with step 0; callers compare with the tokens that they know.

        Without `arrays` a token array is not read (observed of drive types, while an axis is)."""
        if gate and name in self.archetype:
            got = self.archetype.values(name)
            if arrays and isinstance(got, Ragged) and got.values.dtype == np.uint64:
                got = self._from_arrays(name, got, np.zeros((), np.uint64))
            if not isinstance(got, Ragged) and got.dtype == np.uint64:
                return readonly(got if got.ndim == 1 else got[:, 0]), 1
            self._unreadable(name, "uint64 token", _parser_default(name))
        return _NO_TOKEN

    def targets(self, name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], int]:
        """A relationship as (offsets, path ids, step): the row's targets are `ids[offsets[i * step] : offsets[i * step + 1]]`.

        Absent, unreadable or with ids that the path dictionary does not hold: no targets at all, with a diagnostic for the last two.
        """
        if name in self.archetype:
            got = self.archetype.values(name)
            if isinstance(got, Ragged) and got.values.dtype == np.uint64 and got.values.ndim == 1:
                if got.values.size == 0 or int(got.values.max()) < self.archetype.paths.path_count:
                    return readonly(got.offsets), readonly(got.values), 1
                message = "a target's path id is not in the path dictionary; the whole relationship counts as absent"
                self._tell("unknown-path-id", "error", name, message)
            else:
                self._unreadable(name, "a list of path ids", "no target")
        return _NO_OFFSETS, _NO_TARGETS, 0

    def _from_arrays(self, name: str, got: Ragged, fallback: npt.NDArray[Any], exact: bool = False) -> npt.NDArray[Any]:
        """One value (n,) or (n, k) a row of an array column: its first numbers; `exact`: only of rows that hold just as many. Others: `fallback`."""
        lanes = got.values.shape[1] if got.values.ndim > 1 else 1
        flat = got.values.reshape(-1)
        begin, held = got.offsets[:-1] * lanes, np.diff(got.offsets) * lanes
        fits = held == fallback.size if exact else held >= 1
        out = np.broadcast_to(fallback.reshape(-1), (held.size, fallback.size)).copy()
        out[fits] = flat[begin[fits, None] + np.arange(fallback.size)]
        field = self.archetype.field(name).type
        if fits.any():
            self._tell("column-cast", "info", name, f"{field} where one value is declared; {int(fits.sum())} rows are read from their arrays")
        if not fits.all():
            text = f"the parser cannot read {int((~fits).sum())} arrays of {field} where one value is declared and keeps {fallback.tolist()}"
            self._tell("column-type", "warning", name, f"{text}; write one value")
        return out if fallback.ndim else out[:, 0]

    def _unreadable(self, name: str, want: str, default: object) -> None:
        got = self.archetype.field(name).type
        self._tell("column-type", "warning", name, f"the parser cannot read {got} where {want} is declared and keeps {default}; write {want}")

    def _tell(self, code: str, severity: str, name: str, message: str) -> None:
        n = len(self.archetype)
        if n:
            first = self.archetype.paths.path_string(int(self.archetype.path_ids[0]))
            self.diagnostics.add(code, severity, message + (f" ({n} rows of this kind, this is the first)" if n > 1 else ""), first, name)


def _default_float(fallback: npt.NDArray[np.float32]) -> ReadColumn:
    return readonly(fallback.reshape(1, -1) if fallback.ndim else fallback.reshape(1)), 0


@lru_cache(None)
def absent_float(name: str) -> ReadColumn:
    """The parser default of a float column that is not there."""
    return _default_float(np.asarray(_parser_default(name), np.float32))


@lru_cache(None)
def _absent_bool(name: str) -> ReadColumn:
    return readonly(np.array([int(_parser_default(name))], np.uint8)), 0


@lru_cache(None)
def _parser_default(name: str) -> Any:
    """Parser default of a column. A joint's own meaning comes first: physics:collisionEnabled names a column of colliders, too."""
    joint = (c for c in contract.load().component("PhysicsJoint").columns if c.name == name)
    column = next(joint, None) or contract.load().find(name)
    if column is None or column.parser_default is None:
        raise KeyError(f"the contract states no parser default for {name}")
    return column.parser_default.value
