"""The registry as plain data, and what stands in for it: schema files when USD was there first, the contract when the packages are missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import producer
from ovsim import plugins
from ovsim.diagnostics import Diagnostics
from ovsim.stage import Stage
from ovsim.stage.equal import differences as stage_differences
from producer import schemas
from tests.recorded_stages import FOLDER, differences, recorded, renumbered

WORKER = """
import json, sys
mode, *files = sys.argv[1:]
if mode == "late":
    from pxr import Usd
    Usd.Stage.CreateInMemory().DefinePrim("/x", "Xform")  # USD builds its registry now
from ovsim import plugins
from producer import schemas
if mode == "missing":
    plugins.folders = lambda: dict.fromkeys(plugins.PACKAGES, ())
import producer
from ovsim.interchange import columns_document
for file in files:
    stage = producer.populate(file)
    told = [[d.code, d.column] for d in stage.diagnostics]
    print(json.dumps({"prims": columns_document(stage, file)["prims"], "told": told, "missing": schemas.load().missing}))
"""


def worker(mode: str, *names: str) -> list[dict]:
    files = [str(FOLDER / f"{n}.usda") for n in names]
    done = subprocess.run([sys.executable, "-c", WORKER, mode, *files], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_properties_are_plain_data():
    known = schemas.load()
    assert known.missing == ()
    joint = known.properties("PhysicsRevoluteJoint", ("PhysicsDriveAPI:angular", "PhysxJointAPI"))
    assert joint["physics:lowerLimit"] == ("float", float("-inf"))
    assert joint["physics:axis"] == ("token", "X")
    assert joint["physics:localRot0"] == ("quatf", (0, 0, 0, 1))
    assert joint["physics:body0"] == ("", None)
    assert joint["drive:angular:physics:type"] == ("token", "force")
    assert joint["physxJoint:armature"] == ("float", 0.0)


def test_sanitised_schemas_include_built_in_ones():
    known = schemas.load()
    assert known.sanitise("PhysicsCollisionGroup", ["Bogus"]) == ("CollectionAPI:colliders",)
    expected = ("NewtonCollisionAPI", "NewtonMeshCollisionAPI", "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI")
    assert known.sanitise("Mesh", ["NewtonMeshCollisionAPI"]) == expected
    assert known.sanitise("", []) == ()


def test_facts_of_types():
    known = schemas.load()
    assert known.facts("Cube") == schemas.TypeFacts(True, True)
    assert known.facts("Xform") == schemas.TypeFacts(True, False)
    for name in ("Scope", "PhysicsFixedJoint", "Gprim", "Nonsense", ""):
        assert known.facts(name) == schemas.TypeFacts(False, False)


def test_nothing_is_reported_when_all_is_registered():
    told = Diagnostics()
    schemas.load().report(["PhysxJointAPI", "Bogus"], told)
    assert len(told) == 0


@pytest.mark.parametrize("mode", ["late", "missing"])
def test_recorded_stages_without_the_registry(mode):
    names = ["authored_m_z", "defaults_m_z", "c44_gear_rack", "composition", "instancing", "artic_fixed"]
    if mode == "late":
        names += ["every_schema", "every_name", "collections", "relationships_names", "wrong_types", "blocked_sampled"]
    for name, got in zip(names, worker(mode, *names)):
        assert differences(renumbered(recorded(name)), renumbered(got["prims"])) == [], name
        assert got["missing"] == ([] if mode == "late" else ["physx_usd_schemas", "newton_usd_schemas"])
        assert (["schemas-missing", ""] in got["told"]) == (mode == "missing")


def test_without_the_packages_the_unknown_apis_are_named():
    (got,) = worker("missing", "every_schema")
    named = {column for code, column in got["told"] if code == "schema-unknown"}
    assert {"PhysxVehicleWheelAPI", "PhysxTendonAxisAPI", "NewtonSceneAPI"} <= named
    assert not named & {"PhysxJointAPI", "PhysxRigidBodyAPI", "PhysicsRigidBodyAPI"}


EARLY = """
import sys
from pxr import Usd
Usd.SchemaRegistry()  # as in a process that opened a stage of its own before
import producer
stage = producer.populate(sys.argv[1], route="composed")
stage.save(sys.argv[2])
print([d.code for d in stage.diagnostics if d.code == "wrong-type"])
"""


def test_a_registry_that_was_built_before_gives_the_same_stage(tmp_path: Path) -> None:
    """USD reads plugins once a process: what it lacks then comes from the schema files. Wrong types of undeclared attributes are among them."""
    source = tmp_path / "early.usda"
    source.write_text(
        '#usda 1.0\ndef Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysxRigidBodyAPI"])\n{\n'
        "    int physics:lowerLimit = 3\n    int physxRigidBody:linearDamping = 3\n"
        '    def PhysicsRevoluteJoint "j" (prepend apiSchemas = ["PhysxJointAPI"])\n    {\n'
        "        double physics:lowerLimit = 3\n        int physxJoint:armature = 2\n    }\n}\n"
    )
    done = subprocess.run([sys.executable, "-c", EARLY, str(source), str(tmp_path / "early")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    usual = producer.populate(source, route="composed")
    assert done.stdout.strip() == str([d.code for d in usual.diagnostics if d.code == "wrong-type"]) != "[]"
    assert stage_differences(Stage.load(tmp_path / "early"), usual) == []


REGISTER = """
import sys
from ovsim import plugins
mode = sys.argv[1]
if mode == "missing":
    found = {**plugins.folders(), "newton_usd_schemas": []}
    plugins.folders = lambda: found
if mode == "late":
    from pxr import Usd
    Usd.SchemaRegistry()
from consumer.usd.schemas import register
from ovsim.errors import SourceError
try:
    register()
    from pxr import Usd
    print([n for n in plugins.PROBES.values() if Usd.SchemaRegistry().FindAppliedAPIPrimDefinition(n)])
except SourceError as e:
    print(e)
"""


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("usual", "['PhysxJointAPI', 'NewtonJointAPI']"),
        ("missing", "newton-usd-schemas is not installed"),
        ("late", "was built in this process before"),
    ],
)
def test_the_usd_backend_registers_the_same_plugins(mode, says):
    done = subprocess.run([sys.executable, "-c", REGISTER, mode], capture_output=True, text=True, check=True)
    assert says in done.stdout


def test_plugin_folders():
    """Found without importing the packages or USD."""
    code = "import sys; from ovsim import plugins; f = plugins.folders(); print(sorted(map(len, f.values())), {'pxr', *f} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[1, 2] set()"
    assert plugins.folders().keys() == plugins.PROBES.keys()
    assert all((f / "plugInfo.json").is_file() for found in plugins.folders().values() for f in found)
