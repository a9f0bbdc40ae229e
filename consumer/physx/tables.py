"""Arrow tables of a PhysX view: joints, articulations, links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from consumer.physx import codes as c
from consumer.physx.view import PhysxView

Array = npt.NDArray[Any]
_AXES_PER_TYPE = np.array([len(a) for a in c.LINK_AXES])
_ALL_LINK_AXES = ("twist", "swing1", "swing2", "x")
_AXIS_CODE = np.array([[_ALL_LINK_AXES.index(a) for a in axes] + [0] * (3 - len(axes)) for axes in c.LINK_AXES], np.int8)


def _words(values: Array, words: Sequence[str], null: int | None = None) -> pa.DictionaryArray:
    """Dictionary array of codes; the code `null` becomes a null."""
    mask = None if null is None else values == null
    return pa.DictionaryArray.from_arrays(pa.array(values.astype(np.int8), mask=mask), pa.array(list(words)))


def _lanes(values: Array) -> pa.FixedSizeListArray:
    """(n, k) as a list of fixed size k."""
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(values).reshape(-1)), values.shape[-1])


def _record(values: Array, names: Sequence[str]) -> pa.StructArray:
    """(n, k) as a struct of the named lanes."""
    return pa.StructArray.from_arrays([pa.array(np.ascontiguousarray(values[:, i])) for i in range(len(names))], list(names))


def _struct(**fields: pa.Array) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(fields.values()), list(fields))


def _paths(view: PhysxView, ids: Array) -> pa.Array:
    """Path strings, null for id 0 (the world, none)."""
    return pa.compute.if_else(pa.array(ids != 0), view.descriptors.paths.path_strings(ids), pa.scalar(None, pa.large_string()))


def _flags(values: Array) -> pa.Array:
    return pa.array(values.astype(np.bool_))


def _pose(position: Array, orientation: Array) -> pa.StructArray:
    return _struct(p=_lanes(position), q=_lanes(orientation))


def _spread(view: PhysxView, joint: Array, rows: pa.Array) -> pa.Array:
    """Rows of some joints spread over all joints, null elsewhere."""
    at = np.zeros(len(view), np.int64)
    at[joint] = np.arange(joint.size)
    missing = np.ones(len(view), np.bool_)
    missing[joint] = False
    return rows.take(pa.array(at, mask=missing))


def joint_table(view: PhysxView) -> pa.Table:
    """A row a joint of the stage in joint order.

    Columns: path; joint_type; outcome; reason (null when the joint exists or was consumed); `standalone` and `articulation_joint`, structs that are
    null for joints of the other outcomes. Lengths in stage units, angles in radians, gains per radian, quaternions x y z w.
    """
    g = view.graph
    types = [b.type_name for b in view.descriptors.blocks]
    return pa.table(
        {
            "path": view.descriptors.paths.path_strings(g.path),
            "joint_type": _words(g.type_index, types),
            "outcome": _words(view.outcome, c.OUTCOMES),
            "reason": _words(view.reason, c.REASONS, c.NO_REASON),
            "standalone": _spread(view, view.standalone.joint, _standalone(view)),
            "articulation_joint": _spread(view, view.links.joint, _link_joints(view)),
        }
    )


def _standalone(view: PhysxView) -> pa.StructArray:
    s = view.standalone
    return _struct(
        **{"class": _words(s.px_class, c.CLASSES)},
        actor0=_paths(view, s.actor[:, 0]),
        actor1=_paths(view, s.actor[:, 1]),
        localPose0=_pose(s.position[:, 0], s.orientation[:, 0]),
        localPose1=_pose(s.position[:, 1], s.orientation[:, 1]),
        breakForce=pa.array(s.break_force[:, 0]),
        breakTorque=pa.array(s.break_force[:, 1]),
        collisionEnabled=_flags(s.collision),
        motion=_struct(**{a: _words(s.motion[:, k], c.MOTIONS) for k, a in enumerate(c.D6_AXES)}),
        limits=_struct(
            **{a: _record(s.linear[:, k], c.LINEAR) for k, a in enumerate("xyz")},
            twist=_record(s.twist, c.LINEAR),
            swing=_record(s.swing, c.SWING),
            swingKind=_words(s.swing_kind, ("none", "cone", "pyramid")),
            distance=_record(s.distance_limit, c.DISTANCE_LIMIT),
        ),
        drives=_struct(
            **{
                a: pa.StructArray.from_arrays(
                    [*_record(s.drive[:, k], c.DRIVE).flatten(), _flags(s.drive_acceleration[:, k])], [*c.DRIVE, "acceleration"]
                )
                for k, a in enumerate(c.D6_AXES)
            }
        ),
        drivePosition=_pose(s.drive_pose[:, :3], s.drive_pose[:, 3:]),
        driveLinearVelocity=_lanes(s.drive_velocity[:, :3]),
        driveAngularVelocity=_lanes(s.drive_velocity[:, 3:]),
        distance=_struct(
            **{n: pa.array(np.ascontiguousarray(s.distance[:, k])) for k, n in enumerate(c.DISTANCE)},
            minEnabled=_flags(s.distance_flags & c.MIN_DISTANCE),
            maxEnabled=_flags(s.distance_flags & c.MAX_DISTANCE),
            springEnabled=_flags(s.distance_flags & c.SPRING),
        ),
        ratio=pa.array(s.ratio),
        joint0=_paths(view, s.coupled[:, 0]),
        joint1=_paths(view, s.coupled[:, 1]),
    )


def _link_joints(view: PhysxView) -> pa.StructArray:
    a = view.links
    count = _AXES_PER_TYPE[a.type]
    used = np.arange(3) < count[:, None]
    axis = _AXIS_CODE[a.type][used]
    values = _record(a.value[used], c.LINK_AXIS)
    rows = pa.StructArray.from_arrays(
        [
            _words(axis, _ALL_LINK_AXES),
            _words(a.motion[used], c.MOTIONS),
            _words(a.drive_type[used], c.DRIVE_TYPES),
            *values.flatten(),
        ],
        ["axis", "motion", "driveType", *c.LINK_AXIS],
    )
    roots = view.graph.root_path[view.articulations.root[a.articulation]] if len(a) else np.empty(0, np.uint64)
    return _struct(
        type=_words(a.type, c.LINK_TYPES),
        articulation=_paths(view, roots),
        parent=_paths(view, a.link[:, 0]),
        child=_paths(view, a.link[:, 1]),
        reversed=_flags(a.flipped),
        parentPose=_pose(a.position[:, 0], a.orientation[:, 0]),
        childPose=_pose(a.position[:, 1], a.orientation[:, 1]),
        frictionCoefficient=pa.array(a.friction),
        axes=pa.LargeListArray.from_arrays(pa.array(np.cumsum([0, *count], dtype=np.int64)), rows),
    )


def articulation_table(view: PhysxView) -> pa.Table:
    """A row an articulation in the order of creation: root_prim, fixBase, root_joint (null when floating), static_root (the static actor that a fixed
    base is tied to, null the world), base, links (count), and the settings of the root prim (spec 1.4)."""
    g, built = view.graph, view.articulations
    joint = built.root_joint
    has = joint >= 0
    root_joint, static = np.zeros(joint.size, np.uint64), np.zeros(joint.size, np.uint64)
    root_joint[has] = g.path[joint[has]]
    tied = built.anchor >= 0
    static[tied] = g.side_path[joint[tied], built.anchor[tied]]
    return pa.table(
        {
            "root_prim": _paths(view, g.root_path[built.root]),
            "fixBase": _flags(built.fixed),
            "root_joint": _paths(view, root_joint),
            "static_root": _paths(view, static),
            "base": _paths(view, g.body_path[built.link_body[built.first_link[:-1]]]),
            "links": pa.array(np.diff(built.first_link)),
            **{name: pa.array(values[built.root]) for name, values in view.settings.items()},
        }
    )


def link_table(view: PhysxView) -> pa.Table:
    """A row a link in the order of creation: articulation (row of `articulation_table`), link, parent and inbound_joint (null for a base)."""
    g, built = view.graph, view.articulations
    parent = (
        np.where(built.link_parent >= 0, g.body_path[np.maximum(built.link_parent, 0)], np.uint64(0)) if g.body_path.size else np.empty(0, np.uint64)
    )
    joint = (
        np.where(built.link_joint >= 0, g.path[np.maximum(built.link_joint, 0)], np.uint64(0))
        if g.path.size
        else np.zeros(built.link_body.size, np.uint64)
    )
    return pa.table(
        {
            "articulation": pa.array(np.repeat(np.arange(built.root.size), np.diff(built.first_link))),
            "link": _paths(view, g.body_path[built.link_body]),
            "parent": _paths(view, parent),
            "inbound_joint": _paths(view, joint),
        }
    )
