"""The same rules interpreted and jitted, on one thread and on all: bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import consumer

WORKER = Path(__file__).with_name("jit_worker.py")


def _run(out: Path, **env: str) -> dict[str, np.ndarray]:
    done = subprocess.run([sys.executable, str(WORKER), str(out)], env=os.environ | env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with np.load(out) as got:
        return dict(got)


def _bits(a: np.ndarray) -> np.ndarray:
    """Bytes, every NaN alike: IEEE leaves a NaN's sign and payload to the machine."""
    if a.dtype.kind != "f":
        return a
    out = a.copy()
    out[np.isnan(out)] = np.nan
    return out.view(np.uint32)


def test_interpreted_and_jitted_agree_bit_for_bit(tmp_path):
    """Every field of every block of three random stages under both rule sets."""
    jitted = _run(tmp_path / "jitted.npz", NUMBA_DISABLE_JIT="0")
    interpreted = _run(tmp_path / "interpreted.npz", NUMBA_DISABLE_JIT="1")
    assert jitted.keys() == interpreted.keys()
    assert sum(a.size for a in jitted.values()) > 100_000
    different = [k for k in jitted if not np.array_equal(_bits(jitted[k]), _bits(interpreted[k]))]
    assert different == []


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one thread only")
def test_thread_count_does_not_matter():
    """spec of `resolve`: threads change nothing."""
    sys.path.insert(0, str(WORKER.parent))
    from jit_worker import stage

    one = consumer.resolve(stage(7), threads=1).to_arrow()
    many = consumer.resolve(stage(7), threads=numba.config.NUMBA_NUM_THREADS).to_arrow()
    assert str(one.to_pylist()) == str(many.to_pylist())
