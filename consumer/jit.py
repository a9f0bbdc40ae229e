"""The one place that turns scalar rules and kernels into machine code.

With `NUMBA_DISABLE_JIT=1` numba hands the plain functions back, so the same source runs interpreted: the oracle of the jitted one.
float32 arithmetic is spelled with `np.float32` constants and `np.sqrt`, never with bare literals, to give the same bits both ways.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

F = TypeVar("F", bound=Callable[..., Any])


def rule(function: F) -> F:
    """A scalar rule: compiled on first use, cached on disk, inlined by LLVM into the kernels that call it."""
    return cast(F, numba.njit(cache=True, error_model="numpy", nogil=True)(function))


def kernel(function: Callable[..., None]) -> Callable[..., None]:
    """A pass over whole columns, parallel over rows with `numba.prange`; results never depend on the thread count."""
    return cast("Callable[..., None]", numba.njit(cache=True, error_model="numpy", nogil=True, parallel=True)(function))


def serial(function: F) -> F:
    """A pass that is sequential by nature (graph walks, scans)."""
    return cast(F, numba.njit(cache=True, error_model="numpy", nogil=True)(function))


def readonly(a: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only C-contiguous view, the one form in which kernels take columns, so that each compiles once; copies only when it must."""
    view = np.ascontiguousarray(a).view()
    view.flags.writeable = False
    return view
