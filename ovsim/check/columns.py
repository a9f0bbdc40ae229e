"""Columns that have no effect or not the wanted one: inert, unread, of the wrong type; and instances that nobody reads."""

from __future__ import annotations

import difflib

import pyarrow as pa

from ovsim.check.context import Context
from ovsim.contract import Column
from ovsim.stage import Archetype
from ovsim.stage import columns as col

_READABLE = {"float32": ("float", "double"), "bool8": ("uint8",), "float64": ("double", "float")}
_ARROW = {"bool8": "uint8", "float32": "float", "float64": "double", "half": "halffloat"}
_STRUCTURE = ("usd-", "omni:", "_protoPath", "material:", "xformOp", "collection:", "proxyPrim", "purpose", "visibility")


def check(context: Context) -> None:
    """`inert-column`, `unread-column`, `unknown-instance`, `wrong-type`."""
    for archetype in context.stage.archetypes:
        _instances(context, archetype)
        for name in archetype.names:
            column = context.contract.on(archetype.type_name, name)
            if column is not None:
                _type(context, archetype, name, column)
            if not context.written(archetype, name):
                continue
            if column is None:
                if not name.startswith(_STRUCTURE) and not name.startswith("newton:"):
                    context.tell(
                        "unread-column", "info", archetype, name, f"the contract has no such column, so nobody reads it; {_meant(context, name)}"
                    )
            else:
                _gate(context, archetype, name, column)


def _instances(context: Context, archetype: Archetype) -> None:
    for schema in archetype.schemas:
        api, _, instance = schema.partition(":")
        component = context.contract.components.get(api)
        if component is None or component.kind != "multi_api" or archetype.type_name not in context.joint_types:
            continue
        known = context.contract.instances(api, archetype.type_name)
        if instance not in known:
            wants = f"reads {', '.join(known)}" if known else "reads no instance of it"
            context.tell("unknown-instance", "warning", archetype, schema, f"{archetype.type_name} {wants}; this one has no effect")


def _gate(context: Context, archetype: Archetype, name: str, column: Column) -> None:
    component = context.contract.component(column.component)
    if component.kind in ("api", "multi_api"):
        schema = component.name
        if component.kind == "multi_api":
            schema += ":" + name.split(":")[1]
        if not archetype.lists(schema):
            context.tell("inert-column", "warning", archetype, name, f"{schema} is not listed in usd-schemas, so this has no effect; list it")
    elif component.kind == "type" and column.name not in {c.name for c in _declared(context, archetype)}:
        owners = sorted(c.name for c in context.contract.components.values() if c.kind == "type" and any(x.name == column.name for x in c.columns))
        message = f"a column of {' and '.join(owners)}, which {archetype.type_name or 'a typeless prim'} is not: nobody reads it here; leave it out"
        context.tell("unread-column", "warning", archetype, name, message)


def _meant(context: Context, name: str) -> str:
    """What to do about an unknown name: the contract's names that look like it."""
    known = [c.name for component in context.contract.components.values() for c in component.columns]
    near = difflib.get_close_matches(name, known, 2, 0.8)
    return f"did you mean {' or '.join(near)}?" if near else "check the name"


def _declared(context: Context, archetype: Archetype) -> tuple[Column, ...]:
    kind = archetype.type_name
    if kind in context.contract.components:
        return context.contract.columns_of(kind)
    return context.contract.columns_of("PhysicsJoint") if kind in context.custom_joints else ()


def _type(context: Context, archetype: Archetype, name: str, column: Column) -> None:
    got = archetype.field(name).type
    want = expected_type(column)
    if same_storage(got, want):
        return
    if pa.types.is_uint64(got) and column.semantic == col.TOKEN_ID:
        return
    if _listed(got) and not column.array and same_storage(got.value_type, want) and archetype.type_name in context.joint_types:
        return  # read value by value: the parser tells of which rows it is
    if readable(got, column):
        context.tell("wrong-type", "info", archetype, name, f"{got} where {column.type} is declared; the parser casts it, so nothing is lost")
    else:
        message = f"{got} where {column.type} is declared; the parser cannot read it, so it counts as absent: write {want}"
        context.tell("wrong-type", "error", archetype, name, message)


def readable(got: pa.DataType, column: Column) -> bool:
    """Whether the parser reads a column of this type, cast or not."""
    lanes = got.list_size if pa.types.is_fixed_size_list(got) else 1
    inner = got.value_type if pa.types.is_fixed_size_list(got) else got
    return lanes == column.lanes and not column.array and str(inner) in _READABLE.get(column.dtype, (str(expected_type(column)),))


def same_storage(a: pa.DataType, b: pa.DataType) -> bool:
    """Whether two column types store alike: names of list items and the width of list offsets do not matter."""
    if pa.types.is_fixed_size_list(a) or pa.types.is_fixed_size_list(b):
        return bool(pa.types.is_fixed_size_list(a) and pa.types.is_fixed_size_list(b)) and a.list_size == b.list_size and a.value_type == b.value_type
    if _listed(a) or _listed(b):
        return _listed(a) and _listed(b) and same_storage(a.value_type, b.value_type)
    return bool(a == b)


def _listed(t: pa.DataType) -> bool:
    return bool(pa.types.is_large_list(t) or pa.types.is_list(t))


def expected_type(column: Column) -> pa.DataType:
    """The Arrow type of a contract column."""
    item = pa.type_for_alias(_ARROW.get(column.dtype, column.dtype))
    item = pa.list_(item, column.lanes) if column.lanes > 1 else item
    return pa.large_list(item) if column.array else item
