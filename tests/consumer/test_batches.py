"""Ranges, threads, buffers and batches change no bit of a result."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import consumer
from consumer.bodies import MOST_STEPS, BodyTable
from consumer.passes import Runner
from consumer.rulesets import get
from consumer.transforms import Transforms
from ovsim.bench.synthetic import KINDS, synthetic_stage
from ovsim.diagnostics import Diagnostics
from ovsim.stage import Stage, StageBuilder

sys.path.insert(0, str(Path(__file__).parent))
from jit_worker import stage as random_stage

RULES = ("contract-0.6", "observed-0.6.3")


def arrays(found: consumer.Descriptors) -> dict[str, bytes]:
    """Every array of every block, as bytes."""
    return {f"{b.type_name}.{n}": v.tobytes() for b in found.blocks for n, v in vars(b).items() if isinstance(v, np.ndarray)}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("seed", [3, 4])
def test_range_size_and_thread_count_do_not_matter(seed, rules):
    """Ranges of 1, 7 and all rows; one thread and all."""
    stage = random_stage(seed)
    want = arrays(consumer.resolve(stage, rules, threads=1))
    for chunk in (1, 7, None):
        for threads in {1, os.cpu_count() or 1}:
            assert arrays(consumer.resolve(stage, rules, threads=threads, chunk=chunk)) == want


def test_large_stages_too():
    """Enough rows for several ranges on every thread, under names whose path order is not the order of the rows."""
    stage = synthetic_stage(60_000)
    found = consumer.resolve(stage)
    whole = arrays(consumer.resolve(stage, threads=1, chunk=1 << 20))
    assert arrays(found) == whole
    assert arrays(consumer.resolve(stage, chunk=777)) == whole  # rows of a range go to other ranges' places
    assert len(found.diagnostics) == 0
    paths = found.to_arrow()["path"].to_pylist()
    for block in found.blocks:
        mine = found.paths.path_strings(block.path).to_pylist()
        assert mine == sorted(mine)
    assert len(set(paths)) == len(found) == 60_000


@pytest.mark.parametrize("rules", RULES)
def test_buffers_are_reused_and_do_not_leak(rules):
    """A result in used memory equals one in fresh memory, whatever was resolved there before."""
    kept = consumer.Buffers()
    for source in (random_stage(5), synthetic_stage(1200), random_stage(6), synthetic_stage(24, "gear")):
        assert arrays(consumer.resolve(source, rules, buffers=kept)) == arrays(consumer.resolve(source, rules))
    held = kept.nbytes
    again = consumer.resolve(synthetic_stage(24, "gear"), rules, buffers=kept)
    assert kept.nbytes == held
    assert len(again) == 24


@pytest.mark.parametrize("rows", [1, 5, 1000])
@pytest.mark.parametrize("rules", RULES)
def test_batches_equal_the_whole(rules, rows):
    """The same table, row by row, and the same diagnostics."""
    stage = random_stage(8)
    whole = consumer.resolve(stage, rules)
    batches = consumer.resolve_batches(stage, rules, rows=rows)
    got = pa.Table.from_batches(list(batches), batches.schema)
    want = whole.to_arrow()
    assert got.schema == want.schema
    assert str(got.to_pylist()) == str(want.to_pylist())
    assert max(len(b) for b in batches) <= rows
    assert len(batches) == len(want)
    rest = {(d.code, d.path, d.column) for d in whole.diagnostics}
    assert {(d.code, d.path, d.column) for d in batches.diagnostics} == rest


@pytest.mark.parametrize("kind", list(KINDS))
def test_batches_of_every_kind_from_a_snapshot(kind, tmp_path):
    """Memory-mapped columns in, a Parquet stream out."""
    synthetic_stage(240, kind).save(tmp_path / "stage")
    stage = Stage.load(tmp_path / "stage")
    batches = consumer.resolve_batches(stage, rows=50, threads=1)
    with pq.ParquetWriter(tmp_path / "joints.parquet", batches.schema) as writer:
        for batch in batches.reader():
            writer.write_batch(batch)
    assert str(pq.read_table(tmp_path / "joints.parquet").to_pylist()) == str(consumer.resolve(stage).to_arrow().to_pylist())


def test_empty_stage_gives_no_batch():
    """No joints: an empty stream with the schema."""
    batches = consumer.resolve_batches(StageBuilder().finish())
    assert list(batches) == []
    assert batches.reader().read_all().num_rows == 0


def test_bad_numbers_are_refused():
    """Threads beyond the cores, empty ranges, empty batches."""
    stage = synthetic_stage(12)
    with pytest.raises(ValueError, match="threads is 1 to"):
        consumer.resolve(stage, threads=(os.cpu_count() or 1) + 1)
    with pytest.raises(ValueError, match="chunk is at least 1"):
        consumer.resolve(stage, chunk=0)
    with pytest.raises(ValueError, match="at least 1 row"):
        consumer.resolve_batches(stage, rows=0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_matrices_in_place_and_in_the_table_agree(seed):
    """Which columns are read in place changes no bit, nested bodies and colliders below bodies included."""
    stage = random_stage(seed)
    bodies = BodyTable.of(stage, get(RULES[1]))
    ids = np.arange(stage.paths.path_count, dtype=np.uint64)
    tables = [Transforms.of(stage, bodies, Diagnostics(), Runner(1), in_place=k).of_paths(ids) for k in (0, 1, 3)]
    assert np.array_equal(tables[0], tables[1], equal_nan=True)
    assert np.array_equal(tables[0], tables[2], equal_nan=True)


def test_deep_dictionaries_resolve_without_walking():
    """Below more names than a walk may take: the same bodies and frames as with a short path."""
    deep = "/a" * (2 * MOST_STEPS)
    builder = StageBuilder()
    lift = np.eye(4)
    lift[3, :3] = 1, 2, 3
    builder.add("Xform", [deep], {"omni:xform": lift.reshape(1, 16)}, ["PhysicsRigidBodyAPI"])
    builder.add("PhysicsFixedJoint", ["/j"], {"physics:body0": [[deep + "/b/c"]], "physics:localPos0": [[1.0, 0.0, 0.0]]})
    stage = builder.finish()
    bodies = BodyTable.of(stage, get(RULES[1]))
    assert bodies.deep
    (row,) = consumer.resolve(stage).to_arrow().to_pylist()
    assert row["body0"] == deep
    assert row["localPose0Position"] == [1, 0, 0]
    at = Transforms.of(stage, bodies, Diagnostics()).of_paths([stage.paths.find(deep + "/b/c")])
    assert at[0, 3].tolist() == [1, 2, 3]
