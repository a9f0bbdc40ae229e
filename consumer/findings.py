"""Diagnostics about resolved joints: what a user should look at, one row a joint, the rest of many as one summary row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.blocks import Descriptors, JointBlock
from consumer.bodies import ROW, BodyTable
from ovsim.diagnostics import Diagnostics

MOST = 100  # rows of one code and joint type, before the summary row


def tell_findings(descriptors: Descriptors, bodies: BodyTable) -> None:
    """Append rows: `disjoint-frames`, `invalid-orientation`, `target-without-row`, `same-body`, `coupled-joint-missing`."""
    for block in descriptors.blocks:
        if not len(block):
            continue
        tell = _Teller(descriptors, block)
        tell("disjoint-frames", block.valid_frames == 0, "", "the two joint frames do not meet in the world; the bodies will snap together")
        for k in (0, 1):
            n2 = np.einsum("ij,ij->i", block.orientation[:, k], block.orientation[:, k])
            bad = ~(n2 > np.float32(0.5))
            tell("invalid-orientation", bad, f"physics:localRot{k}", "the orientation is zero or not finite; author a unit quaternion")
            lost = (block.rel[:, k] != 0) & ~bodies.has(block.rel[:, k], ROW)
            message = "the target has no row, so its own transform counts as identity; publish it or target a published prim"
            tell("target-without-row", lost, f"physics:body{k}", message)
        same = (block.body[:, 0] == block.body[:, 1]) & (block.body[:, 0] != 0)
        tell("same-body", same, "physics:body1", "both sides resolve to the same body; the runtime creates no joint")


class _Teller:
    def __init__(self, descriptors: Descriptors, block: JointBlock) -> None:
        self._out: Diagnostics = descriptors.diagnostics
        self._paths = descriptors.paths
        self._block = block

    def __call__(self, code: str, hit: npt.NDArray[Any], column: str, message: str) -> None:
        rows = np.flatnonzero(hit)
        for path in self._paths.path_strings(self._block.path[rows[:MOST]]).to_pylist():
            self._out.add(code, "warning", message, path, column)
        if rows.size > MOST:
            self._out.add(code, "warning", f"{rows.size - MOST} more {self._block.type_name} rows: {message}", "", column)
