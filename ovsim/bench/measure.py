"""Clocks and meters: warm-up apart, peak memory of this process, the machine's copy bandwidth."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from consumer.passes import Runner
from ovsim.jit import ranged
from ovsim.memory import copy

_COPY_BYTES = 1 << 29  # each of the two arrays: beyond any cache, like the stages they are compared with


def seconds(work: Callable[[], Any]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@ranged
def copy_range(lo: int, hi: int, source: int, target: int) -> None:
    """Copy the bytes from `lo` to `hi`, by the addresses of both arrays."""
    copy(target + lo, source + lo, hi - lo)


class CopyMeter:
    """Copy bandwidth of the machine with so many threads, bytes per second; a byte copied counts twice (read and written).

    Each thread copies its share with one call of the system's own copy, which goes past the caches. The threads are those of `consumer.passes`, which
    sleep when they have nothing to do: others that keep looking for work would take a core from what is measured next. The arrays are touched once
    before anything is timed.
    """

    def __init__(self, threads: int, size: int = _COPY_BYTES) -> None:
        self._source, self._target = np.ones(size, np.uint8), np.zeros(size, np.uint8)
        self._addresses = self._source.ctypes.data, self._target.ctypes.data
        self._runner = Runner.of(threads, -(-size // threads))
        copy_range(0, 8, *self._addresses)

    def __call__(self) -> float:
        return 2 * self._source.nbytes / seconds(lambda: self._runner.over(self._source.nbytes, copy_range, *self._addresses))


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
