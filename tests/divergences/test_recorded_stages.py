"""Every recorded stage: USD backend and columns differ in nothing that no finding explains."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovsim.diff import LEVELS, compare
from ovsim.diff.comparator import UNEXPLAINED

STAGES = sorted((Path(__file__).parents[1] / "data" / "stages").glob("*.usda"))
PROBES = {"instance-proxy": "c24_instanced_joints", "zero-quaternion": "c22_quat_not_unit", "unpopulated-target": "c11_body_target_site"}


@pytest.mark.parametrize("file", STAGES, ids=lambda f: f.stem)
def test_nothing_unexplained(file):
    """Columns, descriptors and PhysX."""
    found = compare(file, levels=LEVELS)
    assert [d for d in found.differences if d.finding == UNEXPLAINED] == []


@pytest.mark.parametrize("finding", PROBES)
def test_finding_fires(finding):
    """The stage recorded for a trap shows its finding."""
    file = next((f for f in STAGES if f.stem == PROBES[finding]), None)
    assert file is not None
    assert finding in compare(file).counts()
