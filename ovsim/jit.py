"""The one place that turns scalar rules and kernels into machine code.

With `NUMBA_DISABLE_JIT=1` the plain functions are handed back, so the same source runs interpreted: the oracle of the jitted one. numba is then never
imported (see `ovsim.interpreted`).
float32 arithmetic is spelled with `np.float32` constants and `np.sqrt`, never with bare literals, to give the same bits both ways;
widening is spelled `np.float64(x)`, because `float(x)` of a float32 stays a float32 in compiled code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ovsim.interpreted import interpreted

F = TypeVar("F", bound=Callable[..., Any])
S = TypeVar("S", bound=np.generic)


_stamps: dict[Any, str] = {}  # compiled function -> identity of its source and of all that it calls


def _stamp(function: Callable[..., Any]) -> str:
    """Identity of a function's source file, of the compiled functions it calls, and of the constants it reads."""
    source = Path(function.__code__.co_filename).stat()
    found = hashlib.sha256(f"{source.st_mtime_ns} {source.st_size}".encode())
    for name in sorted(function.__code__.co_names):
        value: Any = function.__globals__.get(name)
        if hasattr(value, "py_func"):
            found.update(f"{name} {_stamps.get(value, '')};".encode())
        elif hasattr(value, "_defn"):  # an intrinsic
            found.update(f"{name} {_stamp(value._defn)};".encode())
        elif isinstance(value, (int, float, np.generic)):
            found.update(f"{name} {value!r};".encode())
    return found.hexdigest()


def _cached(dispatcher: Any) -> Any:
    """Ties the disk cache of a compiled function to everything that its machine code holds.

    numba compares the function's own file only, so a kernel would keep the code of a rule that has since changed in another module.
    """
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if file is not None and hasattr(dispatcher, "py_func"):
        _stamps[dispatcher] = file._source_stamp = _stamp(dispatcher.py_func)
    return dispatcher


def _compiled(function: F, **options: Any) -> F:
    if interpreted():
        return function
    import numba

    made: F = _cached(numba.njit(cache=True, error_model="numpy", nogil=True, **options)(function))
    return made


def rule(function: F) -> F:
    """A scalar rule: compiled on first use, cached on disk, inlined by LLVM into the kernels that call it."""
    return _compiled(function)


@rule
def at(i: int, step: int) -> np.uint64:
    """Index of row i in a column with this step. Unsigned, so that no negative index has to be looked out for; both numbers are never negative."""
    return np.uint64(i * step)


def serial(function: F) -> F:
    """A pass that is sequential by nature (graph walks, scans)."""
    return _compiled(function)


def ranged(function: F) -> F:
    """A pass over the rows `lo` to `hi`, its first two arguments, that writes those rows only; several run at once (see `consumer.passes`)."""
    return _compiled(function)


def inlined(function: F) -> F:
    """A part of a kernel that works on a block of rows. Its code goes into its caller: a call counts references of every array it is given."""
    return _compiled(function, forceinline=True)


def readonly(a: npt.NDArray[S]) -> npt.NDArray[S]:
    """A read-only C-contiguous view, the one form in which kernels take columns, so that each compiles once; copies only when it must."""
    view = np.ascontiguousarray(a).view()
    view.flags.writeable = False
    return view
