"""Custom joint types: what is none is an error at every door, never silently another set of rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import consumer
import ovsim
import producer
from ovsim.cli.app import app
from ovsim.contract.joints import JOINT_TYPES, custom_joint_types
from ovsim.errors import CustomJointError
from ovsim.stage import StageBuilder

STAGE = '#usda 1.0\ndef MyJoint "J"\n{\n    point3f physics:localPos0 = (1, 0, 0)\n}\n'
WRONG = {"": "no prim type name", "two words": "no prim type name", "/World": "no prim type name", **dict.fromkeys(JOINT_TYPES, "leave it out")}


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    path = tmp_path / "s.usda"
    path.write_text(STAGE)
    return path


def test_each_type_once_in_the_order_of_first_mention():
    assert custom_joint_types(["B", "A", "B"]) == ("B", "A")
    assert custom_joint_types(()) == ()


@pytest.mark.parametrize(("name", "why"), WRONG.items())
def test_what_is_no_custom_type_is_told(name, why):
    with pytest.raises(CustomJointError, match=why):
        custom_joint_types(["MyJoint", name])


def test_one_text_is_not_taken_for_its_letters():
    with pytest.raises(CustomJointError, match="MyJoint"):
        custom_joint_types("MyJoint")


@pytest.mark.parametrize("name", ["", "PhysicsJoint"])
def test_every_door_refuses_it(stage, tmp_path, name):
    rows = StageBuilder().finish()
    doors = (
        lambda: ovsim.populate(stage, custom_joints=[name]),
        lambda: ovsim.open_stage(rows, custom_joints=[name]),
        lambda: ovsim.resolve(stage, custom_joints=[name]),
        lambda: ovsim.physx(stage, custom_joints=[name]),
        lambda: ovsim.convert(stage, tmp_path / "d", custom_joints=[name]),
        lambda: producer.populate(stage, custom_joints=[name], route="composed"),
        lambda: consumer.resolve(rows, custom_types=[name]),
        lambda: consumer.physx_view(rows, custom_types=[name]),
    )
    for door in doors:
        with pytest.raises(CustomJointError):
            door()
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("name", ["", "PhysicsJoint"])
@pytest.mark.parametrize("command", ["populate", "columns", "resolve", "physx", "check", "convert"])
def test_the_command_line_refuses_it(stage, tmp_path, command, name):
    out = {"populate": ["-o", str(tmp_path / "o")], "convert": ["--out", str(tmp_path / "o")]}.get(command, [])
    got = CliRunner().invoke(app, [command, str(stage), *out, "--custom-joint", name])
    assert got.exit_code == 2
    assert "custom joint type" in got.output
    assert not (tmp_path / "o").exists()
    fine = CliRunner().invoke(app, [command, str(stage), *out, "--custom-joint", "MyJoint"])
    assert fine.exit_code == int(command == "check"), fine.output  # the joint has no bodies, which check tells
