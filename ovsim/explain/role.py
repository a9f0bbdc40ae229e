"""What a prim is to PhysX: a joint, a link, a body, the root of an articulation, a shape (spec sections 3, 7 and 8), as names with plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from consumer.physx import PhysxView

Facts = dict[str, Any]
_TYPES = {"PhysicsScene": "scene", "PhysicsCollisionGroup": "collision group", "Material": "material"}


def joint_index(view: PhysxView, path: str) -> int:
    """Index of a joint in joint order, -1 when the prim is none."""
    at = np.flatnonzero(view.graph.path == view.descriptors.paths.find(path))
    return int(at[0]) if at.size else -1


def joint_document(view: PhysxView, index: int, path: str) -> Facts:
    """The interchange document of one joint, {} when PhysX has no such joint."""
    from consumer.physx.document import link_joint, standalone

    for rows, make in ((view.standalone.joint, standalone), (view.links.joint, link_joint)):
        at = np.flatnonzero(rows == index)
        if at.size:
            if make is link_joint:
                return link_joint(view, int(at[0]), view.descriptors.paths.path_strings(view.graph.root_path).to_pylist())
            return standalone(view, int(at[0]), path)
    return {}


def joint_outcome(view: PhysxView, index: int) -> str:
    """What becomes of a joint, with the reason where there is one."""
    from consumer.physx import codes

    outcome, reason = codes.OUTCOMES[int(view.outcome[index])], codes.REASONS[int(view.reason[index])]
    return f"{outcome} ({reason})" if reason else outcome


def facts(view: PhysxView, path: str, type_name: str) -> tuple[str, Facts]:
    """(what the prim is in a few words, further facts by name) of a prim that is no joint."""
    paths, at = view.descriptors.paths, int(view.descriptors.paths.find(path))
    words: list[str] = [_TYPES[type_name]] if type_name in _TYPES else ["stage metadata"] if path == "/" else []
    out: Facts = {}
    for more, found in (_root(view, at), _body(view, at), _shape(view, at)):
        words += [more] if more else []
        out |= found
    if view.graph.prototype[at]:
        words.append("below a prototype, where nothing is created")
    if not words:
        body = int(view.bodies.resolve([at])[0])
        words.append(f"moves with the body {paths.path_string(body)}" if body else "no object of PhysX")
    return ", ".join(words), out


def _root(view: PhysxView, at: int) -> tuple[str, Facts]:
    from consumer.physx.stage_graph import REFUSALS

    g, built, text = view.graph, view.articulations, view.descriptors.paths.path_string
    candidate = np.flatnonzero(g.candidates == at)
    if not candidate.size:
        return "", {}
    refusal = REFUSALS[int(g.refusal[candidate[0]])]
    accepted = np.flatnonzero(g.root_path == at)
    made = np.flatnonzero(built.root == accepted[0]) if accepted.size else np.empty(0, np.int64)
    if not made.size:
        return f"root API without an articulation ({refusal or 'see the diagnostics'})", {}
    entries: list[Facts] = []
    for i in made.tolist():
        here = range(int(built.first_link[i]), int(built.first_link[i + 1]))
        links = [
            {
                "body": text(int(g.body_path[built.link_body[k]])),
                "parent": text(int(g.body_path[built.link_parent[k]])) if built.link_parent[k] >= 0 else None,
                "joint": text(int(g.path[built.link_joint[k]])) if built.link_joint[k] >= 0 else None,
            }
            for k in here
        ]
        base = int(built.root_joint[i])
        entries.append({"fixBase": bool(built.fixed[i]), "rootJoint": text(int(g.path[base])) if base >= 0 else None, "links": links})
    settings = {name: values[accepted[0]].item() for name, values in view.settings.items()}
    first = entries[0]
    several = f" and {len(entries) - 1} more" if len(entries) > 1 else ""
    word = f"articulation root, {'fixed' if first['fixBase'] else 'floating'} base, {len(first['links'])} links{several}"
    return word, {"articulations": entries, "settings": settings}


def _body(view: PhysxView, at: int) -> tuple[str, Facts]:
    g, built, text = view.graph, view.articulations, view.descriptors.paths.path_string
    if not view.bodies.rigid_body([at])[0]:
        return "", {}
    kind = "dynamic body" if view.bodies.dynamic([at])[0] else "kinematic body" if view.bodies.kinematic([at])[0] else "disabled body"
    touching = np.flatnonzero((g.side_path == at).any(axis=1))
    out: Facts = {"joints": {text(int(g.path[j])): joint_outcome(view, int(j)) for j in touching.tolist()}}
    body = int(g.body_at[at])
    owner = int(built.body_articulation[body]) if body >= 0 and built.body_articulation.size else -1
    if owner < 0:
        return kind, out
    place = next(k for k in range(int(built.first_link[owner]), int(built.first_link[owner + 1])) if built.link_body[k] == body)
    root, parent, joint = text(int(g.root_path[built.root[owner]])), int(built.link_parent[place]), int(built.link_joint[place])
    link = {
        "articulation": root,
        "number": place - int(built.first_link[owner]),
        "parent": text(int(g.body_path[parent])) if parent >= 0 else None,
        "joint": text(int(g.path[joint])) if joint >= 0 else None,
    }
    base = "base link" if parent < 0 else "link"
    return f"{kind}, {base} of the articulation {root}", {"link": link, **out}


def _shape(view: PhysxView, at: int) -> tuple[str, Facts]:
    if not view.bodies.collider([at])[0]:
        return "", {}
    if not view.bodies.acts([at])[0]:
        return "collider of a type that makes no shape", {}
    body = int(view.bodies.resolve([at])[0])
    if body and view.bodies.rigid_body([body])[0]:
        return "collider" if body == at else f"collider of {view.descriptors.paths.path_string(body)}", {}
    return "static collider", {}
