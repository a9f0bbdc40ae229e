"""One measurement in a process of its own: `python -m ovsim.bench.worker '{"phase": ...}'` prints one line `@@[rows]`.

The first call is the cold one: imports are done, but kernels come from numba's disk cache (or the compiler) and memory is touched for the first
time. The warm calls follow, each with the machine's copy bandwidth measured just before it.
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from ovsim.bench.measure import CopyMeter, peak_bytes, resident_bytes, seconds
from ovsim.bench.phases import PHASES, Job
from ovsim.bench.results import Row


def measure(job: Job, round_: int, warm: int) -> list[Row]:
    """A cold call and `warm` warm ones."""

    def row(temperature: str, took: float, copy: float) -> Row:
        return Row(
            "ovsim", job.phase, job.kind, prepared.joints, round_, temperature, took, prepared.bytes, copy, peak, job.threads
        )  # fmt: skip

    with ExitStack() as scope:
        prepared = PHASES[job.phase](job, scope)
        took = seconds(prepared.work)
        peak = peak_bytes()
        rows = [row("cold", took, 0.0)]
        prepared.between()
        copy = CopyMeter(job.threads) if warm else None
        for _ in range(warm):
            bandwidth = copy() if copy else 0.0
            rows.append(row("warm", seconds(prepared.work), bandwidth))
            prepared.between()
    return rows


def main(text: str) -> None:
    """Run the job that the JSON text tells."""
    asked: dict[str, Any] = json.loads(text)
    job = Job(**asked["job"])
    start = resident_bytes()
    rows = measure(job, asked["round"], asked["warm"])
    print("@@" + json.dumps({"rows": [asdict(r) for r in rows], "start_bytes": start}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
