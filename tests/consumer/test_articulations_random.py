"""The kernels of section 7 against the literal version on thousands of random graphs, and what must hold whatever the graph."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from random_worlds import random_world
from reference_articulations import UNSUPPORTED_TYPES, WORLD, Joint, World, articulations, below

from consumer import building as bd
from consumer.articulations import ELECT, Articulations, JointGraph, Roots, articulate
from consumer.election import BODY_ROOT, JOINT_ROOT
from consumer.graph import NONE, STATIC


def arrays(w: World) -> tuple[JointGraph, Roots, list[str], list[str]]:
    """Index arrays of a world, its body list and accepted root prims."""
    body_list = sorted(w.bodies, key=str.encode)
    at = {b: i for i, b in enumerate(body_list)}
    side = np.array([[NONE if b == WORLD else at.get(b, STATIC) for b in (j.body0, j.body1)] for j in w.joints], np.int64).reshape(-1, 2)
    flag = lambda name: np.array([getattr(j, name) for j in w.joints], np.uint8)
    state = [w.bodies[b] for b in body_list]
    graph = JointGraph(
        side,
        flag("enabled"),
        flag("excluded"),
        np.array([j.type not in UNSUPPORTED_TYPES for j in w.joints], np.uint8),
        np.array([s != "disabled" for s in state], np.uint8),
        np.array([s == "kinematic" for s in state], np.uint8),
        np.array([i + sum(below(c, b) for c in body_list) for i, b in enumerate(body_list)], np.int64),
    )
    joint_at = {j.path: i for i, j in enumerate(w.joints)}
    accepted: list[str] = []
    kept: list[str] = []
    rows: list[tuple[int, int, int, int]] = []
    for p in sorted(w.roots, key=str.encode):
        if any(below(p, q) for q in accepted):
            continue
        accepted.append(p)
        kind, index, base = ELECT, NONE, p
        if p in at:
            kind, index = BODY_ROOT, at[p]
            base = p if w.bodies[p] == "dynamic" else ""
        elif p in joint_at and WORLD in (w.joints[joint_at[p]].body0, w.joints[joint_at[p]].body1):
            j = w.joints[joint_at[p]]
            kind, index, base = JOINT_ROOT, joint_at[p], j.body0 or j.body1
        inside = [i for i, b in enumerate(body_list) if base and below(b, base)]
        begin, end = (inside[0], inside[-1] + 1) if inside else (0, 0)
        if base:
            kept.append(p)
            rows.append((kind, index, begin, end))
    table = np.array(rows, np.int64).reshape(-1, 4)
    return graph, Roots(*(table[:, i].copy() for i in range(4))), body_list, kept


def readable(w: World, a: Articulations, body_list: list[str], roots: list[str]) -> tuple[list[object], dict[str, set[str]]]:
    """The result in the terms of the literal version."""
    name = lambda i: None if i < 0 else w.joints[i].path
    body = lambda i: None if i < 0 else body_list[i]
    built = []
    for x in range(a.root.size):
        links = [(body(a.link_body[i]), body(a.link_parent[i]), name(a.link_joint[i])) for i in range(a.first_link[x], a.first_link[x + 1])]
        built.append((roots[a.root[x]], bool(a.fixed[x]), name(a.root_joint[x]), links))
    fates = {"root": bd.ROOT_JOINT, "link": bd.LINK_JOINT, "loop": bd.LOOP, "lost": bd.LOST_ROOT}
    return built, {k: {j.path for j, f in zip(w.joints, a.fate) if f == v} for k, v in fates.items()}


def expected(w: World) -> tuple[list[object], dict[str, set[str]]]:
    r = articulations(w)
    built = [(b.root, b.fixed, b.root_joint, b.links) for b in r.built]
    return built, {"root": r.root_joints, "link": r.link_joints, "loop": r.loops, "lost": r.lost}


@pytest.mark.parametrize("block", range(10))
def test_kernels_agree_with_the_literal_version(block: int) -> None:
    built = 0
    for seed in range(block * 400, block * 400 + 400):
        w = random_world(seed, 8 if seed % 4 else 14)
        graph, roots, body_list, names = arrays(w)
        got = readable(w, articulate(graph, roots), body_list, names)
        assert got == expected(w), f"seed {seed}: {w}"
        built += len(got[0])
    assert built > 200


def test_random_worlds_reach_every_fate() -> None:
    seen = np.zeros(5, np.int64)
    cyclic = 0
    for seed in range(400):
        w = random_world(seed)
        graph, roots, _, _ = arrays(w)
        a = articulate(graph, roots)
        seen += np.bincount(a.fate, minlength=5)
        cyclic += bool((a.remark & bd.PARALLEL).any())
    assert (seen > 0).all()
    assert cyclic > 0


@pytest.mark.parametrize("seed", range(60))
def test_every_link_has_one_parent_and_every_body_one_articulation(seed: int) -> None:
    w = random_world(5000 + seed, 12)
    graph, roots, _, _ = arrays(w)
    a = articulate(graph, roots)
    assert np.unique(a.link_body).size == a.link_body.size
    for x in range(a.root.size):
        block = slice(a.first_link[x], a.first_link[x + 1])
        bodies, parents, joints = a.link_body[block].tolist(), a.link_parent[block].tolist(), a.link_joint[block].tolist()
        assert parents[0] == NONE
        assert joints[0] == NONE
        for i in range(1, len(bodies)):
            assert parents[i] in bodies[:i]
            assert set(graph.side[joints[i]]) == {parents[i], bodies[i]}
    assert np.unique(a.link_joint[a.link_joint >= 0]).size == (a.fate == bd.LINK_JOINT).sum()


def test_authoring_order_does_not_matter() -> None:
    for seed in range(200):
        w = random_world(9000 + seed)
        shuffled = dataclasses.replace(w, bodies=dict(random.Random(seed).sample(list(w.bodies.items()), len(w.bodies))))
        assert expected(w) == expected(shuffled)
        g, r, b, n = arrays(shuffled)
        assert readable(shuffled, articulate(g, r), b, n) == expected(w)


def chain(count: int, excluded: int = -1) -> World:
    bodies = {f"/W/b{i:06}": "dynamic" for i in range(count)}
    names = list(bodies)
    joints = [Joint(f"/W/j{i:06}", "PhysicsFixedJoint", names[i], names[i + 1], True, i == excluded) for i in range(count - 1)]
    return World(bodies, joints, ["/W"])


def test_hostile_sizes_finish() -> None:
    """One chain, one star, many robots, 1,000 cyclic graphs, 10,000 joints between two bodies, a joint whose body is itself."""
    n = 100_000
    ones = lambda k: np.ones(k, np.uint8)
    zeros = lambda k: np.zeros(k, np.uint8)

    def run(side: np.ndarray, bodies: int, starts: np.ndarray, ends: np.ndarray) -> Articulations:
        k = len(side)
        graph = JointGraph(side, ones(k), zeros(k), ones(k), ones(bodies), zeros(bodies), np.arange(1, bodies + 1))
        return articulate(graph, Roots(np.zeros(len(starts)), np.full(len(starts), NONE), starts, ends))

    zero, i = np.zeros(1, np.int64), np.arange(n)
    line = run(np.stack([i, i + 1], 1), n + 1, zero, zero + n + 1)
    assert line.link_body.size == n + 1
    assert line.link_body[0] == n // 2
    star = run(np.stack([np.full(n, n), i], 1), n + 1, zero, zero + n + 1)
    assert star.link_body[0] == n
    base = np.arange(100_000) * 11
    robots = run((base[:, None, None] + np.stack([np.arange(10), np.arange(1, 11)], 1)).reshape(-1, 2), 1_100_000, base, base + 11)
    assert robots.root.size == 100_000
    assert (robots.fate == bd.LINK_JOINT).all()
    rng = np.random.default_rng(7)
    tree = np.array([[rng.integers(b), b] for b in range(1, 50)])
    loops = np.concatenate([tree, rng.integers(0, 50, (20, 2))])
    start = np.arange(1000) * 50
    cyclic = run((start[:, None, None] + loops).reshape(-1, 2), 50_000, start, start + 50)
    assert cyclic.link_body.size == 50_000
    parallel = run(np.tile([[0, 1]], (10_000, 1)), 2, zero, zero + 2)
    assert np.bincount(parallel.fate, minlength=5).tolist() == [9998, 0, 1, 1, 0]
    itself = run(np.array([[0, 0], [0, 1]]), 2, zero, zero + 2)
    assert itself.fate.tolist() == [bd.LOOP, bd.LINK_JOINT]
    static = run(np.array([[STATIC, 0]]), 1, zero, zero + 1)
    assert static.fixed.tolist() == [1]
