"""Arrow fields against ovstage's layouts, both ways."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ovsim import contract
from ovsim.bridge import layout as lay
from ovsim.bridge.layout import BOOL, FLOAT, INT, UINT, Layout, field_of, of_field
from ovsim.errors import BridgeError
from ovsim.stage import columns as col


def fsl(type_: pa.DataType, lanes: int) -> pa.DataType:
    return pa.list_(type_, lanes)


FIELDS = [
    (col.field("physics:mass", pa.float32()), Layout(FLOAT, 32, 1, False, "NONE")),
    (col.field("physics:mass", pa.float16()), Layout(FLOAT, 16, 1, False, "NONE")),
    (col.field("physics:rigidBodyEnabled", pa.uint8()), Layout(BOOL, 8, 1, False, "NONE")),
    (col.field("physics:rigidBodyEnabled", pa.uint8()).with_metadata({b"type": b"uchar"}), Layout(UINT, 8, 1, False, "NONE")),
    (col.field("physics:kinematicEnabled", pa.int32()), Layout(INT, 32, 1, False, "NONE")),
    (col.field("physxScene:gpuTempBufferCapacity", pa.uint64()), Layout(UINT, 64, 1, False, "NONE")),
    (col.field("physics:velocity", fsl(pa.float32(), 3)), Layout(FLOAT, 32, 3, False, "VECTOR")),
    (col.field("physics:localPos0", fsl(pa.float64(), 3)), Layout(FLOAT, 64, 3, False, "POINT")),
    (col.field("physics:localRot0", fsl(pa.float32(), 4)), Layout(FLOAT, 32, 4, False, "QUATERNION")),
    (col.field("physics:localRot0", fsl(pa.float32(), 4), "NONE"), Layout(FLOAT, 32, 4, False, "NONE")),
    (col.field("omni:xform", fsl(pa.float64(), 16)), Layout(FLOAT, 64, 16, False, "MATRIX")),
    (col.field("physics:axis", pa.uint64(), col.TOKEN_ID), Layout(UINT, 64, 1, False, "TOKEN_ID", ("token",))),
    (col.field("physics:axis", pa.uint64()).with_metadata({b"type": b"string"}), Layout(UINT, 64, 1, False, "NONE", ("token",))),
    (col.field("physics:body0", pa.large_list(pa.uint64()), col.RELATIONSHIP), Layout(UINT, 64, 1, True, "RELATIONSHIP_PATH_ID", ("path",))),
    (col.field("_protoPath", pa.uint64(), col.PATH_ID), Layout(UINT, 64, 1, False, "NONE", ("path",))),
    (col.field("file", fsl(pa.uint64(), 2), "ASSET_PATH_ID"), Layout(UINT, 64, 2, False, "ASSET_PATH_ID", ("token", "token"))),
    (col.field("link", fsl(pa.uint64(), 2), "CONNECTION_PATH_ID"), Layout(UINT, 64, 2, False, "CONNECTION_PATH_ID", ("path", "token"))),
    (col.field("points", pa.large_list(fsl(pa.float32(), 3))), Layout(FLOAT, 32, 3, True, "POINT")),
    (col.field("velocities", pa.large_list(fsl(pa.float32(), 3)), "VECTOR"), Layout(FLOAT, 32, 3, True, "VECTOR")),
    (col.field("name", pa.large_list(pa.uint8()), "STRING"), Layout(UINT, 8, 1, True, "STRING")),
    (col.field("faceVertexCounts", pa.large_list(pa.int32())), Layout(INT, 32, 1, True, "NONE")),
]


@pytest.mark.parametrize(("field", "layout"), FIELDS, ids=[f"{f.name}-{f.type}" for f, _ in FIELDS])
def test_a_field_and_its_layout(field: pa.Field, layout: Layout) -> None:
    assert of_field(field) == layout


@pytest.mark.parametrize(("field", "layout"), FIELDS, ids=[f"{f.name}-{f.type}" for f, _ in FIELDS])
def test_a_layout_gives_the_field_back(field: pa.Field, layout: Layout) -> None:
    assert field_of(field.name, layout).equals(field, check_metadata=True)


def test_every_contract_column_has_a_layout_of_its_own_semantic() -> None:
    for component in contract.load().components.values():
        for column in component.columns:
            lanes = column.lanes
            inner = pa.uint8() if column.dtype == "bool8" else pa.from_numpy_dtype(np.dtype(column.dtype))
            inner = fsl(inner, lanes) if lanes > 1 else inner
            semantic = column.semantic if column.semantic in lay.ID_LANES else ""
            got = of_field(col.field(column.instance("rotX"), pa.large_list(inner) if column.array else inner, semantic))
            assert got.semantic == (column.semantic or "NONE"), column.name
            assert (got.lanes, got.array) == (lanes, column.array)
            assert (got.code == BOOL) == (column.dtype == "bool8")


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (col.field("x", pa.string()), "no type for string"),
        (col.field("x", pa.bool_()), "no type for bool"),
        (col.field("x", pa.large_list(pa.large_list(pa.int32()))), "no type"),
        (col.field("x", pa.timestamp("s")), "no type"),
        (col.field("x", pa.struct([("a", pa.int32())])), "no type"),
        (col.field("physics:axis", pa.int64(), col.TOKEN_ID), "ids are uint64"),
        (col.field("link", pa.uint64(), "CONNECTION_PATH_ID"), "2 lane"),
        (col.field("name", pa.uint8(), "STRING"), "lists of uint8"),
    ],
)
def test_types_that_ovstage_lacks(field: pa.Field, said: str) -> None:
    with pytest.raises(BridgeError, match=said) as raised:
        of_field(field)
    assert field.name in str(raised.value)


@pytest.mark.parametrize("layout", [Layout(5, 64, 1, False, "NONE"), Layout(FLOAT, 8, 1, False, "NONE"), Layout(BOOL, 1, 1, False, "NONE")])
def test_elements_without_an_arrow_type(layout: Layout) -> None:
    with pytest.raises(BridgeError, match="no Arrow column type"):
        field_of("x", layout)
