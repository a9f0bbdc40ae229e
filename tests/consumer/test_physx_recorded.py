"""What the real ovphysx 0.6.3 built of the recorded stages: every articulation and joint of those whose recording holds it."""

from __future__ import annotations

import json

import pytest
from oracle.compare import as_document, differences
from recorded_stages import FOLDER, names

from consumer.physx import physx_document
from ovsim.api import physx

RECORDED = [n for n in names() if "physx" in json.loads((FOLDER / f"{n}.json").read_text("utf-8"))]


@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_joint(name):
    real = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["physx"]
    got = physx_document(physx(FOLDER / f"{name}.usda"), name, every=True)
    assert list(differences(as_document(real), {"articulations": got["articulations"], "joints": got["joints"]})) == []


def test_there_are_recordings():
    assert RECORDED
