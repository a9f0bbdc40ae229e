"""Every row and column of the recorded stages, exactly."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import producer
from ovsim.interchange import columns_document
from tests.recorded_stages import FOLDER, differences, names, recorded, renumbered


def rows_of(source: object) -> dict:
    return renumbered(columns_document(producer.populate(source), "x")["prims"])


@pytest.mark.parametrize("name", names())
def test_every_recorded_cell(name):
    got = rows_of(FOLDER / f"{name}.usda")
    assert differences(renumbered(recorded(name)), got) == []


def test_there_are_recordings():
    assert len(names()) > 70


def test_the_comparison_sees_planted_differences():
    rows = recorded("composition")
    assert differences(rows, rows) == []
    path = "/World/Ref/J"
    for change in ({"physics:lowerLimit": 1e-30}, {"physics:jointEnabled": 1}, {"usd-prim-type": "PhysicsJoint"}, {"new": 1}):
        planted = {**rows, path: {**rows[path], **change}}
        assert len(differences(rows, planted)) == 1
    assert len(differences(rows, {p: r for p, r in rows.items() if p != path})) == 1


@pytest.mark.parametrize("extension", ["usdc", "usdz", "usd"])
@pytest.mark.parametrize("name", ["authored_m_z", "blocked_sampled", "wrong_types", "relationships_names", "frames"])
def test_file_formats_give_the_same_rows(name, extension, tmp_path):
    from pxr import Sdf, UsdUtils

    source = FOLDER / f"{name}.usda"
    crate = tmp_path / f"{name}.{'usdc' if extension == 'usdz' else extension}"
    layer = Sdf.Layer.FindOrOpen(str(source))
    assert layer.Export(str(crate))
    target = crate
    if extension == "usdz":
        target = tmp_path / f"{name}.usdz"
        if not UsdUtils.CreateNewUsdzPackage(str(crate), str(target)):
            pytest.skip("this USD cannot package the stage")
    got = rows_of(target)
    expected = rows_of(source)
    _forget_assets(expected), _forget_assets(got)
    assert differences(expected, got) == []


def _forget_assets(rows: dict) -> None:
    """Asset paths are rewritten when a package is made."""
    for row in rows.values():
        for column in [c for c, v in row.items() if isinstance(v, list) and any("foo.usd" in str(x) for x in v)]:
            del row[column]


def test_an_open_stage_is_read_like_its_file(tmp_path):
    from pxr import Usd

    path = tmp_path / "composition.usda"
    for name in ("composition.usda", "asset.usda"):
        shutil.copy(FOLDER / name, tmp_path / name)
    assert differences(rows_of(path), rows_of(Usd.Stage.Open(str(path)))) == []


def test_a_session_layer_counts():
    from pxr import Usd

    stage = Usd.Stage.CreateInMemory()
    stage.DefinePrim("/J", "PhysicsFixedJoint")
    stage.SetEditTarget(stage.GetSessionLayer())
    stage.GetPrimAtPath("/J").GetAttribute("physics:breakForce").Set(3.0)
    assert rows_of(stage)["/J"]["physics:breakForce"] == 3.0


def test_many_stages_in_one_process_do_not_mix(tmp_path: Path):
    first = rows_of(FOLDER / "artic_fixed.usda")
    rows_of(FOLDER / "defaults_m_z.usda")
    assert rows_of(FOLDER / "artic_fixed.usda") == first
