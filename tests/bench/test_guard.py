"""Ratio guards: kernels against the same rules interpreted, and against NumPy; never against seconds. Run one after the other in one process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import consumer
from ovsim.bench.synthetic import synthetic_stage

JOINTS = 12_000
_INTERPRETED = """
import sys, time
from ovsim.bench.synthetic import synthetic_stage
import consumer
stage = synthetic_stage(int(sys.argv[1]))
start = time.process_time()
consumer.resolve(stage, threads=1)
print(time.process_time() - start)
"""


def best(work, rounds: int = 5) -> float:
    """Least processor seconds of some calls: what other processes take does not count."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def test_kernels_beat_the_interpreter_by_far():
    """The same stage, jitted and interpreted: the ratio is near 200 at this size, guarded at 20."""
    stage, kept = synthetic_stage(JOINTS), consumer.Buffers()
    consumer.resolve(stage, threads=1, buffers=kept)
    jitted = best(lambda: consumer.resolve(stage, threads=1, buffers=kept))
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", _INTERPRETED, str(JOINTS)], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 20 * jitted


def test_resolving_is_not_far_from_plain_numpy_copies():
    """A resolved joint against NumPy copies of its bytes: a kernel that falls back to objects, or allocates per row, is hundreds of times slower."""
    from ovsim.bench.traffic import resolve_bytes

    stage, kept = synthetic_stage(120_000), consumer.Buffers()
    found = consumer.resolve(stage, threads=1, buffers=kept)
    room = np.zeros(resolve_bytes(stage, found) // 2, np.uint8)
    target = np.zeros_like(room)
    copied = best(lambda: np.copyto(target, room))
    assert best(lambda: consumer.resolve(stage, threads=1, buffers=kept), 3) < 60 * copied


def test_time_per_joint_does_not_grow():
    """Ten times the joints take at most twice the time a joint."""
    small, large = (synthetic_stage(n) for n in (60_000, 600_000))
    cost = []
    for stage in (small, large):
        kept = consumer.Buffers()
        consumer.resolve(stage, threads=1, buffers=kept)
        cost.append(best(lambda: consumer.resolve(stage, threads=1, buffers=kept), 3) / stage.metadata["joints"])  # noqa: B023
    assert cost[1] < 2 * cost[0]


def test_benchmarks_run_once_as_tests():
    """Every benchmark file passes with measuring off."""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "pytest", str(root / "benchmarks"), "-q", "--benchmark-disable", "-p", "no:cacheprovider"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
