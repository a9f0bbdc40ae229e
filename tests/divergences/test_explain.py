"""`explain`: the source of each value of a joint, down to the figures recorded from the real system."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from bench_stages import BOTH, IDENTITY, by_hand, scene

from ovsim.errors import PathError, SourceError
from ovsim.explain import explain
from ovsim.explain.physx_fields import places
from ovsim.explain.screen import screen, show
from ovsim.stage import StageBuilder
from ovsim.stage import columns as col

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
    """Near rows are suggested; a prim without a row is named as what it is."""
    with pytest.raises(PathError, match=r"there is no row /World/arm/joint22; did you mean .*/World/arm/joint2"):
        explain(ARM, "/World/arm/joint22")
    with pytest.raises(PathError, match=r"did you mean /World/arm or"):
        explain(ARM, "/World/Arm")
    with pytest.raises(PathError, match="joint2"):
        explain(ARM, "joint2")
    with pytest.raises(PathError, match="the stage has no joints"):
        explain(by_hand(scene()), "/Elsewhere/nothing")
    with pytest.raises(SourceError):
        explain("nowhere.usda", "/W/J")


def test_prim_without_a_row(tmp_path):
    """A prim that population leaves out is told apart from one that is not there."""
    file = tmp_path / "camera.usda"
    file.write_text(ARM.read_text("utf-8").replace('def PhysicsScene "scene"', 'def Camera "eye"\n    {\n    }\n    def PhysicsScene "scene"'))
    with pytest.raises(PathError, match="/World/eye is a Camera that population writes no row for"):
        explain(file, "/World/eye")


def test_articulation_root():
    """A root names its base, its links in the order of creation, and its settings."""
    found = explain(ARM, "/World/arm")
    (entry,) = found.facts["articulations"]
    assert found.outcome == "articulation root, fixed base, 5 links"
    assert entry["rootJoint"] == "/World/arm/weld"
    assert [x["body"].rpartition("/")[2] for x in entry["links"]] == ["base", "shoulder", "elbow", "slide", "hand"]
    assert entry["links"][2] == {"body": "/World/arm/elbow", "parent": "/World/arm/shoulder", "joint": "/World/arm/joint2"}
    assert found.facts["settings"]["solverPositionIterationCount"] == 32
    assert (found.line("physxArticulation:enabledSelfCollisions").writes, found.line("physxArticulation:enabledSelfCollisions").layer) == (
        False,
        "arm.usda",
    )


def test_bodies():
    """A body names its articulation, its parent and its joints with what becomes of them; a free one its joints only."""
    link = explain(ARM, "/World/arm/elbow")
    assert link.outcome == "dynamic body, link of the articulation /World/arm, collider"
    assert link.facts["link"] == {"articulation": "/World/arm", "number": 2, "parent": "/World/arm/shoulder", "joint": "/World/arm/joint2"}
    assert link.facts["joints"] == {"/World/arm/joint2": "articulation", "/World/arm/joint3": "articulation"}
    assert link.line("physics:mass").writes == 2
    crate = explain(ARM, "/World/crate")
    assert (crate.outcome, crate.facts) == ("dynamic body, collider", {"joints": {"/World/rope": "standalone"}})
    assert explain(ARM, "/World/scene").outcome == "scene"
    assert explain(ARM, "/World").outcome == "no object of PhysX"


def test_refused_root_says_why():
    """A root API on a disabled body makes no articulation."""
    rows = scene(("/W/C", "Xform", {"physics:rigidBodyEnabled": False}, ("PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI")))
    found = explain(by_hand(rows), "/W/C")
    assert found.outcome == "root API without an articulation (root-on-disabled-body), disabled body"


def test_foreign_ids_are_explained_too():
    """A joint whose target is no id of the dictionary keeps its line, and the diagnostic."""
    field = col.field("physics:body0", pa.large_list(pa.uint64()), col.RELATIONSHIP)
    builder = StageBuilder()
    builder.add("Xform", ["/W"], {"omni:xform": [IDENTITY]}, ())
    builder.add("PhysicsFixedJoint", ["/W/J"], {"physics:body0": (field, pa.array([[10**6]], field.type))}, ())
    stage = builder.finish()
    found = explain(stage, "/W/J")
    assert found.line("physics:body0").writes == ("<path id 1000000>",)
    assert "dangling-id" in {d.code for d in found.diagnostics}


@pytest.mark.parametrize("width", [60, 80, 100, 120, 180, 240])
@pytest.mark.parametrize("path", ["/World/arm/joint2", "/World/arm", "/World/crate", "/World/rope"])
def test_screen_cuts_nothing(path, width):
    """At every width each column name and each value stands whole; lines keep to the width where words allow."""
    found = explain(ARM, path)
    text = screen(found, width, every=True)
    words = text.split()
    for line in found.lines:
        assert any(w.rstrip(";:,") == line.column for w in words), line.column
        assert line.physx_field in text
    assert all(len(x) <= width or len(x.split()) <= 2 for x in text.splitlines())
    assert {"true", "1"} & set(words)
    assert "\033[" not in text


def test_screen_order_of_a_column():
    """Authored value and layer, fallback, population, default, descriptor with its conversion, PhysX; findings and diagnostics last."""
    text = " ".join(screen(explain(ARM, "/World/arm/joint2"), 80).split())
    says = "authored 38 in arm.usda; fallback inf; population as authored; parser default 0"
    becomes = "= limit.upper 38 deg -> 0.6632 rad; limit.enabled true; PhysX axes.twist.limit (-1.92, 0.6632)"
    assert f"physics:upperLimit {says} {becomes}" in text
    assert text.index("velocity-sentinel (note)") < text.index("recorded findings") < text.index("warning limit-tuning-ignored")
    assert "physics:jointEnabled fallback true; population the fallback" in text


def test_values_as_text():
    """Large and infinite numbers by name, single paths without brackets, truth as words."""
    assert [show(v) for v in (3.4028234663852886e38, -3.4028234663852886e38, math.inf, True, ("/A",), (1.0, 2.5), 0.6632251)] == [
        "FLT_MAX",
        "-FLT_MAX",
        "inf",
        "true",
        "/A",
        "(1, 2.5)",
        "0.6632",
    ]


def test_a_short_command_runs_interpreted():
    """The command on a small stage never loads numba, and says what the compiled rules say."""
    code = "import sys; from ovsim.cli.app import main\ntry:\n    main()\nfinally:\n    print('numba' in sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, "explain", str(ARM), "/World/arm/joint2", "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stderr.strip() == "False"
    assert json.loads(done.stdout) == json.loads(json.dumps(explain(ARM, "/World/arm/joint2").document()))


def test_document_is_json():
    """The JSON form holds no bare infinities."""
    text = json.dumps(explain(ARM, "/World/arm/joint2").document(), allow_nan=False)
    assert json.loads(text)["path"] == "/World/arm/joint2"


def test_places_of_records():
    """Fields of a D6 point to their own axis."""
    assert places("limits.rotY.upper")[0] == "axes.swing1.limit"
    assert "drives.z.stiffness" in places("drives.transZ.stiffness")
