"""How the tests of the command line run it: a fresh process, as a user does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def ovsim() -> Run:
    """Runs `ovsim ARGS...`; a traceback on either stream fails the test at once."""

    def run(*args: str | Path) -> subprocess.CompletedProcess[str]:
        code = "import sys; from ovsim.cli import main; sys.argv[0] = 'ovsim'; main()"
        got = subprocess.run([sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True, timeout=300, check=False)
        assert "Traceback" not in got.stderr + got.stdout, got.stderr
        return got

    return run


@pytest.fixture(scope="session")
def arm() -> Path:
    """The example robot arm."""
    return EXAMPLES / "arm.usda"
