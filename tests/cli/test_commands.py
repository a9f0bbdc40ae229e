"""The main commands on the example arm, each as a user runs it."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

JOINTS = ["weld", "joint1", "joint2", "joint3", "wrist"]


@pytest.fixture(scope="module")
def snapshot(ovsim, arm, tmp_path_factory):
    out = tmp_path_factory.mktemp("arm") / "snap"
    got = ovsim("populate", arm, "-o", out)
    assert got.returncode == 0, got.stderr
    assert "rows" in got.stdout
    return out


def test_resolve_prints_every_joint_with_its_radians(ovsim, arm):
    got = ovsim("resolve", arm)
    assert got.returncode == 0
    for name in JOINTS:
        assert f"/World/arm/{name}" in got.stdout
    assert "-1.91986 .. 0.663225" in got.stdout  # joint2: -110 to 38 degrees


def test_a_snapshot_stands_for_its_stage(ovsim, arm, snapshot):
    for command in (["resolve", "--format", "json"], ["physx", "--format", "json"], ["columns", "--format", "json"]):
        name, *options = command
        from_file, from_snapshot = ovsim(name, arm, *options), ovsim(name, snapshot, *options)
        assert (from_file.returncode, from_snapshot.returncode) == (0, 0)
        one, other = json.loads(from_file.stdout), json.loads(from_snapshot.stdout)
        for document in (*one, *other) if isinstance(one, list) else ():
            document.pop("file")
        assert one == other


def test_resolve_writes_parquet(ovsim, arm, tmp_path):
    got = ovsim("resolve", arm, "--format", "parquet", "-o", tmp_path / "out")
    assert got.returncode == 0
    joints = pq.read_table(tmp_path / "out" / "joints.parquet")
    assert joints["path"].to_pylist()[0] == "/World/arm/weld"
    assert joints.num_rows == 6
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["diagnostics.parquet", "joints.parquet"]


def test_resolve_takes_rule_sets(ovsim, arm):
    rows = {}
    for rules in ("contract-0.6", "observed-0.6.3"):
        rows[rules] = json.loads(ovsim("resolve", arm, "--format", "json", "--rules", rules).stdout)["joints"]
    assert [r["path"] for r in rows["contract-0.6"]] == [r["path"] for r in rows["observed-0.6.3"]]
    got = ovsim("resolve", arm, "--rules", "observed-0.6.4")
    assert got.returncode == 1
    assert "observed-0.6.3" in got.stderr


def test_columns_gives_a_document_a_line(ovsim, arm, tmp_path):
    got = ovsim("columns", arm, tmp_path / "nope.usda", arm, "--format", "ndjson")
    assert got.returncode == 1  # one of the three failed
    good, bad, again = map(json.loads, got.stdout.splitlines())
    assert good["prims"]["/World/arm/joint2"]["physics:upperLimit"] == 38.0
    assert good["prims"]["/"]["usd-metadata:metersPerUnit"] == 1.0
    assert bad["file"].endswith("nope.usda")
    assert "does not exist" in bad["error"]
    assert again["prims"] == good["prims"]


def test_columns_and_physx_speak_json_arrays_and_tables(ovsim, arm):
    for command in ("columns", "physx"):
        documents = json.loads(ovsim(command, arm, "--format", "json").stdout)
        assert [d["file"] for d in documents] == [str(arm)]
        assert "/World/arm/joint3" in ovsim(command, arm).stdout


def test_columns_for_people_are_a_block_a_prim(ovsim, arm):
    lines = ovsim("columns", arm).stdout.splitlines()
    at = lines.index("/World/rope  PhysicsDistanceJoint")
    block = dict(line.split(maxsplit=1) for line in lines[at + 1 : lines.index("", at)])
    row = json.loads(ovsim("columns", arm, "--format", "json").stdout)[0]["prims"]["/World/rope"]
    assert set(block) == set(row) - {"usd-prim-type"}
    assert block["physics:localPos0"] == " ".join(map(str, row["physics:localPos0"]))


def test_physx_shows_the_articulation(ovsim, arm, tmp_path):
    document = json.loads(ovsim("physx", arm, "--format", "ndjson", "--diagnostics").stdout)
    root = document["articulations"]["/World/arm"]
    assert root["fixBase"] is True
    assert root["links"] == [f"/World/arm/{n}" for n in ("base", "shoulder", "elbow", "slide", "hand")]
    assert "/World/arm/weld" not in document["joints"]  # consumed: the base is fixed
    assert document["joints"]["/World/rope"]["class"] == "PxDistanceJoint"
    assert isinstance(document["diagnostics"], list)
    got = ovsim("physx", arm, "--format", "parquet", "-o", tmp_path / "px")
    assert got.returncode == 0
    names = sorted(p.name for p in (tmp_path / "px").iterdir())
    assert names == ["articulations.parquet", "diagnostics.parquet", "links.parquet", "physx_joints.parquet"]
    assert pq.read_table(tmp_path / "px" / "links.parquet").num_rows == 5


def test_parquet_wants_a_directory(ovsim, arm):
    for command in ("resolve", "physx"):
        got = ovsim(command, arm, "--format", "parquet")
        assert got.returncode == 2
        assert "--out" in got.stderr


def test_tree_draws_links_below_their_parents(ovsim, arm):
    lines = ovsim("tree", arm).stdout.splitlines()
    depth = {n: next(line for line in lines if f"/World/arm/{n}" in line).index("/World") for n in ("base", "shoulder", "elbow", "slide", "hand")}
    assert sorted(depth, key=depth.__getitem__) == ["base", "shoulder", "elbow", "slide", "hand"]
    assert any("standalone joints" in line for line in lines)
    assert any("/World/rope" in line for line in lines)
