"""Attribute values as the USD walker reads them: the schema's type or nothing, at the default time; and whether there is an authored opinion."""

from __future__ import annotations

from typing import Any

from pxr import Sdf, Usd

from ovsim.contract import Column

_VALUE_TYPES = {
    ("float32", 1): ("float",),
    ("float32", 3): ("float3", "point3f", "vector3f", "normal3f", "color3f"),
    ("float32", 4): ("quatf",),
    ("bool8", 1): ("bool",),
    ("int32", 1): ("int",),
    ("uint32", 1): ("uint",),
    ("uint64", 1): ("token",),
}


def authored_spec(attribute: Usd.Attribute) -> Sdf.AttributeSpec | None:
    """The strongest property spec that holds a default value (a block counts), None when there is no opinion."""
    for spec in attribute.GetPropertyStack(Usd.TimeCode.Default()):
        if isinstance(spec, Sdf.AttributeSpec) and spec.HasDefaultValue():
            return spec
    return None


def readable(attribute: Usd.Attribute, column: Column) -> bool:
    """Whether the authored opinion has the schema's value type, so that a typed read succeeds; True without an opinion."""
    spec = authored_spec(attribute) if attribute.HasAuthoredValue() else None
    return spec is None or str(spec.typeName) in _VALUE_TYPES.get((column.dtype, column.lanes), (str(spec.typeName),))


def read(prim: Usd.Prim, name: str, column: Column) -> Any:
    """The resolved value (authored at the default time, else the schema's fallback); None when there is none of the schema's type."""
    attribute = prim.GetAttribute(name)
    if not attribute:
        return None
    if not attribute.HasAuthoredValue() or readable(attribute, column):
        return attribute.Get(Usd.TimeCode.Default())
    return None


def has_opinion(prim: Usd.Prim, name: str) -> bool:
    """Whether a default value of the schema's declared kind is authored and not blocked (the authored bit that columns lack)."""
    attribute = prim.GetAttribute(name)
    if not attribute or not attribute.HasAuthoredValue():
        return False
    spec = authored_spec(attribute)
    return spec is not None and not isinstance(spec.default, Sdf.ValueBlock)
