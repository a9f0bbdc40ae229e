"""What is authored where: the strongest opinion of each property of a prim, with its layer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from pxr import Sdf, Usd

from consumer.usd.attributes import Value, attributes

BLOCKED = "blocked"


class Opinion(NamedTuple):
    """A property's authored value (as `consumer.usd.attributes` gives values, or `BLOCKED`) and the layer that holds it."""

    value: Any
    layer: str


def opinions(prim: Usd.Prim) -> dict[str, Opinion]:
    """Authored properties by name, at the default time."""
    values: dict[str, Value] = attributes(prim)
    out: dict[str, Opinion] = {}
    for prop in prim.GetAuthoredProperties():
        name = prop.GetName()
        for spec in prop.GetPropertyStack(Usd.TimeCode.Default()):
            if isinstance(spec, Sdf.RelationshipSpec):
                out[name] = Opinion(values.get(name, ((), ""))[0], _short(spec.layer))
                break
            if spec.HasDefaultValue():
                blocked = isinstance(spec.default, Sdf.ValueBlock)
                out[name] = Opinion(BLOCKED if blocked else values.get(name, (None, ""))[0], _short(spec.layer))
                break
            if spec.HasInfo("timeSamples"):
                out[name] = Opinion("time samples only", _short(spec.layer))
                break
    return out


def _short(layer: Sdf.Layer) -> str:
    return layer.GetDisplayName() or Path(layer.identifier).name or layer.identifier
