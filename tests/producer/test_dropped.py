"""Applied schemas that population leaves out of `usd-schemas` are told with prim and reason, alike by both routes."""

from __future__ import annotations

from pathlib import Path

import pytest

import producer
from ovsim.stage import Stage
from producer import dropped, schemas
from producer.instances import Renumbered, Visible
from producer.selection import population

ROUTES = ("composed", "crate")


def written(folder: Path, text: str) -> Path:
    from pxr import Sdf

    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString("#usda 1.0\n" + text)
    assert layer.Export(str(folder / "stage.usdc"))
    return folder / "stage.usdc"


def found(stage: Stage) -> list[tuple[str, str, str]]:
    assert {d.severity for d in stage.diagnostics if d.code == "schema-dropped"} <= {"warning"}
    return [(d.path, d.column, d.message.partition("usd-schemas: ")[2]) for d in stage.diagnostics if d.code == "schema-dropped"]


def prim(name: str, *apis: str, kind: str = "Xform", body: str = "") -> str:
    listed = ", ".join(f'"{a}"' for a in apis)
    return f'def {kind} "{name}" (prepend apiSchemas = [{listed}]) {{\n{body}\n}}\n'


UNKNOWN = "USD knows no applied API schema of this name; "
CAUSES = {
    "PhysicsRigidBodyApi": UNKNOWN + "did you mean PhysicsRigidBodyAPI?",
    "PhysicsDriveApi:angular": UNKNOWN + "did you mean PhysicsDriveAPI?",
    "FooAPI": UNKNOWN + "correct its name, or remove it",
    "FooAPI:x": UNKNOWN + "correct its name, or remove it",
    "PhysicsDriveAPI": "PhysicsDriveAPI needs an instance name; apply it as PhysicsDriveAPI:NAME",
    "PhysxLimitAPI": "PhysxLimitAPI needs an instance name; apply it as PhysxLimitAPI:NAME",
    "PhysicsMassAPI:x": "PhysicsMassAPI takes no instance name; apply it as PhysicsMassAPI",
    "Sphere": "it is a prim type, not an applied API schema",
    "HydraPrimAPI": "the USD of population is older than this schema and does not know it",
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("schema", CAUSES)
def test_every_cause_is_told_once(tmp_path, schema, route):
    kept = ("PhysicsDriveAPI:a:b", "PhysicsRigidBodyAPI")
    stage = producer.populate(written(tmp_path, prim("A", *kept, schema)), route=route)
    assert found(stage) == [("/A", schema, CAUSES[schema])]
    assert [d.code for d in stage.diagnostics] == ["schema-dropped"]
    archetype, _ = stage.find("/A")
    assert archetype.schemas == kept


def test_the_causes_are_real():
    assert "HydraPrimAPI" in population().newer_apis


@pytest.mark.parametrize("route", ROUTES)
def test_a_prim_that_thereby_gets_no_row_is_told_too(tmp_path, route):
    stage = producer.populate(written(tmp_path, prim("A", "PhysicsRigidBodyApi", kind="Scope")), route=route)
    assert stage.find("/A") is None
    assert [p for p, *_ in found(stage)] == ["/A"]


@pytest.mark.parametrize("route", ROUTES)
def test_known_ones_are_not_told(tmp_path, route):
    listed = ("PhysicsRigidBodyAPI", "PhysxRigidBodyAPI", "CollectionAPI:mine", "MaterialBindingAPI", "PhysicsDriveAPI:foo")
    text = prim("A", *listed) + 'class "B" (prepend apiSchemas = ["FooAPI"]) {}\ndef "C" (active = false\n prepend apiSchemas = ["FooAPI"]) {}\n'
    assert found(producer.populate(written(tmp_path, text), route=route)) == []


@pytest.mark.parametrize("route", ROUTES)
def test_many_prims(tmp_path, route):
    n = dropped.MOST + 3
    text = "".join(prim(f"p{i}", "FooAPI") for i in reversed(range(n)))
    got = found(producer.populate(written(tmp_path, text), route=route))
    assert [p for p, *_ in got] == [*sorted(f"/p{i}" for i in range(n))[: dropped.MOST], ""]
    last = producer.populate(tmp_path / "stage.usdc", route=route).diagnostics
    assert [d.message.partition(": ")[0] for d in last if not d.path] == ["3 more prims"]


@pytest.mark.parametrize("route", ROUTES)
def test_instances(tmp_path, route):
    """A published prototype has its published name; another one, here without physics for the very reason, is named by its first instance."""
    inner = prim("part", "FooAPI", "PhysicsRigidBodyAPI") + prim("tag", "BarAPI")
    text = (
        f'class "Good" {{\n{inner}\n}}\nclass "Bad" {{\n{prim("part", "PhysicsRigidBodyApi")}\n}}\n'
        + "".join(f'def Xform "g{i}" (references = </Good>\n instanceable = true) {{}}\n' for i in (2, 1))
        + "".join(f'def Xform "b{i}" (references = </Bad>\n instanceable = true) {{}}\n' for i in (2, 1))
    )
    got = {(path, schema) for path, schema, _ in found(producer.populate(written(tmp_path, text), route=route))}
    assert got == {("/__Prototype_1/part", "FooAPI"), ("/__Prototype_1/tag", "BarAPI"), ("/b1/part", "PhysicsRigidBodyApi")}


def test_paths_in_nested_prototypes():
    held = {
        "/__Prototype_7": ["/b", "/a"],
        "/__Prototype_3": ["/__Prototype_7/x", "/__Prototype_5/y"],
        "/__Prototype_5": ["/c"],
        "/__Prototype_9": [],
    }
    visible = Visible(Renumbered(["/__Prototype_5"], held), held)
    assert visible.path("/w/j") == "/w/j"
    assert visible.path("/__Prototype_5/y/j") == "/__Prototype_1/y/j"
    assert visible.path("/__Prototype_7/x") == "/a/x"
    assert visible.path("/__Prototype_3/j") == "/__Prototype_1/y/j"
    assert visible.path("/__Prototype_9/j") == ""


def test_names_of_the_registry():
    known = schemas.load()
    assert {"PhysicsRigidBodyAPI", "PhysxJointAPI", "NewtonSceneAPI", "MaterialBindingAPI"} <= set(known.api_names)
    assert not {"HydraPrimAPI", "Sphere", ""} & set(known.api_names)
    kinds = {"PhysicsDriveAPI": "multi_api", "PhysicsMassAPI": "api", "Xform": "type", "HydraPrimAPI": "newer", "Foo": ""}
    assert {n: known.kind_of(n) for n in kinds} == kinds


@pytest.mark.parametrize("route", ROUTES)
def test_wrong_types_in_prototypes_have_their_published_paths(tmp_path, route):
    """USD numbers prototypes in an order of its own; the rows have other numbers."""
    part = prim("part", "PhysicsRigidBodyAPI", body="int physics:startsAsleep = 1")
    names = [f"c{i}" for i in range(4)]
    text = "".join(f'class "{n}" {{\n{part}\n}}\n' for n in names)
    text += "".join(f'def Xform "i{i}" (references = </{n}>\n instanceable = true) {{}}\n' for i, n in enumerate(reversed(names)))
    stage = producer.populate(written(tmp_path, text), route=route)
    told = sorted(d.path for d in stage.diagnostics if d.code == "wrong-type")
    assert told == [f"/__Prototype_{i}/part" for i in (1, 2, 3, 4)]
