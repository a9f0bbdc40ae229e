"""Clocks and meters: warm-up apart, peak memory of this process, the machine's copy bandwidth."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from ovsim.jit import kernel

_COPY_BYTES = 1 << 29  # each of the two arrays: beyond any cache, like the stages they are compared with


def seconds(work: Callable[[], Any]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@kernel
def _copy(source: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> None:
    for i in numba.prange(source.size):
        target[i] = source[i]


class CopyMeter:
    """Copy bandwidth of the machine with the current number of kernel threads, bytes per second; a byte copied counts twice (read and written).

    The arrays are touched once before anything is timed.
    """

    def __init__(self, size: int = _COPY_BYTES) -> None:
        self._source = np.ones(size // 8)
        self._target = np.zeros(size // 8)
        _copy(self._source[:8], self._target[:8])

    def __call__(self) -> float:
        return 2 * self._source.nbytes / seconds(lambda: _copy(self._source, self._target))


def peak_bytes() -> int:
    """Largest resident size of this process so far. The kernel's own mark where there is one: unlike getrusage's, a fork does not inherit it."""
    return _status("VmHWM")


def resident_bytes() -> int:
    """Resident size of this process now (0 where the system does not tell)."""
    return _status("VmRSS")


def _status(key: str) -> int:
    try:
        with open("/proc/self/status", encoding="ascii") as f:
            return next(int(line.split()[1]) * 1024 for line in f if line.startswith(key))
    except (OSError, StopIteration):
        import resource

        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024 if key == "VmHWM" else 0


def machine() -> dict[str, Any]:
    """What a reader needs to judge the figures: processor, cores, memory, versions."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    def of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "absent"

    return {
        "processor": _processor() or platform.processor() or platform.machine(),
        "cores": os.cpu_count() or 1,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {p: of(p) for p in ("ovsim", "numpy", "pyarrow", "numba", "usd-core")},
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "")
    except OSError:
        return ""
