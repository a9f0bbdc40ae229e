"""From a stage to what PhysX holds: the order of the work (spec sections 7 and 8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from consumer import building as bd
from consumer.articulations import Articulations, articulate
from consumer.blocks import Descriptors, JointBlock
from consumer.bodies import BodyTable
from consumer.constants import FLT_MAX
from consumer.graph import MISSING
from consumer.order import path_ranks
from consumer.physx import articulation_joint, gears, standalone
from consumer.physx import codes as c
from consumer.physx.articulation_joint import LinkJoints
from consumer.physx.fixup import FIXUP, fixup_of, place_frames, sane_frames
from consumer.physx.gate import gate
from consumer.physx.owners import Owners, without
from consumer.physx.poses import replace_refused_poses
from consumer.physx.settings import articulation_settings
from consumer.physx.stage_graph import StageGraph, stage_graph
from consumer.physx.standalone import Standalone
from consumer.resolve import resolve
from consumer.rulesets import OBSERVED, get
from ovsim.contract.joints import GEAR, JOINT_TYPES, RACK
from ovsim.diagnostics import Diagnostics
from ovsim.stage import Stage

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class PhysxView:
    """What ovphysx 0.6.3 makes of a stage; always under the rule set `observed-0.6.3`.

    outcome, reason (n,) uint8: `codes.OUTCOMES`, `codes.REASONS`, a joint a row in joint order (`Descriptors`). `standalone` and `links` hold the
    joints that exist, `articulations` the articulations over the indices of `graph`. `settings` has an array a setting, a row an accepted root.
    `mixed`: accepted roots (index) whose links belong to different scenes; `homeless` path ids of bodies and colliders whose owner is no scene.
    Tables: `physx_joints`, `articulation_table`, `link_table`.
    """

    descriptors: Descriptors
    graph: StageGraph
    articulations: Articulations
    outcome: Array
    reason: Array
    standalone: Standalone
    links: LinkJoints
    settings: dict[str, Array]
    bodies: BodyTable
    mixed: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    homeless: Array = field(default_factory=lambda: np.zeros(0, np.uint64))

    def __len__(self) -> int:
        return int(self.outcome.size)

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """Findings of the descriptors and of the runtime, each code documented in `ovsim.diagnostic_codes`."""
        from consumer.physx.findings import tell

        return tell(self)

    @property
    def physx_joints(self) -> pa.Table:
        """A row a joint of the stage, in joint order; see `consumer.physx.tables`."""
        from consumer.physx.tables import joint_table

        return joint_table(self)

    @property
    def articulation_table(self) -> pa.Table:
        """A row an articulation, in the order of creation."""
        from consumer.physx.tables import articulation_table

        return articulation_table(self)

    @property
    def link_table(self) -> pa.Table:
        """A row a link, in the order of creation."""
        from consumer.physx.tables import link_table

        return link_table(self)


def physx_view(stage: Stage, custom_types: Sequence[str] = (), threads: int | None = None) -> PhysxView:
    """The PhysX view of a stage: articulations, concrete joints, what was dropped and why.

    `custom_types` and `threads` as for `consumer.resolve`. Linear in rows, joints and bodies except for floating cyclic components (see
    `consumer.articulations`).
    """
    rules = get(OBSERVED)
    descriptors = resolve(stage, rules, custom_types, threads)
    return build_view(stage, descriptors, BodyTable.of(stage, rules), path_ranks(stage.paths))


def build_view(
    stage: Stage, descriptors: Descriptors, bodies: BodyTable, ranks: Array, articulator: Callable[[StageGraph], Articulations] | None = None
) -> PhysxView:
    """The view of descriptors however they were made, over the rows of a stage.

    `ranks` by path id orders bodies and root prims (subtrees contiguous); `articulator` builds the articulations, `articulate` by default.
    """
    owners = Owners.of(stage)
    graph = stage_graph(stage, descriptors, bodies, ranks, owners)
    built = articulate(graph.graph, graph.roots) if articulator is None else articulator(graph)
    mixed, homeless = np.zeros(0, np.int64), np.zeros(0, np.uint64)
    if owners is not None:
        dropped = owners.mixed(built, graph)
        mixed, built = np.unique(built.root[dropped]), without(built, dropped, graph.graph.side)
        homeless = np.flatnonzero(owners.homeless).astype(np.uint64)
    scale = length_scale(stage)
    outcome, reason = _outcomes(descriptors, graph, built, bodies, owners)
    links = _links(stage, descriptors, graph, built, outcome, bodies)
    alone = _standalone(descriptors, graph, outcome, reason, links, scale, owners)
    settings = articulation_settings(stage, graph.root_path, scale)
    return PhysxView(descriptors, graph, built, outcome, reason, alone, links, settings, bodies, mixed, homeless)


def length_scale(stage: Stage) -> np.float32:
    """Stage units a metre, the tolerance length of the scene; a stage without the metadata row is SI."""
    meters = stage.meters_per_unit
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.float32(1) / np.float32(1.0 if meters is None else meters)


def _outcomes(descriptors: Descriptors, g: StageGraph, built: Articulations, bodies: BodyTable, owners: Owners | None) -> tuple[Array, Array]:
    n = g.path.size
    outcome, reason = np.full(n, c.STANDALONE, np.uint8), np.zeros(n, np.uint8)
    enabled = np.concatenate([b.enabled for b in descriptors.blocks] or [np.empty(0, np.uint8)])
    acts = bodies.acts(g.side_path)
    acts &= g.body_at[g.side_path] != MISSING
    if owners is not None:
        acts &= ~owners.homeless[g.side_path]
    dynamic = bodies.dynamic(g.side_path)
    body = g.body_at[g.side_path]
    if built.body_articulation.size:
        dynamic |= (body >= 0) & (built.body_articulation[np.maximum(body, 0)] >= 0)
    gate(enabled, g.side_path, acts.astype(np.uint8), (dynamic & acts).astype(np.uint8), reason)
    if owners is not None:
        reason[owners.differ(g.side_path) & np.isin(reason, (c.NO_REASON, c.NO_BODIES, c.STATIC_BODIES))] = c.DIFFERENT_OWNERS
    known = np.array([b.type_name in JOINT_TYPES for b in descriptors.blocks], np.bool_)
    reason[(reason == c.NO_REASON) & ~known[g.type_index]] = c.CUSTOM
    reason[g.prototype[g.path] != 0] = c.PROTOTYPE
    outcome[reason != c.NO_REASON] = c.NOT_CREATED
    for fate, becomes, why in (
        (bd.ROOT_JOINT, c.CONSUMED_ROOT, c.NO_REASON),
        (bd.LINK_JOINT, c.ARTICULATION, c.NO_REASON),
        (bd.LOOP, c.DROPPED, c.CLOSED_LOOP),
        (bd.LOST_ROOT, c.DROPPED, c.LOST_ROOT),
    ):
        hit = built.fate == fate
        outcome[hit], reason[hit] = becomes, why
    return outcome, reason


def _links(stage: Stage, descriptors: Descriptors, g: StageGraph, built: Articulations, outcome: Array, bodies: BodyTable) -> LinkJoints:
    joint = np.flatnonzero(outcome == c.ARTICULATION)
    out = articulation_joint.empty(joint)
    row_of = np.full(outcome.size, -1, np.int64)
    row_of[joint] = np.arange(joint.size)
    inner = built.link_joint >= 0
    at = row_of[built.link_joint[inner]]
    out.articulation[at] = np.repeat(np.arange(built.root.size), np.diff(built.first_link))[inner]
    parent, child = built.link_parent[inner], built.link_body[inner]
    out.link[at, 0], out.link[at, 1] = g.body_path[parent], g.body_path[child]
    out.flipped[at] = g.graph.side[built.link_joint[inner], 1] != child
    first = 0
    start = 0
    for b in descriptors.blocks:
        count = int(np.count_nonzero(outcome[start : start + len(b)] == c.ARTICULATION))
        if count:
            here = slice(first, first + count)
            rows = g.row[joint[here]]
            _place(b, rows, first, out.flipped, out.position, out.orientation)
            articulation_joint.fill(out, b, rows, first)
            out.remark[here] |= np.where(b.collision[rows] != 0, c.BIT["collision-ignored"], 0)
            out.remark[here] |= np.where((b.break_force[rows] < FLT_MAX).any(axis=1), c.BIT["break-ignored"], 0)
        first += count
        start += len(b)
    out.remark |= np.where(out.flipped != 0, c.BIT["reversed-parent"], 0)
    replace_refused_poses(stage, bodies, out)
    return out


def _place(block: JointBlock, rows: Array, at: int, flipped: Array, position: Array, orientation: Array) -> None:
    axis = block.axis if block.type_name in FIXUP else np.zeros(len(block), np.uint8)
    place_frames(rows, at, block.position, block.orientation, axis, fixup_of(block.type_name), flipped, position, orientation)


def _standalone_frames(descriptors: Descriptors, g: StageGraph, joint: Array) -> tuple[Array, Array]:
    """Positions (s, 2, 3) and fixed-up orientations (s, 2, 4) of the given joints, ascending global indices."""
    position, orientation = np.empty((joint.size, 2, 3), np.float32), np.empty((joint.size, 2, 4), np.float32)
    flipped = np.zeros(joint.size, np.uint8)
    first = 0
    counts = np.bincount(g.type_index[joint], minlength=len(descriptors.blocks))
    for b, count in zip(descriptors.blocks, counts.tolist()):
        _place(b, g.row[joint[first : first + count]], first, flipped, position, orientation)
        first += count
    return position, orientation


def _standalone(
    descriptors: Descriptors,
    g: StageGraph,
    outcome: Array,
    reason: Array,
    links: LinkJoints,
    scale: np.float32,
    owners: Owners | None,
) -> Standalone:  # fmt: skip
    joint = np.flatnonzero(outcome == c.STANDALONE)
    position, orientation = _standalone_frames(descriptors, g, joint)
    sane = np.empty((joint.size, 2), np.uint8)
    sane_frames(position, orientation, sane)
    coupling = np.array([b.type_name in (GEAR, RACK) for b in descriptors.blocks], np.bool_)
    broken = ~sane.all(axis=1) & ~coupling[g.type_index[joint]]
    if broken.any():
        outcome[joint[broken]], reason[joint[broken]] = c.NOT_CREATED, c.INVALID_FRAME
        joint, position, orientation = joint[~broken], position[~broken], orientation[~broken]
    out = standalone.empty(joint, scale)
    out.actor[:] = g.side_path[joint]
    out.actor[g.body_at[out.actor] == MISSING] = 0
    if owners is not None:
        out.actor[owners.homeless[out.actor]] = 0
    out.position, out.orientation = position, orientation
    first = 0
    counts = np.bincount(g.type_index[joint], minlength=len(descriptors.blocks))
    for b, count in zip(descriptors.blocks, counts.tolist()):
        rows = g.row[joint[first : first + count]]
        if count:
            here = slice(first, first + count)
            standalone.fill(out, b, rows, first)
            force = b.break_force[rows]
            out.break_force[here] = np.where(np.isfinite(force), force, FLT_MAX)
            out.collision[here] = b.collision[rows]
            if b.properties_listed.any():
                out.remark[here] |= np.where(b.properties_listed[rows].any(axis=1), c.BIT["inert-axis-api"], 0)
            if b.drive_envelope.any():
                out.remark[here] |= np.where((b.drive_envelope[rows] & b.drive_listed[rows]).any(axis=1), c.BIT["inert-envelope"], 0)
            if b.state_listed.any():
                out.remark[here] |= np.where(b.state_listed[rows].any(axis=1), c.BIT["inert-state"], 0)
            if b.friction.any():
                out.remark[here] |= np.where(b.friction[rows] > 0, c.BIT["inert-joint-friction"], 0)
        first += count
    return _couple(descriptors, g, out, links, outcome, reason)


def _couple(descriptors: Descriptors, g: StageGraph, out: Standalone, links: LinkJoints, outcome: Array, reason: Array) -> Standalone:
    """Second pass of creation: gear and rack joints; those that fail leave the arrays."""
    rows = np.flatnonzero((out.px_class == c.PX_GEAR) | (out.px_class == c.PX_RACK))
    if not rows.size:
        return out
    standalone_row, link_row = np.full(outcome.size, -1, np.int64), np.full(outcome.size, -1, np.int64)
    standalone_row[out.joint], link_row[links.joint] = np.arange(len(out)), np.arange(len(links))
    coupled = np.zeros((rows.size, 2), np.uint64)
    for t, b in enumerate(descriptors.blocks):
        hit = g.type_index[out.joint[rows]] == t
        coupled[hit] = b.coupled[g.row[out.joint[rows[hit]]]]
    made = np.ones(len(out), np.uint8)
    made[rows] = 0
    elsewhere = np.zeros(rows.size, np.uint8)
    gears.couple(
        rows, (out.px_class[rows] == c.PX_RACK).astype(np.uint8), coupled, g.joint_at, standalone_row, link_row, out.px_class, out.actor,
        out.position, out.orientation, links.link, links.type, links.position, links.orientation, gears.FITS,
        made, out.coupled, out.remark, elsewhere,
    )  # fmt: skip
    sane = np.empty((len(out), 2), np.uint8)
    sane_frames(out.position, out.orientation, sane)
    failed = np.zeros(len(out), np.uint8)
    failed[rows[~sane[rows].all(axis=1)]] = c.INVALID_FRAME
    failed[rows[elsewhere != 0]] = c.HINGE_ELSEWHERE
    if not failed.any():
        return out
    gone = failed != 0
    outcome[out.joint[gone]], reason[out.joint[gone]] = c.NOT_CREATED, failed[gone]
    return Standalone(**{name: values[~gone] for name, values in vars(out).items()})
