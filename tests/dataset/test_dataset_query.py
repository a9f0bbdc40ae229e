"""`ovsim query`, and every recipe of docs/dataset.md run in SQL and in Polars against what the stages are known to hold."""

from __future__ import annotations

import csv
import json
import math
import re
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ovsim
from ovsim.dataset import Dataset, convert
from ovsim.dataset.layout import DatasetError, Layout, Settings

duckdb = pytest.importorskip("duckdb")
from ovsim.dataset.query import QueryError, query  # noqa: E402

GUIDE = Path(__file__).parents[2] / "docs" / "dataset.md"
RECIPES = re.findall(r"<!-- recipe: (\S+) -->\n```(sql|python)\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)

PLANTED = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "World"
{
    def PhysicsScene "scene"
    {
    }
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI"]
    )
    {
    }
    def Xform "arm" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    )
    {
        double3 xformOp:scale = (2, 2, 2)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
    def PhysicsFixedJoint "weld"
    {
        rel physics:body1 = </World/base>
    }
    def PhysicsRevoluteJoint "hinge" (
        prepend apiSchemas = ["PhysicsDriveAPI:angular"]
    )
    {
        rel physics:body0 = </World/base>
        rel physics:body1 = </World/arm>
        point3f physics:localPos1 = (0.5, 0, 0)
        float physics:lowerLimit = -30
        float drive:angular:physics:stiffness = 100
    }
}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory, makers, one_process) -> Path:
    """A directory with a dataset `fleet` of good, bad and planted stages."""
    root = tmp_path_factory.mktemp("recipes")
    stages = root / "stages"
    makers.make_good(stages, 6)
    makers.make_bad(stages, 10)
    (stages / "planted.usda").write_text(PLANTED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ovsim.dataset.local.run", one_process)
        convert(stages, root / "fleet")
    return root


def sql(place: Path, text: str) -> list[tuple]:
    return [tuple(r.values()) for r in query(place / "fleet", text).to_pylist()]


def polars(place: Path, text: str, monkeypatch) -> list[tuple]:
    pytest.importorskip("polars")
    monkeypatch.chdir(place)
    names: dict = {}
    exec(text, names)  # the recipe as it stands in the guide
    return names["result"].rows()


@cache
def joints(place: Path) -> list[tuple[str, dict]]:
    """(file, joint) of every converted stage, straight from `ovsim.resolve`."""
    files = Dataset(place / "fleet").table("files").to_pylist()
    return [(f["file"], j) for f in files if f["outcome"] in ("ok", "incomplete") for j in ovsim.resolve(f["file"]).to_arrow().to_pylist()]


def expect_one_sided(place: Path) -> list[tuple]:
    out = []
    for file, j in joints(place):
        if j["type"] == "PhysicsDistanceJoint":
            if j["minEnabled"] != j["maxEnabled"]:
                out.append((file, j["path"], "distance", j["limit"]["lower"], j["limit"]["upper"]))
            continue
        instance = {"PhysicsRevoluteJoint": "angular", "PhysicsPrismaticJoint": "linear", "PhysicsSphericalJoint": "cone"}.get(j["type"])
        records = [(x["axis"], x) for x in j["limits"]] if j["limits"] else [(instance, j["limit"])] if j["limit"] else []
        out += [
            (file, j["path"], i, x["lower"], x["upper"])
            for i, x in records
            if x["enabled"] and math.isfinite(x["lower"]) != math.isfinite(x["upper"])
        ]
    return sorted(out)


def expect_floating(place: Path) -> list[tuple]:
    out = []
    for row in Dataset(place / "fleet").table("diagnostics").to_pylist():
        if row["code"] == "standalone-anchor":
            out.append((row["file"], row["path"]))
    return sorted(out)


def expect_stiffness(place: Path) -> list[tuple]:
    count: dict[tuple, list] = {}
    for file, j in joints(place):
        records = [(j["type"] == "PhysicsPrismaticJoint", j["drive"])] if j["drive"] else []
        records += [(x["axis"].startswith("trans") or x["axis"] == "distance", x) for x in j["drives"] or ()]
        for linear, x in records:
            if x["enabled"] and x["stiffness"] > 0:
                key = ("linear" if linear else "rotational", math.floor(math.log10(x["stiffness"])))
                count.setdefault(key, []).append(file)
    return [(*k, len(v), len(set(v))) for k, v in sorted(count.items())]


def expect_baked(place: Path) -> list[tuple]:
    out = []
    for file, j in joints(place):
        archetype, row = ovsim.populate(file).find(j["path"])
        for k in (0, 1):
            authored = archetype.values(f"physics:localPos{k}")[row].tolist()
            if j[f"rel{k}"] and j[f"rel{k}"] == j[f"body{k}"] and authored != j[f"localPose{k}Position"]:
                out.append((file, j["path"]))
    return sorted(set(out))


def expect_failures(place: Path) -> list[tuple]:
    count: dict[tuple, list] = {}
    for r in Dataset(place / "fleet").table("files").to_pylist():
        if r["outcome"] != "ok":
            count.setdefault((r["outcome"], r["cause"]), []).append(r["file"])
    return [(*k, len(v), min(v)) for k, v in sorted(count.items())]


EXPECTED = {
    "one-sided": expect_one_sided,
    "floating": expect_floating,
    "stiffness": expect_stiffness,
    "baked": expect_baked,
    "failures": expect_failures,
}


def test_the_guide_has_each_recipe_in_both_languages():
    assert sorted((name, language) for name, language, _ in RECIPES) == sorted((n, x) for n in EXPECTED for x in ("python", "sql"))


@pytest.mark.parametrize(("name", "language", "text"), RECIPES, ids=[f"{n}-{x}" for n, x, _ in RECIPES])
def test_a_recipe_gives_what_the_stages_hold(place, monkeypatch, name, language, text):
    got = sql(place, text) if language == "sql" else polars(place, text, monkeypatch)
    want = EXPECTED[name](place)
    if name == "floating":
        got = [(file, weld) for file, _, weld in got]
    assert got == want
    assert any("planted" in str(row) for row in want) or name in ("failures", "stiffness")
    assert want


def test_the_view_columns_joins_all_types(place):
    ((count,),) = sql(place, "select count(*) from columns")
    data = Dataset(place / "fleet")
    assert count == sum(data.scan(t).count_rows() for t in data.tables if t.startswith("columns_"))


def test_the_command_prints_and_writes_every_format(place, tmp_path, command):
    text = "select file, joints, layers from files order by file limit 3"
    want = query(place / "fleet", text).to_pylist()
    dataset = str(place / "fleet")
    table = command("query", dataset, "select 1 + 1 as two")
    assert (table.returncode, "two" in table.stdout, "2" in table.stdout) == (0, True, True)
    assert json.loads(command("query", dataset, text, "--format", "json").stdout) == want
    rows = list(csv.DictReader(command("query", dataset, text, "--format", "csv").stdout.splitlines()))
    assert [(r["file"], int(r["joints"]), json.loads(r["layers"])) for r in rows] == [(r["file"], r["joints"], r["layers"]) for r in want]
    got = command("query", dataset, text, "--format", "parquet", "--out", str(tmp_path / "x.parquet"))
    assert got.returncode == 0
    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == want


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["nowhere", "select 1"], "no ovsim dataset"),
        (["DATASET", "select nonsense from files"], "nonsense"),
        (["DATASET", "not sql"], "DuckDB"),
        (["DATASET", "select 1", "--format", "parquet"], "--out"),
    ],
)
def test_errors_are_one_line_without_a_traceback(place, command, args, reason):
    got = command("query", *[str(place / "fleet") if a == "DATASET" else a for a in args])
    assert got.returncode in (1, 2)
    assert reason in got.stderr
    assert "Traceback" not in got.stderr


def test_an_empty_dataset_has_its_views(tmp_path):
    Layout.create(tmp_path / "d", Settings("physx"))
    assert query(tmp_path / "d", "select count(*) n from physx_joints").to_pylist() == [{"n": 0}]
    assert query(tmp_path / "d", "select standalone.drives.twist.stiffness from physx_joints").num_rows == 0
    assert query(tmp_path / "d", "select file, layers[1].hash from files").num_rows == 0


def test_a_dataset_behind_a_uri_can_be_asked(place):
    pytest.importorskip("fsspec")
    text = "select count(*) n from joints"
    assert query(f"local://{place}/fleet", text).to_pylist() == query(place / "fleet", text).to_pylist()


def test_the_dataset_cannot_be_changed_by_a_query(place):
    with pytest.raises(QueryError):
        query(place / "fleet", "delete from files")
    with pytest.raises(DatasetError):
        query(place, "select 1")
