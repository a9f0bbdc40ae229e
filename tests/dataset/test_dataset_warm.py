"""What a worker does before its first stage: no kernel is left for a stage to pay for, and workers take turns at compiling."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ovsim.dataset import Settings, convert_stage, warm

compiling = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"), reason="kernels are interpreted")
posix = pytest.mark.skipif(os.name != "posix", reason="needs flock")

COUNT = """
import gc, sys
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from ovsim.dataset import Settings, convert_stage
from ovsim.dataset.warm import warm

def loaded():
    return {(d.py_func.__qualname__, str(s)) for d in gc.get_objects() if isinstance(d, Dispatcher) for s in d.overloads}

warm(Settings())
before = loaded()
for file in sorted(Path(sys.argv[1]).rglob("*.usd?")):
    assert convert_stage(str(file), Settings(), lambda table, rows: None)["outcome"] == "ok"
print(len(before), sorted(loaded() - before))
"""


@pytest.mark.parametrize(("level", "route"), [("physx", "crate"), ("physx", "composed"), ("columns", "composed")])
def test_the_warm_stage_is_in_order_and_has_every_type(level, route):
    tables: dict[str, int] = {}

    def count(table, rows) -> None:
        tables[table] = tables.get(table, 0) + rows.num_rows

    record = convert_stage(str(warm.STAGE), Settings(level, route=route), count)
    assert (record["outcome"], record["route"]) == ("ok", route)
    assert sum(t.startswith("columns_") for t in tables) == 8
    if level == "physx":
        assert {"limits", "drives", "articulations", "links", "physx_joints"} <= set(tables)


@compiling
def test_a_started_worker_has_every_kernel_that_stages_need(fleet):
    got = subprocess.run([sys.executable, "-c", COUNT, str(fleet)], capture_output=True, text=True, check=True)
    loaded, _, more = got.stdout.strip().partition(" ")
    assert int(loaded) > 20
    assert more == "[]"


@compiling
@posix
def test_the_first_to_compile_keeps_others_from_it_until_all_is_compiled():
    import fcntl

    from numba.core import event

    def free() -> bool:
        handle = os.open(warm.STAGE.parent, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(handle)
        return True

    with warm._turns():
        assert free()
        for _ in range(2):
            with event.trigger_event("numba:compile"):
                assert not free()
        assert not free()
    assert free()
