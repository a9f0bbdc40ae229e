"""Scale, shear and rotation (spec 4.5) against numpy, and what must hold for every matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from consumer.decompose import compose, decompose, inverse, multiply, quaternion, rotation

MATRICES = st.lists(st.floats(-10, 10), min_size=9, max_size=9).map(lambda v: np.array(v).reshape(3, 3))
UNIT = st.lists(st.floats(-1, 1), min_size=4, max_size=4).map(np.array).filter(lambda q: np.linalg.norm(q) > 0.1).map(lambda q: q / np.linalg.norm(q))


def flat(m):
    return tuple(float(v) for v in np.asarray(m).reshape(9))


@given(MATRICES)
def test_polar_decomposition(m):
    """spec 4.5(3): the rotation is proper and is the polar factor of M, of -M when mirrored."""
    assume(abs(np.linalg.det(m)) > 1e-2)
    scale, turn = decompose(flat(m))
    u = np.array(turn).reshape(3, 3)
    sign = np.sign(np.linalg.det(m))
    w, _, vt = np.linalg.svd(m)
    assert u == pytest.approx(w @ vt * sign, abs=1e-6)
    assert np.linalg.det(u) == pytest.approx(1, abs=1e-6)
    assert np.sort(np.abs(scale)) == pytest.approx(np.sort(np.linalg.svd(m, compute_uv=False)), rel=1e-6)
    assert set(np.sign(scale)) == {sign}


@given(UNIT, st.tuples(*[st.floats(0.01, 100)] * 3))
def test_without_shear_scales_stay_with_their_rows(q, size):
    """spec 4.5: A = diag(s) R gives s back, row by row."""
    m = np.diag(size) @ np.array(rotation(tuple(q))).reshape(3, 3)
    scale, turn = decompose(flat(m))
    assert scale == pytest.approx(size, rel=1e-9)
    assert turn == pytest.approx(rotation(tuple(q)), abs=1e-9)


@given(UNIT)
def test_quaternion_inverts_rotation(q):
    """Up to the sign; the largest lane is positive, or of lanes that tie but for rounding one of them."""
    got = np.array(quaternion(rotation(tuple(q))))
    assert got[np.abs(got) > np.abs(got).max() - 1e-12].max() > 0
    assert abs(got @ q) == pytest.approx(1, abs=1e-9)


@given(UNIT, UNIT)
def test_compose_is_child_then_parent(outer, inner):
    """Row vectors: the child's matrix stands to the left of its parent's."""
    want = multiply(rotation(tuple(inner)), rotation(tuple(outer)))
    assert rotation(compose(tuple(outer), tuple(inner))) == pytest.approx(want, abs=1e-9)


@given(MATRICES, st.sampled_from([1.0, 1e-5, 1e-60, 1e-110]))
def test_inverse(m, size):
    """A regular matrix has an inverse, however small."""
    assume(abs(np.linalg.det(m)) > 1e-2)
    regular, back = inverse(flat(m * size))
    assert regular
    assert multiply(flat(m), tuple(v * size for v in back)) == pytest.approx(flat(np.eye(3)), abs=1e-7)


@pytest.mark.parametrize("m", [np.zeros((3, 3)), np.diag([0, 1, 1]), np.ones((3, 3))])
def test_singular(m):
    """No inverse; the scale is floored, nothing is NaN."""
    assert not inverse(flat(m))[0]
    scale, turn = decompose(flat(m))
    assert np.isfinite(scale).all()
    assert np.isfinite(turn).all()


def test_nan_ends():
    """The Jacobi sweeps are bounded."""
    m = np.eye(3)
    m[0, 1] = np.nan
    scale, _ = decompose(flat(m))
    assert np.isnan(scale).any()


def test_agrees_with_gf():
    """spec 4.5: same axes as OpenUSD's own factoring, shear and ties included."""
    gf = pytest.importorskip("pxr.Gf")
    rng = np.random.default_rng(4)
    for _ in range(2000):
        m = np.eye(3)
        for _ in range(rng.integers(1, 4)):
            size = rng.choice([1, 2, 3, 0.5, -1, rng.uniform(0.1, 10)], 3)
            q = rng.normal(size=4)
            turn = np.array(rotation(tuple(q / np.linalg.norm(q)))).reshape(3, 3) if rng.random() < 0.7 else np.eye(3)
            m = m @ np.diag(size) @ turn if rng.random() < 0.5 else m @ turn @ np.diag(size)
        full = np.eye(4)
        full[:3, :3] = m
        matrix = gf.Matrix4d(full.tolist())
        _, _, scale, _, _, _ = matrix.Factor()
        got, turn = decompose(flat(m))
        assert got == pytest.approx(tuple(scale), rel=1e-7)
        want = matrix.RemoveScaleShear()
        assert turn == pytest.approx([want[i][j] for i in range(3) for j in range(3)], abs=1e-7)
