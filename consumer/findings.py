"""Diagnostics about resolved joints: what a user should look at, one row a joint, the rest of many as one summary row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import JointBlock
from consumer.bodies import ROW
from consumer.couplings import COUPLED
from ovsim.diagnostic_codes import CODES
from ovsim.diagnostics import Diagnostics
from ovsim.jit import rule
from ovsim.stage import PathDictionary

Array = npt.NDArray[Any]
MOST = 100  # rows of one code and joint type, before the summary row
NO_MARKS, DISJOINT, SAME_BODY = np.uint8(0), np.uint8(1), np.uint8(32)  # bits of the first and the last finding
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


@rule
def sane_bit(k: int) -> np.uint8:
    """The bit that tells of side `k` that its frame is not sane."""
    return np.uint8(2 << k)


@rule
def missing_bit(k: int) -> np.uint8:
    """The bit that tells of side `k` that its target has no row."""
    return np.uint8(8 << k)


@rule
def sane_frame(px: np.float32, py: np.float32, pz: np.float32, x: np.float32, y: np.float32, z: np.float32, w: np.float32) -> bool:
    """Finite position, and a unit quaternion: nothing but a zero one or NaN comes out of normalisation else."""
    return np.isfinite(px) & np.isfinite(py) & np.isfinite(pz) & (x * x + y * y + z * z + w * w > _HALF)


class Teller:
    """Appends diagnostics of the kinds in `FINDINGS`: `MOST` rows of one kind and joint type, then one summary row in the end."""

    def __init__(self, paths: PathDictionary, diagnostics: Diagnostics) -> None:
        self._paths, self._diagnostics = paths, diagnostics
        self._told: dict[tuple[str, int], int] = {}

    def add(self, block: JointBlock, marks: Array) -> None:
        """Tell of a block's rows; `marks` (n,) uint8 are their bits."""
        found = marks
        if block.type_name in COUPLED:  # their bodies may have come from the joints they couple
            same = (block.body[:, 0] != 0) & (block.body[:, 0] == block.body[:, 1])
            found = np.where(same, found | SAME_BODY, found & ~SAME_BODY)
        if not found.any():
            return
        for bit, (code, column, message) in enumerate(FINDINGS):
            rows = np.flatnonzero(found & np.uint8(1 << bit))
            told = self._told.get((block.type_name, bit), 0)
            for row in rows[: max(0, MOST - told)]:
                self._diagnostics.add(code, CODES[code].severity, message, self._paths.path_string(int(block.path[row])), column)
            self._told[block.type_name, bit] = told + rows.size

    def finish(self) -> None:
        """The summary rows."""
        for (type_name, bit), told in self._told.items():
            if told > MOST:
                code, column, message = FINDINGS[bit]
                self._diagnostics.add(code, CODES[code].severity, f"{told - MOST} more {type_name} rows: {message}", "", column)
