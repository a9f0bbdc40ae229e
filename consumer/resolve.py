"""From a stage to joint descriptors: the order of the work, nothing else (spec sections 1 to 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.axes import axis_fields
from consumer.blocks import RECORDS, Descriptors, JointBlock
from consumer.bodies import BodyTable
from consumer.buffers import Buffers
from consumer.columns import ColumnReader
from consumer.common import common_fields
from consumer.couplings import coupling_fields, derive_bodies
from consumer.drives import drive_fields
from consumer.findings import Teller
from consumer.frames import FrameSource, resolve_all_frames
from consumer.limits import limit_fields
from consumer.order import Placed, joint_types, path_ranks, place_joints
from consumer.passes import Runner, Work
from consumer.plan import fill_pass
from consumer.rulesets import CONTRACT, RuleSet
from consumer.rulesets import get as get_rules
from consumer.springs import spring_fields
from consumer.states import state_fields
from consumer.transforms import Transforms
from ovsim.contract.joints import DISTANCE, GEAR, RACK
from ovsim.diagnostics import Diagnostics
from ovsim.stage import Stage

_EXTRA = {"spring": {DISTANCE}, "spring_enabled": {DISTANCE}, "coupled": {GEAR, RACK}, "ratio": {GEAR, RACK}}
_RECORDS: dict[str, tuple[int, tuple[str, ...]]] = {
    "limit": (6, ("listed", "enabled")),
    "drive": (8, ("listed", "acceleration", "envelope")),
    "state": (2, ("listed",)),
    "properties": (5, ("listed",)),
}


def resolve(
    stage: Stage,
    rules: str | RuleSet = CONTRACT,
    custom_types: Sequence[str] = (),
    threads: int | None = None,
    chunk: int | None = None,
    buffers: Buffers | None = None,
) -> Descriptors:
    """Resolve every joint row of a stage into descriptors, in the parser's order: type, then byte order of the path.

    `rules`: a rule set or its name (RulesError when unknown). `custom_types`: further joint type tokens, after the eight known ones. `threads`:
    how many threads the kernels use, all cores by default (ValueError for more); `chunk`: rows that a thread takes at once. Results do not depend on
    either. `buffers`: memory to reuse from call to call; the result's arrays are then good until the next call with the same buffers. Rows below a
    native-instancing prototype are included. Findings about columns, targets and frames are in the result's `diagnostics`.
    """
    chosen = get_rules(rules)
    diagnostics = Diagnostics()
    runner, kept = Runner.of(threads, chunk), buffers or Buffers()
    types = joint_types(custom_types)
    placed = place_joints(stage, types, path_ranks(stage.paths), runner, kept)
    bodies = BodyTable.of(stage, chosen, diagnostics, runner, kept)
    transforms = Transforms.of(stage, bodies, diagnostics, runner, kept)
    blocks, marks, columns, frames = [], [], [], []
    for type_name, group in zip(types, placed):
        n = sum(len(p.archetype) for p in group)
        block = empty_block(type_name, n, kept)
        mark = kept.empty(("marks", type_name), (n,), np.uint8)
        for p in group:
            reader = ColumnReader(p.archetype, diagnostics)
            columns.append(column_work(block, p, reader))
            frames.append(FrameSource.of(block, p.rows, reader, chosen, mark))
        blocks.append(block)
        marks.append(mark)
    runner.fitted(sum(w.rows for w in columns)).run(columns)
    resolve_all_frames(frames, bodies, transforms, chosen, runner)
    derive_bodies(blocks, stage)
    out = Descriptors(stage.paths, tuple(blocks), chosen.name, diagnostics)
    teller = Teller(stage.paths, diagnostics)
    for block, mark in zip(blocks, marks):
        teller.add(block, mark)
    teller.finish()
    return out


def column_work(block: JointBlock, placed: Placed, reader: ColumnReader) -> Work:
    """The pass over one archetype's rows that reads nothing but its columns."""
    fields = [
        *common_fields(block, reader),
        *limit_fields(block, reader),
        *drive_fields(block, reader),
        *state_fields(block, reader),
        *axis_fields(block, reader),
        *spring_fields(block, reader),
        *coupling_fields(block, reader),
    ]
    return Work(len(placed.archetype), [fill_pass(placed.rows, len(block), fields)])


def empty_block(type_name: str, n: int, buffers: Buffers) -> JointBlock:
    """A block whose arrays hold anything where a pass writes every row, and zeros where the type has no such field."""
    records = RECORDS.get(type_name, {})
    f4, u1, u8 = np.float32, np.uint8, np.uint64

    def make(name: str, dtype: Any, *shape: int) -> npt.NDArray[Any]:
        take = buffers.empty if type_name in _EXTRA.get(name, {type_name}) else buffers.zeros
        return take((type_name, name), (n, *shape), dtype)

    arrays: dict[str, Any] = {"position": make("position", f4, 2, 3), "orientation": make("orientation", f4, 2, 4), "path": make("path", u8)}
    for kind, (lanes, flags) in _RECORDS.items():
        count = len(records.get(kind, ()))
        arrays[kind] = make(kind, f4, count, lanes)
        arrays.update((f"{kind}_{flag}", make(f"{kind}_{flag}", u1, count)) for flag in flags)
    for name in ("enabled", "collision", "excluded", "residual", "valid_frames", "axis", "spring_enabled"):
        arrays[name] = make(name, u1)
    arrays.update((name, make(name, u8, 2)) for name in ("rel", "body", "coupled"))
    arrays.update((name, make(name, f4)) for name in ("friction", "ratio"))
    arrays.update((name, make(name, f4, 2)) for name in ("break_force", "spring"))
    return JointBlock(type_name, **arrays)
