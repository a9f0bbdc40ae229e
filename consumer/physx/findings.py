"""Diagnostics of a PhysX view as rows, made only when asked for (codes: `ovsim.diagnostic_codes`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer import building as bd
from consumer.election import JOINT_ROOT
from consumer.physx import codes as c
from consumer.physx.stage_graph import REFUSALS
from consumer.physx.view import PhysxView
from ovsim.contract.joints import FIXED
from ovsim.diagnostic_codes import CODES
from ovsim.diagnostics import Diagnostics

Array = npt.NDArray[Any]
_REMARKS = ((bd.UNSUPPORTED, "unsupported-in-articulation"), (bd.PARALLEL, "parallel-joint"), (bd.TAKEN_BODY, "between-articulations"))
DESCRIPTOR_DUPLICATES = frozenset(("same-body", "invalid-frame"))  # said by the runtime findings more exactly
LIMIT_COLUMNS = {"invalid-limit", "one-sided-limit", "reversed-limit", "clamped-limit"}


def tell(view: PhysxView) -> Diagnostics:
    """All findings: those of the descriptors, then joints that do not exist, roots, remarks on joints, bodies; each group in path order."""
    out = Diagnostics(d for d in view.descriptors.diagnostics if d.code not in DESCRIPTOR_DUPLICATES)
    g, built = view.graph, view.articulations
    for reason in range(1, len(c.REASONS)):
        hit = np.flatnonzero(view.reason == reason)
        extra = _loop_partners(view, hit) if reason == c.CLOSED_LOOP else None
        _rows(out, view, c.REASONS[reason], g.path[hit], extra)
    for refusal in range(1, len(REFUSALS)):
        _rows(out, view, REFUSALS[refusal], g.candidates[g.refusal == refusal])
    _keys(out, view)
    _rows(out, view, "mixed-owners", g.root_path[view.mixed])
    _rows(out, view, "homeless-body", view.homeless)
    for bit, code in _REMARKS:
        hit = (built.remark & bit != 0) & (built.fate == bd.UNTOUCHED)
        _rows(out, view, code, g.path[hit])
    _anchors(out, view)
    for part in (view.standalone, view.links):
        for code, bit in c.BIT.items():
            _rows(out, view, code, g.path[part.joint[part.remark & bit != 0]])
    _targets(out, view)
    kinematic = view.bodies.kinematic(g.body_path) & (built.body_articulation >= 0) if g.body_path.size else np.empty(0, np.bool_)
    _rows(out, view, "kinematic-link", g.body_path[kinematic])
    return out


def _rows(out: Diagnostics, view: PhysxView, name: str, paths: Array, extra: list[str] | None = None) -> None:
    if not len(paths):
        return
    code = CODES[name]
    message = f"{code.meaning}; {code.remedy}"
    for i, path in enumerate(view.descriptors.paths.path_strings(paths).to_pylist()):
        out.add(name, code.severity, message + (extra[i] if extra else ""), path, code.column)


def _loop_partners(view: PhysxView, joints: Array) -> list[str]:
    """Names the two links that each closing joint would tie."""
    names = view.descriptors.paths.path_strings(view.graph.side_path[joints].reshape(-1)).to_pylist()
    return [f" (it would tie {a} and {b})" for a, b in zip(names[::2], names[1::2])]


def _keys(out: Diagnostics, view: PhysxView) -> None:
    """Roots that built nothing: anchored to a kinematic body, bodies taken, or nothing found at all."""
    g, built = view.graph, view.articulations
    result, root = built.key_result, built.key_root
    anchored = result == bd.KINEMATIC_ANCHOR
    _rows(out, view, "kinematic-anchor", g.path[built.key_index[anchored]])
    taken = np.unique(root[(result == bd.BASE_TAKEN) & ~np.isin(root, built.root)])
    _rows(out, view, "base-taken", g.root_path[taken])
    silent = np.setdiff1d(np.arange(g.root_path.size), np.concatenate([built.root, taken, root[anchored], view.mixed]))
    is_joint = g.joint_at[g.root_path[silent]] >= 0
    between = is_joint & (g.roots.kind[silent] != JOINT_ROOT)
    _rows(out, view, "root-joint-between-bodies", g.root_path[silent[between]])
    _rows(out, view, "empty-root", g.root_path[silent[~between]])


def _anchors(out: Diagnostics, view: PhysxView) -> None:
    """Fixed joints from the world to the base of a floating articulation whose root API sits on that base."""
    g, built = view.graph, view.articulations
    if not built.root.size:
        return
    alone = view.standalone
    types = [b.type_name for b in view.descriptors.blocks]
    fixed = np.array([t == FIXED for t in types], np.bool_)[g.type_index[alone.joint]]
    side = g.graph.side[alone.joint]
    body = side.max(axis=1)
    base = np.full(g.body_path.size + 1, 0, np.uint8)
    floating = built.fixed == 0
    first = built.link_body[built.first_link[:-1][floating]]
    base[first[g.root_path[built.root[floating]] == g.body_path[first]]] = 1
    hit = fixed & (side < 0).any(axis=1) & (body >= 0) & (base[body] != 0)
    _rows(out, view, "standalone-anchor", g.path[alone.joint[hit]])


def _targets(out: Diagnostics, view: PhysxView) -> None:
    """Sides with a target that resolves to nothing and so are the world."""
    for b in view.descriptors.blocks:
        dead = (b.rel != 0) & (b.body == 0)
        dead &= (view.graph.prototype[b.path] == 0)[:, None]
        for k in range(2):
            hit = np.flatnonzero(dead[:, k])
            code = CODES["dead-target"]
            paths = view.descriptors.paths.path_strings(b.path[hit]).to_pylist()
            targets = view.descriptors.paths.path_strings(b.rel[hit, k]).to_pylist()
            for path, target in zip(paths, targets):
                out.add("dead-target", code.severity, f"{code.meaning} ({target}); {code.remedy}", path, f"physics:body{k}")
