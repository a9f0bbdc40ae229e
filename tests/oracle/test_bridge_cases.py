"""What the bridge refuses, and that a refused stage leaves nothing behind; columns of every layout there and back. In the real ovstage."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
REAL = os.environ.get("OVSIM_ORACLE", "")
pytestmark = [pytest.mark.oracle, pytest.mark.skipif(not REAL, reason="OVSIM_ORACLE names no python with ovstage and ovphysx")]


def run(case: str) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run([REAL, str(HERE / "real_bridge_cases.py"), case], capture_output=True, text=True, check=False, env=environment)
    if "No module named 'pyarrow'" in done.stderr:
        pytest.skip(f"{REAL} has no pyarrow")
    assert done.returncode == 0, done.stderr[-2000:]
    got: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return got


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("sealed", "the stage is sealed up to ordinal 3, so nothing can be written at 3; push at 4"),
        ("foreign_dictionary", "their ids are of another dictionary"),
        ("foreign_path", "column physics:simulationOwner: path id 9999 is not one of the stage's dictionary"),
        ("foreign_token", "column physics:approximation: token id 12345 is not one of the stage's dictionary"),
        ("contract", "follows contract '0.7'"),
        ("strings", "column label: ovstage has no type for string"),
        ("connection", "column link: ovstage 0.2 does not give connections back"),
        ("built_in", "column usd-parent is derived"),
        ("bare_row", "/World: ovstage has no row without type and columns"),
        ("bad_path", "'/World/two words' is no path to ovstage"),
        ("ordinal_zero", "a whole number from 1, not 0"),
        ("destroyed", "was destroyed"),
        ("no_stage", "an ovstage.Stage is wanted, not object"),
    ],
)
def test_refused_before_anything_is_written(case: str, said: str) -> None:
    got = run(case)
    assert said in got["told"]
    assert got["rows"] == 0


def test_a_single_sealed_column_is_told_by_name() -> None:
    assert "column physics:mass is sealed up to ordinal 5" in run("sealed_column")["told"]


def test_above_the_write_floor_and_onto_rows_that_are_there() -> None:
    assert run("later") == {"told": "", "got": 4, "rows": 4}
    assert run("twice") == {"told": "", "got": 4, "rows": 4}


def test_reading_what_is_not_sealed() -> None:
    assert "ordinal 2 is not sealed" in run("unsealed")["told"]


def test_an_id_that_the_dictionary_does_not_know() -> None:
    assert "token id 77 is not one of the stage's dictionary" in run("unknown_id")["told"]


def test_columns_of_every_layout_come_back() -> None:
    got = run("round_trip")
    assert got["told"] == ""
    assert got["got"] == {"differences": [], "kinds": 5}
