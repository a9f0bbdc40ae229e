"""The consumer's phases."""

from __future__ import annotations

import pytest

import consumer
from consumer.order import rank_paths
from ovsim.bench.synthetic import KINDS, synthetic_stage


def test_resolve(benchmark, stage):
    """Descriptors into memory that is reused."""
    kept = consumer.Buffers()
    found = benchmark(lambda: consumer.resolve(stage, buffers=kept))
    assert len(found) == stage.metadata["joints"]


@pytest.mark.parametrize("kind", list(KINDS))
def test_resolve_kind(benchmark, kind):
    """Each joint type alone."""
    stage, kept = synthetic_stage(2400, kind), consumer.Buffers()
    found = benchmark(lambda: consumer.resolve(stage, buffers=kept))
    assert {b.type_name for b in found.blocks if len(b)} == set(KINDS[kind])


def test_resolve_batches(benchmark, stage):
    """Batch by batch, with the Arrow columns."""
    batches = consumer.resolve_batches(stage, rows=2000)
    assert sum(len(b) for b in benchmark(lambda: list(batches))) == stage.metadata["joints"]


def test_order(benchmark, stage):
    """Ranks of all paths."""
    assert int(benchmark(lambda: rank_paths(stage.paths)).max()) == stage.paths.path_count - 1


def test_to_arrow(benchmark, stage):
    """Descriptors as an Arrow table with path strings."""
    found = consumer.resolve(stage)
    assert benchmark(found.to_arrow).num_rows == len(found)


def test_physx(benchmark, stage):
    """The PhysX view, descriptors included."""
    assert benchmark(lambda: consumer.physx_view(stage)) is not None
