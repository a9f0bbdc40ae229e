"""Descriptors as an Arrow table: one row a joint in the parser's order (spec section 1; design "Descriptors").

A type that lacks a record has null there. Typed joints carry their single records as structs (`limit`, `drive`, `state`, `properties`); a D6 carries
lists of structs that hold the listed instances only (`limits`, `drives`, `states`); `jointProperties` always has three records. Units are in
the field metadata under `unit`: "rad" stands for rotational joints and instances, "length" for linear ones, in stage units.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from consumer.blocks import DRIVE, LIMIT, PROPERTIES, RECORDS, STATE, Descriptors, JointBlock
from ovsim.contract.joints import D6, DISTANCE, GEAR, PRISMATIC, RACK, REVOLUTE, SPHERICAL

Array = npt.NDArray[Any]
METADATA_KEY = b"ovsim:descriptors"
PATHS = ("string", "id")

UNITS = {
    "localPose0Position": "length",
    "localPose1Position": "length",
    "breakForce": "force",
    "breakTorque": "torque",
    "lower": "rad or length",
    "upper": "rad or length",
    "bounceThreshold": "deg/s or length/s",
    "targetPosition": "rad or length",
    "targetVelocity": "rad/s or length/s",
    "forceLimit": "torque or force",
    "maxActuatorVelocity": "rad/s or length/s",
    "velocityDependentResistance": "torque*s/rad or force*s/length",
    "speedEffortGradient": "rad/(s*torque) or length/(s*force)",
    "position": "rad or length",
    "velocity": "rad/s or length/s",
    "armature": "mass*length^2 or mass",
    "maxJointVelocity": "rad/s or length/s",
    "staticFrictionEffort": "torque or force",
    "dynamicFrictionEffort": "torque or force",
    "viscousFrictionCoefficient": "torque*s/rad or force*s/length",
    "springStiffness": "force/length",
    "springDamping": "force*s/length",
    "ratio": "deg/length",
}
_GAINS = {
    "limit": {"stiffness": "torque/deg or force/length", "damping": "torque*s/deg or force*s/length"},
    "drive": {"stiffness": "torque/rad or force/length", "damping": "torque*s/rad or force*s/length"},
}


def _field(name: str, type_: pa.DataType, unit: str = "") -> pa.Field:
    unit = unit or UNITS.get(name, "")
    return pa.field(name, type_, metadata={"unit": unit} if unit else None)


def _struct(kind: str, flags: tuple[str, ...], lanes: tuple[str, ...]) -> list[pa.Field]:
    units = _GAINS.get(kind, {})
    return [*(_field(f, pa.bool_()) for f in flags), *(_field(n, pa.float32(), units.get(n, "")) for n in lanes)]


_LIMIT = _struct("limit", ("enabled",), LIMIT)
_DRIVE = _struct("drive", ("enabled", "acceleration", "isEnvelopeUsed"), DRIVE)
_STATE = _struct("state", ("enabled",), STATE)
_PROPERTIES = _struct("properties", ("listed",), PROPERTIES)
_AXIS = _field("axis", pa.string())
_BOOL, _F32 = pa.bool_(), pa.float32()


def schema(paths: str = "string") -> pa.Schema:
    """Schema of the table; `paths` is `string` (large_string) or `id` (uint64 path ids of the stage's path dictionary)."""
    if paths not in PATHS:
        raise ValueError(f"paths is one of {', '.join(PATHS)}, not {paths!r}")
    path = pa.large_string() if paths == "string" else pa.uint64()
    return pa.schema(
        [
            pa.field("path", path, nullable=False),
            pa.field("type", pa.string(), nullable=False),
            *(pa.field(n, path) for n in ("rel0", "rel1", "body0", "body1")),
            *(_field(f"localPose{k}Position", pa.list_(_F32, 3)) for k in (0, 1)),
            *(_field(f"localPose{k}Orientation", pa.list_(_F32, 4)) for k in (0, 1)),
            *(_field(n, _BOOL) for n in ("jointEnabled", "enableCollision", "excludedFromArticulation")),
            *(_field(n, _F32) for n in ("breakForce", "breakTorque", "jointFriction")),
            *(_field(n, _BOOL) for n in ("validBodyTransformations", "enableResidualReporting")),
            _AXIS,
            pa.field("limit", pa.struct(_LIMIT)),
            pa.field("drive", pa.struct(_DRIVE)),
            pa.field("state", pa.struct(_STATE)),
            pa.field("properties", pa.struct(_PROPERTIES)),
            pa.field("limits", pa.list_(pa.struct([_AXIS, *_LIMIT]))),
            pa.field("drives", pa.list_(pa.struct([_AXIS, *_DRIVE]))),
            pa.field("states", pa.list_(pa.struct([_AXIS, *_STATE]))),
            pa.field("jointProperties", pa.list_(pa.struct([_AXIS, *_PROPERTIES]))),
            *(_field(n, _BOOL) for n in ("minEnabled", "maxEnabled", "springEnabled")),
            *(_field(n, _F32) for n in ("springStiffness", "springDamping")),
            *(pa.field(n, path) for n in ("hingePrimPath0", "hingePrimPath1", "hingePrimPath", "prismaticPrimPath")),
            *(_field(n, _F32) for n in ("gearRatio", "ratio")),
        ],
        metadata={METADATA_KEY: b"1"},
    )


def to_table(descriptors: Descriptors, paths: str = "string") -> pa.Table:
    """The table, one chunk a joint type; see the module's text for its form."""
    shape = schema(paths)
    written = _Paths(descriptors, paths == "id")
    tables = [_block(b, written, shape) for b in descriptors.blocks if len(b)]
    metadata = {**(shape.metadata or {}), b"ovsim:rules": descriptors.rules.encode()}
    return pa.concat_tables(tables or [shape.empty_table()]).replace_schema_metadata(metadata)


def _block(block: JointBlock, paths: _Paths, shape: pa.Schema) -> pa.Table:
    n = len(block)
    made: dict[str, pa.Array] = {
        "path": paths(block.path),
        "type": pa.repeat(pa.scalar(block.type_name, pa.string()), n),
        "jointEnabled": _bool(block.enabled),
        "enableCollision": _bool(block.collision),
        "excludedFromArticulation": _bool(block.excluded),
        "breakForce": _lane(block.break_force, 0),
        "breakTorque": _lane(block.break_force, 1),
        "jointFriction": pa.array(block.friction),
        "validBodyTransformations": _bool(block.valid_frames),
        "enableResidualReporting": _bool(block.residual),
    }
    for k in (0, 1):
        made[f"rel{k}"] = paths(block.rel[:, k])
        made[f"body{k}"] = paths(block.body[:, k])
        made[f"localPose{k}Position"] = _rows(block.position[:, k])
        made[f"localPose{k}Orientation"] = _rows(block.orientation[:, k])
    made |= _own(block, paths, shape)
    arrays = [made[f.name] if f.name in made else pa.nulls(n, f.type) for f in shape]
    return pa.Table.from_arrays(arrays, schema=shape)


def _own(block: JointBlock, paths: _Paths, shape: pa.Schema) -> dict[str, pa.Array]:
    """The columns that only some types have (spec 1.3)."""
    kind = block.type_name
    made: dict[str, pa.Array] = {}
    if kind in (REVOLUTE, PRISMATIC, SPHERICAL):
        made["axis"] = pa.array(("X", "Y", "Z"), pa.string()).take(pa.array(block.axis))
    if kind in (REVOLUTE, PRISMATIC, SPHERICAL, DISTANCE):
        made["limit"] = _records(_LIMIT, block.limit[:, 0], [block.limit_enabled[:, 0] != 0])
    if kind in (REVOLUTE, PRISMATIC):
        flags = [block.drive_listed[:, 0], block.drive_acceleration[:, 0], block.drive_envelope[:, 0]]
        made["drive"] = _records(_DRIVE, block.drive[:, 0], flags)
        made["state"] = _records(_STATE, block.state[:, 0], [block.state_listed[:, 0]])
        made["properties"] = _records(_PROPERTIES, block.properties[:, 0], [block.properties_listed[:, 0]])
    if kind == D6:
        names = RECORDS[D6]
        made["limits"] = _lists(shape.field("limits"), names["limit"], block.limit_listed, block.limit, [block.limit_enabled])
        flags = [block.drive_listed, block.drive_acceleration, block.drive_envelope]
        made["drives"] = _lists(shape.field("drives"), names["drive"], block.drive_listed, block.drive, flags)
        made["states"] = _lists(shape.field("states"), names["state"], block.state_listed, block.state, [block.state_listed])
    if kind in (D6, SPHERICAL):
        every, listed = np.ones_like(block.properties_listed), block.properties_listed
        made["jointProperties"] = _lists(shape.field("jointProperties"), RECORDS[kind]["properties"], every, block.properties, [listed])
    if kind == DISTANCE:
        made["minEnabled"] = _bool(block.limit_enabled[:, 0] & np.uint8(1))
        made["maxEnabled"] = _bool(block.limit_enabled[:, 0] & np.uint8(2))
        made["springEnabled"] = _bool(block.spring_enabled)
        made["springStiffness"], made["springDamping"] = _lane(block.spring, 0), _lane(block.spring, 1)
    if kind in (GEAR, RACK):
        first, second = ("hingePrimPath0", "hingePrimPath1") if kind == GEAR else ("hingePrimPath", "prismaticPrimPath")
        made[first], made[second] = (paths(block.coupled[:, k]) for k in (0, 1))
        made["gearRatio" if kind == GEAR else "ratio"] = pa.array(block.ratio)
    return made


class _Paths:
    """Path ids to a column, null for id 0; as strings, each path that the descriptors name is spelled once."""

    def __init__(self, descriptors: Descriptors, as_ids: bool) -> None:
        self._as_ids = as_ids
        if as_ids:
            return
        named = [ids.reshape(-1) for b in descriptors.blocks for ids in (b.path, b.rel, b.body, b.coupled)]
        self._few = 8 * sum(ids.size for ids in named) < descriptors.paths.path_count
        if self._few:  # a batch of a large stage: no table of all paths
            ids = np.sort(np.concatenate(named)) if named else np.empty(0, np.uint64)
            self._ids = ids[np.flatnonzero(np.diff(ids, prepend=ids[:1] + np.uint64(1)))]  # np.unique hashes, which takes far longer
            self._texts = descriptors.paths.path_strings(self._ids)
            return
        seen = np.zeros(descriptors.paths.path_count, np.bool_)
        for ids in named:
            seen[ids] = True
        seen[0] = False
        self._place = np.cumsum(seen, dtype=np.int64) - 1
        self._texts = descriptors.paths.path_strings(np.flatnonzero(seen))

    def __call__(self, ids: Array) -> pa.Array:
        none = ids == 0
        mask = none if none.any() else None
        if self._as_ids:
            return pa.array(np.ascontiguousarray(ids), mask=mask)
        place = np.searchsorted(self._ids, ids) if self._few else self._place[ids]
        return self._texts.take(pa.array(place, mask=mask))


def _bool(flags: Array) -> pa.Array:
    return pa.array(flags != 0)


def _lane(values: Array, lane: int) -> pa.Array:
    return pa.array(np.ascontiguousarray(values[..., lane]))


def _rows(values: Array) -> pa.Array:
    flat = np.ascontiguousarray(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat.reshape(-1)), flat.shape[1])


def _records(fields: list[pa.Field], values: Array, flags: list[Array], axis: pa.Array | None = None) -> pa.StructArray:
    """Structs from lanes (n, k) and flag columns (n,), in the order of the fields."""
    columns = [] if axis is None else [axis]
    columns += [_bool(f) for f in flags]
    columns += [_lane(values, lane) for lane in range(values.shape[-1])]
    return pa.StructArray.from_arrays(columns, fields=fields)


def _lists(field: pa.Field, instances: tuple[str, ...], chosen: Array, values: Array, flags: list[Array]) -> pa.ListArray:
    """Lists of the chosen records (n, k), in instance order."""
    counts = chosen.astype(np.int32).sum(axis=1, dtype=np.int32)
    offsets = np.zeros(counts.size + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    keep = chosen != 0
    axis = pa.array(instances, pa.string()).take(pa.array(np.nonzero(keep)[1]))
    fields = list(field.type.value_type)
    records = _records(fields, values[keep], [f[keep] for f in flags], axis)
    return pa.ListArray.from_arrays(pa.array(offsets), records, type=field.type)
