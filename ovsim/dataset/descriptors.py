"""Tables of the descriptor level: joints (a row a joint), limits and drives (a row a record)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from consumer import arrow
from consumer.blocks import RECORDS, Descriptors, JointBlock
from ovsim.contract.joints import DISTANCE
from ovsim.dataset.schemas import SLICE

_ROTATIONAL = frozenset({"angular", "cone", "rotX", "rotY", "rotZ"})
_HEAD = [
    pa.field("file", pa.string(), nullable=False),
    pa.field("path", pa.string(), nullable=False),
    pa.field("type", pa.string(), nullable=False),
    pa.field("instance", pa.string(), nullable=False),
    pa.field("motion", pa.string(), nullable=False),
]


def _f32(name: str, unit: str = "") -> pa.Field:
    return pa.field(name, pa.float32(), nullable=False, metadata={"unit": unit} if unit else None)


JOINTS = pa.schema([_HEAD[0], *arrow.schema()])
_BOUND = "rad if motion is rotational, else length"
LIMITS = pa.schema(
    [
        *_HEAD,
        pa.field("lower_enabled", pa.bool_(), nullable=False),
        pa.field("upper_enabled", pa.bool_(), nullable=False),
        _f32("lower", _BOUND),
        _f32("upper", _BOUND),
        _f32("restitution"),
        _f32("bounceThreshold"),
        _f32("stiffness"),
        _f32("damping"),
    ]
)
DRIVES = pa.schema(
    [
        *_HEAD,
        pa.field("acceleration", pa.bool_(), nullable=False),
        pa.field("envelope", pa.bool_(), nullable=False),
        _f32("targetPosition", _BOUND),
        _f32("targetVelocity", "rad/s if motion is rotational, else length/s"),
        _f32("stiffness", "torque/rad if motion is rotational, else force/length"),
        _f32("damping", "torque*s/rad if motion is rotational, else force*s/length"),
        _f32("forceLimit", "torque if motion is rotational, else force"),
        _f32("maxActuatorVelocity", "rad/s if motion is rotational, else length/s"),
        _f32("velocityDependentResistance", "torque*s/rad if motion is rotational, else force*s/length"),
        _f32("speedEffortGradient", "rad/(s*torque) if motion is rotational, else length/(s*force)"),
    ]
)
TABLES = {"joints": JOINTS, "limits": LIMITS, "drives": DRIVES}


def motion(instance: str) -> str:
    """`rotational` for instances whose values are radians, else `linear`."""
    return "rotational" if instance in _ROTATIONAL else "linear"


def blocks(found: Descriptors, file: str) -> Iterator[tuple[str, pa.Table]]:
    """Tables of the descriptors in slices of at most `SLICE` joints: (table name, rows)."""
    for block in found.blocks:
        for start in range(0, len(block), SLICE):
            some = _part(block, slice(start, start + SLICE))
            joints = arrow.to_table(Descriptors(found.paths, (some,), found.rules))
            yield "joints", with_file(joints, file, JOINTS)
            paths = joints["path"].combine_chunks().cast(pa.string())
            yield from _records(some, paths, file)


def with_file(rows: pa.Table, file: str, schema: pa.Schema) -> pa.Table:
    """Rows with the column `file` in front."""
    names = pa.repeat(pa.scalar(file, pa.string()), rows.num_rows)
    return pa.Table.from_arrays([names, *rows.columns], schema=schema)


def _part(block: JointBlock, rows: slice) -> JointBlock:
    arrays = {f.name: getattr(block, f.name)[rows] for f in dataclasses.fields(block) if f.name != "type_name"}
    return JointBlock(block.type_name, **arrays)


def _records(block: JointBlock, paths: pa.Array, file: str) -> Iterator[tuple[str, pa.Table]]:
    read = RECORDS.get(block.type_name, {"limit": (), "drive": ()})
    if read["limit"]:
        bits = block.limit_enabled
        lower, upper = (bits & 1, bits & 2) if block.type_name == DISTANCE else (bits, bits)
        yield "limits", _long(LIMITS, block, paths, file, read["limit"], block.limit_listed, (lower != 0, upper != 0), block.limit)
    if read["drive"]:
        flags = (block.drive_acceleration != 0, block.drive_envelope != 0)
        yield "drives", _long(DRIVES, block, paths, file, read["drive"], block.drive_listed, flags, block.drive)


def _long(
    schema: pa.Schema,
    block: JointBlock,
    paths: pa.Array,
    file: str,
    instances: tuple[str, ...],
    listed: npt.NDArray[np.uint8],
    flags: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    values: npt.NDArray[np.float32],
) -> pa.Table:
    """Records (n, k) to rows, joint by joint in instance order; only those that are listed."""
    joint, record = np.nonzero(listed)
    names = pa.array(instances, pa.string())
    motions = pa.array([motion(i) for i in instances], pa.string())
    n = joint.size
    arrays = [
        pa.repeat(pa.scalar(file, pa.string()), n),
        paths.take(pa.array(joint)),
        pa.repeat(pa.scalar(block.type_name, pa.string()), n),
        names.take(pa.array(record)),
        motions.take(pa.array(record)),
        *(pa.array(f[joint, record]) for f in flags),
    ]
    chosen = values[joint, record]
    arrays += [pa.array(np.ascontiguousarray(chosen[:, lane])) for lane in range(chosen.shape[1])]
    return pa.Table.from_arrays(arrays, schema=schema)
