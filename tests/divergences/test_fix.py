"""`--fix`: a stage that lost columns gets back exactly what population had written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from bench_stages import BOTH, body, by_hand, joint, populated, scene, world
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from usd_stages import stages

from ovsim.check import check, fix
from ovsim.stage import AUTHORED, Archetype, Ragged, Stage, StageBuilder
from ovsim.stage import columns as col


def rows(stage: Stage) -> dict[str, dict[str, Any]]:
    """Every row with every column as plain values, ids as texts."""
    out = {}
    for a in stage.archetypes:
        for i, path in enumerate(stage.paths.path_strings(a.path_ids).to_pylist()):
            out[path] = {"type": a.type_name, "schemas": a.schemas} | {n: _cell(a, n, i) for n in a.names}
    return out


def _cell(a: Archetype, name: str, row: int) -> Any:
    got = a.values(name)
    value = got.values[got.offsets[row] : got.offsets[row + 1]] if isinstance(got, Ragged) else got[row]
    kind = col.semantic(a.field(name))
    if kind == col.TOKEN_ID:
        value = [a.paths.token_string(int(v)) for v in np.atleast_1d(value)]
    elif kind in (col.RELATIONSHIP, col.PATH_ID):
        value = a.paths.path_strings(np.atleast_1d(value)).to_pylist()
    return str(a.field(name).type), repr(value if isinstance(value, list) else value.tolist())


def _leaves_no_trace(line: str) -> bool:
    """Authored in a way that columns do not show: a block is an absent column, a velocity with samples only stays at its fallback."""
    return line.endswith("= None") or "Velocity.timeSamples" in line


def dropped(stage: Stage, lose: Any) -> Stage:
    """The stage without the unauthored columns for which `lose(path, column)` is true, row by row."""
    builder = StageBuilder(stage.paths)
    for a in stage.archetypes:
        for i, path in enumerate(a.path_ids):
            one = pa.array([i])
            kept = {
                n: (a.field(n), a.column(n).take(one))
                for n in a.names
                if not (n in a.provenance and a.provenance[n][i] != AUTHORED and lose(int(path), n))
            }
            codes = {n: a.provenance[n][i : i + 1] for n in kept if n in a.provenance}
            builder.add(a.type_name, np.array([path], np.uint64), kept, a.schemas, codes)
    return builder.finish()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(stages(max_prims=4, max_joints=3), st.randoms(use_true_random=False), st.sampled_from([0.1, 0.5, 1.0]))
def test_fix_restores_population(text, random, share):
    """Random stages, random columns lost: the repaired stage equals the populated one, row for row, type for type."""
    stage = populated("\n".join(line for line in text.partition(")\n")[2].splitlines() if not _leaves_no_trace(line)))
    poor = dropped(stage, lambda path, name: random.random() < share and not name.startswith(("omni:", "_proto")))
    repaired, changes = fix(poor)
    assert rows(repaired) == rows(stage)
    lost = sum(len(r) for r in rows(stage).values()) - sum(len(r) for r in rows(poor).values())
    assert sum(changes.column("rows").to_pylist()) == lost


def test_transforms_are_restored_as_identity():
    """A lost identity matrix and reset flag come back."""
    stage = populated(world(body("A", at=(0, 0, 0)), joint("PhysicsFixedJoint", "J", "/W/A")))
    poor = dropped(stage, lambda path, name: True)
    repaired, _ = fix(poor)
    hit = repaired.find("/W")
    assert hit is not None
    assert hit[0].values("omni:xform")[hit[1]].tolist() == np.eye(4).reshape(16).tolist()


def test_written_values_stay():
    """Only absent columns change; reversed bounds are told and left."""
    stage = by_hand(scene(("/W/J", "PhysicsRevoluteJoint", {**BOTH, "physics:lowerLimit": 60.0, "physics:upperLimit": -30.0}, ())))
    repaired, changes = fix(stage)
    archetype, row = repaired.find("/W/J")
    assert archetype.values("physics:lowerLimit")[row] == 60
    assert "physics:lowerLimit" not in changes.column("column").to_pylist()
    assert "reversed-limit" in {d.code for d in check(repaired)}


def test_wrong_types_are_cast_when_lossless():
    """A whole number in an int column, which the parser cannot read, becomes float32; a float64 one, which it can, stays."""
    builder = StageBuilder()
    builder.units(1.0, 1.0, "Z")
    columns = {"physics:lowerLimit": pa.array([-30.0], pa.float64()), "physics:upperLimit": pa.array([30], pa.int32())}
    builder.add("PhysicsRevoluteJoint", ["/J"], columns)
    repaired, changes = fix(builder.finish())
    archetype, _ = repaired.find("/J")
    assert archetype.field("physics:lowerLimit").type == pa.float64()
    assert archetype.values("physics:upperLimit").tolist() == [30]
    assert [(c["column"], c["after"]) for c in changes.to_pylist() if c["change"] == "cast"] == [("physics:upperLimit", "float")]


def test_fix_twice_changes_nothing():
    """A repaired stage needs no repair."""
    stage = by_hand(scene(("/W/J", "PhysicsJoint", BOTH, ["PhysicsLimitAPI:rotX", "PhysicsDriveAPI:rotX"])))
    repaired, changes = fix(stage)
    assert changes.num_rows > 10
    again, none = fix(repaired)
    assert none.num_rows == 0
    assert rows(again) == rows(repaired)
    assert "absent-column" not in {d.code for d in check(repaired)}


def test_fixed_snapshot_loads(tmp_path):
    """The repaired stage is a sound snapshot."""
    repaired, _ = fix(by_hand(scene(("/W/J", "PhysicsRevoluteJoint", BOTH, ()))))
    repaired.save(tmp_path / "snap")
    assert rows(Stage.load(tmp_path / "snap")) == rows(repaired)


@pytest.mark.parametrize("kind", ["PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsSphericalJoint"])
def test_defect_is_gone_after_fix(kind):
    """A hand-made joint without bounds is limited; repaired it is free, as population would have it."""
    import consumer

    stage = by_hand(scene(("/W/J", kind, BOTH, ())))
    assert consumer.resolve(stage).to_arrow().column("limit")[0].as_py()["enabled"]
    assert not consumer.resolve(fix(stage)[0]).to_arrow().column("limit")[0].as_py()["enabled"]


def test_without_units_the_parser_s_are_taken():
    """No row of / (README, columns by hand): thresholds are written for metres, as the parser assumes, not for USD's centimetres."""
    builder = StageBuilder()
    builder.add("Xform", ["/a"], {"omni:xform": np.eye(4).reshape(1, 16)}, ["PhysicsRigidBodyAPI", "PhysxRigidBodyAPI"])
    repaired, changes = fix(builder.finish())
    archetype, row = repaired.find("/a")
    in_metres, _ = fix(by_hand({"/a": ("Xform", {"omni:xform": np.eye(4).reshape(16)}, ["PhysicsRigidBodyAPI", "PhysxRigidBodyAPI"])}))
    wanted, at = in_metres.find("/a")
    assert "physxRigidBody:sleepThreshold" in changes.column("column").to_pylist()
    for name in archetype.names:
        assert np.array_equal(archetype.values(name)[row], wanted.values(name)[at]), name
