"""One thread a kernel: stages here are tiny, and starting threads would cost more than the work."""

from __future__ import annotations

import numba
import pytest


@pytest.fixture(autouse=True)
def one_thread():
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)
