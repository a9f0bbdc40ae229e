"""The interchange document of a hand-built stage, in every kind of column."""

from __future__ import annotations

import json

import numpy as np

from ovsim.interchange import columns_document, columns_line
from ovsim.stage import Ragged, StageBuilder


def hand_built():
    builder = StageBuilder()
    builder.units(0.01, 1.0, "Y")
    builder.add("Xform", ["/W"], {"omni:xform": np.eye(4).reshape(1, 16), "omni:resetXformStack": [False]})
    builder.add(
        "PhysicsRevoluteJoint",
        ["/W/b", '/W/a"quoted'],
        {
            "physics:axis": ["Y", 'odd \\ "token" é'],
            "physics:lowerLimit": np.array([-np.inf, 0.1], np.float32),
            "physics:upperLimit": np.array([np.nan, np.inf], np.float32),
            "physics:jointEnabled": [True, False],
            "physics:localPos0": np.array([[1, 2, 3], [0, np.nan, 1e-30]], np.float32),
            "physics:body0": [["/W"], []],
            "numbers": Ragged(np.array([0, 2, 2]), np.array([1, 2], np.int32)),
            "points": Ragged(np.array([0, 0, 1]), np.array([[1, 2, 3]], np.float32)),
            "count": np.array([2**63, 1], np.uint64),
        },
        schemas=["PhysicsDriveAPI:angular"],
    )
    return builder.finish()


def test_every_kind_of_cell():
    document = columns_document(hand_built(), "some file.usda")
    assert document["file"] == "some file.usda"
    prims = document["prims"]
    assert list(prims) == sorted(prims)
    assert prims["/"] == {"usd-metadata:metersPerUnit": 0.01, "usd-metadata:kilogramsPerUnit": 1.0, "usd-metadata:upAxis": "Y"}
    assert prims["/W"] == {"omni:xform": np.eye(4).reshape(-1).tolist(), "omni:resetXformStack": False, "usd-prim-type": "Xform"}
    assert prims["/W/b"] == {
        "usd-prim-type": "PhysicsRevoluteJoint",
        "usd-schemas": ["PhysicsDriveAPI:angular"],
        "physics:axis": "Y",
        "physics:lowerLimit": "-inf",
        "physics:upperLimit": "nan",
        "physics:jointEnabled": True,
        "physics:localPos0": [1, 2, 3],
        "physics:body0": ["/W"],
        "numbers": [1, 2],
        "points": [],
        "count": 2**63,
    }
    other = prims['/W/a"quoted']
    assert other["physics:axis"] == 'odd \\ "token" é'
    assert other["physics:lowerLimit"] == float(np.float32(0.1))
    assert other["physics:localPos0"] == [0, "nan", float(np.float32(1e-30))]
    assert other["points"] == [[1, 2, 3]]
    assert other["physics:body0"] == []


def test_the_line_is_one_line_of_standard_json():
    line = columns_line(hand_built(), 'a "file"')
    assert "\n" not in line
    assert json.loads(line, parse_constant=pytest_fail)["file"] == 'a "file"'


def pytest_fail(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def test_an_empty_stage():
    assert columns_document(StageBuilder().finish(), "x") == {"file": "x", "prims": {}}
