"""Distinct numbers: NumPy's own answer, found by sorting and by marking."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovsim.stage.distinct import distinct

DTYPES = (np.uint64, np.int64, np.uint32)


@given(st.lists(st.integers(0, 40), max_size=60), st.sampled_from(DTYPES), st.sampled_from([0, 41, 41 * 60]))
def test_like_numpy(values, dtype, count):
    """Without a bound, with one that is near and with one that is far."""
    array = np.array(values, dtype)
    got = distinct(array, count)
    assert got.dtype == dtype
    assert np.array_equal(got, np.unique(array))


@given(st.lists(st.integers(0, 2**64 - 1), max_size=30))
def test_wide_ids(values):
    assert distinct(np.array(values, np.uint64)).tolist() == sorted(set(values))


def test_any_shape_and_the_input_stays():
    array = np.array([[3, 1], [1, 2]], np.uint64)
    array.flags.writeable = False
    assert distinct(array).tolist() == distinct(array, 4).tolist() == [1, 2, 3]
    assert array.tolist() == [[3, 1], [1, 2]]


def test_ids_beyond_the_count():
    with pytest.raises(IndexError):
        distinct(np.array([5], np.uint64), 5)
