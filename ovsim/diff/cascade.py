"""What follows from what: PhysX fields are made of descriptor fields, and articulations of whole groups of joints."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ovsim.contract.joints import GEAR, RACK
from ovsim.diff.case import Case, Pair
from ovsim.diff.comparator import ORDER, UNEXPLAINED, Difference
from ovsim.diff.physx import ARTICULATION
from ovsim.diff.predicates import PREDICATES
from ovsim.diff.sides import Side

# PhysX field (pattern) to descriptor fields (pattern); the first that matches holds
_MADE_OF: tuple[tuple[str, str], ...] = (
    (r"actor0", r"body0|rel0"),
    (r"actor1", r"body1|rel1"),
    (r"(localPose[01]|parentPose|childPose)\..*", r"localPose[01].*|axis|body[01]"),
    (r"breakForce|breakTorque", r"break(Force|Torque)"),
    (r"collisionEnabled", r"enableCollision"),
    (r"type|motion\..*|limits\..*|axes\.[^.]*\.(motion|limit)", r"limits?\..*"),
    (r"drives\..*|drive[A-Z].*|axes\.[^.]*\.(drive\..*|target|velocityTarget)", r"drives?\..*"),
    (r"axes\.[^.]*\.(position|velocity)", r"states?\..*"),
    (r"axes\.[^.]*\..*", r"(properties|jointProperties)\..*"),
    (r"frictionCoefficient", r"jointFriction"),
    (r"distance\..*", r"limit\..*|minEnabled|maxEnabled|spring.*"),
    (r"ratio", r"ratio|gearRatio"),
    (r"joints", r"hinge.*|prismaticPrimPath"),
)
_GRAPH = re.compile(r"|kind|class|articulation|parent|child|links|fixBase")
_GRAPH_CAUSES = re.compile(r"|body[01]|jointEnabled|excludedFromArticulation|localPose[01]Orientation|hinge.*|prismaticPrimPath")


_SETTINGS = (("articulation-stabilization-default", "stabilization_default"), ("articulation-thresholds-raw", "thresholds_raw"))


@dataclass
class Groups:
    """Connected groups of joints and bodies over both sides, and the causes that lie in each."""

    parent: dict[str, str] = field(default_factory=dict)
    causes: dict[str, list[str]] = field(default_factory=dict)

    def find(self, node: str) -> str:
        root = node
        while self.parent.get(root, root) != root:
            root = self.parent[root]
        while self.parent.get(node, node) != root:
            self.parent[node], node = root, self.parent[node]
        self.parent.setdefault(root, root)
        return root

    def join(self, a: str, b: str) -> None:
        x, y = self.find(a), self.find(b)
        if x != y:
            self.parent[y] = x


def explain_physx(pair: Pair, difference: Difference, below: Sequence[Difference]) -> Difference:
    """A PhysX difference with the finding that explains it; `below` are the classified descriptor differences of the same pair."""
    case = Case(pair, difference)
    if difference.path.startswith(ARTICULATION):
        for finding, name in _SETTINGS:
            if PREDICATES[name].fields.fullmatch(difference.field) and PREDICATES[name].holds(case):
                return difference.explained(finding)
    at_joint = _by_path(pair, below)
    own = at_joint.get(difference.path, [])
    refused = _refused(pair, difference)
    if refused:
        return difference.explained(refused)
    for pattern, fields in _MADE_OF:
        if re.fullmatch(pattern, difference.field):
            for d in own:
                if re.fullmatch(fields, d.field) and d.finding != UNEXPLAINED and d.kind != ORDER:
                    return difference.explained(d.finding)
            break
    if not _GRAPH.fullmatch(difference.field) and not _turned_over(pair, difference.path):
        return _coupled(pair, difference, at_joint)
    for d in own:
        if _GRAPH_CAUSES.fullmatch(d.field) and d.finding != UNEXPLAINED:
            return difference.explained(d.finding)
    for body in _bodies(pair, difference.path):
        if pair.usd is not None and pair.usd.usd is not None and body in pair.usd.usd.refused:
            return difference.explained(pair.usd.usd.refused[body])
    groups = _groups(pair, below)
    for node in _nodes(pair, difference):
        causes = groups.causes.get(groups.find(node), [])
        if causes:
            return difference.explained(causes[0])
    finding = _order_cause(pair, difference, groups)
    return difference.explained(finding) if finding else difference


def explain_derived(pair: Pair, difference: Difference, found: Sequence[Difference]) -> Difference:
    """A descriptor difference that follows from another one: a gear's or rack's body is that of the joint it couples, and whether frames meet
    depends on bodies and frames."""
    at_joint = _by_path(pair, found)
    if re.fullmatch(r"body[01]", difference.field):
        return _coupled(pair, difference, at_joint)
    if difference.field == "validBodyTransformations":
        for d in at_joint.get(difference.path, []):
            if re.fullmatch(r"body[01]|localPose[01].*|axis", d.field) and d.finding != UNEXPLAINED:
                return difference.explained(d.finding)
    return difference


def explain_coupled(pair: Pair, difference: Difference, found: Sequence[Difference]) -> Difference:
    """A PhysX difference of a gear or rack that follows from one of the joints it couples: another frame, another kind, no joint at all."""
    key = ("physx-by-path", id(found))
    if key not in pair.cache:
        pair.cache[key] = {d.path: d.finding for d in found if d.level == "physx" and d.finding != UNEXPLAINED}
    for side in (pair.left, pair.right):
        for joint in _couplings(pair, side).get(difference.path, ()):
            if joint in pair.cache[key]:
                return difference.explained(pair.cache[key][joint])
    return difference


def _by_path(pair: Pair, below: Sequence[Difference]) -> dict[str, list[Difference]]:
    key = ("by-path", id(below))
    if key not in pair.cache:
        out: dict[str, list[Difference]] = {}
        for d in below:
            out.setdefault(d.path, []).append(d)
        pair.cache[key] = out
    return pair.cache[key]


def _bodies(pair: Pair, path: str) -> Iterable[str]:
    """Bodies of a joint on either side."""
    for side in (pair.left, pair.right):
        if "descriptors" in side.levels:
            flat = side.flat("descriptors")
            yield from (b for b in (flat.get(path, "body0"), flat.get(path, "body1")) if b)


def _refused(pair: Pair, difference: Difference) -> str:
    """The finding of a body that USD refuses, where an actor or a pose of that side differs."""
    usd = pair.usd
    if usd is None or usd.usd is None or not re.fullmatch(r"actor[01]|localPose[01]\..*", difference.field):
        return ""
    k = next(c for c in difference.field if c.isdigit())
    body = usd.flat("descriptors").get(difference.path, f"body{k}")
    return usd.usd.refused.get(body, "")


def _turned_over(pair: Pair, path: str) -> bool:
    """Whether the joint is of another kind, or hangs the other way round, on the two sides: then every value of it may differ."""
    key = ("turned-over",)
    if key not in pair.cache:
        a, b = pair.left.flat("physx"), pair.right.flat("physx")
        pair.cache[key] = {p for p in a.row if p in b.row and any(a.get(p, f) != b.get(p, f) for f in ("kind", "class", "parent", "child"))}
    return path in pair.cache[key]


def _coupled(pair: Pair, difference: Difference, at_joint: dict[str, list[Difference]]) -> Difference:
    """Frames and actors of a gear or rack come from the joints that it couples."""
    for side in (pair.left, pair.right):
        for joint in _couplings(pair, side).get(difference.path, ()):
            for d in at_joint.get(joint, []):
                if d.finding != UNEXPLAINED:
                    return difference.explained(d.finding)
    return difference


def _couplings(pair: Pair, side: Side) -> dict[str, tuple[str, ...]]:
    if side.descriptors is None:
        return {}
    key = ("couplings", id(side))
    if key in pair.cache:
        return pair.cache[key]
    out = pair.cache[key] = {}
    for block in side.descriptors.blocks:
        if block.type_name in (GEAR, RACK):
            for path, two in zip(side.descriptors.paths.path_strings(block.path).to_pylist(), block.coupled):
                out[path] = tuple(side.descriptors.paths.path_strings(two[two != 0]).to_pylist())
    return out


def _nodes(pair: Pair, difference: Difference) -> Iterable[str]:
    if not difference.path.startswith(ARTICULATION):
        yield difference.path
        return
    root = difference.path[len(ARTICULATION) :]
    yield root
    for side in (pair.left, pair.right):
        links = side.flat("physx").get(difference.path, "links") or ()
        for link in links:
            yield from link if isinstance(link, tuple) else (link,)


def _groups(pair: Pair, below: Sequence[Difference]) -> Groups:
    key = ("groups", id(below))
    if key in pair.cache:
        return pair.cache[key]
    out = Groups()
    for side in (pair.left, pair.right):
        if side.descriptors is None:
            continue
        paths = side.descriptors.paths
        for block in side.descriptors.blocks:
            names = paths.path_strings(block.path).to_pylist()
            sides = [paths.path_strings(block.body[:, k]).to_pylist() for k in (0, 1)]
            for name, a, b in zip(names, *sides):
                for body in (a, b):
                    if body:
                        out.join(name, body)
        for joint, coupled in _couplings(pair, side).items():
            for other in coupled:
                out.join(joint, other)
        nodes = sorted(out.parent)
        for root in _root_prims(pair, side):
            out.find(root)
            for i in range(bisect_left(nodes, root), len(nodes)):
                if nodes[i] == root or nodes[i].startswith(root + "/"):
                    out.join(root, nodes[i])
                elif not nodes[i].startswith(root):
                    break
    for d in below:
        if d.finding != UNEXPLAINED and _GRAPH_CAUSES.fullmatch(d.field):
            out.causes.setdefault(out.find(d.path), []).append(d.finding)
    if pair.usd is not None and pair.usd.usd is not None:
        for body, finding in pair.usd.usd.refused.items():
            out.causes.setdefault(out.find(body), []).append(finding)
    pair.cache[key] = out
    return out


def _root_prims(pair: Pair, side: Side) -> list[str]:
    key = ("roots", id(side))
    if key not in pair.cache:
        view = getattr(side, "view", None)
        pair.cache[key] = [] if view is None else view.descriptors.paths.path_strings(view.graph.candidates).to_pylist()
    return pair.cache[key]


def _roots_by_group(pair: Pair, groups: Groups) -> dict[str, set[str]]:
    """Root prims of both sides by the group they belong to."""
    key = ("roots-by-group",)
    if key not in pair.cache:
        out = pair.cache[key] = {}
        for side in (pair.left, pair.right):
            for root in _root_prims(pair, side):
                out.setdefault(groups.find(root), set()).add(root)
    return pair.cache[key]


def _order_cause(pair: Pair, difference: Difference, groups: Groups) -> str:
    """Findings about orders: several roots over one group, or joints and bodies that the two sides visit in another order."""
    if not pair.backends:
        return ""
    nodes = {groups.find(n) for n in _nodes(pair, difference)}
    if len(set().union(*(_roots_by_group(pair, groups).get(n, ()) for n in nodes))) > 1:
        return "competing-roots"
    return "election-order" if difference.kind == ORDER or any(_visited_otherwise(pair, groups, n) for n in nodes) else ""


def _visited_otherwise(pair: Pair, groups: Groups, group: str) -> bool:
    """Whether the group's joints or bodies stand in another order on the USD side, or several of its joints could anchor it."""
    key = ("orders",)
    if key not in pair.cache:
        pair.cache[key] = _grouped(pair, groups)
    orders, anchors = pair.cache[key]
    return any(a.get(group) != b.get(group) for a, b in orders) or anchors.get(group, 0) > 1


