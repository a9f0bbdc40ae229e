"""Stages that the benchmarks share. `pytest benchmarks` measures; `pytest benchmarks --benchmark-disable` runs each once, as a test."""

from __future__ import annotations

import pytest

from ovsim.bench.synthetic import synthetic_stage
from ovsim.stage import Stage

JOINTS = 12_000


@pytest.fixture(scope="session")
def stage() -> Stage:
    """Robots with every joint type of the mixed kind."""
    return synthetic_stage(JOINTS)
