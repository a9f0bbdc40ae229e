"""Descriptors in batches, for stages that are larger than memory: memory-mapped columns in, Arrow record batches out.

What is kept for the whole stage is small: a few bytes a path, the world matrices of prims that carry bodies, the order of one joint type at a time.
Column values, the matrices of bodies and the descriptors exist for one batch only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from consumer.arrow import schema, to_table
from consumer.blocks import Descriptors, JointBlock
from consumer.bodies import BodyTable
from consumer.buffers import Buffers
from consumer.columns import ColumnReader
from consumer.couplings import COUPLED, derive_block
from consumer.findings import Teller
from consumer.frames import FrameSource, resolve_all_frames
from consumer.order import Placed, joint_types, no_marks, path_ranks, place_type
from consumer.passes import Runner
from consumer.prototypes import hidden_paths
from consumer.resolve import column_work, empty_block
from consumer.rulesets import CONTRACT, RuleSet
from consumer.rulesets import get as get_rules
from consumer.transforms import Transforms
from ovsim.diagnostics import Diagnostics
from ovsim.jit import readonly
from ovsim.stage import Archetype, Stage

ROWS = 1 << 17  # joints of a batch, by default


class Batches:
    """The descriptors of a stage, batch by batch, in the same order and with the same values as `consumer.resolve` gives them.

    Iterating yields `pyarrow.RecordBatch`es of `schema`, of at most `rows` joints, one joint type a batch; `diagnostics` are complete afterwards.
    It can be iterated once at a time and again from the start.
    """

    def __init__(
        self,
        stage: Stage,
        rules: str | RuleSet = CONTRACT,
        custom_types: Sequence[str] = (),
        *,
        rows: int = ROWS,
        threads: int | None = None,
        paths: str = "string",
    ) -> None:
        if rows < 1:
            raise ValueError(f"a batch has at least 1 row, not {rows}")
        self._stage, self._rules, self._paths, self._rows = stage, get_rules(rules), paths, rows
        self._types = joint_types(custom_types)
        self._runner = Runner.of(threads, None)
        self.schema = schema(paths).with_metadata({**(schema(paths).metadata or {}), b"ovsim:rules": self._rules.name.encode()})
        self.diagnostics = Diagnostics()

    def __len__(self) -> int:
        """How many joints there are."""
        return sum(len(a) for t in self._types for a in self._stage.with_type(t))

    def reader(self) -> pa.RecordBatchReader:
        """The batches as an Arrow stream."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.reader().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        stage = self._stage
        self.diagnostics = Diagnostics()
        teller = Teller(stage.paths, self.diagnostics)
        ranks = path_ranks(stage.paths)
        bodies = BodyTable.of(stage, self._rules, self.diagnostics, self._runner)
        transforms = Transforms.of(stage, bodies, self.diagnostics, self._runner)
        coupled = any(a.type_name in COUPLED and len(a) for a in stage.archetypes)
        hidden = hidden_paths(stage) if coupled else np.zeros(0, np.uint8)
        body_of_joint = np.zeros(hidden.size, np.uint64)
        order = Buffers()
        seen = no_marks(ranks, order)
        for type_name in self._types:
            placed = place_type(stage, type_name, ranks, seen, self._runner, order)
            sources = [np.argsort(p.rows, kind="stable") for p in placed]
            told = [ColumnReader(p.archetype, Diagnostics()) for p in placed]
            total = sum(len(p.archetype) for p in placed)
            for first in range(0, total, self._rows):
                n = min(self._rows, total - first)
                # fresh memory: the caller may keep a batch, whose columns are these arrays
                block, marks = empty_block(type_name, n, Buffers()), np.empty(n, np.uint8)
                self._resolve(block, first, placed, sources, told, bodies, transforms, marks)
                if coupled:
                    derive_block(block, body_of_joint, hidden)
                teller.add(block, marks)
                yield from self._batches(block)
        teller.finish()

    def _resolve(
        self,
        block: JointBlock,
        first: int,
        placed: Sequence[Placed],
        sources: Sequence[npt.NDArray[np.int64]],
        told: list[ColumnReader],
        bodies: BodyTable,
        transforms: Transforms,
        marks: npt.NDArray[np.uint8],
    ) -> None:
        """Rows `first` to `first + len(block)` of the type into the block."""
        columns, frames = [], []
        for k, (p, source) in enumerate(zip(placed, sources)):
            lo, hi = np.searchsorted(p.rows[source], (first, first + len(block))) if len(placed) > 1 else (first, first + len(block))
            if lo == hi:
                continue
            taken = source[lo:hi]
            part = Archetype(p.archetype.paths, p.archetype.type_name, p.archetype.schemas, _take(p.archetype.batch, taken))
            rows = readonly((p.rows[taken] - np.uint32(first)).astype(np.uint32))
            # what a column's type has to say is said once, not batch by batch
            reader = ColumnReader(part, self.diagnostics if told[k].diagnostics is not self.diagnostics else Diagnostics())
            told[k] = ColumnReader(p.archetype, self.diagnostics)
            columns.append(column_work(block, Placed(part, rows), reader))
            frames.append(FrameSource.of(block, rows, reader, self._rules, marks))
        self._runner.run(columns)
        resolve_all_frames(frames, bodies, transforms, self._rules, self._runner)

    def _batches(self, block: JointBlock) -> Iterator[pa.RecordBatch]:
        table = to_table(Descriptors(self._stage.paths, (block,), self._rules.name), self._paths)
        yield from table.combine_chunks().replace_schema_metadata(self.schema.metadata).to_batches()


def _take(batch: pa.RecordBatch, rows: npt.NDArray[np.int64]) -> pa.RecordBatch:
    """Rows of a batch, as a slice without a copy where they follow each other."""
    if rows[-1] - rows[0] == rows.size - 1 and bool(np.all(np.diff(rows) == 1)):
        return batch.slice(int(rows[0]), rows.size)
    return batch.take(pa.array(rows))


def resolve_batches(
    stage: Stage,
    rules: str | RuleSet = CONTRACT,
    custom_types: Sequence[str] = (),
    *,
    rows: int = ROWS,
    threads: int | None = None,
    paths: str = "string",
) -> Batches:
    """Resolve a stage batch by batch; see `Batches`. `rows`: joints of a batch at most; the rest as `consumer.resolve` and `Descriptors.to_arrow`."""
    return Batches(stage, rules, custom_types, rows=rows, threads=threads, paths=paths)
