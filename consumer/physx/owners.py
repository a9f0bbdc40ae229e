"""Simulation owners: which scene each body lives in, and what that forbids (spec 3.4 and 7.7; observed on the recorded stages owners_*).

A body or collider whose `physics:simulationOwner` names no PhysicsScene gets no actor (with several scenes its first target counts). With more than
one scene in the stage a joint between bodies of different owners (the first target; none is an owner of its own) is refused, and so is an
articulation with such links, whose joints then stand alone. With one scene or none owners are not compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from consumer import building as bd
from consumer.articulations import Articulations
from consumer.columns import ColumnReader
from ovsim.diagnostics import Diagnostics
from ovsim.stage import Stage

if TYPE_CHECKING:
    from consumer.physx.stage_graph import StageGraph

Array = npt.NDArray[Any]
SCENE, OWNER = "PhysicsScene", "physics:simulationOwner"
APIS = ("PhysicsRigidBodyAPI", "PhysicsCollisionAPI")


@dataclass(frozen=True)
class Owners:
    """owner: path id of the first target by path id, 0 none, uint64; homeless: no target is a scene, bool by path id; compared: several scenes."""

    owner: Array
    homeless: Array
    compared: bool

    @classmethod
    def of(cls, stage: Stage) -> Owners | None:
        """Owners of a stage; None when no body names one, so that all live in the one scene."""
        scenes = np.concatenate([*(a.path_ids for a in stage.with_type(SCENE)), np.empty(0, np.uint64)])
        is_scene = np.zeros(stage.paths.path_count, np.bool_)
        is_scene[scenes] = True
        owner = np.zeros(stage.paths.path_count, np.uint64)
        homeless = np.zeros(stage.paths.path_count, np.bool_)
        for a in stage.archetypes:
            if OWNER not in a or not any(a.lists(api) for api in APIS):
                continue
            offsets, targets, step = ColumnReader(a, Diagnostics()).targets(OWNER)
            if not step or not targets.size:
                continue
            held = np.diff(offsets)
            some = held > 0
            hits = np.concatenate([[0], np.cumsum(is_scene[targets])])
            owner[a.path_ids[some]] = targets[offsets[:-1][some]]
            homeless[a.path_ids] = some & (hits[offsets[1:]] == hits[offsets[:-1]])
            if scenes.size > 1:
                homeless[a.path_ids[some]] = ~is_scene[targets[offsets[:-1][some]]]
        return cls(owner, homeless, scenes.size > 1) if owner.any() else None

    def differ(self, sides: Array) -> Array:
        """Whether two bodies (n, 2) of one joint, path ids, belong to different owners, shape (n,)."""
        both = (sides != 0).all(axis=1)
        return both & (self.owner[sides[:, 0]] != self.owner[sides[:, 1]]) if self.compared else np.zeros(len(sides), np.bool_)

    def mixed(self, built: Articulations, graph: StageGraph) -> Array:
        """Which articulations have links, a static anchor or bodies on enabled joints of their links of different owners, shape (a,)."""
        every = np.arange(built.root.size)
        if not self.compared or not every.size:
            return np.zeros(every.size, np.bool_)
        number = np.repeat(every, np.diff(built.first_link))
        owner = self.owner[graph.body_path]
        base = owner[built.link_body[built.first_link[:-1]]]
        odd = [number[owner[built.link_body] != base[number]]]
        tied = np.flatnonzero(built.anchor >= 0)
        odd.append(tied[self.owner[graph.side_path[built.root_joint[tied], built.anchor[tied]]] != base[tied]])
        sides = graph.graph.side[(graph.graph.enabled != 0) & (graph.graph.side >= 0).all(axis=1)]
        for mine, other in (sides.T, sides.T[::-1]):
            home = built.body_articulation[mine]
            odd.append(home[(home >= 0) & (owner[other] != base[home])])
        return np.isin(every, np.concatenate(odd))


def without(built: Articulations, dropped: Array, side: Array) -> Articulations:
    """The articulations that are not `dropped` (a,); the joints of the others are untouched again."""
    if not dropped.any():
        return built
    number = np.repeat(np.arange(built.root.size), np.diff(built.first_link))
    keep = ~dropped[number]
    home = built.body_articulation
    gone = np.append(dropped, False)[home]  # -1, no articulation, reads the last
    fate = built.fate.copy()
    fate[built.link_joint[~keep & (built.link_joint >= 0)]] = bd.UNTOUCHED
    fate[built.root_joint[dropped & (built.root_joint >= 0)]] = bd.UNTOUCHED
    inside = ((side >= 0) & gone[np.maximum(side, 0)]).any(axis=1) if gone.size else np.zeros(len(side), np.bool_)
    fate[(fate == bd.LOOP) & inside] = bd.UNTOUCHED
    renumbered = np.append(np.cumsum(~dropped) - 1, -1)
    sizes = np.diff(built.first_link)[~dropped]
    return replace(
        built,
        fate=fate,
        root=built.root[~dropped],
        fixed=built.fixed[~dropped],
        root_joint=built.root_joint[~dropped],
        anchor=built.anchor[~dropped],
        first_link=np.concatenate([[0], np.cumsum(sizes)]),
        link_body=built.link_body[keep],
        link_parent=built.link_parent[keep],
        link_joint=built.link_joint[keep],
        body_articulation=np.where(gone, -1, renumbered[home]),
    )
