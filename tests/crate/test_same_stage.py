"""The columnar route gives the composed route's stage: recorded stages, features one by one, random layers and arcs."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from crate_layers import NEST, OTHER, OVER, ROBOT, SINGLE, UNDER, UNPROVED
from hypothesis import given, settings
from pxr import Sdf
from strategies_usd import CLONES, SCENES, Scene

import producer
from ovsim.stage import Stage
from ovsim.stage.equal import differences
from producer.crate.errors import Unprovable

STAGES = sorted((Path(__file__).parents[1] / "data" / "stages").glob("*.usda"))
N = 'def Xform "World"\n{{\n{}\n}}\n'


def check(root: Path) -> Stage:
    """Populate by both routes and compare."""
    ours = producer.populate(root, route="crate")
    theirs = producer.populate(root, route="composed")
    assert differences(ours, theirs) == []
    assert told(ours) == told(theirs)
    return ours


def told(stage: Stage) -> list[tuple[str, str, str, str]]:
    """Diagnostics, in any order."""
    return sorted((d.code, d.path, d.column, d.message) for d in stage.diagnostics)


def scene(folder: Path, root: str, **layers: str) -> Path:
    """Write layers, the root as `root.usdc`."""
    head = "" if root.startswith("#usda") else "#usda 1.0\n"
    return Scene({"root": head + root, **layers}).write(folder, ".usdc")


@pytest.mark.parametrize("path", STAGES, ids=lambda p: p.stem)
@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_recorded_stages(path: Path, suffix: str, tmp_path: Path) -> None:
    target = path
    if suffix == ".usdc":
        target = tmp_path / f"{path.stem}.usdc"
        layer = Sdf.Layer.FindOrOpen(str(path))
        layer.Export(str(target))
        for name in layer.GetExternalReferences():
            if name and (path.parent / name).is_file():
                (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name).write_bytes((path.parent / name).read_bytes())
    auto = producer.populate(target, route="auto")
    assert differences(auto, producer.populate(target, route="composed")) == []
    with contextlib.suppress(Unprovable):
        check(target)


def _samples() -> list[Path]:
    oracle = os.environ.get("OVSIM_ORACLE")
    if not oracle:
        return []
    found = sorted(Path(oracle).parents[1].glob("lib/python3*/site-packages/ovphysx/samples/**/*.usd*"))
    return [f for f in found if "chema" not in f.name]


@pytest.mark.oracle
@pytest.mark.skipif(not _samples(), reason="OVSIM_ORACLE names no python with ovphysx")
def test_samples_of_the_wheel() -> None:
    for path in _samples():
        auto = producer.populate(path, route="auto")
        assert differences(auto, producer.populate(path, route="composed")) == [], path.name


# -- one case a feature ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SINGLE)
def test_single_layer_features(name: str, tmp_path: Path) -> None:
    stage = check(scene(tmp_path, SINGLE[name]))
    assert stage.metadata["route"] == "crate"
    assert len(stage) > 1 or name == "class, over, inactive"


def _env(i: int, metadata: str, body: str = "") -> str:
    return (
        f'    def Xform "env_{i}" (\n        {metadata}\n    )\n    {{\n        double3 xformOp:translate = ({i}, 0, 0)\n'
        f'        uniform token[] xformOpOrder = ["xformOp:translate"]\n{body}    }}\n'
    )


REF = "prepend references = @./robot.SUFFIX@"
INSIDE = '        over "arm"\n        {{\n            double size = {}\n        }}\n'
OWN = '        def PhysicsFixedJoint "own"\n        {{\n            rel physics:body1 = </World/env_{}/arm>\n        }}\n'
ARCS = {
    "reference to the default prim": _env(0, REF),
    "reference to a path": _env(0, REF + "</Robot/arm>"),
    "payload": _env(0, "payload = @./robot.SUFFIX@</Robot>"),
    "explicit list": _env(0, "references = @./robot.SUFFIX@"),
    "append and prepend": _env(0, f"{REF}\n        append references = @./other.SUFFIX@"),
    "several arcs": _env(0, "prepend references = [@./other.SUFFIX@, @./robot.SUFFIX@]"),
    "reference and payload": _env(0, "payload = @./other.SUFFIX@\n        prepend references = @./robot.SUFFIX@"),
    "nested arcs": _env(0, "prepend references = @./nest.SUFFIX@"),
    "internal reference": _env(0, REF) + _env(1, "prepend references = </World/env_0>"),
    "clones": "".join(_env(i, REF) for i in range(9)),
    "clones with overrides": "".join(_env(i, REF, INSIDE.format(i) if i % 3 else "") for i in range(9)),
    "clones with overrides of other shape": "".join(
        _env(
            i,
            REF,
            (INSIDE.format(i) if i % 2 else "")
            + f'        def PhysicsFixedJoint "own"\n        {{\n            rel physics:body1 = </World/env_{i}/arm>\n        }}\n',
        )
        for i in range(6)
    ),
    "instances": "".join(_env(i, REF + "\n        instanceable = true") for i in range(3)),
    "instances of two kinds": "".join(_env(i, (REF, "payload = @./robot.SUFFIX@")[i % 2] + "\n        instanceable = true") for i in range(5)),
    "inactive clone": "".join(_env(i, REF + ("\n        active = false" if i == 1 else "")) for i in range(3)),
}


@pytest.mark.parametrize("name", ARCS)
def test_arcs(name: str, tmp_path: Path) -> None:
    stage = check(scene(tmp_path, N.format(ARCS[name]), robot=ROBOT, other=OTHER, nest=NEST))
    assert len(stage) >= 3


def test_sublayers(tmp_path: Path) -> None:
    stage = check(scene(tmp_path, OVER, under=UNDER, robot=ROBOT))
    hit = stage.find("/A")
    assert hit is not None
    assert float(hit[0].values("physics:mass")[hit[1]]) == 5.0  # type: ignore[index]
    assert stage.meters_per_unit == 0.01  # a sublayer's is not the stage's


def test_clones_are_read_once(tmp_path: Path) -> None:
    """Repeated prims share their opinions: the values of a robot are decoded once, whatever the number of environments."""
    from ovsim.stage import PathDictionary
    from producer.crate.index import Composer
    from producer.crate.library import Library
    from producer.crate.namespace import Namespacer

    root = scene(tmp_path, N.format("".join(_env(i, REF) for i in range(50))), robot=ROBOT)
    library = Library(PathDictionary())
    space = Namespacer(library, Composer(library)).build(library.layer_number(str(root)))
    assert len(space) == 2 + 50 * 4
    assert space.first.size - 1 == 2 + 50 + 3


UNPROVED_ARCS = {
    "time offset": _env(0, REF.replace("@./robot.SUFFIX@", "@./robot.SUFFIX@ (offset = 1)")),
    "not there": _env(0, REF + "</Nowhere>"),
    "is not a file": _env(0, REF.replace("robot", "gone")),
}


@pytest.mark.parametrize("reason", [*UNPROVED, *UNPROVED_ARCS])
def test_what_is_not_proved_is_told_and_read_through_pxr(reason: str, tmp_path: Path) -> None:
    root = scene(tmp_path, {**UNPROVED, **UNPROVED_ARCS}[reason], robot=ROBOT)
    with pytest.raises(Unprovable, match=reason):
        producer.populate(root, route="crate")
    auto = producer.populate(root, route="auto")
    assert auto.metadata["route"] == "composed"
    assert reason in auto.metadata["reason"]
    assert [d.severity for d in auto.diagnostics if d.code == "route"] == ["info"]
    assert differences(auto, producer.populate(root, route="composed")) == []


def test_auto_tells_of_the_columnar_route(tmp_path: Path) -> None:
    root = scene(tmp_path, N.format(ARCS["clones"]), robot=ROBOT)
    auto = producer.populate(root)
    assert auto.metadata["route"] in ("crate", "composed")
    auto = producer.populate(root, route="auto")
    assert auto.metadata["route"] == "crate"
    assert [d.severity for d in auto.diagnostics if d.code == "route"] == ["info"]


def test_package(tmp_path: Path) -> None:
    from pxr import UsdUtils

    root = scene(tmp_path, N.format(ARCS["clones"]), robot=ROBOT)
    target = tmp_path / "all.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(root), str(target))
    assert len(check(target)) == len(check(root))


# -- random layers and arcs --------------------------------------------------------------------------------------------


def _agree(made: Scene, folder: Path) -> bool:
    """Whether the columnar route proved the scene; its stage must then be the composed one."""
    for old in folder.glob("*.usdc"):
        old.unlink()
    root = made.write(folder, ".usdc")
    try:
        ours = producer.populate(root, route="crate")
    except Unprovable:
        return False
    theirs = producer.populate(root, route="composed")
    assert differences(ours, theirs) == []
    assert told(ours) == told(theirs)
    return True


@given(SCENES)
@settings(max_examples=60)
def test_random_scenes(tmp_path_factory: pytest.TempPathFactory, made: Scene) -> None:
    _agree(made, tmp_path_factory.mktemp("scene"))


@given(CLONES)
@settings(max_examples=30)
def test_random_clones(tmp_path_factory: pytest.TempPathFactory, made: Scene) -> None:
    _agree(made, tmp_path_factory.mktemp("clones"))


@pytest.mark.slow
def test_thousands_of_random_scenes(tmp_path: Path) -> None:
    import random

    from strategies_usd import clones, scene

    rng = random.Random(2)
    proved = [_agree(make(rng.getrandbits(40)), tmp_path) for make in (scene, scene, clones) for _ in range(1000)]
    assert sum(proved) > 1200  # most of the rest have arcs that point nowhere
