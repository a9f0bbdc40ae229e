"""The PhysX level: what the runtime would hold, flattened, a column at a time; articulations are rows of their root prims.

Names and values are those of the interchange document (`consumer.physx.document`), nested names joined by dots.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ovsim.diff.flat import Flat, FlatColumn, objects

if TYPE_CHECKING:
    from consumer.physx import PhysxView

ARTICULATION = "articulation "
Array = npt.NDArray[Any]


class _Cells:
    """Columns of n rows, filled some rows at a time; a name has one dtype and one shape."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self.columns: dict[str, FlatColumn] = {}

    def put(self, name: str, rows: Array, values: Array) -> None:
        """Write `values` (k, ...) into the rows (k,); float32 as float64."""
        if not rows.size:
            return
        values = values.astype(np.float64) if values.dtype == np.float32 else values
        column = self.columns.get(name)
        if column is None:
            blank = np.zeros((self._rows, *values.shape[1:]), values.dtype)
            column = self.columns[name] = FlatColumn(blank, np.zeros(self._rows, np.bool_))
        column.values[rows], column.valid[rows] = values, True

    def lanes(self, head: str, names: Sequence[str], rows: Array, values: Array) -> None:
        """One column a lane of `values` (k, lanes)."""
        for lane, name in enumerate(names):
            self.put(f"{head}{name}", rows, values[:, lane])

    def same(self, name: str, rows: Array, value: str) -> None:
        self.put(name, rows, objects([value] * rows.size))

    def pick(self, name: str, rows: Array, words: Sequence[str], codes: Array) -> None:
        """Words by their codes."""
        self.put(name, rows, objects(words)[codes.astype(np.int64)])


def of_view(view: PhysxView) -> Flat:
    """Joints that PhysX has, by path, fields by dotted names (`axes.twist.limit`, `localPose0.p`); and the articulations as `articulation <root>`."""
    g = view.graph
    s, a = view.standalone.joint.size, view.links.joint.size
    roots = _roots(view)
    paths = [*_texts(view, g.path[view.standalone.joint]), *_texts(view, g.path[view.links.joint]), *(ARTICULATION + r for r in roots)]
    cells = _Cells(len(paths))
    _standalone(view, cells, np.arange(s))
    _links(view, cells, np.arange(s, s + a))
    _articulations(view, cells, roots, s + a)
    return Flat(paths, cells.columns)


def _texts(view: PhysxView, ids: Array) -> list[str]:
    texts: list[str] = view.descriptors.paths.path_strings(ids).to_pylist()
    return texts


def _named(view: PhysxView, ids: Array) -> Array:
    """Paths as objects, None for the world."""
    return objects(t or None for t in _texts(view, np.ascontiguousarray(ids)))


def _standalone(view: PhysxView, cells: _Cells, at: Array) -> None:
    from consumer.physx import codes as c

    s = view.standalone
    cells.same("kind", at, "standalone")
    cells.pick("class", at, c.CLASSES, s.px_class)
    for k in (0, 1):
        cells.put(f"actor{k}", at, _named(view, s.actor[:, k]))
        cells.put(f"localPose{k}.p", at, s.position[:, k])
        cells.put(f"localPose{k}.q", at, s.orientation[:, k])
    cells.lanes("", ("breakForce", "breakTorque"), at, s.break_force)
    cells.put("collisionEnabled", at, s.collision != 0)
    _d6(view, cells, at)
    distance = np.flatnonzero(s.px_class == c.PX_DISTANCE)
    for name, bit in {"minEnabled": c.MIN_DISTANCE, "maxEnabled": c.MAX_DISTANCE, "springEnabled": c.SPRING}.items():
        cells.put(f"distance.{name}", at[distance], (s.distance_flags[distance] & bit) != 0)
    cells.lanes("distance.", c.DISTANCE, at[distance], s.distance[distance])
    coupling = np.flatnonzero((s.px_class == c.PX_GEAR) | (s.px_class == c.PX_RACK))
    cells.put("ratio", at[coupling], s.ratio[coupling])
    two = [_named(view, s.coupled[coupling, k]) for k in (0, 1)]
    cells.put("joints", at[coupling], objects(zip(*two)))


