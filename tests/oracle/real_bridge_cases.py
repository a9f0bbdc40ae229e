"""The bridge's refusals and odd columns in the real ovstage: run by the python that has it, never imported by the tests.

usage: python real_bridge_cases.py CASE  >  one JSON line {"told": message of the BridgeError or "", "rows": rows in the live stage, ...}
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ovsim.bridge import differences, native, pull, push
from ovsim.errors import BridgeError
from ovsim.stage import PathDictionary, Ragged, Stage, StageBuilder
from ovsim.stage import columns as col

Case = Callable[[Any, Stage], Any]


def small() -> Stage:
    b = StageBuilder()
    b.units(1.0, 1.0, "Z")
    b.add("Xform", ["/World"], {"omni:xform": np.eye(4).reshape(1, 16)})
    b.add("Cube", ["/World/a", "/World/b"], {"physics:mass": np.array([1, 2], np.float32)}, ("PhysicsRigidBodyAPI", "PhysicsMassAPI"))
    return b.finish()


def altered(stage: Stage, name: str, array: pa.Array, semantic: str = "") -> Stage:
    """The stage with a further column on its last archetype."""
    last = stage.archetypes[-1]
    batch = last.batch.append_column(col.field(name, array.type, semantic), array)
    return replace(stage, archetypes=(*stage.archetypes[:-1], replace(last, batch=batch)))


def sealed(live: Any, stage: Stage) -> Any:
    live.advance_write_floor(ordinal=3).wait()
    return push(stage, live, 3)


def sealed_column(live: Any, stage: Stage) -> Any:
    push(stage, live, 1, seal=False)
    token = native.module().PathDictionary(live).intern_token("physics:mass")
    live.advance_write_floor(ordinal=5, scope=native.module().Scope.INCLUDE, attributes=[token]).wait()
    return push(stage, live, 4)


def later(live: Any, stage: Stage) -> Any:
    live.advance_write_floor(ordinal=3).wait()
    return push(stage, live, 4)


def twice(live: Any, stage: Stage) -> Any:
    push(stage, live, 1)
    return push(stage, live, 2)


def foreign_dictionary(live: Any, stage: Stage) -> Any:
    return push(replace(stage, paths=PathDictionary()), live)


def foreign_path(live: Any, stage: Stage) -> Any:
    return push(altered(stage, "physics:simulationOwner", col.ragged([0, 1, 1], np.array([9999], np.uint64)), col.RELATIONSHIP), live)


def foreign_token(live: Any, stage: Stage) -> Any:
    return push(altered(stage, "physics:approximation", pa.array(np.array([1, 12345], np.uint64)), col.TOKEN_ID), live)


def contract(live: Any, stage: Stage) -> Any:
    return push(replace(stage, metadata={"contract": "0.7"}), live)


def strings(live: Any, stage: Stage) -> Any:
    return push(altered(stage, "label", pa.array(["x", "y"])), live)


def connection(live: Any, stage: Stage) -> Any:
    pairs = col.dense(np.ones((2, 2), np.uint64))
    return push(altered(stage, "link", pairs, "CONNECTION_PATH_ID"), live)


def built_in(live: Any, stage: Stage) -> Any:
    return push(altered(stage, "usd-parent", pa.array(np.ones(2, np.uint64))), live)


def bare_row(live: Any, stage: Stage) -> Any:
    b = StageBuilder()
    b.add("", ["/World"])
    return push(b.finish(), live)


def bad_path(live: Any, stage: Stage) -> Any:
    b = StageBuilder()
    b.add("Xform", ["/World", "/World/two words", "/World/fine"])
    return push(b.finish(), live)


def ordinal_zero(live: Any, stage: Stage) -> Any:
    return push(stage, live, 0)


def destroyed(live: Any, stage: Stage) -> Any:
    gone = native.module().Stage("gone")
    gone.destroy()
    return push(stage, gone)


def no_stage(live: Any, stage: Stage) -> Any:
    return push(stage, object())


def unsealed(live: Any, stage: Stage) -> Any:
    push(stage, live, 2, seal=False)
    return len(pull(live, 2))


def unknown_id(live: Any, stage: Stage) -> Any:
    push(stage, live, 1)
    ovstage = native.module()
    with ovstage.PathDictionary(live) as paths, paths.create_path_list_from_strings(["/World/a"]) as prims, live.query_from_path_list(prims) as query:
        live.write_attribute(
            query, "physics:approximation", 2, np.array([77], np.uint64), is_array=False, semantic=ovstage.AttributeSemantic.TOKEN_ID
        ).wait()
    live.advance_write_floor(ordinal=2).wait()
    return len(pull(live, 2))


def round_trip(live: Any, stage: Stage) -> Any:
    """Columns of every layout, empty arrays and single rows included, go in and come back."""
    b = StageBuilder()
    p = b.paths
    n = 3
    pair = lambda one, two: np.array([[one, two]] * n, np.uint64)
    marked = lambda array, name, value: (pa.field(name, array.type, nullable=False, metadata={value[0]: value[1]}), array)
    lists = col.ragged([0, 2, 2, 5], np.arange(15, dtype=np.float32).reshape(5, 3))
    token = p.token("T")
    columns = {
        "physics:mass": np.array([np.nan, -0.0, np.inf], np.float32),
        "physics:rigidBodyEnabled": np.array([1, 0, 1], bool),
        "physics:kinematicEnabled": pa.array(np.array([1, -2, 3], np.int32)),
        "physics:density": pa.array(np.array([1, 2, 3], np.float16)),
        "physics:startsAsleep": marked(pa.array(np.array([7, 8, 9], np.uint8)), "physics:startsAsleep", (b"type", b"uchar")),
        "physics:axis": marked(pa.array(np.full(n, token, np.uint64)), "physics:axis", (b"type", b"string")),
        "physics:velocity": np.arange(9, dtype=np.float32).reshape(3, 3),
        "physics:localRot0": np.arange(12, dtype=np.float16).reshape(3, 4),
        "physics:simulationOwner": [["/World/a.b:c"], [], ["/World/x.rel[/World/y]", "/Gone/away"]],
        "physics:approximation": ["none", "", "sdf"],
        "points": Ragged(np.array([0, 2, 2, 5]), np.arange(15, dtype=np.float32).reshape(5, 3)),
        "faceVertexCounts": Ragged(np.array([0, 0, 0, 0]), np.empty(0, np.int32)),
        "asset": (col.field("asset", pa.list_(pa.uint64(), 2), "ASSET_PATH_ID"), col.dense(pair(token, 0))),
        "velocities": (col.field("velocities", lists.type, "VECTOR"), lists),
        "text": (col.field("text", pa.large_list(pa.uint8()), "STRING"), col.ragged([0, 1, 1, 4], np.frombuffer(b"abcd", np.uint8))),
        "plain": pa.array(np.array([1, 2**63, 3], np.uint64)),
        "wide": np.arange(27.0).reshape(3, 9),
    }
    b.add("Odd", ["/World/a", "/World/b", "/World/c"], columns, ("AnAPI", "BAPI:inst"))
    b.add("Xform", ["/World"])
    b.add("PhysicsScene", ["/World/lone"], {"points": Ragged(np.array([0, 0]), np.empty((0, 3), np.float32))})
    b.add("__ovstage_population_untyped__", ["/World/untyped"])
    b.add("", ["/World/schemas"], {}, ("AnAPI",))
    made = b.finish()
    push(made, live)
    back = pull(live)
    return {"differences": [str(d) for d in differences(made, back)], "kinds": len(back.archetypes)}


def main() -> None:
    live = native.module().Stage("case")
    out: dict[str, Any] = {"told": ""}
    try:
        out["got"] = globals()[sys.argv[1]](live, small())
    except BridgeError as e:
        out["told"] = str(e)
    with live.query() as query:
        query.wait()
        out["rows"] = query.result().total_prim_count
    live.destroy()
    print(json.dumps(out))


if __name__ == "__main__":
    main()
