"""What the contract pages say that PhysX would hold, where the runtime differs: the PhysX level of rule sets other than the observed one.

Each function below is one switch of `consumer.rulesets` that acts after the descriptors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from consumer.articulations import Articulations, articulate
from consumer.blocks import Descriptors
from consumer.bodies import BodyTable
from consumer.graph import STATIC
from consumer.order import path_ranks
from consumer.physx.limits import TWO_PI_EPS
from consumer.physx.stage_graph import StageGraph
from consumer.physx.view import PhysxView, build_view
from consumer.rulesets import RuleSet
from ovsim.contract.joints import D6, REVOLUTE
from ovsim.diff.flat import Flat
from ovsim.stage import Stage


def described_view(stage: Stage, descriptors: Descriptors, rules: RuleSet) -> PhysxView:
    """The view of descriptors under a rule set: its bodies, and its word on kinematic anchors."""
    anchor = _kinematic_is_static if rules.kinematic_anchor == "fixed_base" else None
    return build_view(stage, descriptors, BodyTable.of(stage, rules), path_ranks(stage.paths), anchor)


def _kinematic_is_static(g: StageGraph) -> Articulations:
    """A kinematic body anchors like a static one (finding kinematic-anchor)."""
    side = g.graph.side.copy()
    side[np.isin(side, np.flatnonzero(g.graph.body_kinematic))] = STATIC
    return articulate(replace(g.graph, side=side), g.roots)


def amend(flat: Flat, view: PhysxView, rules: RuleSet) -> Flat:
    """The PhysX level (`ovsim.diff.physx.of_view`) as the pages would have it."""
    g = view.graph
    joint = np.concatenate([view.standalone.joint, view.links.joint]).astype(np.int64)
    block = g.type_index[joint]
    names = np.array([b.type_name for b in view.descriptors.blocks], object)
    types = names[block] if names.size else np.empty(0, object)
    if rules.d6_articulation_limits == "free":
        _free(flat, np.flatnonzero((types == D6) & (np.arange(joint.size) >= view.standalone.joint.size)))
    if rules.revolute_clamp == "two_pi":
        here = np.flatnonzero(types == REVOLUTE)
        _within_a_turn(flat, view.descriptors, here, g.row[joint[here]])
    if rules.gear_without_hinges == "none" and "joints" in flat.columns:
        coupled = flat.columns["joints"]
        keep = [not ok or None not in two for two, ok in zip(coupled.values, coupled.valid)]
        return flat.only(np.flatnonzero(keep))
    return flat


def _free(flat: Flat, rows: npt.NDArray[np.int64]) -> None:
    for name, column in flat.columns.items():
        if name.startswith("axes.") and name.endswith(".motion"):
            column.values[rows[column.valid[rows]]] = "free"
        elif name.startswith("axes.") and name.endswith(".limit"):
            column.valid[rows] = False


def _within_a_turn(flat: Flat, descriptors: Descriptors, rows: npt.NDArray[np.int64], block_row: npt.NDArray[np.int64]) -> None:
    block = descriptors.block(REVOLUTE)
    if block is None or "limits.twist.lower" not in flat.columns:
        return
    lower, upper = flat.columns["limits.twist.lower"], flat.columns["limits.twist.upper"]
    bounds = block.limit[block_row, 0].astype(np.float64)
    held = lower.valid[rows] & (block.limit_enabled[block_row, 0] != 0) & ~(bounds[:, 0] > bounds[:, 1])
    turn = float(TWO_PI_EPS)
    lower.values[rows[held]] = np.maximum(bounds[held, 0], -turn)
    upper.values[rows[held]] = np.minimum(bounds[held, 1], turn)
