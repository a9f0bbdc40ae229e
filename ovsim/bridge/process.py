"""The bridge in a process of its own: a pxr process hands snapshots to the python that has ovstage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from ovsim.errors import BridgeError

PYTHON = "OVSIM_BRIDGE_PYTHON"


def python(given: str | os.PathLike[str] | None = None) -> str:
    """The python that has ovstage: the given one, else the one that OVSIM_BRIDGE_PYTHON names, else this one."""
    return str(given or os.environ.get(PYTHON) or sys.executable)


def run(arguments: Sequence[str], interpreter: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Run `python -m ovsim.bridge` with these arguments; its summary. BridgeError tells what the other process said when it failed."""
    command = [python(interpreter), "-m", "ovsim.bridge", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as e:
        raise BridgeError(f"{command[0]} does not run ({e}); name the python that has ovstage with --python or {PYTHON}") from e
    lines = [x for x in done.stderr.splitlines() if x.strip()]
    if done.returncode == 0:
        try:
            summary: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        except (ValueError, IndexError) as e:
            raise BridgeError(f"{command[0]} gave no summary; its last words: {_last(lines)}") from e
        return summary | {"log": lines}
    told = next((x.removeprefix("error: ") for x in reversed(lines) if x.startswith("error: ")), "")
    if told:
        raise BridgeError(f"{told} [{command[0]}]")
    if any("No module named" in x and ("ovsim" in x or "pyarrow" in x or "numpy" in x) for x in lines):
        raise BridgeError(f"{command[0]}: {_last(lines)}; install numpy and pyarrow there, and ovsim with `pip install --no-deps`")
    how = f"was ended by signal {-done.returncode}" if done.returncode < 0 else f"ended with status {done.returncode}"
    raise BridgeError(f"the simulator's process {how}; its last words: {_last(lines)}")


def _last(lines: list[str]) -> str:
    return lines[-1] if lines else "none"
