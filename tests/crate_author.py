"""Layers authored through pxr for the tests of the columnar reader."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Vt

VERSIONS = ("0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "0.9.0", "0.10.0", "0.11.0", "0.12.0", "0.13.0", "0.14.0")


def export_as(version: str, source: Path, target: Path) -> None:
    """Write `source` anew as crate `version`, in a process of its own because pxr reads the setting once."""
    code = "import sys; from pxr import Sdf; Sdf.Layer.FindOrOpen(sys.argv[1]).Export(sys.argv[2])"
    env = {**os.environ, "USD_WRITE_NEW_USDC_FILES_AS_VERSION": version, "PXR_USDC_EMIT_DEPRECATION_WARNINGS": "0"}
    subprocess.run([sys.executable, "-c", code, str(source), str(target)], env=env, check=True)


def _vectors() -> dict[str, tuple[Any, Any]]:
    out: dict[str, tuple[Any, Any]] = {}
    for kind, small, large in (
        ("Half", (1, -2, 3, 4), (0.5, 1.25, -3.5, 100.25)),
        ("Float", (1, -128, 127, 4), (0.1, 2.5, -3.25, 1e20)),
        ("Double", (1, -2, 3, 0), (0.1, 1e-300, 128, -129)),
        ("Int", (1, -128, 127, 5), (128, -129, 70000, -(2**31))),
    ):
        letter = kind[0].lower()
        for k in (2, 3, 4):
            vec = getattr(Gf, f"Vec{k}{letter}")
            type_name = getattr(Sdf.ValueTypeNames, f"{kind}{k}")
            out[f"small_{kind}{k}"] = (type_name, vec(*small[:k]))
            out[f"large_{kind}{k}"] = (type_name, vec(*large[:k]))
    return out


def scalars() -> dict[str, tuple[Any, Any]]:
    """Attribute name to (type, value): every fixed-size type, values that are held inline and values that are stored."""
    n = Sdf.ValueTypeNames
    values: dict[str, tuple[Any, Any]] = {
        "bool_true": (n.Bool, True),
        "bool_false": (n.Bool, False),
        "uchar": (n.UChar, 200),
        "int": (n.Int, -(2**31)),
        "uint": (n.UInt, 2**32 - 1),
        "int64_small": (n.Int64, -5),
        "int64_large": (n.Int64, -(2**40)),
        "uint64_small": (n.UInt64, 2**32 - 1),
        "uint64_large": (n.UInt64, 2**63 + 1),
        "half": (n.Half, 0.333251953125),
        "float": (n.Float, 0.1),
        "float_inf": (n.Float, float("inf")),
        "float_nan": (n.Float, float("nan")),
        "float_minus_zero": (n.Float, -0.0),
        "double_small": (n.Double, 0.5),
        "double_large": (n.Double, 0.1),
        "double_inf": (n.Double, float("-inf")),
        "string": (n.String, "some text"),
        "string_empty": (n.String, ""),
        "token": (n.Token, "some token"),
        "asset": (n.Asset, Sdf.AssetPath("./some/file.usd")),
        "timecode": (n.TimeCode, Sdf.TimeCode(24.5)),
        "quatd": (n.Quatd, Gf.Quatd(0.1, 0.2, 0.3, 0.4)),
        "quatf": (n.Quatf, Gf.Quatf(0.1, 0.2, 0.3, 0.4)),
        "quath": (n.Quath, Gf.Quath(0.5, 0.25, 0.125, 1)),
        "matrix2_small": (n.Matrix2d, Gf.Matrix2d(3)),
        "matrix2_large": (n.Matrix2d, Gf.Matrix2d(1, 2, 3, 4)),
        "matrix3_small": (n.Matrix3d, Gf.Matrix3d(-7)),
        "matrix3_large": (n.Matrix3d, Gf.Matrix3d(*range(9))),
        "matrix4_small": (n.Matrix4d, Gf.Matrix4d(1)),
        "matrix4_large": (n.Matrix4d, Gf.Matrix4d(*(v / 7 for v in range(16)))),
    }
    return {**values, **_vectors()}


def arrays() -> dict[str, tuple[Any, Any]]:
    """Attribute name to (type, value): array values, short and long, packed as integers, by a look-up table, and plain."""
    n = Sdf.ValueTypeNames
    long = range(40)
    return {
        "ints_none": (n.IntArray, Vt.IntArray()),
        "ints_short": (n.IntArray, Vt.IntArray([3, -1, 2**31 - 1])),
        "ints_long": (n.IntArray, Vt.IntArray([(-1) ** i * i**6 % 2**31 for i in long])),
        "uints_long": (n.UIntArray, Vt.UIntArray([2**32 - 1 - i * i for i in long])),
        "int64s_long": (n.Int64Array, Vt.Int64Array([(-1) ** i * 3**i for i in range(39)])),
        "uint64s_long": (n.UInt64Array, Vt.UInt64Array([2**64 - 1 - 7**i for i in range(20)])),
        "floats_whole": (n.FloatArray, Vt.FloatArray([i - 20 for i in long])),
        "floats_few": (n.FloatArray, Vt.FloatArray([0.1 * (i % 3) for i in range(64)])),
        "floats_many": (n.FloatArray, Vt.FloatArray([0.1 * i for i in long])),
        "doubles_few": (n.DoubleArray, Vt.DoubleArray([0.1 * (i % 3) for i in range(64)])),
        "halfs_few": (n.HalfArray, Vt.HalfArray([0.5 * (i % 3) for i in range(64)])),
        "tokens": (n.TokenArray, Vt.TokenArray(["a", "b", "a"])),
        "strings": (n.StringArray, Vt.StringArray(["x", "yy"])),
        "points": (n.Point3fArray, Vt.Vec3fArray([Gf.Vec3f(i, 0.5, -i) for i in long])),
        "quats": (n.QuatfArray, Vt.QuatfArray([Gf.Quatf(1, 2, 3, 4)])),
        "matrices": (n.Matrix4dArray, Vt.Matrix4dArray([Gf.Matrix4d(1), Gf.Matrix4d(*range(16))])),
    }


def with_attributes(values: dict[str, tuple[Any, Any]]) -> Sdf.Layer:
    """A layer with one prim `/P` that holds the attributes."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    prim = Sdf.PrimSpec(layer, "P", Sdf.SpecifierDef, "Xform")
    for name, (type_name, value) in values.items():
        Sdf.AttributeSpec(prim, name, type_name).default = value
    return layer


