"""The short way to scales and checks gives what the rules give, on stages where it is often almost wrong."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

import consumer
from consumer.bodies import BodyTable
from consumer.rulesets import get
from consumer.transforms import Transforms
from ovsim.bench.synthetic import synthetic_stage
from ovsim.contract.joints import JOINT_TYPES
from ovsim.diagnostics import Diagnostics
from ovsim.jit import readonly
from ovsim.stage import Archetype, Stage, StageBuilder
from ovsim.stage import columns as col

RULES = ("contract-0.6", "observed-0.6.3")
OFFSETS = [0, 0, -0.0, 1e-7, 5e-4, 9.99e-4, 1e-3, 1.001e-3, 0.1]


def turned(m, rng):
    """Robots mirrored, scaled, and all but scaled uniformly; bodies with shear that is none, or next to none."""
    k = len(m)
    m[:, :3, :3] *= rng.choice([1, 2, -3, 1e-3, 1e5], (k, 1, 1)) * (1 + rng.choice([0, 0, 1e-15, 1e-13, 1e-9], (k, 3, 1)))
    m[:, :3, :3] += rng.choice([0, 0, 0, 1e-16, 1e-14, 1e-9, 0.1], (k, 1, 1)) * rng.normal(size=(k, 3, 3))


def far(m, rng):
    """Bodies and robots far out, where rounding moves positions."""
    m[:, 3, :3] += 10.0 ** rng.integers(-3, 12, (len(m), 1)) * rng.choice([0, 1], (len(m), 1))


def flat(m, rng):
    """Scales at the least scale, zero and not finite."""
    m[:, :3, :3] *= rng.choice([1, 1, 1e-5, 1e-6, 0.9999e-5, 1.0001e-5, 0, np.inf, 1e200, 1e-200], (len(m), 3, 1))


def robots(m, rng):
    """Scaled and mirrored as a whole."""
    m[:, :3, :3] *= rng.choice([2, -3, 0.01, 1], (len(m), 1, 1))


def changed(stage, seed, move, schemas=None, frames=True):
    """A synthetic stage with other matrices (of the rows with these schemas only), and `frames` that are off by about the tolerance."""
    rng = np.random.default_rng(seed)
    out = []
    for a in stage.archetypes:
        batch = a.batch
        for name in a.names:
            if name == "omni:xform" and schemas in (None, a.schemas):
                v = np.array(a.values(name)).reshape(-1, 4, 4)
                with np.errstate(all="ignore"):
                    move(v, rng)
            elif frames and name.startswith(("physics:localPos", "physics:localRot")):
                v = np.array(a.values(name))
                v += rng.choice(OFFSETS, v.shape).astype(np.float32) * (rng.random((len(v), 1)) < 0.5)
                v[rng.random(v.shape) < 0.02] *= np.float32(-0.0)
            else:
                continue
            k, field = batch.schema.get_field_index(name), a.field(name)
            values = pa.FixedSizeListArray.from_arrays(pa.array(v.reshape(-1)), field.type.list_size)
            batch = batch.set_column(k, field, values.cast(field.type))
        out.append(Archetype(a.paths, a.type_name, a.schemas, batch))
    return Stage(stage.paths, tuple(out))


def arrays(found):
    """Bytes of all arrays, NaN as one NaN."""
    out = {}
    for b in found.blocks:
        for name, value in vars(b).items():
            if isinstance(value, np.ndarray):
                one = np.where(np.isnan(value), np.float32(np.nan), value) if value.dtype == np.float32 else value
                out[b.type_name, name] = one.tobytes()
    return out


@pytest.fixture
def by_rule(monkeypatch):
    """Resolves with no prim that the short way could stand on."""

    def resolve(stage, rules):
        made = Transforms.of.__func__

        def without(cls, *args):
            found = made(cls, *args)
            return dataclasses.replace(found, stretch=readonly(np.zeros_like(found.stretch)))

        with monkeypatch.context() as patched:
            patched.setattr(Transforms, "of", classmethod(without))
            return consumer.resolve(stage, rules)

    return resolve


@pytest.mark.parametrize("move", [turned, far, flat])
@pytest.mark.parametrize("rules", RULES)
def test_spec_4_the_short_way_is_the_rule(by_rule, move, rules):
    """spec 4.2, 4.5, 4.7: bit for bit, but for the payload of NaN."""
    for seed in range(3):
        stage = changed(synthetic_stage(1200), seed, move)
        assert arrays(consumer.resolve(stage, rules)) == arrays(by_rule(stage, rules))


@pytest.mark.parametrize("rules", RULES)
def test_spec_4_7_frames_of_scaled_robots_meet(by_rule, rules):
    """spec 4.7: a robot's own scale or mirror image moves both frames alike."""

    stage = synthetic_stage(1200)
    moved = changed(stage, 0, robots, schemas=(), frames=False)
    found = consumer.resolve(moved, rules)
    assert all(b.valid_frames.all() for b in found.blocks)
    assert arrays(found) == arrays(by_rule(moved, rules))
    assert arrays(found) != arrays(consumer.resolve(stage, rules))


