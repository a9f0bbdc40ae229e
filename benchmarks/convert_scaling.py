"""Throughput of `ovsim convert` with two worker processes against one, and where the processor time goes.

    python benchmarks/convert_scaling.py [--stages 80] [--joints 1000] [--rounds 3] [--jobs 2] [--keep DIR]

Runs alternate, each into a new dataset, in a process of its own. Wall time is for a calm machine only; a busy one is told apart by `spin`, the same
ratio for plain loops. Processor times say what no load changes: what a stage costs, what a worker's start costs (once a worker), and the share of
the run's own process, the only part that more workers cannot share; from these follows the ratio `possible`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from make_stages import make_good

ONE_RUN = """
import json, resource, sys, time
from ovsim.dataset import convert, local
workers = []
class Watched(local.WorkerProcess):
    def __init__(self, *args):
        super().__init__(*args)
        workers.append(self)
local.WorkerProcess = Watched
began, mine = time.perf_counter(), time.process_time()
done = convert(sys.argv[1], sys.argv[2], jobs=int(sys.argv[3]))
wall, mine = time.perf_counter() - began, time.process_time() - mine
theirs = resource.getrusage(resource.RUSAGE_CHILDREN)
assert done.all_well, done.outcomes()
print(json.dumps({
    "wall": wall, "parent": mine, "workers": theirs.ru_utime + theirs.ru_stime, "started": len(workers),
    "start_up": [w.start_up for w in workers], "stages": done.converted,
}))
"""
SPIN = "x = 0\nfor i in range(20_000_000): x += i"


def one_run(stages: Path, out: Path, jobs: int) -> dict[str, Any]:
    """Convert all of `stages` into a new dataset with so many workers; seconds of wall and processor time."""
    got = subprocess.run([sys.executable, "-c", ONE_RUN, stages, out, str(jobs)], stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = json.loads(got.stdout)
    return told


def spin(processes: int) -> float:
    """Wall seconds of so many equal loops at once."""
    began = time.perf_counter()
    for p in [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(processes)]:
        p.wait()
    return time.perf_counter() - began


def stage_seconds(run: dict[str, Any]) -> float:
    """Processor seconds a stage, without the start of the workers."""
    return float((run["workers"] - sum(run["start_up"])) / run["stages"])


def possible(runs: list[dict[str, Any]], jobs: int) -> float:
    """Ratio that the processor times allow, their means over the runs: stages side by side, one start and the run's own process not."""
    alone = statistics.mean(r["parent"] for r in runs) + statistics.mean(s for r in runs for s in r["start_up"])
    shared = runs[0]["stages"] * statistics.mean(map(stage_seconds, runs))
    return (alone + shared) / (alone + shared / jobs)


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--stages", type=int, default=80, help="the more, the less the start of the workers counts")
    ask.add_argument("--joints", type=int, default=1000, help="joints a stage")
    ask.add_argument("--rounds", type=int, default=3)
    ask.add_argument("--jobs", type=int, default=2, help="workers that are compared with one")
    ask.add_argument("--keep", type=Path, help="directory for the stages and datasets; a temporary one by default")
    told = ask.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run(told.keep or Path(scratch), told)


def run(where: Path, told: argparse.Namespace) -> None:
    stages = where / "stages"
    make_good(stages, told.stages, told.joints)
    one_run(stages / "assets", where / f"warm-{os.getpid()}", 1)  # compiles kernels that no run did before
    ratios, spins, allowed = [], [], []
    for n in range(told.rounds):
        by_jobs = {}
        for jobs in (1, told.jobs):
            got = by_jobs[jobs] = one_run(stages, where / f"dataset-{os.getpid()}-{n}-{jobs}", jobs)
            starts = ", ".join(f"{s:.2f}" for s in got["start_up"])
            busy = (got["workers"] + got["parent"]) / got["wall"]
            rate = got["stages"] / got["wall"]
            print(f"round {n + 1}, {jobs} workers: {got['wall']:.1f} s wall, {rate:.2f} stages a second, {busy:.2f} processors busy;", end=" ")
            print(f"CPU: {stage_seconds(got):.3f} s a stage, start-up {starts} s, own process {got['parent']:.2f} s", flush=True)
        ratios.append(by_jobs[1]["wall"] / by_jobs[told.jobs]["wall"])
        allowed.append(possible(list(by_jobs.values()), told.jobs))
        spins.append(told.jobs * spin(1) / spin(told.jobs))
    middle = {"ratio": ratios, "possible": allowed, "spin": spins}
    print(", ".join(f"{name} {statistics.median(values):.2f}" for name, values in middle.items()))


if __name__ == "__main__":
    main()
