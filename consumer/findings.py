"""Diagnostics about resolved joints: what a user should look at, one row a joint, the rest of many as one summary row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import prange

from consumer.blocks import Descriptors, JointBlock
from consumer.bodies import ROW, BodyTable
from consumer.jit import kernel

Array = npt.NDArray[Any]
MOST = 100  # rows of one code and joint type, before the summary row
_ROW, _HALF = np.uint8(ROW), np.float32(0.5)

# bit: (code, column, message)
FINDINGS = (
    ("disjoint-frames", "", "the two joint frames do not meet in the world, so the bodies will snap together; check localPos and localRot"),
    ("invalid-frame", "physics:localRot0", "the local frame is zero or not finite, so no joint results; author finite values, a unit quaternion"),
    ("invalid-frame", "physics:localRot1", "the local frame is zero or not finite, so no joint results; author finite values, a unit quaternion"),
    ("target-without-row", "physics:body0", "the target has no row, so its own transform counts as identity; target a published prim"),
    ("target-without-row", "physics:body1", "the target has no row, so its own transform counts as identity; target a published prim"),
    ("same-body", "physics:body1", "both sides resolve to the same body, so no joint results; target two bodies"),
)


@kernel
def mark_findings(valid: Array, position: Array, orientation: Array, rel: Array, body: Array, flags: Array, marks: Array) -> None:
    """Bit k of `marks` (n,) uint8: FINDINGS[k] holds for the row."""
    for i in prange(valid.size):
        m = 0 if valid[i] else 1
        for k in range(2):
            n2 = np.float32(0)
            for lane in range(4):
                n2 += orientation[i, k, lane] * orientation[i, k, lane]
            finite = np.isfinite(position[i, k, 0]) and np.isfinite(position[i, k, 1]) and np.isfinite(position[i, k, 2])
            if not n2 > _HALF or not finite:  # a unit quaternion, a zero one or NaN: nothing else comes out of normalisation
                m |= 2 << k
            if rel[i, k] != 0 and not flags[rel[i, k]] & _ROW:
                m |= 8 << k
        if body[i, 0] != 0 and body[i, 0] == body[i, 1]:
            m |= 32
        marks[i] = m


def tell_findings(descriptors: Descriptors, bodies: BodyTable) -> None:
    """Append diagnostics of the kinds in `FINDINGS`."""
    for block in descriptors.blocks:
        marks = np.empty(len(block), np.uint8)
        mark_findings(block.valid_frames, block.position, block.orientation, block.rel, block.body, bodies.flags, marks)
        if marks.any():
            for bit, finding in enumerate(FINDINGS):
                _tell(descriptors, block, np.flatnonzero(marks & np.uint8(1 << bit)), *finding)


def _tell(descriptors: Descriptors, block: JointBlock, rows: Array, code: str, column: str, message: str) -> None:
    for row in rows[:MOST]:
        descriptors.diagnostics.add(code, "warning", message, descriptors.paths.path_string(int(block.path[row])), column)
    if rows.size > MOST:
        more = f"{rows.size - MOST} more {block.type_name} rows: {message}"
        descriptors.diagnostics.add(code, "warning", more, "", column)