def jointed(seed):
    """Bodies, enabled or not, below prims with, without and with a reset matrix, at the root and on colliders; joints between any of them, some of
    whose frames meet in the world."""
    rng = np.random.default_rng(seed)
    builder = StageBuilder()
    places, kinds = [""], {}
    for i in range(300):
        kind = str(rng.choice(["xform", "scope", "body", "collider", "reset"], p=[0.25, 0.15, 0.4, 0.15, 0.05]))
        above = [p for p in places if "/body" not in p] if kind == "body" else places
        path = f"{above[rng.integers(len(above))]}/{kind}{i}"
        kinds.setdefault(kind, []).append(path)
        places.append(path)
    apis = {"body": ["PhysicsRigidBodyAPI"], "collider": ["PhysicsCollisionAPI"]}
    for kind, paths in kinds.items():
        n = len(paths)
        m = np.zeros((n, 4, 4))
        turn, _ = np.linalg.qr(rng.normal(size=(n, 3, 3)))
        m[:, :3, :3] = turn * rng.choice([1.0, 2.0, 0.5], (n, 1, 1)) * np.where(rng.random((n, 1, 1)) < 0.1, rng.random((n, 3, 1)) + 0.5, 1.0)
        m[:, 3, :3], m[:, 3, 3] = rng.normal(size=(n, 3)), 1.0
        columns = {"omni:xform": m.reshape(n, 16), "omni:resetXformStack": np.full(n, kind == "reset", np.uint8)}
        if kind == "body":
            columns["physics:rigidBodyEnabled"] = (rng.random(n) < 0.8).astype(np.uint8)
        builder.add("Scope" if kind == "scope" else "Xform", paths, {} if kind == "scope" else columns, apis.get(kind, []))
    targets = np.array([0] + [builder.paths.path(p) for p in places[1:]] + [builder.paths.path("/none"), builder.paths.path(f"{places[5]}.prop")])
    for k, type_name in enumerate(JOINT_TYPES):
        n = 90
        both = targets[rng.integers(0, targets.size, (2, n))]
        both[1] = np.where(rng.random(n) < 0.2, 0, both[1])
        columns = {}
        for side in (0, 1):
            columns[f"physics:localPos{side}"] = rng.choice([0.0, 0.25, 1.0], (n, 3)).astype(np.float32)
            columns[f"physics:localRot{side}"] = rng.normal(size=(n, 4)).astype(np.float32)
            columns[f"physics:body{side}"] = col.ragged(
                np.concatenate([[0], np.cumsum(both[side] > 0)]), both[side][both[side] > 0].astype(np.uint64)
            )
        same = rng.random(n) < 0.3
        columns["physics:localPos1"][same] = columns["physics:localPos0"][same]
        columns["physics:localRot1"][same] = columns["physics:localRot0"][same]
        builder.add(type_name, [f"/joints/j{k}_{i}" for i in range(n)], columns)
    return builder.finish()


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("seed", range(4))
def test_spec_3_1_any_target_goes_either_way(by_rule, rules, seed):
    """spec 3.1, 4: bodies told of by `stand` and all others, by the short way and by the rules."""
    stage = jointed(seed)
    found = consumer.resolve(stage, rules)
    assert arrays(found) == arrays(by_rule(stage, rules))
    assert arrays(found) == arrays(consumer.resolve(stage, rules, threads=1, chunk=7))
    stand = Transforms.of(stage, BodyTable.of(stage, get(rules)), Diagnostics()).stand
    targets = np.concatenate([b.rel.reshape(-1) for b in found.blocks]).astype(np.int64)
    assert 0 < np.count_nonzero(stand[targets]) < np.count_nonzero(targets)
    assert {bool(v) for b in found.blocks for v in b.valid_frames} == {True, False}