def everything() -> Sdf.Layer:
    """A layer with every kind of spec and field that population meets."""
    layer = with_attributes({**scalars(), **arrays()})
    layer.defaultPrim = "P"
    layer.pseudoRoot.SetInfo("upAxis", "Z")
    layer.pseudoRoot.SetInfo("metersPerUnit", 0.01)
    layer.subLayerPaths.append("./under.usda")
    prim = layer.GetPrimAtPath("/P")
    for name in ("block", "samples", "connected"):
        Sdf.AttributeSpec(prim, name, Sdf.ValueTypeNames.Float)
    prim.attributes["block"].default = Sdf.ValueBlock()
    layer.SetTimeSample("/P.samples", 1.0, 2.0)
    layer.SetTimeSample("/P.samples", 3.5, 4.0)
    prim.attributes["connected"].connectionPathList.explicitItems = [Sdf.Path("/P.samples")]
    for name, lists in {
        "rel_explicit": {"explicitItems": ["/P", "/Q/R.x", "/Nowhere"]},
        "rel_prepend": {"prependedItems": ["/P/C"]},
        "rel_append": {"appendedItems": ["/P", "/Q"], "deletedItems": ["/Q"]},
        "rel_add": {"addedItems": ["/P"], "orderedItems": ["/Q", "/P"]},
    }.items():
        rel = Sdf.RelationshipSpec(prim, name, custom=True)
        for which, items in lists.items():
            setattr(rel.targetPathList, which, [Sdf.Path(i) for i in items])
    Sdf.RelationshipSpec(prim, "rel_none", custom=True)
    empty = Sdf.RelationshipSpec(prim, "rel_empty", custom=True)
    empty.targetPathList.ClearEditsAndMakeExplicit()
    over = Sdf.PrimSpec(layer, "Q", Sdf.SpecifierOver)
    child = Sdf.PrimSpec(over, "R", Sdf.SpecifierClass, "Scope")
    child.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=["PhysicsRigidBodyAPI"], deletedItems=["PhysicsMassAPI"]))
    child.SetInfo("active", False)
    child.SetInfo("instanceable", True)
    child.SetInfo("kind", "component")
    child.SetInfo("customData", {"a": 1, "b": {"c": "text", "d": 0.25}, "e": Vt.IntArray([1, 2])})
    child.SetInfo("documentation", "words")
    child.SetInfo(
        "references",
        Sdf.ReferenceListOp.Create(
            prependedItems=[Sdf.Reference("./a.usd", "/X", Sdf.LayerOffset(1, 2), {"k": "v"}), Sdf.Reference("", "/P")],
            appendedItems=[Sdf.Reference("./b.usd")],
        ),
    )
    one = Sdf.PrimSpec(over, "One", Sdf.SpecifierDef)
    one.SetInfo("payload", Sdf.PayloadListOp.CreateExplicit([Sdf.Payload("./c.usd", "/Y"), Sdf.Payload("./d.usd")]))
    one.SetInfo("inheritPaths", Sdf.PathListOp.Create(prependedItems=[Sdf.Path("/Q/R")]))
    one.SetInfo("variantSelection", {"look": "red"})
    look = Sdf.VariantSetSpec(one, "look")
    one.SetInfo("variantSetNames", Sdf.StringListOp.Create(prependedItems=["look"]))
    red = Sdf.VariantSpec(look, "red")
    Sdf.PrimSpec(red.primSpec, "Inside", Sdf.SpecifierDef, "Xform")
    return layer
