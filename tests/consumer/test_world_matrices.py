"""World matrices of whole stages: the table of composed rows (spec 4.5)."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt
import pytest
from hand import matrix

from consumer.bodies import PROPERTY, BodyTable
from consumer.buffers import Buffers
from consumer.passes import Runner
from consumer.rulesets import get
from consumer.transforms import STANDS, UP, WORLD_ROW, Transforms
from consumer.world import ROW_BITS, SHIFT, nearest_row
from ovsim.diagnostics import Diagnostics
from ovsim.stage import Stage, StageBuilder

RESET, WORLD = "omni:resetXformStack", "omni:fabric:worldMatrix"


def forest(seed: int, count: int = 400, given: bool = True) -> Stage:
    """Prims of several kinds below each other and below prims without a matrix; rows that reset the stack; bodies, below no body for odd seeds.

    `given`: some have a world matrix of their own.
    """
    rng = np.random.default_rng(seed)
    builder = StageBuilder()
    places = [""]
    kinds: dict[str, list[tuple[str, npt.NDArray[np.float64]]]] = {}
    for i in range(count):
        kind = str(rng.choice(["plain", "scope", "reset", "body", "bare", "world"], p=[0.4, 0.15, 0.05, 0.3, 0.05, 0.05]))
        inner = [p for p in places if "/b" not in p] if kind == "body" and seed % 2 else places
        path = f"{inner[rng.integers(len(inner))]}/{kind[0]}{i}"
        turn = rng.normal(size=4)
        kinds.setdefault(kind, []).append((path, matrix(rng.normal(size=3), turn, rng.choice([1.0, 2.0, -1.0]) if i % 3 else rng.normal(size=3))))
        places.append(path)
        if i % 40 == 0:
            builder.paths.path(f"{path}.prop")
    for kind, rows in kinds.items():
        order = rng.permutation(len(rows))
        paths = [rows[k][0] for k in order]
        local = np.array([rows[k][1].reshape(16) for k in order])
        if kind == "scope":
            builder.add("Scope", paths)
        elif kind == "bare":
            builder.add("Xform", paths, {RESET: rng.random(len(rows)) < 0.5}, ["BareAPI"])
        elif kind == "world" and given:
            builder.add("Xform", paths, {WORLD: local, "omni:xform": local[::-1].copy()}, ["OwnAPI"])
        elif kind == "reset":
            builder.add("Xform", paths, {"omni:xform": local, RESET: rng.random(len(rows)) < 0.7}, ["ResetAPI"])
        else:
            body = {"physics:rigidBodyEnabled": rng.random(len(rows)) < 0.8} if kind == "body" else {}
            builder.add("Xform", paths, {"omni:xform": local, **body}, ["PhysicsRigidBodyAPI"] if kind == "body" else [])
    return builder.finish()


def reference(stage: Stage, path: int) -> npt.NDArray[np.float64]:
    """Prim by prim, from the rows themselves."""
    kind, row = stage.located
    own = stage.archetypes[kind[path]] if kind[path] >= 0 else None
    if own is not None and WORLD in own:
        return np.asarray(own.values(WORLD)[row[path]], np.float64).reshape(4, 4)
    out = np.eye(4)
    here = path
    while here > 1:
        if stage.paths.token_string(int(stage.paths.names[here])).startswith("."):
            here = int(stage.paths.parents[stage.paths.parents[here]])
            continue
        if kind[here] >= 0:
            a = stage.archetypes[kind[here]]
            if "omni:xform" in a:
                out = out @ np.asarray(a.values("omni:xform")[row[here]], np.float64).reshape(4, 4)
            if RESET in a and a.values(RESET)[row[here]]:
                break
        here = int(stage.paths.parents[here])
    return out


def made(stage: Stage, threads: int, chunk: int | None, in_place: int, buffers: Buffers | None = None) -> Transforms:
    runner = Runner.of(threads, chunk)
    return Transforms.of(stage, BodyTable.of(stage, get("contract-0.6")), Diagnostics(), runner, buffers, in_place)


@pytest.mark.parametrize("seed", range(4))
def test_world_matrices_prim_by_prim(seed):
    """Every path, properties and prims without a row too, in memory that other stages have used; bit for bit whatever threads, ranges and places."""
    kept = Buffers()
    made(forest(9), 1, None, 3, kept).of_paths([0])
    stage = forest(seed)
    ids = np.arange(stage.paths.path_count, dtype=np.uint64)
    want = np.array([reference(stage, int(p)) for p in ids])
    first = made(stage, 1, None, 0).of_paths(ids)
    assert np.allclose(first, want[:, :, :3], rtol=1e-12, atol=1e-9)
    for threads in sorted({1, os.cpu_count() or 1}):
        for chunk in (1, 7, None):
            for in_place in (0, 1, 3):
                assert made(stage, threads, chunk, in_place, kept).of_paths(ids).tobytes() == first.tobytes()


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_the_table(seed):
    """A row is composed unless it stands on a column in place; its stretch is p of a rotation times p, else 0."""
    stage = forest(seed)
    placed = made(stage, os.cpu_count() or 1, 7, 3)
    kind, _ = stage.located
    worlds = made(stage, 1, None, 0).of_paths(np.arange(stage.paths.path_count))
    waits = composed = square = 0
    for path in range(2, stage.paths.path_count):
        code = int(placed.slot[path])
        if not code or code > ROW_BITS:
            continue
        if not placed.ready[code]:
            waits += 1
            assert placed.stretch[code] == 0
            continue
        composed += 1
        if WORLD not in stage.archetypes[kind[path]]:
            assert placed.table[code].tobytes() == worlds[path].tobytes()
        rows = placed.table[code, :3]
        p = np.sqrt(rows[0] @ rows[0])
        alike = np.allclose(rows @ rows.T, p * p * np.eye(3), rtol=1e-10, atol=1e-10)
        assert (placed.stretch[code] != 0) <= alike
        if placed.stretch[code]:
            square += 1
            assert placed.stretch[code] == pytest.approx(p * np.sign(np.linalg.det(rows)))
    near = {int(code) >> int(SHIFT) for code in placed.slot} - {0}
    assert composed
    assert (square > 0) == bool(near)
    assert (waits > 0) == bool(near)
    assert not made(stage, 1, None, 0).stretch.any()


def test_rows_that_stand_on_the_pseudo_root_and_on_each_other():
    """One kind of row at every level, deeper ones first: parents are composed before what stands on them."""
    builder = StageBuilder()
    paths = ["/a" + "/b" * k for k in range(20)][::-1]
    builder.add("Xform", paths, {"omni:xform": np.array([matrix((k, 1, 0), ("Z", 0.1), 1.1).reshape(16) for k in range(20)])})
    stage = builder.finish()
    for threads in sorted({1, os.cpu_count() or 1}):
        found = made(stage, threads, 3, 3)
        assert found.ready.all()
        for path in paths:
            k = stage.paths.find(path)
            assert np.allclose(found.table[found.slot[k]], reference(stage, k)[:, :3])


def test_property_paths_are_passed_over():
    """What stands below a property stands on what the prim of the property stands on."""
    stage = forest(2)
    bodies = BodyTable.of(stage, get("contract-0.6"))
    properties = np.flatnonzero(bodies.flags & PROPERTY)
    assert properties.size
    above = stage.paths.parents[stage.paths.parents[properties]]
    found = Transforms.of(stage, bodies, Diagnostics())
    own = found.of_paths(above)
    keep = [not (stage.located[0][p] >= 0 and WORLD in stage.archetypes[stage.located[0][p]]) for p in above]
    assert np.array_equal(found.of_paths(properties)[keep], own[keep])


@pytest.mark.parametrize("chunk", [7, None])
def test_stands_of_bodies_in_place(chunk):
    """Enabled bodies of a column in place tell their slot and the row of the table that they stand on, no other path does."""
    stage = forest(1, given=False)
    bodies = BodyTable.of(stage, get("contract-0.6"))
    found = Transforms.of(stage, bodies, Diagnostics(), Runner.of(None, chunk))
    told = 0
    for path in range(stage.paths.path_count):
        own, stand = int(found.slot[path]), int(found.stand[path])
        if own <= ROW_BITS or not bodies.enabled([path])[0]:
            assert stand == 0
            continue
        above = int(nearest_row(stage.paths.parents[path], stage.paths.parents, bodies.flags, found.slot))
        row = int(found.slot[above]) if above else int(WORLD_ROW)
        assert row <= ROW_BITS
        assert stand == int(STANDS) | row << int(UP) | own
        told += 1
    assert told
    assert forest(1).paths.path_count == stage.paths.path_count
    assert Transforms.of(forest(1), bodies, Diagnostics()).stand.size == 0
