"""Tables of the physx level: physx_joints, articulations, links, as the PhysX view gives them, the file in front and codes written out as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from consumer.physx import codes as c
from ovsim.dataset.descriptors import with_file
from ovsim.dataset.schemas import SLICE

if TYPE_CHECKING:
    from consumer.physx.view import PhysxView

_LINEAR = {
    "lower": "length",
    "upper": "length",
    "value": "length",
    "stiffness": "force/length",
    "damping": "force*s/length",
    "forceLimit": "force",
    "minDistance": "length",
    "maxDistance": "length",
}
_ANGULAR = {"lower": "rad", "upper": "rad", "stiffness": "torque/rad", "damping": "torque*s/rad", "forceLimit": "torque"}
_ANGULAR |= dict.fromkeys(("yLower", "yUpper", "zLower", "zUpper"), "rad")
_AXIS = {
    "lower": "rad or length",
    "upper": "rad or length",
    "stiffness": "torque/rad or force/length",
    "damping": "torque*s/rad or force*s/length",
    "maxForce": "torque or force",
    "maxEffort": "torque or force",
    "maxActuatorVelocity": "rad/s or length/s",
    "velocityDependentResistance": "torque*s/rad or force*s/length",
    "speedEffortGradient": "rad/(s*torque) or length/(s*force)",
    "target": "rad or length",
    "velocityTarget": "rad/s or length/s",
    "armature": "mass*length^2 or mass",
    "maxJointVelocity": "rad/s or length/s",
    "staticFrictionEffort": "torque or force",
    "dynamicFrictionEffort": "torque or force",
    "viscousFrictionCoefficient": "torque*s/rad or force*s/length",
    "position": "rad or length",
    "velocity": "rad/s or length/s",
}
_TEXT, _PATH, _F32, _BOOL = pa.string(), pa.large_string(), pa.float32(), pa.bool_()


def _field(name: str, type_: pa.DataType, unit: str = "") -> pa.Field:
    return pa.field(name, type_, metadata={"unit": unit} if unit else None)


def _lanes(names: Sequence[str], units: dict[str, str]) -> list[pa.Field]:
    return [_field(n, _F32, units.get(n, "")) for n in names]


def _vector(n: int) -> pa.DataType:
    return pa.list_(pa.field("item", _F32), n)


_POSE = pa.struct([_field("p", _vector(3), "length"), pa.field("q", _vector(4))])


def _turns(axis: str) -> dict[str, str]:
    return _LINEAR if axis in "xyz" else _ANGULAR


_STANDALONE = pa.struct(
    [
        pa.field("class", _TEXT),
        pa.field("actor0", _PATH),
        pa.field("actor1", _PATH),
        pa.field("localPose0", _POSE),
        pa.field("localPose1", _POSE),
        _field("breakForce", _F32, "force"),
        _field("breakTorque", _F32, "torque"),
        pa.field("collisionEnabled", _BOOL),
        pa.field("motion", pa.struct([pa.field(a, _TEXT) for a in c.D6_AXES])),
        pa.field(
            "limits",
            pa.struct(
                [
                    *(pa.field(a, pa.struct(_lanes(c.LINEAR, _LINEAR))) for a in "xyz"),
                    pa.field("twist", pa.struct(_lanes(c.LINEAR, _ANGULAR))),
                    pa.field("swing", pa.struct(_lanes(c.SWING, _ANGULAR))),
                    pa.field("swingKind", _TEXT),
                    pa.field("distance", pa.struct(_lanes(c.DISTANCE_LIMIT, _LINEAR))),
                ]
            ),
        ),
        pa.field("drives", pa.struct([pa.field(a, pa.struct([*_lanes(c.DRIVE, _turns(a)), pa.field("acceleration", _BOOL)])) for a in c.D6_AXES])),
        pa.field("drivePosition", _POSE),
        _field("driveLinearVelocity", _vector(3), "length/s"),
        _field("driveAngularVelocity", _vector(3), "rad/s"),
        pa.field(
            "distance",
            pa.struct([*_lanes(c.DISTANCE, _LINEAR), *(pa.field(n, _BOOL) for n in ("minEnabled", "maxEnabled", "springEnabled"))]),
        ),
        _field("ratio", _F32, "1, of a rack rad/length"),
        pa.field("joint0", _PATH),
        pa.field("joint1", _PATH),
    ]
)
_LINK_JOINT = pa.struct(
    [
        pa.field("type", _TEXT),
        pa.field("articulation", _PATH),
        pa.field("parent", _PATH),
        pa.field("child", _PATH),
        pa.field("reversed", _BOOL),
        pa.field("parentPose", _POSE),
        pa.field("childPose", _POSE),
        pa.field("frictionCoefficient", _F32),
        pa.field(
            "axes",
            pa.large_list(pa.field("item", pa.struct([*(pa.field(n, _TEXT) for n in ("axis", "motion", "driveType")), *_lanes(c.LINK_AXIS, _AXIS)]))),
        ),
    ]
)
_FILE = pa.field("file", pa.string(), nullable=False)
TABLES = {
    "physx_joints": pa.schema(
        [
            _FILE,
            pa.field("path", _PATH),
            pa.field("joint_type", _TEXT),
            pa.field("outcome", _TEXT),
            pa.field("reason", _TEXT),
            pa.field("standalone", _STANDALONE),
            pa.field("articulation_joint", _LINK_JOINT),
        ]
    ),
    "articulations": pa.schema(
        [
            _FILE,
            pa.field("articulation", pa.int64(), nullable=False),
            pa.field("root_prim", _PATH),
            pa.field("fixBase", _BOOL),
            pa.field("root_joint", _PATH),
            pa.field("static_root", _PATH),
            pa.field("base", _PATH),
            pa.field("links", pa.int64()),
            pa.field("solverPositionIterationCount", pa.int32()),
            pa.field("solverVelocityIterationCount", pa.int32()),
            _field("sleepThreshold", _F32, "length^2/s^2"),
            _field("stabilizationThreshold", _F32, "length^2/s^2"),
            pa.field("selfCollision", pa.uint8()),
        ]
    ),
    "links": pa.schema(
        [
            _FILE,
            pa.field("articulation", pa.int64(), nullable=False),
            pa.field("link", _PATH),
            pa.field("parent", _PATH),
            pa.field("inbound_joint", _PATH),
        ]
    ),
}


def blocks(view: PhysxView, file: str) -> Iterator[tuple[str, pa.Table]]:
    """Tables of a PhysX view in slices of at most `SLICE` rows: (table name, rows). `articulation` counts the articulations of the file from 0."""
    articulations = view.articulation_table
    numbers = pa.array(np.arange(articulations.num_rows))
    yield from _slices("articulations", articulations.add_column(0, "articulation", numbers), file)
    yield from _slices("links", view.link_table, file)
    yield from _slices("physx_joints", view.physx_joints, file)


def _slices(table: str, rows: pa.Table, file: str) -> Iterator[tuple[str, pa.Table]]:
    shape = TABLES[table]
    plain = pa.schema(list(shape)[1:])
    for start in range(0, rows.num_rows, SLICE):
        yield table, with_file(rows.slice(start, SLICE).cast(plain), file, shape)
