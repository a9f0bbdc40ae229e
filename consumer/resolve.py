"""From a stage to joint descriptors: the order of the work, nothing else (spec sections 1 to 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numba
import numpy as np

from consumer.axes import fill_axes
from consumer.blocks import RECORDS, Descriptors, JointBlock
from consumer.bodies import BodyTable
from consumer.columns import ColumnReader
from consumer.common import fill_common
from consumer.couplings import derive_bodies, fill_couplings
from consumer.drives import fill_drives
from consumer.findings import tell_findings
from consumer.frames import fill_frames
from consumer.limits import fill_limits
from consumer.order import joint_types, path_ranks, place_joints
from consumer.rulesets import CONTRACT, RuleSet
from consumer.rulesets import get as get_rules
from consumer.springs import fill_springs
from consumer.states import fill_states
from consumer.transforms import Transforms
from ovsim.diagnostics import Diagnostics
from ovsim.stage import Stage

SMALL = 65_536  # rows of a stage below which waking other threads costs more than it gives


def resolve(stage: Stage, rules: str | RuleSet = CONTRACT, custom_types: Sequence[str] = (), threads: int | None = None) -> Descriptors:
    """Resolve every joint row of a stage into descriptors, in the parser's order: type, then byte order of the path.

    `rules`: a rule set or its name (RulesError when unknown). `custom_types`: further joint type tokens, after the eight known ones. `threads`:
    how many threads the kernels use, by default all, or one on a small stage; results do not depend on it. Rows below a native-instancing
    prototype are included.
    Findings about columns, targets and frames are in the result's `diagnostics`.
    """
    chosen = get_rules(rules)
    diagnostics = Diagnostics()
    with _threads(1 if threads is None and len(stage) < SMALL else threads):
        types = joint_types(custom_types)
        placed = place_joints(stage, types, path_ranks(stage.paths))
        bodies = BodyTable.of(stage, chosen, diagnostics)
        transforms = Transforms.of(stage, bodies.flags, diagnostics)
        blocks = []
        for type_name, group in zip(types, placed):
            block = _empty_block(type_name, sum(len(p.archetype) for p in group))
            for p in group:
                reader = ColumnReader(p.archetype, diagnostics)
                fill_common(block, p.rows, reader)
                fill_frames(block, p.rows, reader, bodies, transforms, chosen)
                fill_limits(block, p.rows, reader)
                fill_drives(block, p.rows, reader)
                fill_states(block, p.rows, reader)
                fill_axes(block, p.rows, reader)
                fill_springs(block, p.rows, reader)
                fill_couplings(block, p.rows, reader)
            blocks.append(block)
        derive_bodies(blocks, stage.paths.path_count)
        out = Descriptors(stage.paths, tuple(blocks), chosen.name, diagnostics)
        tell_findings(out, bodies)
    return out


def _empty_block(type_name: str, n: int) -> JointBlock:
    records = RECORDS.get(type_name, {"limit": (), "drive": (), "state": (), "properties": ()})
    limits, drives, states, properties = (len(records[k]) for k in ("limit", "drive", "state", "properties"))
    f4, u1, u8 = np.float32, np.uint8, np.uint64
    # np.empty where every row is written by a kernel, zeros (untouched pages cost nothing) where the record defaults to zero
    return JointBlock(
        type_name,
        path=np.empty(n, u8),
        rel=np.empty((n, 2), u8),
        body=np.empty((n, 2), u8),
        position=np.empty((n, 2, 3), f4),
        orientation=np.empty((n, 2, 4), f4),
        enabled=np.empty(n, u1),
        collision=np.empty(n, u1),
        excluded=np.empty(n, u1),
        residual=np.empty(n, u1),
        valid_frames=np.empty(n, u1),
        break_force=np.empty((n, 2), f4),
        friction=np.empty(n, f4),
        axis=np.empty(n, u1),
        limit=np.zeros((n, limits, 6), f4),
        limit_listed=np.zeros((n, limits), u1),
        limit_enabled=np.zeros((n, limits), u1),
        drive=np.empty((n, drives, 8), f4),
        drive_listed=np.empty((n, drives), u1),
        drive_acceleration=np.empty((n, drives), u1),
        drive_envelope=np.empty((n, drives), u1),
        state=np.zeros((n, states, 2), f4),
        state_listed=np.zeros((n, states), u1),
        properties=np.empty((n, properties, 5), f4),
        properties_listed=np.empty((n, properties), u1),
        spring=np.zeros((n, 2), f4),
        spring_enabled=np.zeros(n, u1),
        coupled=np.zeros((n, 2), u8),
        ratio=np.zeros(n, f4),
    )


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    if count is None:
        yield
        return
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if not 1 <= count <= most:
        raise ValueError(f"threads is 1 to {most} on this machine, not {count}")
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)
