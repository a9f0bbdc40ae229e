"""What the contract pages say that PhysX would hold, where the runtime differs: the PhysX level of rule sets other than the observed one.

Each function below is one switch of `consumer.rulesets` that acts after the descriptors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

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
from ovsim.stage import Stage

Document = dict[str, Any]


def described_view(stage: Stage, descriptors: Descriptors, rules: RuleSet) -> PhysxView:
    """The view of descriptors under a rule set: its bodies, and its word on kinematic anchors."""
    anchor = _kinematic_is_static if rules.kinematic_anchor == "fixed_base" else None
    return build_view(stage, descriptors, BodyTable.of(stage, rules), path_ranks(stage.paths), anchor)


def _kinematic_is_static(g: StageGraph) -> Articulations:
    """A kinematic body anchors like a static one (finding kinematic-anchor)."""
    side = g.graph.side.copy()
    side[np.isin(side, np.flatnonzero(g.graph.body_kinematic))] = STATIC
    return articulate(replace(g.graph, side=side), g.roots)


def amend(document: Document, view: PhysxView, rules: RuleSet) -> Document:
    """The interchange document as the pages would have it."""
    joints: dict[str, Document] = document["joints"]
    if rules.gear_without_hinges == "none":
        joints = {p: j for p, j in joints.items() if None not in j.get("joints", ())}
    types = _types(view.descriptors)
    if rules.d6_articulation_limits == "free":
        joints = {p: _free(j) if types[p] == D6 and j["kind"] == "articulation" else j for p, j in joints.items()}
    if rules.revolute_clamp == "two_pi":
        bounds = _bounds(view.descriptors)
        joints = {p: _within_a_turn(j, bounds[p]) if p in bounds else j for p, j in joints.items()}
    return {**document, "joints": joints}


def _types(descriptors: Descriptors) -> dict[str, str]:
    return {p: b.type_name for b in descriptors.blocks for p in descriptors.paths.path_strings(b.path).to_pylist()}


def _bounds(descriptors: Descriptors) -> dict[str, tuple[float, float]]:
    block = descriptors.block(REVOLUTE)
    if block is None:
        return {}
    paths = descriptors.paths.path_strings(block.path).to_pylist()
    return {p: (float(v[0]), float(v[1])) for p, v, on in zip(paths, block.limit[:, 0], block.limit_enabled[:, 0]) if on}


def _free(joint: Document) -> Document:
    axes = {a: {k: v for k, v in entry.items() if k != "limit"} | {"motion": "free"} for a, entry in joint["axes"].items()}
    return {**joint, "axes": axes}


def _within_a_turn(joint: Document, bounds: tuple[float, float]) -> Document:
    twist = joint.get("limits", {}).get("twist")
    if twist is None or bounds[0] > bounds[1]:
        return joint
    turn = float(TWO_PI_EPS)
    held = {"lower": max(bounds[0], -turn), "upper": min(bounds[1], turn)}
    return {**joint, "limits": {**joint["limits"], "twist": {**twist, **held}}}
