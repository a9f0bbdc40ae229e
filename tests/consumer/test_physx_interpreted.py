"""The kernels of the PhysX view give the same bits interpreted and jitted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.scenes import random_stage

from consumer.physx import PhysxView, physx_view
from producer import populate

TESTS = Path(__file__).parents[1]
CODE = """
import sys, numpy as np
from test_physx_interpreted import arrays, views
np.savez(sys.argv[1], **{k: v for i, w in enumerate(views(sys.argv[2:])) for k, v in arrays(w, i).items()})
"""


def views(files: list[str]) -> list[PhysxView]:
    return [physx_view(populate(f), threads=1) for f in files]


def arrays(view: PhysxView, i: int) -> dict[str, Any]:
    """All arrays of a view by name."""
    out = {f"{i}/outcome": view.outcome, f"{i}/reason": view.reason}
    for part in ("articulations", "standalone", "links"):
        out |= {f"{i}/{part}/{n}": v for n, v in vars(getattr(view, part)).items()}
    return out


@pytest.mark.slow
def test_interpreted_and_jitted_agree_bit_for_bit(tmp_path: Path) -> None:
    files = []
    for seed in range(20):
        files.append(str(tmp_path / f"{seed}.usda"))
        Path(files[-1]).write_text(random_stage(8000 + seed))
    out = tmp_path / "interpreted.npz"
    paths = os.pathsep.join((str(TESTS / "consumer"), str(TESTS), str(TESTS.parent)))
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", CODE, str(out), *files], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    with np.load(out) as interpreted:
        compared = 0
        for i, view in enumerate(views(files)):
            for name, values in arrays(view, i).items():
                other = interpreted[name]
                assert other.dtype == values.dtype
                assert other.tobytes() == np.ascontiguousarray(values).tobytes(), name
                compared += values.size
    assert compared > 1000
