"""Population side by side: ovsim's routes, real ovstage, pxr alone; the same files, fresh processes, rounds in turn.

    OVSIM_ORACLE=/path/to/python/with/ovstage python benchmarks/populate_peers.py [--joints 100000] [--shapes flat cloned] [--rounds 3]
        [--ways crate ovstage pxr] [--folder STAGES] [--out FILE.json]

`populate` (wall seconds, and CPU seconds of all threads) is timed inside each process after a tiny stage has warmed libraries, schemas and kernels
(from the disk cache); `process` is the whole life of the process, start of Python included. Prints a table of medians with the ratios to the first
way, those of the same run; on a machine that does other work, the ratio of CPU seconds is the steadier one.
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

from ovsim.bench.peer import PEERS
from ovsim.bench.usdfiles import file_name

MARK = "@@"
WAYS = {"ovstage": "ovstage-0.2", "pxr": "pxr-parser"}  # what is no route of ovsim


def populate(route: str, file: str, tiny: str) -> None:
    """The measured process of one of ovsim's routes, warmed with the stage `tiny`; prints its result."""
    began = time.perf_counter()
    import producer
    from ovsim.bench.measure import peak_bytes

    loaded = time.perf_counter()
    producer.populate(tiny, route=route)
    warm, cpu = time.perf_counter(), time.process_time()
    stage = producer.populate(file, route=route)
    done, cpu = time.perf_counter(), time.process_time() - cpu
    told = {
        "seconds": {"import": loaded - began, "warm": warm - loaded, "populate": done - warm},
        "cpu": {"populate": cpu},
        "peak_bytes": peak_bytes(),
        "rows": len(stage),
        "route": stage.metadata["route"],
    }
    print(MARK + json.dumps(told), flush=True)
    os._exit(0)


def measure(way: str, file: Path, tiny: Path) -> dict[str, Any]:
    """One fresh process."""
    if way in WAYS:
        peer = PEERS[WAYS[way]]
        python, why = peer.python()
        if why:
            return {"error": why}
        command = [python, str(peer.path), str(file)]
    else:
        command = [sys.executable, __file__, "--one", way, str(file), str(tiny)]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    process = time.perf_counter() - start
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if not lines:
        return {"error": (done.stderr or done.stdout)[-400:]}
    told = json.loads(lines[-1][len(MARK) :])
    populated, cpu = (sum(told[clock].get(k, 0.0) for k in ("populate", "seal", "open", "parse")) for clock in ("seconds", "cpu"))
    return {
        "populate": populated,
        "cpu": cpu,
        "process": process,
        "peak_mib": told["peak_bytes"] >> 20,
        **{k: told[k] for k in ("rows", "route") if k in told},
    }


def run(files: dict[str, Path], tiny: Path, ways: list[str], rounds: int) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Results by shape and way, the ways in turn within each round."""
    out: dict[str, dict[str, list[dict[str, Any]]]] = {shape: {way: [] for way in ways} for shape in files}
    for _ in range(rounds):
        for shape, file in files.items():
            for way in ways:
                out[shape][way].append(measure(way, file, tiny))
    return out


def table(results: dict[str, dict[str, list[dict[str, Any]]]]) -> str:
    """Medians as a table, with the ratio to the first way."""
    lines = [f"{'shape':8}{'way':12}{'populate s':>12}{'cpu s':>9}{'process s':>12}{'peak MiB':>10}{'times':>9}{'by cpu':>9}"]
    for shape, by_way in results.items():
        first: tuple[float, float] | None = None
        for way, got in by_way.items():
            good = [r for r in got if "error" not in r]
            if not good:
                lines.append(f"{shape:8}{way:12} {got[0]['error'] if got else 'not run'}")
                continue
            populated, cpu, process, peak = (statistics.median(r[k] for r in good) for k in ("populate", "cpu", "process", "peak_mib"))
            first = first or (populated, cpu)
            lines.append(f"{shape:8}{way:12}{populated:12.3f}{cpu:9.3f}{process:12.2f}{peak:10.0f}{populated / first[0]:9.1f}{cpu / first[1]:9.1f}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=3, metavar=("ROUTE", "FILE", "TINY"), help=argparse.SUPPRESS)
    parser.add_argument("--joints", type=int, default=100_000)
    parser.add_argument("--shapes", nargs="+", default=["flat", "cloned"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ways", nargs="+", default=["crate", "ovstage", "pxr"])
    parser.add_argument("--folder", type=Path, help="where stage files are kept between runs")
    parser.add_argument("--out", type=Path, help="write all results as JSON")
    options = parser.parse_args()
    if options.one:
        populate(*options.one)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        files = {shape: folder / file_name(shape, options.joints) for shape in options.shapes}
        for shape, file in files.items():
            if not file.exists():
                subprocess.run([sys.executable, "-m", "ovsim.bench.usdfiles", shape, str(options.joints), str(file)], check=True)
        tiny = folder / "tiny.usdc"  # clones of a robot with every joint type: runs the same kernels
        subprocess.run([sys.executable, "-m", "ovsim.bench.usdfiles", "cloned", "24", str(tiny)], check=True, capture_output=True)
        results = run(files, tiny, options.ways, options.rounds)
    print(table(results))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
