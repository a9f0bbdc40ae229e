"""Schemas of the dataset's tables: fixed names, types and units, whatever the stages hold.

Units stand in each field's metadata (`unit`), for the columns tables from the contract; the contract version, the table and the level stand in the
schema's metadata under `ovsim`. Parquet keeps both; other engines drop them, so `docs/dataset.md` lists them too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

import pyarrow as pa

from ovsim import contract
from ovsim.contract import Column
from ovsim.contract.joints import JOINT_TYPES, ROTATIONAL_INSTANCES
from ovsim.dataset.fingerprint import LAYER_TYPE

FORMAT = "ovsim-dataset"
FORMAT_VERSION = 1
LEVELS = ("columns", "descriptors", "physx")
CUSTOM = "custom"
SLICE = 131_072  # rows that are made and given out at a time
_TYPES = {
    "float32": pa.float32(),
    "float64": pa.float64(),
    "half": pa.float16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint8": pa.uint8(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "bool8": pa.bool_(),
}
STRINGS = pa.list_(pa.field("element", pa.string()))
EXTRA = pa.list_(pa.field("element", pa.struct([pa.field("name", pa.string()), pa.field("type", pa.string()), pa.field("value", pa.string())])))

DIAGNOSTICS = pa.schema(
    [pa.field(n, pa.string(), nullable=False) for n in ("file", "step", "code", "severity", "path", "column", "message")],
)
FILES = pa.schema(
    [
        pa.field("file", pa.string(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("cause", pa.string(), nullable=False),
        pa.field("message", pa.string(), nullable=False),
        pa.field("route", pa.string(), nullable=False),
        pa.field("route_reason", pa.string(), nullable=False),
        pa.field("prims", pa.int64(), nullable=False),
        pa.field("joints", pa.int64(), nullable=False),
        pa.field("limits", pa.int64(), nullable=False),
        pa.field("drives", pa.int64(), nullable=False),
        pa.field("physx_joints", pa.int64(), nullable=False),
        pa.field("articulations", pa.int64(), nullable=False),
        pa.field("links", pa.int64(), nullable=False),
        pa.field("warnings", pa.int64(), nullable=False),
        pa.field("errors", pa.int64(), nullable=False),
        pa.field("seconds", pa.float64(), nullable=False, metadata={"unit": "s"}),
        pa.field("peak_memory", pa.int64(), nullable=False, metadata={"unit": "byte"}),
        pa.field("attempts", pa.int64(), nullable=False),
        pa.field("size", pa.int64(), nullable=False, metadata={"unit": "byte"}),
        pa.field("content", pa.string(), nullable=False),
        pa.field("layers", pa.list_(pa.field("element", LAYER_TYPE)), nullable=False),
        pa.field("meters_per_unit", pa.float64(), metadata={"unit": "m"}),
        pa.field("up_axis", pa.string()),
        pa.field("level", pa.string(), nullable=False),
        pa.field("rules", pa.string(), nullable=False),
        pa.field("contract", pa.string(), nullable=False),
        pa.field("ovsim", pa.string(), nullable=False),
        pa.field("converted", pa.timestamp("us", "UTC"), nullable=False),
    ]
)
VOLATILE = ("seconds", "peak_memory", "attempts", "converted", "layers")
"""Columns of `files` that may differ between two runs over the same bytes."""


def columns_table(joint_type: str) -> str:
    """Name of the columns table of a joint type; registered custom types share `columns_custom`."""
    return f"columns_{joint_type}"


COLUMNS_TABLES = tuple(columns_table(t) for t in (*JOINT_TYPES, CUSTOM))
DESCRIPTOR_TABLES = ("joints", "limits", "drives")
PHYSX_TABLES = ("physx_joints", "articulations", "links")
_BY_LEVEL = {
    "columns": COLUMNS_TABLES,
    "descriptors": (*COLUMNS_TABLES, *DESCRIPTOR_TABLES),
    "physx": (*COLUMNS_TABLES, *DESCRIPTOR_TABLES, *PHYSX_TABLES),
}


def tables(level: str) -> tuple[str, ...]:
    """Names of a level's tables, `files` last."""
    return (*_BY_LEVEL[level], "diagnostics", "files")


@cache
def schema(table: str) -> pa.Schema:
    """Arrow schema of a table; KeyError when a dataset has no such table."""
    if table in COLUMNS_TABLES:
        got = _columns_schema(table.partition("_")[2])
    elif table in DESCRIPTOR_TABLES:
        from ovsim.dataset import descriptors  # the consumer loads numba, which the columns level does not need

        got = descriptors.TABLES[table]
    elif table in PHYSX_TABLES:
        from ovsim.dataset import runtime

        got = runtime.TABLES[table]
    else:
        got = {"diagnostics": DIAGNOSTICS, "files": FILES}[table]
    about = {"format": FORMAT, "version": FORMAT_VERSION, "contract": contract.VERSION, "table": table}
    return got.with_metadata({"ovsim": json.dumps(about, sort_keys=True)})


@cache
def contract_columns(joint_type: str) -> Mapping[str, Column]:
    """The contract's columns of a joint type by concrete name: its own, those of every plain API it reads, those of every instance it reads."""
    data = contract.load()
    out: dict[str, Column] = {}
    for column in data.columns_of("PhysicsJoint" if joint_type == CUSTOM else joint_type):
        out[column.name] = column
    for component in data.components.values():
        for instance in component.instances.get(joint_type, ()):
            for column in component.columns:
                out.setdefault(column.instance(instance), column)
    return out


def _columns_schema(joint_type: str) -> pa.Schema:
    fields = [pa.field("file", pa.string(), nullable=False), pa.field("path", pa.string(), nullable=False)]
    if joint_type == CUSTOM:
        fields.append(pa.field("type", pa.string(), nullable=False))
    fields.append(pa.field("schemas", STRINGS, nullable=False))
    for name, column in contract_columns(joint_type).items():
        about = {"component": column.component, "unit": unit(name, column, joint_type)}
        fields.append(pa.field(name, arrow_type(column), metadata={k: v for k, v in about.items() if v}))
    fields.append(pa.field("extra", EXTRA, nullable=False))
    return pa.schema(fields)


def arrow_type(column: Column) -> pa.DataType:
    """Type of a contract column in the dataset: ids as strings, bool8 as bool, vectors as fixed-size lists."""
    if column.semantic in ("TOKEN_ID", "PATH_ID", "RELATIONSHIP_PATH_ID"):
        return STRINGS if column.array else pa.string()
    base = _TYPES[column.dtype]
    if column.lanes > 1:
        base = pa.list_(pa.field("element", base), column.lanes)
    return pa.list_(pa.field("element", base)) if column.array else base


def unit(name: str, column: Column, joint_type: str) -> str:
    """Unit of a concrete column: by the instance in its name, else by the motion of the joint type; "" when the contract gives none."""
    if not column.unit:
        return ""
    if "all" in column.unit:
        return column.unit["all"]
    instance = next((p for p in name.split(":") if p in _INSTANCES), "")
    if instance:
        return column.unit["rotational" if instance in ROTATIONAL_INSTANCES else "linear"]
    motion = _MOTION.get(joint_type)
    return column.unit[motion] if motion else "; ".join(f"{k}: {v}" for k, v in sorted(column.unit.items()))


_INSTANCES = frozenset({"angular", "linear", "cone", "distance", "transX", "transY", "transZ", "rotX", "rotY", "rotZ"})
_MOTION = {"PhysicsRevoluteJoint": "rotational", "PhysicsPrismaticJoint": "linear", "PhysicsSphericalJoint": "rotational"}
