"""The one place of this package that turns passes over arrays into machine code.

Kernels take NumPy arrays and plain ints, check every index themselves, and report a bad place as a number instead of raising. Integers inside
are int64 throughout, so that the interpreted run (`NUMBA_DISABLE_JIT=1`) gives the same results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def serial(function: F) -> F:
    """A sequential pass, compiled on first use and cached on disk."""
    compiled: Any = numba.njit(cache=True, error_model="numpy", nogil=True)(function)
    return cast(F, compiled)
