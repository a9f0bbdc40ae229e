"""`ovsim contract` and the command line's frame: help, version, errors without a traceback."""

from __future__ import annotations

import subprocess
import sys

import ovsim as package


def test_lists_every_component(ovsim):
    got = ovsim("contract")
    assert got.returncode == 0
    for name in ("PhysicsRevoluteJoint", "PhysxJointAxisAPI", "stage_units", "NewtonJointAPI"):
        assert name in got.stdout


def test_prints_one_component_with_inherited_columns(ovsim):
    got = ovsim("contract", "PhysicsRevoluteJoint")
    assert got.returncode == 0
    assert "physics:localPos0" in got.stdout
    assert "physics:lowerLimit" in got.stdout
    assert "-inf" in got.stdout


def test_an_unknown_component_is_one_line_with_near_names(ovsim):
    got = ovsim("contract", "PhysicsDriveApi")
    assert got.returncode == 1
    assert got.stderr.startswith("error: contract 0.6 has no component")
    assert "PhysicsDriveAPI" in got.stderr
    assert "Traceback" not in got.stderr


def test_version_and_help(ovsim):
    assert ovsim("--version").stdout == f"ovsim {package.__version__}\n"
    got = ovsim("--help")
    assert got.returncode == 0
    for command in ("populate", "resolve", "columns", "contract"):
        assert command in got.stdout


def test_help_needs_no_heavy_import():
    code = "import sys; import ovsim.cli.app; print([m for m in ('numpy', 'pyarrow', 'numba', 'pxr', 'rich') if m in sys.modules])"
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert got.stdout.strip() == "[]"
