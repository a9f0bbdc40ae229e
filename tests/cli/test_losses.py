"""What population could not bring in is told by every command that reads the stage, and documents keep to their shape."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from consumer.physx import physx_document
from ovsim import physx
from tests.recorded_stages import FOLDER

STAGE = """#usda 1.0
(
    metersPerUnit = 1
)
def Xform "W" (prepend references = @./gone.usda@)
{
    def PhysicsFixedJoint "J"
    {
    }
}
"""


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    (tmp_path / "lossy.usda").write_text(STAGE)
    return tmp_path / "lossy.usda"


@pytest.mark.parametrize("command", ["resolve", "physx", "tree", "columns"])
def test_a_missing_layer_is_told(ovsim, lossy, command):
    got = ovsim(command, lossy)
    assert got.returncode == 0
    assert "gone.usda" in got.stderr
    assert "[unresolved-reference]" in got.stderr


def test_diagnostics_hold_those_of_population(ovsim, lossy, tmp_path):
    got = json.loads(ovsim("resolve", lossy, "--format", "json", "--diagnostics").stdout)
    assert "unresolved-reference" in {d["code"] for d in got["diagnostics"]}
    document = json.loads(ovsim("physx", lossy, "--format", "ndjson", "--diagnostics").stdout)
    codes = [d["code"] for d in document["diagnostics"]]
    assert "unresolved-reference" in codes
    assert "no-bodies" in codes
    assert ovsim("physx", lossy, "--format", "parquet", "-o", tmp_path / "out").returncode == 0
    assert pq.read_table(tmp_path / "out" / "diagnostics.parquet").column("code").to_pylist() == codes


@pytest.mark.parametrize(("name", "count"), [("shapes", 39), ("artic_fixed", 1)])
def test_a_document_has_one_articulation_a_root(name, count):
    """Several articulations at one root prim: the document has the last that is created, `every` a list of all, also of one."""
    view = physx(FOLDER / f"{name}.usda")
    one, every = (physx_document(view, "", every=e)["articulations"] for e in (False, True))
    assert [len(several) for several in every.values()] == [count]
    assert {root: several[-1] for root, several in every.items()} == one
    assert all(set(value) == {"fixBase", "links"} for value in one.values())