def _grouped(pair: Pair, groups: Groups) -> tuple[list[tuple[dict[str, list[str]], dict[str, list[str]]]], dict[str, int]]:
    """((joints of the left, of the right), (bodies likewise)) by group, in visiting order; and the number of anchoring joints by group."""
    joints, bodies = [], []
    anchors: dict[str, int] = {}
    for side in (pair.left, pair.right):
        visited, stand = _visiting(side)
        joints.append(_by_group(groups, visited))
        bodies.append(_by_group(groups, stand))
    for side in pair.columns:
        for block in side.descriptors.blocks if side.descriptors is not None else ():
            for path, two in zip(side.descriptors.paths.path_strings(block.path).to_pylist(), block.body):  # type: ignore[union-attr]
                if (two == 0).any():
                    group = groups.find(path)
                    anchors[group] = anchors.get(group, 0) + 1
    return [(joints[0], joints[1]), (bodies[0], bodies[1])], anchors


def _visiting(side: Side) -> tuple[list[str], list[str]]:
    """Joints and bodies of a side in the order in which its parser visits them."""
    descriptors = side.descriptors
    if descriptors is None:
        return [], []
    joints = [p for b in descriptors.blocks for p in descriptors.paths.path_strings(b.path).to_pylist()]
    if side.usd is not None:
        return [joints[i] for i in np.argsort(descriptors.metadata["namespace"], kind="stable")], list(side.usd.bodies)
    if side.stage is None:
        return joints, []
    ids = np.concatenate([a.path_ids for a in side.stage.with_schema("PhysicsRigidBodyAPI")] or [np.empty(0, np.uint64)])
    return joints, sorted(side.stage.paths.path_strings(ids).to_pylist())


def _by_group(groups: Groups, paths: Iterable[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for path in paths:
        out.setdefault(groups.find(path), []).append(path)
    return out
