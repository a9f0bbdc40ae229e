"""The short way to scales and checks gives what the rules give, on stages where it is often almost wrong."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

import consumer
from consumer.transforms import Transforms
from ovsim.bench.synthetic import synthetic_stage
from ovsim.jit import readonly
from ovsim.stage import Archetype, Stage

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
