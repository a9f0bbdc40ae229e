"""What a USD stage itself says of a joint, attribute by attribute, for the comparison with population's columns."""

from __future__ import annotations

from typing import Any

from pxr import Gf, Sdf, Usd

from consumer.usd.source import UsdSource
from consumer.usd.values import authored_spec

_KIND = {
    "bool": "uint8",
    "int": "int32",
    "uint": "uint32",
    "half": "halffloat",
    "float": "float",
    "double": "double",
    "token": "token",
    "string": "string",
    "quatf": "float[4]",
    "quatd": "double[4]",
    "quath": "halffloat[4]",
    "uchar": "uint8",
    "timecode": "double",
    "matrix4d": "double[16]",
    "frame4d": "double[16]",
    "matrix3d": "double[9]",
    "matrix2d": "double[4]",
}
_LETTERS = {"f": "float", "d": "double", "h": "halffloat"}
for _k in "234":
    _KIND |= {f"{_n}{_k}": f"{_s}[{_k}]" for _n, _s in (("float", "float"), ("double", "double"), ("half", "halffloat"), ("int", "int32"))}
    for _role in ("point", "vector", "normal", "color", "texCoord"):
        _KIND |= {f"{_role}{_k}{_c}": f"{_s}[{_k}]" for _c, _s in _LETTERS.items()}
_HIDDEN = ("purpose", "visibility", "proxyPrim")
Value = tuple[Any, str]


def joint_attributes(source: UsdSource) -> dict[str, dict[str, Value]]:
    """By joint path: property name to (value, storage type). Values are resolved at the default time, quaternions x, y, z, w, relationships tuples of
    path strings (only where a target list is authored); `usd-prim-type` and `usd-schemas` (every authored schema, known or not) are among them."""
    return {path: attributes(joint.prim) for path, joint in source.joints.items()}


def attributes(prim: Usd.Prim) -> dict[str, Value]:
    """The properties of one prim as `joint_attributes` gives them."""
    out: dict[str, Value] = {"usd-prim-type": (str(prim.GetTypeName()), "token")}
    listed = schemas(prim)
    if listed:
        out["usd-schemas"] = (listed, "tokens")
    for attribute in prim.GetAttributes():
        name = attribute.GetName()
        value = attribute.Get(Usd.TimeCode.Default())
        if name in _HIDDEN or value is None:
            continue
        spec = authored_spec(attribute) if attribute.HasAuthoredValue() else None
        usd_type = str(spec.typeName if spec is not None else attribute.GetTypeName())
        plain = _plain(value)
        if plain is not None:
            base, array, _ = usd_type.partition("[]")
            out[name] = (plain, _KIND.get(base, base) + array)
    for relationship in prim.GetRelationships():
        if relationship.GetName() not in _HIDDEN and relationship.HasAuthoredTargets():
            out[relationship.GetName()] = (tuple(t.pathString for t in relationship.GetTargets()), "targets")
    return out


def schemas(prim: Usd.Prim) -> tuple[str, ...]:
    """Applied schemas sorted by name: those that USD knows and those that are merely authored."""
    authored = prim.GetMetadata("apiSchemas")
    names = set(map(str, prim.GetAppliedSchemas()))
    if isinstance(authored, Sdf.TokenListOp):
        names.update(map(str, authored.GetAppliedItems()))
    return tuple(sorted(names))


def _plain(value: Any) -> Any:
    if isinstance(value, Gf.Quatf | Gf.Quatd | Gf.Quath):
        return (*map(float, value.GetImaginary()), float(value.GetReal()))
    if isinstance(value, bool | int | float | str):
        return value
    try:
        items = list(value)
        return tuple(str(v) for v in items) if items and isinstance(items[0], str) else tuple(float(v) for v in items)
    except (TypeError, ValueError):
        return None
