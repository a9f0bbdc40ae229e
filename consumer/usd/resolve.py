"""Descriptors straight from a USD stage, under the USD walker's rules (spec section 9, left column)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from pxr import Gf, Sdf, Usd, UsdUtils

from consumer.blocks import RECORDS, Descriptors, JointBlock
from consumer.constants import FLT_MAX
from consumer.couplings import derive_bodies
from consumer.resolve import resolve as resolve_rows
from consumer.rulesets import OBSERVED
from consumer.units import clamp_positive
from consumer.usd.rows import DOF, rows
from consumer.usd.source import UsdJoint, UsdSource
from consumer.usd.values import has_opinion
from ovsim import complaints
from ovsim.contract.joints import D6, DISTANCE
from ovsim.stage import Stage

BACKEND = "usd"
Openable: TypeAlias = str | os.PathLike[str] | Usd.Stage | UsdSource


def resolve(source: Openable, custom_types: Sequence[str] = ()) -> Descriptors:
    """Joint descriptors of a USD stage without population and without columns.

    `source`: a stage file, an open `Usd.Stage` or a `UsdSource`. The result has the shape of `consumer.resolve`: blocks in type order, rows in path
    order; `rules` is "usd", `metadata["namespace"]` holds the namespace rank of every joint by global index, int64 (n,), and
    `metadata["distance_first"]` tells that the D6 lists of this backend begin with distance. SourceError when the stage cannot be read. What
    OpenUSD complains of becomes `usd-parser` diagnostics.
    """
    return resolve_with_rows(source, custom_types)[2]


def resolve_with_rows(source: Openable, custom_types: Sequence[str] = ()) -> tuple[UsdSource, Stage, Descriptors]:
    """The opened source, the rows that the kernels read, and the descriptors over their path dictionary."""
    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        opened = source if isinstance(source, UsdSource) else UsdSource.open(source, custom_types)
        with opened.readable_transforms():
            stage = rows(opened, custom_types)
        out = resolve_rows(stage, OBSERVED, custom_types)
    finally:
        said = delegate.TakeUncoalescedDiagnostics()
        del delegate
    out.rules = BACKEND
    rank = {path: i for i, path in enumerate(opened.joints)}
    order = []
    for block in out.blocks:
        paths = out.paths.path_strings(block.path).to_pylist()
        order += [rank[p] for p in paths]
        for row, path in enumerate(paths):
            _overwrite(out, block, row, opened.joints[path])
    derive_bodies(out.blocks, stage)
    for path, complaint in opened.unparsed.items():
        out.diagnostics.add("usd-unparsed", "error", f"OpenUSD's parser fails here, the prim is left out: {complaint}", path)
    for line in sorted({complaints.text(c) for c in said}):
        out.diagnostics.add("usd-parser", "warning", line)
    out.metadata = {"backend": BACKEND, "namespace": np.array(order, np.int64), "distance_first": True}
    return opened, stage, out


def _overwrite(out: Descriptors, block: JointBlock, row: int, joint: UsdJoint) -> None:
    """Put OpenUSD's own answers into a row: bodies, frames, which limits count; and the authored values that the value-based rules miss."""
    desc = joint.desc
    for k, (body, position, turn) in enumerate(
        (
            (desc.body0, desc.localPose0Position, desc.localPose0Orientation),
            (desc.body1, desc.localPose1Position, desc.localPose1Orientation),
        )
    ):
        block.body[row, k] = 0 if body == Sdf.Path.emptyPath else out.paths.path(body.pathString)
        block.position[row, k] = position
        block.orientation[row, k] = _lanes(turn)
    if block.type_name == D6:
        at = {name: k for k, name in enumerate(RECORDS[D6]["limit"])}
        for pair in desc.jointLimits:
            block.limit_enabled[row, at[DOF[pair.first]]] = pair.second.enabled
    elif block.type_name == DISTANCE:
        block.limit_enabled[row, 0] = int(desc.minEnabled) + 2 * int(desc.maxEnabled)
    elif block.limit.shape[1]:
        block.limit_enabled[row, 0] = desc.limit.enabled
    _authored(block, row, joint.prim)


def _lanes(q: Gf.Quatf) -> tuple[Any, ...]:
    return (*q.GetImaginary(), q.GetReal())


def _authored(block: JointBlock, row: int, prim: Usd.Prim) -> None:
    """The authored bit: an authored axis value stands even where columns take it for the fallback (spec 9; findings axis-armature-zero,
    joint-velocity-inf)."""
    for k, instance in enumerate(RECORDS.get(block.type_name, {}).get("properties", ())):
        if not block.properties_listed[row, k]:
            continue
        armature, cap = (f"physxJointAxis:{instance}:{n}" for n in ("armature", "maxJointVelocity"))
        if block.properties[row, k, 0] != 0 and has_opinion(prim, armature) and not prim.GetAttribute(armature).Get() > 0:
            block.properties[row, k, 0] = clamp_positive(np.float32(prim.GetAttribute(armature).Get()))
        if block.properties[row, k, 1] != FLT_MAX and has_opinion(prim, cap) and not prim.GetAttribute(cap).Get() < FLT_MAX:
            block.properties[row, k, 1] = FLT_MAX
