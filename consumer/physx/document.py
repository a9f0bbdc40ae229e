"""The interchange document of a PhysX view: plain values, one dictionary a joint."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from consumer.constants import FLT_MAX
from consumer.physx import codes as c
from consumer.physx.view import PhysxView

Plain = dict[str, Any]
_TUNING = c.LINEAR[2:]
_LINK_DRIVE = c.LINK_AXIS[2:9]
_LINK_REST = c.LINK_AXIS[9:]


def number(value: Any) -> float | str:
    """A float, non-finite ones as the strings "inf", "-inf", "nan"."""
    x = float(value)
    return x if math.isfinite(x) else "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"


def numbers(values: Any) -> list[float | str]:
    """Numbers of an array, flat."""
    return [number(v) for v in np.asarray(values).reshape(-1).tolist()]


def named(names: tuple[str, ...], values: Any) -> Plain:
    """Lanes by name."""
    return dict(zip(names, numbers(values)))


def pose(position: Any, orientation: Any) -> Plain:
    return {"p": numbers(position), "q": numbers(orientation)}


def physx_document(view: PhysxView, file: str, every: bool = False) -> Plain:
    """{"file", "articulations", "joints"}: articulations by root-API prim with `fixBase` and `links` in the order of creation, joints by path.

    The document has room for one articulation a root prim: of several it is the one that is created last, as in a record of the runtime by name.
    With `every` each root prim has a list of its articulations in that order, also of one. Joints that PhysX would not have are absent. Non-finite
    numbers are strings.
    """
    paths = view.descriptors.paths

    def names(ids: Any) -> list[str]:
        texts: list[str] = paths.path_strings(ids).to_pylist()
        return texts

    g, built = view.graph, view.articulations
    root_names = names(g.root_path)
    links = names(g.body_path[built.link_body])
    articulations: dict[str, Any] = {}
    for i, root in enumerate(built.root.tolist()):
        entry = {"fixBase": bool(built.fixed[i]), "links": links[built.first_link[i] : built.first_link[i + 1]]}
        if every:
            articulations.setdefault(root_names[root], []).append(entry)
        else:
            articulations[root_names[root]] = entry
    joints = {p: standalone(view, i, p) for i, p in enumerate(names(g.path[view.standalone.joint]))}
    joints |= {p: link_joint(view, i, root_names) for i, p in enumerate(names(g.path[view.links.joint]))}
    return {"file": file, "articulations": dict(sorted(articulations.items())), "joints": dict(sorted(joints.items()))}


def _path(view: PhysxView, path: Any) -> str | None:
    return view.descriptors.paths.path_string(int(path)) or None


def standalone(view: PhysxView, i: int, path: str) -> Plain:
    """One standalone joint, row `i` of `view.standalone`."""
    s = view.standalone
    kind = int(s.px_class[i])
    out: Plain = {
        "kind": "standalone",
        "class": c.CLASSES[kind],
        "actor0": _path(view, s.actor[i, 0]),
        "actor1": _path(view, s.actor[i, 1]),
        "localPose0": pose(s.position[i, 0], s.orientation[i, 0]),
        "localPose1": pose(s.position[i, 1], s.orientation[i, 1]),
        "breakForce": number(s.break_force[i, 0]),
        "breakTorque": number(s.break_force[i, 1]),
        "collisionEnabled": bool(s.collision[i]),
    }
    if kind == c.PX_D6:
        out |= _d6(view, i)
    elif kind == c.PX_DISTANCE:
        flags = int(s.distance_flags[i])
        on = {"minEnabled": c.MIN_DISTANCE, "maxEnabled": c.MAX_DISTANCE, "springEnabled": c.SPRING}
        out["distance"] = {**{k: bool(flags & bit) for k, bit in on.items()}, **named(c.DISTANCE, s.distance[i])}
    else:
        out |= {"ratio": number(s.ratio[i]), "joints": [_path(view, p) for p in s.coupled[i]]}
    return out


def _d6(view: PhysxView, i: int) -> Plain:
    s = view.standalone
    motion = s.motion[i]
    limits: Plain = {a: named(c.LINEAR, s.linear[i, k]) for k, a in enumerate("xyz") if motion[k] == c.LIMITED}
    if motion[3] == c.LIMITED:
        limits["twist"] = named(c.LINEAR, s.twist[i])
    if c.LIMITED in (motion[4], motion[5]):
        swing = numbers(s.swing[i])
        tuning = dict(zip(_TUNING, swing[4:]))
        if s.swing_kind[i] == c.CONE:
            limits["cone"] = {"yAngle": swing[1], "zAngle": swing[3], **tuning}
        else:
            limits["pyramid"] = {"y": swing[:2], "z": swing[2:4], **tuning}
    if s.distance_limit[i, 0] != FLT_MAX:
        limits["distance"] = named(c.DISTANCE_LIMIT, s.distance_limit[i])
    drives = {}
    for k, axis in enumerate(c.D6_AXES):
        stiffness, damping, force = s.drive[i, k]
        if stiffness != 0 or damping != 0 or force != FLT_MAX or s.drive_acceleration[i, k]:
            drives[axis] = {**named(c.DRIVE, s.drive[i, k]), "acceleration": bool(s.drive_acceleration[i, k])}
    return {
        "motion": {a: c.MOTIONS[m] for a, m in zip(c.D6_AXES, motion)},
        "limits": limits,
        "drives": drives,
        "drivePosition": pose(s.drive_pose[i, :3], s.drive_pose[i, 3:]),
        "driveLinearVelocity": numbers(s.drive_velocity[i, :3]),
        "driveAngularVelocity": numbers(s.drive_velocity[i, 3:]),
    }


def link_joint(view: PhysxView, i: int, root_names: list[str]) -> Plain:
    """One articulation joint, row `i` of `view.links`."""
    a = view.links
    kind = int(a.type[i])
    axes: Plain = {}
    for k, axis in enumerate(c.LINK_AXES[kind]):
        values = numbers(a.value[i, k])
        entry: Plain = {"motion": c.MOTIONS[a.motion[i, k]]}
        if a.motion[i, k] == c.LOCKED and axis == "twist":
            continue
        if a.motion[i, k] == c.LIMITED:
            entry["limit"] = values[:2]
        if a.drive_type[i, k] != c.NO_DRIVE:
            entry["drive"] = {"type": c.DRIVE_TYPES[a.drive_type[i, k]], **dict(zip(_LINK_DRIVE, values[2:9]))}
        axes[axis] = entry | dict(zip(_LINK_REST, values[9:]))
    return {
        "kind": "articulation",
        "type": c.LINK_TYPES[kind],
        "articulation": root_names[int(view.articulations.root[a.articulation[i]])],
        "parent": _path(view, a.link[i, 0]),
        "child": _path(view, a.link[i, 1]),
        "parentPose": pose(a.position[i, 0], a.orientation[i, 0]),
        "childPose": pose(a.position[i, 1], a.orientation[i, 1]),
        "frictionCoefficient": number(a.friction[i]),
        "axes": axes,
    }
