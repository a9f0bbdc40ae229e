"""Pieces of columns to archetypes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from fake import FakeLive, piece

from ovsim.bridge.assemble import Assembly
from ovsim.bridge.layout import BOOL, FLOAT, UINT, Layout
from ovsim.errors import BridgeError
from ovsim.stage import Ragged, Stage

F32 = Layout(FLOAT, 32, 1, False, "NONE")
VECTOR = Layout(FLOAT, 32, 3, False, "VECTOR")
TOKEN = Layout(UINT, 64, 1, False, "TOKEN_ID")
TOKENS = Layout(UINT, 64, 1, True, "NONE")
TARGETS = Layout(UINT, 64, 1, True, "RELATIONSHIP_PATH_ID")


def ids(live: FakeLive, kind: str, texts: list[str]) -> np.ndarray:
    return getattr(live, kind)(pa.array(texts, pa.large_string()))


def stage(assembly: Assembly) -> Stage:
    return Stage(*assembly.finish())


def test_prims_are_grouped_by_type_schemas_and_columns() -> None:
    live = FakeLive()
    assembly = Assembly(live)
    bodies = ["/w/c", "/w/a", "/w/b", "/w/d"]
    assembly.add_type("Cube", ids(live, "paths", ["/w/a", "/w/b", "/w/c"]))
    assembly.add_type("Sphere", ids(live, "paths", ["/w/d"]))
    assembly.add("physics:mass", piece(live, ["/w/a", "/w/d"], F32, np.array([1, 4], np.float32)))
    assembly.add("physics:mass", piece(live, ["/w/c", "/w/b"], F32, np.array([3, 2], np.float32)))
    assembly.add("physics:velocity", piece(live, ["/w/b"], VECTOR, np.array([[1, 2, 3]], np.float32)))
    api = ids(live, "tokens", ["PhysicsMassAPI", "PhysicsCollisionAPI"])
    assembly.add("usd-schemas", piece(live, bodies, TOKENS, np.concatenate([api, api[::-1], api[:1], api]), [0, 2, 4, 5, 7]))
    assembly.add("usd-metadata:metersPerUnit", piece(live, ["/"], Layout(FLOAT, 64, 1, False, "NONE"), np.array([0.5])))
    got = stage(assembly)
    told = [(a.type_name, a.schemas, a.paths.path_strings(a.path_ids).to_pylist(), a.names) for a in got.archetypes]
    both = ("PhysicsCollisionAPI", "PhysicsMassAPI")
    assert told == [
        ("", (), ["/"], ["usd-metadata:metersPerUnit"]),
        ("Cube", both, ["/w/a", "/w/c"], ["physics:mass"]),
        ("Cube", ("PhysicsMassAPI",), ["/w/b"], ["physics:mass", "physics:velocity"]),
        ("Sphere", both, ["/w/d"], ["physics:mass"]),
    ]
    assert got.meters_per_unit == 0.5
    found = got.find("/w/c")
    assert found is not None
    assert found[0].values("physics:mass")[found[1]] == 3.0


def test_ids_lists_and_bools() -> None:
    live = FakeLive()
    assembly = Assembly(live)
    joints = ["/j2", "/j1"]
    assembly.add_type("PhysicsFixedJoint", ids(live, "paths", joints))
    assembly.add("physics:axis", piece(live, joints, TOKEN, ids(live, "tokens", ["Y", ""])))
    targets = ids(live, "paths", ["/a", "/b.x"])
    assembly.add("physics:body0", piece(live, joints, TARGETS, targets, [0, 2, 2]))
    assembly.add("physics:jointEnabled", piece(live, joints, Layout(BOOL, 8, 1, False, "NONE"), np.array([1, 0], np.uint8)))
    (a,) = stage(assembly).archetypes
    assert a.paths.path_strings(a.path_ids).to_pylist() == ["/j1", "/j2"]
    assert [a.paths.token_string(int(t)) for t in a.values("physics:axis")] == ["", "Y"]
    body = a.values("physics:body0")
    assert isinstance(body, Ragged)
    assert body.offsets.tolist() == [0, 0, 2]
    assert a.paths.path_strings(body.values).to_pylist() == ["/a", "/b.x"]
    assert a.values("physics:jointEnabled").tolist() == [0, 1]
    assert a.field("physics:axis").metadata == {b"semantic": b"TOKEN_ID"}


def test_one_column_in_two_layouts_makes_two_archetypes() -> None:
    live = FakeLive()
    assembly = Assembly(live)
    assembly.add_type("Cube", ids(live, "paths", ["/a", "/b"]))
    assembly.add("physics:mass", piece(live, ["/a"], F32, np.ones(1, np.float32)))
    assembly.add("physics:mass", piece(live, ["/b"], Layout(FLOAT, 64, 1, False, "NONE"), np.ones(1)))
    assert [a.field("physics:mass").type for a in stage(assembly).archetypes] == [pa.float32(), pa.float64()]


def test_a_string_where_the_contract_has_tokens() -> None:
    live = FakeLive()
    assembly = Assembly(live)
    assembly.add_type("PhysicsRevoluteJoint", ids(live, "paths", ["/j"]))
    assembly.add("physics:axis", piece(live, ["/j"], Layout(UINT, 64, 1, False, "NONE"), ids(live, "tokens", ["Y"])))
    (a,) = stage(assembly).archetypes
    assert a.field("physics:axis").metadata == {b"type": b"string"}
    assert a.paths.token_string(int(a.values("physics:axis")[0])) == "Y"


def test_an_empty_stage() -> None:
    got = stage(Assembly(FakeLive()))
    assert len(got) == 0
    assert got.archetypes == ()


def test_ids_of_the_wrong_width_are_refused() -> None:
    live = FakeLive()
    with pytest.raises(BridgeError, match="column physics:axis: ids are uint64"):
        Assembly(live).add("physics:axis", piece(live, ["/j"], Layout(UINT, 32, 1, False, "TOKEN_ID"), np.zeros(1, np.uint32)))
