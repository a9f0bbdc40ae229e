"""Which world matrices a pulled stage keeps."""

from __future__ import annotations

import numpy as np
import pytest
from fake import FakeLive, piece

from ovsim.bridge.assemble import Assembly
from ovsim.bridge.layout import BOOL, FLOAT, Layout
from ovsim.stage import Stage

MATRIX = Layout(FLOAT, 64, 16, False, "MATRIX")
FLAG = Layout(BOOL, 8, 1, False, "NONE")


def at(*place: float) -> np.ndarray:
    out = np.eye(4)
    out[3, :3] = place
    return out.reshape(16)


def pulled(local: dict[str, np.ndarray], world: dict[str, np.ndarray], resets: dict[str, bool] | None = None, derived: bool = False) -> Stage:
    live = FakeLive()
    assembly = Assembly(live)
    every = sorted({*local, *world, "/w/scope"})
    assembly.add_type("Xform", piece(live, every, FLAG, np.zeros(len(every))).paths)
    for name, layout, found in (("omni:xform", MATRIX, local), ("omni:fabric:worldMatrix", MATRIX, world), ("omni:resetXformStack", FLAG, resets)):
        if found:
            assembly.add(name, piece(live, found, layout, np.array(list(found.values()))))
    return Stage(*assembly.finish(derived))


def having(stage: Stage) -> list[str]:
    found = [stage.paths.path_strings(a.path_ids).to_pylist() for a in stage.archetypes if "omni:fabric:worldMatrix" in a]
    return sorted(p for paths in found for p in paths)


LOCAL = {"/w": at(1, 0, 0), "/w/a": at(0, 2, 0), "/w/scope/b": at(0, 0, 3), "/w/scope/b/c": at(5, 0, 0)}
COMPOSED = {"/w": at(1, 0, 0), "/w/a": at(1, 2, 0), "/w/scope/b": at(1, 0, 3), "/w/scope/b/c": at(6, 0, 3)}


def test_composed_ones_are_left_out() -> None:
    """Across a parent without a matrix too, when the matrix says so; one archetype results where columns are then alike."""
    got = pulled(LOCAL, COMPOSED)
    assert having(got) == []
    assert len(got.archetypes) == 2
    assert having(pulled(LOCAL, COMPOSED, derived=True)) == sorted(COMPOSED)


def test_what_population_loses_below_a_scope_is_kept() -> None:
    """Population forgets /w below the scope: those two rows keep their matrices as they are."""
    lost = COMPOSED | {"/w/scope/b": at(0, 0, 3), "/w/scope/b/c": at(5, 0, 3)}
    got = pulled(LOCAL, lost)
    assert having(got) == ["/w/scope/b", "/w/scope/b/c"]
    archetype, row = got.find("/w/scope/b/c") or pytest.fail("no row")
    assert archetype.values("omni:fabric:worldMatrix")[row].tolist() == at(5, 0, 3).tolist()


def test_a_reset_stack_starts_anew() -> None:
    """A row that resets its stack stands where its local matrix says."""
    resets = {"/w/a": True, "/w": False}
    assert having(pulled(LOCAL, COMPOSED | {"/w/a": at(0, 2, 0)}, resets)) == []
    assert having(pulled(LOCAL, COMPOSED, resets)) == ["/w/a"]


def test_simulated_poses_and_rows_without_a_local_matrix_are_kept() -> None:
    """A pose that moved says what no local matrix says; so does one where there is no local matrix."""
    assert having(pulled(LOCAL, COMPOSED | {"/w/a": at(1, 2, 1e-3)})) == ["/w/a"]
    assert having(pulled(LOCAL, COMPOSED | {"/w/scope": at(0, 0, 0)})) == ["/w/scope"]


def test_rounding_is_no_other_place() -> None:
    """Another order of multiplication ends a few last bits apart; not finite matrices equal themselves."""
    assert having(pulled(LOCAL, COMPOSED | {"/w/a": np.nextafter(at(1, 2, 0), 2)})) == []
    odd = {"/w": at(np.nan, np.inf, 0)}
    assert having(pulled(odd, odd)) == []
