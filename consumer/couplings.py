"""Gear and rack joints: the joints they couple, their ratio, bodies derived from those joints (spec 1.3, 8.2; contract page of the gear joint)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import JointBlock
from consumer.columns import ColumnReader
from consumer.fields import FIRST_TARGET, Field, Lane, raw
from consumer.prototypes import hidden_paths
from ovsim.contract.joints import GEAR, RACK
from ovsim.jit import serial
from ovsim.stage import Stage

Array = npt.NDArray[Any]
_NONE = np.uint64(0)
COUPLED: dict[str, tuple[str, str, str]] = {
    GEAR: ("physics:hinge0", "physics:hinge1", "physics:gearRatio"),
    RACK: ("physics:hinge", "physics:prismatic", "physics:ratio"),
}


def coupling_fields(block: JointBlock, reader: ColumnReader) -> list[Field]:
    """Coupled joints of one archetype's rows, the first target of either relationship, 0 = none; the ratio as authored."""
    if block.type_name not in COUPLED:
        return []
    *both, ratio = COUPLED[block.type_name]
    coupled = []
    for name in both:
        offsets, targets, step = reader.targets(name)
        coupled.append(Lane(FIRST_TARGET, ((offsets, step), (targets, 0))))
    return [Field(block.coupled, {0: tuple(coupled)}), Field(block.ratio, {0: (raw(reader.float32(ratio)),)})]


def derive_bodies(blocks: Sequence[JointBlock], stage: Stage) -> None:
    """Give each side of a gear or rack joint that resolves to no body the body of the joint it couples there: its body1 if there is one, else body0.

    Side by side and in joint order, as observed: a coupled gear or rack counts when it comes earlier, with the bodies that it got itself. A coupled
    path that is no joint row gives no body, and neither does a joint where nothing is created (`consumer.prototypes`).
    """
    if not any(b.type_name in COUPLED and np.any((b.body == 0) & (b.coupled != 0)) for b in blocks):
        return
    hidden = hidden_paths(stage)
    body_of_joint = np.zeros(hidden.size, np.uint64)
    for block in blocks:
        derive_block(block, body_of_joint, hidden)


def derive_block(block: JointBlock, body_of_joint: Array, hidden: Array) -> None:
    """The next rows in joint order: fill what gears and racks lack from `body_of_joint` (path_count,) uint64, and record the rows' own bodies but
    those of `hidden` paths (path_count,) uint8."""
    if block.type_name in COUPLED:
        derive_in_order(block.path, block.body, block.coupled, body_of_joint, hidden)
    else:
        own = np.where(block.body[:, 1] != 0, block.body[:, 1], block.body[:, 0])
        body_of_joint[block.path] = np.where(hidden[block.path] != 0, _NONE, own)


@serial
def derive_in_order(path: Array, body: Array, coupled: Array, body_of_joint: Array, hidden: Array) -> None:
    """Fill the missing sides of `body` (n, 2) row by row and record each row's own body for the rows that follow."""
    for i in range(path.size):
        for k in range(2):
            if body[i, k] == 0:
                body[i, k] = body_of_joint[coupled[i, k]]
        if not hidden[path[i]]:
            body_of_joint[path[i]] = body[i, 1] if body[i, 1] != 0 else body[i, 0]
