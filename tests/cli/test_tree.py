"""`ovsim tree`: what stands behind each joint."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ovsim.cli.app import app
from ovsim.cli.output import number

HEAD = '#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
BODY = 'def Xform "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}\n'


def limits(**bounds: tuple[float, float]) -> str:
    return "".join(f"float limit:{i}:physics:low = {low}\nfloat limit:{i}:physics:high = {high}\n" for i, (low, high) in bounds.items())


def drawn(folder: Path, kind: str, text: str, *apis: str) -> str:
    """What the tree says of one joint between a body and the world, behind the names of the two."""
    names = ", ".join(f'"{a}"' for a in apis)
    listed = f"prepend apiSchemas = [{names}]" if apis else ""
    joint = f'def {kind} "j" ({listed}) {{\nrel physics:body0 = </b>\n{text}\n}}\n'
    (folder / "stage.usda").write_text(HEAD + BODY + joint)
    done = CliRunner().invoke(app, ["tree", str(folder / "stage.usda")])
    assert done.exit_code == 0, done.output
    (line,) = (x for x in done.stdout.splitlines() if "/j " in x)
    return line.partition("/b – world")[2].strip()


AXES = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
D6 = tuple(f"PhysicsLimitAPI:{i}" for i in AXES)
LOCKS: dict[str, tuple[float, float]] = dict.fromkeys(AXES, (1, -1))


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"transX": (0, 2), "rotX": (-30, 30)}, "x 0 .. 2; twist -0.5236 .. 0.5236"),
        ({"transX": (-0.0, 2)}, "x 0 .. 2"),
        ({"rotY": (-30, 60), "rotZ": (-45, 45)}, "swing1 -0.5236 .. 1.047; swing2 -0.7854 .. 0.7854"),
        ({"transZ": ("-inf", "inf")}, "z free"),
        ({}, ""),
    ],
)
def test_bounds_of_a_standalone_d6(tmp_path, bounds, expected):
    assert drawn(tmp_path, "PhysicsJoint", limits(**{**LOCKS, **bounds}), *D6) == expected


def test_drives_and_distance_of_a_standalone_d6(tmp_path):
    text = limits(**LOCKS, distance=(0, 2)).replace("transX:physics:low = 1", "transX:physics:low = -5") + "float drive:transX:physics:stiffness = 10"
    text = text.replace("transX:physics:high = -1", "transX:physics:high = 5")
    got = drawn(tmp_path, "PhysicsJoint", text, *D6, "PhysicsLimitAPI:distance", "PhysicsDriveAPI:transX")
    assert got == "x -5 .. 5, drive k 10 d 0; distance 2"


def test_a_distance_alone_leaves_linear_axes_without_bounds(tmp_path):
    got = drawn(tmp_path, "PhysicsJoint", "float limit:distance:physics:high = 2", "PhysicsLimitAPI:distance")
    assert got == "x limited; y limited; z limited; twist free; swing1 free; swing2 free; distance 2"


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("PhysicsRevoluteJoint", "float physics:lowerLimit = -30\nfloat physics:upperLimit = 60", "twist -0.5236 .. 1.047"),
        ("PhysicsPrismaticJoint", "float physics:lowerLimit = -0.0\nfloat physics:upperLimit = 3", "x 0 .. 3"),
        (
            "PhysicsSphericalJoint",
            "float physics:coneAngle0Limit = 30\nfloat physics:coneAngle1Limit = 45",
            "twist free; swing1 limited; swing2 limited; cone 0.5236, 0.7854",
        ),
        ("PhysicsDistanceJoint", "float physics:minDistance = 0\nfloat physics:maxDistance = 3", "min 0, max 3"),
        ("PhysicsDistanceJoint", "float physics:maxDistance = 3", "max 3"),
        ("PhysicsFixedJoint", "", ""),
    ],
)
def test_other_standalone_joints(tmp_path, kind, text, expected):
    assert drawn(tmp_path, kind, text) == expected


def test_zeros_have_no_sign(tmp_path):
    """Neither below a root: bounds of a reversed parent change sign, and a zero among them."""
    text = (
        'def Xform "r" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {\n'
        + "".join(f'def Xform "{n}" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{}}\n' for n in "ab")
        + 'def PhysicsFixedJoint "w" {\nrel physics:body1 = </r/a>\n}\n'
        + 'def PhysicsPrismaticJoint "j" (prepend apiSchemas = ["PhysicsDriveAPI:linear"]) {\n'
        + "rel physics:body0 = </r/b>\nrel physics:body1 = </r/a>\nfloat physics:lowerLimit = 0\nfloat physics:upperLimit = 2\n"
        + "float drive:linear:physics:stiffness = 10\n}\n}\n"
    )
    (tmp_path / "stage.usda").write_text(HEAD + text)
    done = CliRunner().invoke(app, ["tree", str(tmp_path / "stage.usda")])
    assert "j: prismatic x -2 .. 0, drive k 10 d 0 to 0" in done.stdout


def test_number():
    assert [number(v) for v in (-0.0, 0.0, -1.5, 1 / 3, "inf")] == ["0", "0", "-1.5", "0.333333", "inf"]
    assert number(1 / 3, 4) == "0.3333"
