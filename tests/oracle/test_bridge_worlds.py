"""World matrices below parents without one: ovsim's rows, the live stage and what is pulled from it say the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from test_live_bridge import REAL, _examine, _populate

pytestmark = [pytest.mark.oracle, pytest.mark.skipif(not REAL, reason="OVSIM_ORACLE names no python with ovstage and ovphysx")]

BODY = """
    def Cube "{name}" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"]
    )
    {{
        float physics:mass = 1
        double3 xformOp:translate = {place}
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
"""
# A Scope under a moved Xform: what stands above it is lost to the bodies below, and to their joints.
STAGE = f"""#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def PhysicsScene "scene" {{}}
def Xform "W"
{{
    double3 xformOp:translate = (0, 0, 10)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    {BODY.format(name="plain", place=(9, 0, 0))}
    def Scope "scope"
    {{
        {BODY.format(name="a", place=(0, 0, 0))}
        {BODY.format(name="b", place=(3, 0, 0))}
        def PhysicsRevoluteJoint "joint"
        {{
            rel physics:body0 = </W/scope/a>
            rel physics:body1 = </W/scope/b>
            point3f physics:localPos0 = (1.5, 0, 0)
            point3f physics:localPos1 = (-1.5, 0, 0)
        }}
    }}
}}
"""


def test_a_scope_between(tmp_path: Path) -> None:
    """Bodies, joint frames and motion of the pushed stage are those of the real population; pull gives back the same matrices, without exception."""
    file = tmp_path / "scope.usda"
    file.write_text(STAGE)
    _populate([file], tmp_path)
    job = {"usd": str(file), "snapshot": str(tmp_path / "scope"), "steps": 30}
    (found,) = _examine([job])
    assert found.get("error") is None
    assert (found["columns"], found["pulled"], found["objects_differ"], found["state_differs"]) == ([], [], [], [])
    assert found["joints"] == 1
    assert found["moved"] > 0


def test_it_is_those_rows_that_have_the_column(tmp_path: Path) -> None:
    """Without the column the bodies would stand elsewhere: the comparison of objects sees it."""
    file = tmp_path / "scope.usda"
    file.write_text(STAGE)
    _populate([file], tmp_path)
    job = {"usd": str(file), "snapshot": str(tmp_path / "scope"), "steps": 1, "drop": "omni:fabric:worldMatrix"}
    (found,) = _examine([job])
    assert found.get("error") is None
    assert found["objects_differ"]
