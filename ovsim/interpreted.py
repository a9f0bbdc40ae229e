"""Whether kernels run as plain Python, and how a short command chooses so before any module with kernels is imported."""

from __future__ import annotations

import os
import sys

import numpy as np

_SWITCH = "NUMBA_DISABLE_JIT"


def interpreted() -> bool:
    """Whether `ovsim.jit` hands functions back as they are (`NUMBA_DISABLE_JIT`)."""
    return os.environ.get(_SWITCH, "0").strip() not in ("", "0")


def interpret() -> bool:
    """Run every kernel of this process interpreted: for a command that looks at few rows, where loading machine code takes longer than the work.

    Only while numba has not been imported, which is the first thing that a module with kernels does; False, and nothing changed, afterwards.
    Floating-point warnings are off, as in compiled code.
    """
    if "numba" in sys.modules:
        return False
    os.environ[_SWITCH] = "1"
    np.seterr(all="ignore")
    return True