def _d6(view: PhysxView, cells: _Cells, at: Array) -> None:
    """Motions, the limits that are set, the drives that are set (a drive without gains and with an unlimited force is none)."""
    from consumer.constants import FLT_MAX
    from consumer.physx import codes as c

    s = view.standalone
    d6 = np.flatnonzero(s.px_class == c.PX_D6)
    for k, axis in enumerate(c.D6_AXES):
        cells.pick(f"motion.{axis}", at[d6], c.MOTIONS, s.motion[d6, k])
    for k, axis in enumerate((*"xyz", "twist")):
        limited = d6[s.motion[d6, k] == c.LIMITED]
        cells.lanes(f"limits.{axis}.", c.LINEAR, at[limited], s.linear[limited, k] if k < 3 else s.twist[limited])
    swings = (s.motion[d6, 4] == c.LIMITED) | (s.motion[d6, 5] == c.LIMITED)
    cone, pyramid = d6[swings & (s.swing_kind[d6] == c.CONE)], d6[swings & (s.swing_kind[d6] != c.CONE)]
    cells.lanes("limits.cone.", ("yAngle", "zAngle"), at[cone], s.swing[cone][:, [1, 3]])
    cells.put("limits.pyramid.y", at[pyramid], s.swing[pyramid, :2])
    cells.put("limits.pyramid.z", at[pyramid], s.swing[pyramid, 2:4])
    for kind, rows in (("cone", cone), ("pyramid", pyramid)):
        cells.lanes(f"limits.{kind}.", c.LINEAR[2:], at[rows], s.swing[rows, 4:])
    reach = d6[s.distance_limit[d6, 0] != FLT_MAX]
    cells.lanes("limits.distance.", c.DISTANCE_LIMIT, at[reach], s.distance_limit[reach])
    for k, axis in enumerate(c.D6_AXES):
        gains = s.drive[d6, k]
        driven = d6[(gains[:, 0] != 0) | (gains[:, 1] != 0) | (gains[:, 2] != FLT_MAX) | (s.drive_acceleration[d6, k] != 0)]
        cells.lanes(f"drives.{axis}.", c.DRIVE, at[driven], s.drive[driven, k])
        cells.put(f"drives.{axis}.acceleration", at[driven], s.drive_acceleration[driven, k] != 0)
    cells.put("drivePosition.p", at[d6], s.drive_pose[d6, :3])
    cells.put("drivePosition.q", at[d6], s.drive_pose[d6, 3:])
    cells.put("driveLinearVelocity", at[d6], s.drive_velocity[d6, :3])
    cells.put("driveAngularVelocity", at[d6], s.drive_velocity[d6, 3:])


def _links(view: PhysxView, cells: _Cells, at: Array) -> None:
    from consumer.physx import codes as c

    a, g = view.links, view.graph
    cells.same("kind", at, "articulation")
    cells.pick("type", at, c.LINK_TYPES, a.type)
    roots = objects(_texts(view, g.root_path))
    cells.put("articulation", at, roots[view.articulations.root[a.articulation]] if at.size else roots)
    for k, end in enumerate(("parent", "child")):
        cells.put(end, at, _named(view, a.link[:, k]))
        cells.put(f"{end}Pose.p", at, a.position[:, k])
        cells.put(f"{end}Pose.q", at, a.orientation[:, k])
    cells.put("frictionCoefficient", at, a.friction)
    for kind, axes in enumerate(c.LINK_AXES):
        for k, axis in enumerate(axes):
            _axis(view, cells, at, np.flatnonzero((a.type == kind) & ((a.motion[:, k] != c.LOCKED) | (axis != "twist"))), k, f"axes.{axis}.")


def _axis(view: PhysxView, cells: _Cells, at: Array, rows: Array, k: int, head: str) -> None:
    """One axis of link joints; a locked twist is no axis (spec 8.2)."""
    from consumer.physx import codes as c

    a = view.links
    cells.pick(f"{head}motion", at[rows], c.MOTIONS, a.motion[rows, k])
    limited = rows[a.motion[rows, k] == c.LIMITED]
    cells.put(f"{head}limit", at[limited], a.value[limited, k, :2])
    driven = rows[a.drive_type[rows, k] != c.NO_DRIVE]
    cells.pick(f"{head}drive.type", at[driven], c.DRIVE_TYPES, a.drive_type[driven, k])
    cells.lanes(f"{head}drive.", c.LINK_AXIS[2:9], at[driven], a.value[driven, k, 2:9])
    cells.lanes(head, c.LINK_AXIS[9:], at[rows], a.value[rows, k, 9:])


def _roots(view: PhysxView) -> list[str]:
    """Root prims that carry articulations, each once, in the order of creation."""
    return list(dict.fromkeys(_texts(view, view.graph.root_path[view.articulations.root])))


def _articulations(view: PhysxView, cells: _Cells, roots: Sequence[str], first: int) -> None:
    """`fixBase` and `links`, tuples of them where a root prim carries several articulations, and the settings of the root."""
    built, g = view.articulations, view.graph
    links = _texts(view, g.body_path[built.link_body])
    made: dict[str, list[int]] = {}
    for i, root in enumerate(_texts(view, g.root_path[built.root])):
        made.setdefault(root, []).append(i)

    def one(found: Iterable[Any]) -> Any:
        values = tuple(found)
        return values[0] if len(values) == 1 else values

    at = np.arange(first, first + len(roots))
    cells.put("fixBase", at, objects(one(bool(built.fixed[i]) for i in made[r]) for r in roots))
    spans = [(int(x), int(y)) for x, y in zip(built.first_link[:-1], built.first_link[1:])]
    cells.put("links", at, objects(one(tuple(links[slice(*spans[i])]) for i in made[r]) for r in roots))
    accepted = built.root[[made[r][0] for r in roots]] if roots else np.empty(0, np.int64)
    for name, values in view.settings.items():
        cells.put(name, at, values[accepted].astype(np.float64))
