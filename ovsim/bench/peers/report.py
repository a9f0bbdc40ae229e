"""What every peer script shares: laps, peak memory, the line that the runner reads. Standard library only; found beside the script."""

from __future__ import annotations

import json
import os
import sys
import time


class Laps:
    """Wall and CPU seconds (all threads) by step, one after the other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self.facts: dict[str, object] = {}
        self.skip()

    def skip(self) -> None:
        """Leave out the time since the last lap."""
        self.last, self.last_cpu = time.perf_counter(), time.process_time()

    def lap(self, step: str) -> None:
        self.seconds[step], self.cpu[step] = time.perf_counter() - self.last, time.process_time() - self.last_cpu
        self.skip()

    def done(self, **facts: object) -> None:
        """Print the result and leave at once: unloading the big libraries is no part of a measurement."""
        print("@@" + json.dumps({"seconds": self.seconds, "cpu": self.cpu, "peak_bytes": peak_bytes(), **self.facts, **facts}), flush=True)
        sys.stderr.flush()
        os._exit(0)


def peak_bytes() -> int:
    """Largest resident size of this process; the kernel's own mark, which a fork does not inherit, where there is one."""
    try:
        with open("/proc/self/status") as f:
            return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
