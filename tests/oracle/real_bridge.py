"""ovsim's stages in the real system beside its own: run by the python that has ovstage and ovphysx, never imported by the tests.

usage: python real_bridge.py < jobs, one JSON object a line {"usd", "snapshot", "steps", "plant"? or "drop"?}  >  one JSON document a line:
    {"usd",
     "columns": differences between the real population and the snapshot, all rows, bit for bit,
     "objects": how many PhysX objects the pushed stage has at attach, "joints": how many of them are joints, "objects_differ": first differences,
     "bodies": how many bodies were simulated, "moved": how many of them moved after the first step,
     "state_differs": columns whose bits differ after the steps,
     "pulled": differences between the snapshot and what comes back by pull,
     "push_seconds"} or {"usd", "error"}
A job with "plant" doubles that float column of the snapshot before the push, one with "drop" leaves that column out: comparisons must see it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import ovd
import pyarrow as pa
import real
from ovphysx import OmniPvdDestination, PhysX, PhysXConfig

from ovsim.bridge import differences, native, populate, pull, push, simulate
from ovsim.stage import Archetype, Stage

LINES = 8
ROUNDS = 4  # of labels by reference: shape to material, joint to link to articulation, scene to all


def objects(px: Any, stage: Any, scratch: str) -> list[dict[str, Any]]:
    """Every object of PhysX after attach with every attribute, in the order of creation; references are numbers in that order."""
    real.wait(px, px.attach_ovstage(stage, read_ordinal=1))
    try:
        px.wait_all()
        px.start_recording(OmniPvdDestination.file(scratch))
        px.stop_recording()
    finally:
        real.wait(px, px.detach_ovstage())
    recording = ovd.Recording(Path(scratch).read_bytes())
    number = {handle: i for i, handle in enumerate(recording.objects)}

    out = []
    for obj in recording.objects.values():
        values, references = {}, {}
        for name, (attribute, value) in sorted(obj.attributes.items()):
            if attribute.type == ovd.HANDLE:
                references[name] = [number.get(v, -1) for v in (value if isinstance(value, list) else [value])]
            else:
                values[name] = value
        lists = {n: [number.get(v, -1) for v in items] for n, items in sorted(obj.lists.items())}
        joint = recording.is_a(obj, "PxJoint") or recording.class_name(obj) == "PxArticulationJointReducedCoordinate"
        made = {"class": recording.class_name(obj), "name": obj.name, "joint": joint, "values": real.plain(values)}
        out.append({**made, "references": references, "lists": lists})
    return out


def labels(made: list[dict[str, Any]]) -> list[str]:
    """A label an object: its own values and, in rounds, the labels of what it refers to. Equal labels are equal objects, whatever their numbers."""
    plain = [json.dumps([o["class"], o["name"], o["values"]], sort_keys=True) for o in made]
    current = [hashlib.sha256(p.encode()).hexdigest() for p in plain]
    for _ in range(ROUNDS):
        current = [hashlib.sha256(json.dumps([current[i], _seen(o, current)]).encode()).hexdigest() for i, o in enumerate(made)]
    return current


def _seen(obj: dict[str, Any], current: list[str]) -> list[Any]:
    """Labels of what an object refers to. The links of an articulation have an order, the contents of a scene have none."""
    name = lambda i: current[i] if i >= 0 else ""
    ordered = obj["class"] == "PxArticulationReducedCoordinate"
    lists = [[n, x if ordered else sorted(x)] for n, v in sorted(obj["lists"].items()) for x in [[name(i) for i in v]]]
    return [[[n, [name(i) for i in v]] for n, v in sorted(obj["references"].items())], lists]


def unequal(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[str]:
    """First objects of one side that the other lacks. The order of creation is no part of the comparison: it depends on the process's history."""
    sides = [[(label, o) for label, o in zip(labels(s), s)] for s in (one, other)]
    counts = [Counter(label for label, _ in s) for s in sides]
    found = []
    for side, lacking, word in (
        (sides[0], counts[0] - counts[1], "only in the real one"),
        (sides[1], counts[1] - counts[0], "only in the pushed one"),
    ):
        for label, o in side:
            if lacking[label]:
                found.append(f"{o['class']} {o['values'].get('name', o['name'])} {word}: {o['values']}"[:300])
    return found[:LINES]


def bits(table: Any, name: str) -> bytes:
    column = table.column(name).combine_chunks()
    return b"".join(x.encode() + b"\n" for x in column.to_pylist()) if name in ("path", "kind") else column.flatten().to_numpy().tobytes()


def doubled(archetype: Archetype, name: str) -> Archetype:
    """The archetype with a float column doubled, if it has it."""
    if name not in archetype:
        return archetype
    at = archetype.batch.schema.get_field_index(name)
    column = pa.array(archetype.values(name) * 2)
    return replace(archetype, batch=archetype.batch.set_column(at, archetype.field(name), column))


def dropped(archetype: Archetype, name: str) -> Archetype:
    """The archetype without a column."""
    return replace(archetype, batch=archetype.batch.drop_columns([name])) if name in archetype else archetype


def examine(px: Any, job: dict[str, Any], scratch: str) -> dict[str, Any]:
    ours = Stage.load(job["snapshot"])
    if "plant" in job:
        ours = replace(ours, archetypes=tuple(doubled(a, job["plant"]) for a in ours.archetypes))
    if "drop" in job:
        ours = replace(ours, archetypes=tuple(dropped(a, job["drop"]) for a in ours.archetypes))
    theirs_live, ours_live = populate(job["usd"]), native.module().Stage("ours")
    try:
        started = time.perf_counter()
        push(ours, ours_live)
        seconds = time.perf_counter() - started
        theirs = pull(theirs_live)
        made = objects(px, theirs_live, scratch), objects(px, ours_live, scratch)
        start = simulate(ours_live, 1)
        state = [simulate(live, job["steps"]) for live in (theirs_live, ours_live)]
        back = pull(ours_live)
        return {
            "usd": job["usd"],
            "columns": [str(d) for d in differences(theirs, ours)][:LINES],
            "objects": len(made[1]),
            "joints": sum(o["joint"] for o in made[1]),
            "objects_differ": unequal(*made),
            "bodies": len(state[1]),
            "moved": sum(a != b for a, b in zip(start.column("position").to_pylist(), state[1].column("position").to_pylist())),
            "state_differs": [n for n in state[0].column_names if bits(state[0], n) != bits(state[1], n)],
            "pulled": [str(d) for d in differences(ours, back)][:LINES],
            "push_seconds": seconds,
        }
    finally:
        theirs_live.destroy()
        ours_live.destroy()


def main() -> None:
    out = os.fdopen(os.dup(1), "w")
    with real.Capture():
        PhysX.set_cpu_mode(True)
        px = PhysX(config=PhysXConfig(omnipvd_recording_capable=True))
    with tempfile.TemporaryDirectory() as scratch:
        for line in sys.stdin:
            job = json.loads(line)
            capture = real.Capture()
            try:
                with capture:
                    document = examine(px, job, scratch + "/stage.ovd")
            except Exception as e:
                document = {"usd": job["usd"], "error": f"{type(e).__name__}: {e}", "log": capture.lines[-20:]}
            out.write(json.dumps(document) + "\n")
            out.flush()
        with real.Capture():
            px.destroy()


if __name__ == "__main__":
    main()
