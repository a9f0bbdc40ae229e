"""Populate by ovsim and push into ovstage, beside ovstage's own population of the same file.

    OVSIM_ORACLE=/path/to/python/with/ovstage python benchmarks/bridge.py [--joints 100000] [--rounds 3] [--file STAGE]

Every measurement is a fresh process; the rounds alternate between the two ways. ovsim's way is counted whole: populate, save the snapshot, load it in
ovstage's process, push, seal; ovstage's way: population and seal. Starting Python and loading libraries is left out on both sides and told apart;
compiled kernels come from the disk cache after the warming call. The rows of the two stages are compared once at the end.
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

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEER = ROOT / "ovsim" / "bench" / "peers" / "ovstage_population.py"
MARK = "@@"
TINY = '#usda 1.0\n\ndef Xform "World"\n{\n    def PhysicsScene "scene"\n    {\n    }\n}\n'


def told(**facts: Any) -> None:
    print(MARK + json.dumps(facts), flush=True)
    os._exit(0)


def populate(file: str, snapshot: str) -> None:
    """ovsim's half, in the process that may use pxr."""
    began = time.perf_counter()
    import ovsim

    with tempfile.TemporaryDirectory() as scratch:
        tiny = Path(scratch) / ("tiny" + Path(file).suffix)
        _tiny(tiny)
        for route in ("composed", "crate") if tiny.suffix == ".usdc" else ("composed",):
            ovsim.populate(tiny, route=route).save(Path(scratch) / route)
    start = time.perf_counter()
    stage = ovsim.populate(file, route="auto")
    done = time.perf_counter()
    stage.save(snapshot)
    saved = time.perf_counter()
    route = f"{stage.metadata.get('route')}"
    told(seconds={"start": start - began, "populate": done - start, "save": saved - done}, rows=len(stage), route=route)


def _tiny(target: Path) -> None:
    """A stage of the same file format as the measured one, so that the same reader is warm."""
    text = target.with_suffix(".usda")
    text.write_text(TINY, "utf-8")
    if target.suffix in (".usdc", ".usd"):
        code = "import sys; from pxr import Sdf; Sdf.Layer.FindOrOpen(sys.argv[1]).Export(sys.argv[2])"
        subprocess.run([sys.executable, "-c", code, str(text), str(target)], check=True)


def push(snapshot: str) -> None:
    """ovstage's half."""
    began = time.perf_counter()
    from ovsim.bridge import native
    from ovsim.bridge import push as into
    from ovsim.stage import Stage, StageBuilder

    ovstage = native.module()
    warm, tiny = ovstage.Stage("warm"), StageBuilder()
    tiny.units()
    into(tiny.finish(), warm)
    warm.destroy()
    start = time.perf_counter()
    stage = Stage.load(snapshot)
    loaded = time.perf_counter()
    rows = into(stage, ovstage.Stage("pushed"))
    done = time.perf_counter()
    told(seconds={"start": start - began, "load": loaded - start, "push": done - loaded}, rows=rows)


def compare(file: str, snapshot: str) -> None:
    """The real population against the snapshot, all rows."""
    from ovsim.bridge import differences, pull
    from ovsim.bridge import populate as real
    from ovsim.stage import Stage

    found = differences(pull(real(file)), Stage.load(snapshot), without=("omni:fabric:worldMatrix",))
    told(differences=[str(d) for d in found[:8]])


def child(python: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run([python, *arguments], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    lines = [x for x in done.stdout.splitlines() if x.startswith(MARK)]
    if not lines:
        sys.exit(f"{' '.join(arguments[:2])} failed ({done.returncode}): {done.stderr[-800:]}")
    got: dict[str, Any] = json.loads(lines[-1][len(MARK) :])
    return got


def main() -> None:
    ask = argparse.ArgumentParser(description="ovsim populate + push beside ovstage's own population.")
    ask.add_argument("--joints", type=int, default=100_000)
    ask.add_argument("--rounds", type=int, default=3)
    ask.add_argument("--file", type=Path, help="a stage file instead of a generated flat one")
    given = ask.parse_args()
    real = os.environ.get("OVSIM_ORACLE") or sys.exit("OVSIM_ORACLE must name the python that has ovstage, numpy and pyarrow")
    with tempfile.TemporaryDirectory() as scratch:
        file = given.file or Path(scratch) / "flat.usdc"
        if not given.file:
            code = "import sys; from pathlib import Path; from ovsim.bench.usdfiles import write; write('flat', int(sys.argv[1]), Path(sys.argv[2]))"
            subprocess.run([sys.executable, "-c", code, str(given.joints), str(file)], check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        seconds: dict[str, list[float]] = {}
        snapshot, one, two = str(Path(scratch) / "stage"), {}, {}
        for _ in range(given.rounds):
            peer = child(real, str(PEER), str(file))
            one = child(sys.executable, __file__, "populate", str(file), snapshot)
            two = child(real, __file__, "push", snapshot)
            theirs = peer["seconds"]
            ours = {k: v for k, v in {**one["seconds"], **two["seconds"]}.items() if k != "start"}
            lap = {
                "ovstage: populate and seal": theirs["populate"] + theirs["seal"],
                **{f"ovsim: {k}": v for k, v in ours.items()},
                "ovsim: all": sum(ours.values()),
                "ratio": (theirs["populate"] + theirs["seal"]) / sum(ours.values()),
                "libraries, ovstage": theirs["import"],
                "libraries, ovsim both processes": one["seconds"]["start"] + two["seconds"]["start"],
            }
            for name, value in lap.items():
                seconds.setdefault(name, []).append(value)
        print(f"{file}: {one['rows']} rows, route {one['route']}, {given.rounds} rounds, seconds (median, least, most)")
        for name, values in seconds.items():
            print(f"  {name:34} {statistics.median(values):9.3f} {min(values):9.3f} {max(values):9.3f}")
        found = child(real, __file__, "compare", str(file), snapshot)["differences"]
        print("  rows and columns of the two: " + ("equal, bit for bit" if not found else "; ".join(found)))


if __name__ == "__main__":
    work = {"populate": populate, "push": push, "compare": compare}
    if len(sys.argv) > 1 and sys.argv[1] in work:
        work[sys.argv[1]](*sys.argv[2:])
    else:
        main()
