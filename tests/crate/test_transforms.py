"""Local matrices equal pxr's bit for bit: every op, precision, suffix, inverse, order."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom

from producer.crate import transforms
from producer.crate.errors import Unprovable

N = Sdf.ValueTypeNames
VEC = {"double": (N.Double3, Gf.Vec3d, "vec3d"), "float": (N.Float3, Gf.Vec3f, "vec3f"), "half": (N.Half3, Gf.Vec3h, "vec3h")}
SCALAR = {"double": (N.Double, float, "double"), "float": (N.Float, float, "float"), "half": (N.Half, float, "half")}
QUAT = {"double": (N.Quatd, Gf.Quatd, "quatd"), "float": (N.Quatf, Gf.Quatf, "quatf"), "half": (N.Quath, Gf.Quath, "quath")}
EULERS = ["rotateXYZ", "rotateXZY", "rotateYXZ", "rotateYZX", "rotateZXY", "rotateZYX"]
NAMES = ["translate", "scale", "orient", "transform", "rotateX", "rotateY", "rotateZ", *EULERS]
DTYPE = {"d": np.float64, "f": np.float32, "h": np.float16}


def number(rng: random.Random, name: str) -> float:
    if name.startswith("rotate"):
        return rng.choice((rng.uniform(-720, 720), 90.0, 180.0, -45.0, 0.0))
    return rng.choice((rng.uniform(-3, 3), 1.0, 0.0, -1.0, 1e-3 * rng.random(), 1e6 * rng.random()))


def author(prim: Any, name: str, attribute: str, rng: random.Random) -> tuple[str, np.ndarray]:
    """Author an op's value; returns (crate type name, value)."""
    precision = rng.choice(("double", "float", "half"))
    if name == "transform":
        value = [rng.choice((rng.uniform(-2, 2), 0.0, 1.0)) for _ in range(16)]
        prim.CreateAttribute(attribute, N.Matrix4d).Set(Gf.Matrix4d(*value))
        return "matrix4d", np.array(value)
    if name == "orient":
        usd, make, kind = QUAT[precision]
        q = [rng.choice((rng.uniform(-1, 1), 0.0, 1.0)) for _ in range(4)]
        if rng.random() < 0.7 and any(q):
            q = [v / sum(x * x for x in q) ** 0.5 for v in q]
        value = make(q[3], q[0], q[1], q[2])
        prim.CreateAttribute(attribute, usd).Set(value)
        return kind, np.array([*value.GetImaginary(), value.GetReal()], DTYPE[kind[-1]])
    if name[-1] in "XYZ" and name not in EULERS:
        usd, _, kind = SCALAR[precision]
        got = prim.CreateAttribute(attribute, usd)
        got.Set(number(rng, name))
        return kind, np.array(got.Get(), DTYPE[kind[0]])
    usd, make, kind = VEC[precision]
    value = make(*(number(rng, name) for _ in range(3)))
    prim.CreateAttribute(attribute, usd).Set(value)
    return kind, np.array(value, DTYPE[kind[-1]])


def order_of(prim: Any, rng: random.Random) -> tuple[list[str], dict[str, tuple[str, np.ndarray]]]:
    names: list[str] = []
    values: dict[str, tuple[str, np.ndarray]] = {}
    for _ in range(rng.choice((1, 1, 2, 3, 3, 5))):
        name = rng.choice(NAMES)
        attribute = f"xformOp:{name}" + rng.choice(("", "", ":pivot", ":a:b"))
        if attribute not in values:
            values[attribute] = author(prim, name, attribute, rng)
        inverse = name != "transform" and rng.random() < 0.3
        names.append(("!invert!" if inverse else "") + attribute)
        if rng.random() < 0.1:
            names.append(names[-1].removeprefix("!invert!") if inverse else "!invert!" + names[-1])
    if rng.random() < 0.2:
        names.insert(rng.randrange(len(names) + 1), "!resetXformStack!")
    return names, values


@pytest.mark.parametrize("seed", range(8))
def test_random_orders_bit_for_bit(seed: int) -> None:
    stage = Usd.Stage.CreateInMemory()
    for case in range(120):
        rng = random.Random(f"{seed}-{case}")
        prim = stage.DefinePrim(f"/P{case}", "Xform")
        names, values = order_of(prim, rng)
        prim.CreateAttribute("xformOpOrder", N.TokenArray).Set(names)
        form = UsdGeom.Xformable(prim)
        ops, resets = transforms.parse(names)
        if any(o.inverted and "transform" in o.attribute for o in ops):
            continue
        got = transforms.compose(ops, {n: (k, v[None]) for n, (k, v) in values.items()}, 1)
        want = np.array(form.GetLocalTransformation()).reshape(1, 16)
        assert got.tobytes() == want.tobytes() or np.array_equal(got, want, equal_nan=True), (names, values, got - want)
        assert resets == form.GetResetXformStack()


def test_missing_value_is_identity() -> None:
    ops, _ = transforms.parse(["xformOp:translate"])
    assert np.array_equal(transforms.compose(ops, {}, 2), np.tile(np.eye(4).reshape(-1), (2, 1)))


@pytest.mark.parametrize(
    ("order", "value"),
    [
        (["xformOp:twist"], ("double", np.ones(1))),
        (["xformOp:translateX"], ("double", np.ones(1))),
        (["translate"], ("vec3d", np.ones((1, 3)))),
        (["xformOp:translate"], ("double", np.ones(1))),
        (["!invert!xformOp:transform"], ("matrix4d", np.eye(4).reshape(1, 16))),
    ],
)
def test_what_usd_would_complain_about_is_left_to_it(order: list[str], value: tuple[str, np.ndarray]) -> None:
    ops, _ = transforms.parse(order)
    with pytest.raises(Unprovable):
        transforms.compose(ops, {ops[0].attribute: value}, 1)
