"""Peer: the whole attach of ovphysx, and inside it the zones of its profiler trace: the parse is apart from the creation of PhysX objects."""

from __future__ import annotations

import json
import os
import sys
import tempfile

from report import Laps

laps = Laps()
scratch = tempfile.mkdtemp()
trace = os.path.join(scratch, "trace.json")
os.environ["OVPHYSX_PROFILER"], os.environ["OVPHYSX_PROFILER_OUTPUT"] = "trace", trace
import omniverse  # noqa: E402
from ovphysx import PhysX  # noqa: E402

ZONES = {"parse": "UsdPhysics:scanStage", "create_joints": "OmniPhysX:createJoints", "load": "Physics Load Stage"}


def zones() -> dict[str, float]:
    """Milliseconds by zone name, from the trace that is written when the runtime goes away."""
    if not os.path.exists(trace):
        return {}
    with open(trace, encoding="utf-8") as f:
        events = json.load(f)
    total: dict[str, float] = {}
    for event in events["traceEvents"] if isinstance(events, dict) else events:
        if event.get("ph") == "X":
            total[event["name"]] = total.get(event["name"], 0.0) + event.get("dur", 0) / 1e6
    return {step: total[zone] for step, zone in ZONES.items() if zone in total}


omniverse.register()
PhysX.set_cpu_mode(True)
physx = PhysX()
omniverse.warm(scratch)
laps.lap("import")
stage = omniverse.populate(sys.argv[1], "scene", laps)
wait = physx.wait_task if omniverse.NEW else physx.wait_op


def finish(operation: object) -> None:
    if operation is not None:
        wait(operation)


finish(physx.attach_ovstage(stage, read_ordinal=1))
laps.lap("attach")
finish(physx.detach_ovstage())
stage.destroy()
(physx.destroy if hasattr(physx, "destroy") else physx.release)()
laps.seconds.update(zones())
laps.done(versions=omniverse.VERSIONS)
