"""Foreign memory as arrays: every result against a plain copy of the same rows."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovsim.bridge import memory
from ovsim.bridge.layout import FLOAT, INT, Layout
from ovsim.errors import BridgeError


def scattered(rows: list[np.ndarray]) -> np.ndarray:
    return np.array([r.ctypes.data for r in rows], np.uint64)


@given(st.lists(st.integers(0, 40), max_size=30), st.sampled_from(["<f4", "<f8", "<u8", "|u1", "<f2", "<i4"]), st.sampled_from([1, 2, 3, 16]))
def test_rows_that_lie_apart(sizes: list[int], kind: str, lanes: int) -> None:
    dtype = np.dtype(kind)
    rows = [np.arange(i, i + n * lanes).astype(dtype) for i, n in enumerate(sizes)]
    got = memory.gather_rows(scattered(rows), np.array(sizes, np.int64), lanes, dtype)
    want = np.concatenate([np.empty(0, dtype), *rows])
    assert got.dtype == dtype
    assert got.tobytes() == want.tobytes()
    assert len(got) == sum(sizes)


def test_long_rows_are_copied_whole() -> None:
    rows = [np.random.default_rng(1).random(n) for n in (3, 5000, 0, 64, 63)]
    sizes = np.array([r.size for r in rows])
    assert np.array_equal(memory.gather_rows(scattered(rows), sizes, 1, np.dtype(np.float64)), np.concatenate(rows))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=50))
def test_single_elements(values: list[int]) -> None:
    cells = [ctypes.c_int64(v) for v in values]
    addresses = np.array([ctypes.addressof(c) for c in cells], np.uint64)
    assert memory.gather(addresses, np.dtype(np.int64)).tolist() == values


def test_elements_of_mixed_alignment_are_refused() -> None:
    block = np.zeros(64, np.uint8)
    with pytest.raises(BridgeError, match="alignment"):
        memory.gather(np.array([block.ctypes.data, block.ctypes.data + 3], np.uint64), np.dtype(np.int32))


def test_descriptions_read_back_as_what_they_describe() -> None:
    values = np.arange(24, dtype=np.float32).reshape(8, 3)
    offsets = np.array([0, 2, 2, 5, 8])
    counts = np.diff(offsets)
    made = memory.tensors(Layout(FLOAT, 32, 3, True, "POINT"), values.ctypes.data, offsets[:-1], counts)
    assert made["lanes"].tolist() == [3] * 4
    assert (made["code"].tolist(), made["bits"].tolist()) == ([FLOAT] * 4, [32] * 4)
    assert memory.lengths(made).tolist() == [2, 0, 3, 3]
    assert np.array_equal(memory.gather_rows(memory.starts(made), memory.lengths(made), 3, np.dtype(np.float32)), values)


def test_a_description_without_dimensions_is_an_empty_row() -> None:
    made = np.zeros(2, memory.TENSOR)
    assert memory.lengths(made).tolist() == [0, 0]


def test_odd_descriptions_are_refused() -> None:
    values, counts = np.arange(6, dtype=np.int32), np.array([6], np.int64)
    made = memory.tensors(Layout(INT, 32, 1, True, "NONE"), values.ctypes.data, np.zeros(1, np.int64), counts)
    stride = np.array([2], np.int64)
    made["strides"] = stride.ctypes.data
    with pytest.raises(BridgeError, match="side by side"):
        memory.lengths(made)
    made["ndim"] = 2
    with pytest.raises(BridgeError, match="more than one dimension"):
        memory.lengths(made)


def test_structures_have_the_sizes_of_the_c_side() -> None:
    assert memory.STRING.itemsize == 16
    assert memory.TENSOR.itemsize == 48
    assert [memory.TENSOR.fields[n][1] for n in memory.TENSOR.names] == [0, 8, 12, 16, 20, 21, 22, 24, 32, 40]
