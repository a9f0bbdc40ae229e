"""The bridge in a process of its own: what its caller is told when that process fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ovsim.bridge import process
from ovsim.bridge.commands import main, parser
from ovsim.errors import BridgeError


def script(folder: Path, body: str) -> Path:
    """A stand-in for a python."""
    made = folder / "python"
    made.write_text("#!/bin/sh\n" + body)
    made.chmod(0o755)
    return made


def test_the_summary_comes_back_with_the_log(tmp_path: Path) -> None:
    python = script(tmp_path, 'echo "$@" >&2\necho \'{"rows": 3}\'\n')
    assert process.run(["push", "here"], python) == {"rows": 3, "log": ["-m ovsim.bridge push here"]}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo noise >&2; echo 'error: ordinal 1 is sealed' >&2; exit 1\n", "^ordinal 1 is sealed"),
        ("echo \"ModuleNotFoundError: No module named 'ovsim'\" >&2; exit 1\n", "--no-deps"),
        ("echo \"ModuleNotFoundError: No module named 'pyarrow'\" >&2; exit 1\n", "install numpy and pyarrow there"),
        ("echo last words >&2; exit 7\n", "ended with status 7; its last words: last words"),
        ("kill -SEGV $$\n", "ended by signal 11; its last words: none"),
        ("exit 0\n", "gave no summary"),
        ("echo no json\n", "gave no summary"),
    ],
)
def test_failures(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(BridgeError, match=said):
        process.run(["pull"], script(tmp_path, body))


def test_a_python_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BridgeError, match=r"does not run .*OVSIM_BRIDGE_PYTHON"):
        process.run(["pull"], tmp_path / "none")


def test_which_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(process.PYTHON, raising=False)
    assert process.python() == sys.executable
    monkeypatch.setenv(process.PYTHON, "/other/python")
    assert process.python() == "/other/python"
    assert process.python(Path("/given")) == "/given"


def test_arguments() -> None:
    given = vars(parser().parse_args(["push", "snap", "--steps", "3", "-o", "out"]))
    assert given == {"command": "push", "snapshot": Path("snap"), "steps": 3, "dt": 1 / 60, "device": "cpu", "out": Path("out"), "poses": None}
    with pytest.raises(SystemExit) as left:
        parser().parse_args(["pull", "file.usd"])
    assert left.value.code == 2


def test_an_error_is_one_line_and_status_1(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["push", str(tmp_path / "none")]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert str(tmp_path / "none") in err
