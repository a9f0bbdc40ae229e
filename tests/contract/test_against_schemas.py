"""The contract data against what the registered USD schemas declare: every column that population resolves, with its type and fallback."""

from __future__ import annotations

import numpy as np
import pytest

from ovsim import contract
from producer import schemas
from producer.values import TYPES, contract_type

FREE = {"physxConvexGeometry:margin"}  # an attribute that no schema declares
COLUMNS = [
    (component, column)
    for component in contract.load().components.values()
    if component.kind in ("type", "api", "multi_api")
    for column in contract.load().columns_of(component.name)
    if column.producer.rule != "special" and column.name not in FREE
]


def declared(component, column):
    if component.kind == "type":
        found = schemas.load().properties(component.name, ())
        return found.get(column.name)
    name = component.name + (":i" if component.kind == "multi_api" else "")
    return schemas.load().properties("", (name,)).get(column.instance("i"))


@pytest.mark.parametrize(("component", "column"), COLUMNS, ids=lambda v: v.name)
def test_type_and_fallback(component, column):
    found = declared(component, column)
    if found is None:
        assert column.name in {"newton:velocityLimit", "material:binding", "physxScene:envIdInBoundsBitCount"} or column.name.startswith("newton:")
        return
    if column.semantic == "RELATIONSHIP_PATH_ID":
        assert found.type == ""
        return
    assert TYPES[found.type] == contract_type(column)
    if column.raw_fallback is None:
        assert found.fallback is None
    elif TYPES[found.type].is_text:
        assert found.fallback == column.raw_fallback
    else:
        dtype = TYPES[found.type].dtype
        assert np.array_equal(np.asarray(found.fallback, dtype), np.asarray(column.raw_fallback).astype(dtype))


def test_every_joint_type_and_api_is_declared():
    known = schemas.load()
    for component in contract.load().components.values():
        if component.kind == "type":
            assert known.is_registered(component.name)
