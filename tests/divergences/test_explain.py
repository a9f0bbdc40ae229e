"""`explain`: the source of each value of a joint, down to the figures recorded from the real system."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from bench_stages import BOTH, by_hand, scene

from ovsim.errors import PathError, SourceError
from ovsim.explain import explain
from ovsim.explain.physx_fields import places

ROOT = Path(__file__).parents[2]
ARM = ROOT / "examples" / "arm.usda"
RECORDED = ROOT / "tests" / "data" / "stages"


def test_upper_limit_of_the_arm():
    """38 degrees: authored in arm.usda, written, resolved to 0.663 rad, built."""
    found = explain(ARM, "/World/arm/joint2")
    line = found.line("physics:upperLimit")
    assert (line.authored, line.layer, line.fallback, line.writes, line.source, line.default) == (38, "arm.usda", math.inf, 38, "authored", 0)
    assert (line.unit, line.converted) == ("deg", "rad")
    assert line.fields["limit.upper"] == pytest.approx(0.663225, abs=1e-6)
    assert line.physx_field == "axes.twist.limit"
    assert line.physx[1] == pytest.approx(0.663225, abs=1e-6)
    assert {"revolute-limit-absent", "revolute-limit-enable"} <= set(line.findings)
    assert "prismatic-limit-absent" not in line.findings
    assert found.outcome == "articulation"


@pytest.mark.parametrize("joint", ["weld", "joint1", "joint2", "joint3", "wrist"])
def test_every_value_has_a_source(joint):
    """Each column of every joint of the example names where its value is from."""
    found = explain(ARM, f"/World/arm/{joint}")
    for line in found.lines:
        if line.writes is not None:
            assert line.source in ("authored", "fallback", "derived")
            assert bool(line.layer) == (line.source == "authored"), line.column
    assert found.line("physxJoint:maxJointVelocity").source == "derived"


def test_linear_values_are_not_converted():
    """A slider's bound is a length on both sides."""
    line = explain(ARM, "/World/arm/joint3").line("physics:upperLimit")
    assert line.unit == line.converted == "length"
    assert line.fields["limit.upper"] == pytest.approx(0.1)


def _recorded(name: str) -> dict:
    return json.loads((RECORDED / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", ["c27_drive_units", "c29_max_joint_velocity"])
def test_recorded_figures(name):
    """PhysX values that `explain` shows are the ones recorded from the real system."""
    joints = _recorded(name)["joints"] if "joints" in _recorded(name) else _recorded(name)["physx"]["joints"]
    checked = 0
    for path, real in joints.items():
        found = explain(RECORDED / f"{name}.usda", path)
        for line in found.lines:
            want = real
            for part in line.physx_field.split(".") if line.physx_field else ():
                want = want[int(part)] if isinstance(want, list) else want.get(part) if isinstance(want, dict) else None
            if isinstance(line.physx, int | float) and isinstance(want, int | float):
                assert line.physx == pytest.approx(want, rel=1e-6), (path, line.column)
                checked += 1
    assert checked >= 5


def test_hand_populated_rows_are_given():
    """Without provenance a value is simply given, an absent column shows what the parser takes."""
    found = explain(by_hand(scene(("/W/J", "PhysicsRevoluteJoint", {**BOTH, "physics:lowerLimit": -30.0}, ()))), "/W/J")
    assert found.line("physics:lowerLimit").source == "given"
    upper = found.line("physics:upperLimit")
    assert (upper.writes, upper.default, upper.fields["limit.upper"]) == (None, 0, 0)
    assert "absent-column" in {d.code for d in found.diagnostics}


def test_unknown_prim():
    """Near joints are suggested; a prim that is no joint is named as what it is."""
    with pytest.raises(PathError, match=r"there is no joint /World/arm/joint22; did you mean .*/World/arm/joint2"):
        explain(ARM, "/World/arm/joint22")
    with pytest.raises(PathError, match=r"/World/arm is a Xform, no joint; did you mean /World/arm/"):
        explain(ARM, "/World/arm")
    with pytest.raises(PathError, match="joint2"):
        explain(ARM, "joint2")
    with pytest.raises(PathError, match="the stage has no joints"):
        explain(by_hand(scene()), "/W/J")
    with pytest.raises(SourceError):
        explain("nowhere.usda", "/W/J")


def test_document_is_json():
    """The JSON form holds no bare infinities."""
    text = json.dumps(explain(ARM, "/World/arm/joint2").document(), allow_nan=False)
    assert json.loads(text)["path"] == "/World/arm/joint2"


def test_places_of_records():
    """Fields of a D6 point to their own axis."""
    assert places("limits.rotY.upper")[0] == "axes.swing1.limit"
    assert "drives.z.stiffness" in places("drives.transZ.stiffness")
