"""Memory of a process: how much it holds, its peak, and its bound. Exact on Linux; elsewhere what the system tells."""

from __future__ import annotations

import os
import sys


def resident(pid: int) -> int:
    """Resident memory of a process in bytes, 0 when the system does not tell (no /proc) or the process is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def reset_peak() -> None:
    """Start measuring this process's peak anew (Linux; a no-op elsewhere)."""
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    except OSError:
        return


def peak() -> int:
    """Peak resident memory of this process in bytes since `reset_peak`, or since its start where that does nothing; 0 when unknown."""
    try:
        with open("/proc/self/status") as f:
            for line in f:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def bound(extra: int) -> None:
    """Let this process map at most `extra` bytes more than now, so that one absurd allocation fails at once instead of filling the machine."""
    try:
        import resource

        with open("/proc/self/statm", "rb") as f:
            mapped = int(f.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        want = mapped + extra
        resource.setrlimit(resource.RLIMIT_AS, (want if hard == resource.RLIM_INFINITY else min(want, hard), hard))
    except (ImportError, OSError, ValueError):
        return  # the poll of resident memory still holds


def physical() -> int:
    """Physical memory of the machine in bytes, within the control group's bound; 8 GiB when the system does not tell."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 << 30
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(name) as f:
                total = min(total, int(f.read()))
        except (OSError, ValueError):
            continue
    return int(total)


def follow_parent() -> None:
    """Have the system kill this process when its parent dies, so that no worker outlives its run (Linux; elsewhere the closed pipe ends it)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes
    import signal

    parent = os.getppid()
    try:
        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(1)
