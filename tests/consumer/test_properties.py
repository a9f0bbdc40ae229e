"""What holds for every stage (spec sections 1 to 6)."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import stages

import consumer
from ovsim.contract.joints import JOINT_TYPES
from ovsim.stage import Stage


@settings(max_examples=40)
@given(stages(), st.sampled_from(["contract-0.6", "observed-0.6.3"]))
def test_no_row_is_lost(stage, rules):
    """Every joint row gives one descriptor, in type and path order."""
    found = consumer.resolve(stage, rules)
    rows = [
        (JOINT_TYPES.index(a.type_name), stage.paths.path_string(int(p)).encode())
        for a in stage.archetypes
        if a.type_name in JOINT_TYPES
        for p in a.path_ids
    ]
    got = [(JOINT_TYPES.index(b.type_name), found.paths.path_string(int(p)).encode()) for b in found.blocks for p in b.path]
    assert got == sorted(rows)


@settings(max_examples=40)
@given(stages())
def test_ranges(stage):
    """Clamped values are never negative, flags are 0 or 1, orientations are unit, zero, tiny or NaN."""
    for block in consumer.resolve(stage, "observed-0.6.3").blocks:
        for clamped in (block.friction, block.limit[..., 2:], block.properties[..., 2:], block.spring, block.drive[..., 5:]):
            assert not np.any(clamped < 0)
        assert not np.isinf(block.drive[..., 4]).any()
        for f in ("enabled", "collision", "excluded", "valid_frames", "limit_listed", "drive_listed", "drive_envelope"):
            assert np.isin(getattr(block, f), (0, 1)).all()
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            n = np.linalg.norm(block.orientation.astype(np.float64), axis=-1)
        assert np.all(np.isnan(n) | (np.abs(n - 1) < 1e-3) | (n < 1e-18) | (n < 1e-3))


@settings(max_examples=40)
@given(stages())
def test_archetype_order_does_not_matter(stage):
    """Archetypes in another order give the same bytes."""
    other = Stage(stage.paths, tuple(reversed(stage.archetypes)), stage.diagnostics, stage.metadata)
    for a, b in zip(consumer.resolve(stage).blocks, consumer.resolve(other).blocks):
        for f in dataclasses.fields(a):
            if f.name != "type_name":
                assert getattr(a, f.name).tobytes() == getattr(b, f.name).tobytes(), f.name


@settings(max_examples=40)
@given(stages())
def test_bodies_lie_at_or_above_their_targets(stage):
    """A body is its target or one of its ancestors, unless a gear or rack derived it."""
    for block in consumer.resolve(stage).blocks:
        if block.type_name.startswith("Physx"):
            continue
        for rel, body in zip(block.rel.reshape(-1), block.body.reshape(-1)):
            here = int(rel)
            while here and here != int(body):
                here = int(stage.paths.parents[here])
            assert body == 0 or here == int(body)
