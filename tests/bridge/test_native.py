"""What is refused before ovstage is touched: a missing, foreign or clashing ovstage."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from ovsim.bridge import native
from ovsim.errors import BridgeError


@pytest.fixture(autouse=True)
def _without_pxr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pxr", raising=False)


def fake(monkeypatch: pytest.MonkeyPatch, version: Any) -> None:
    module = ModuleType("ovstage")

    def library_version() -> Any:
        if isinstance(version, Exception):
            raise version
        return version

    module.library_version = library_version  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ovstage", module)


def test_ovstage_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ovstage", None)
    with pytest.raises(BridgeError, match=r"not installed in this environment .*ovphysx==0.6.3"):
        native.module()


@pytest.mark.parametrize("version", [(0, 3, 0), (1, 0, 0), (0, 1, 9)])
def test_another_version(monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...]) -> None:
    fake(monkeypatch, version)
    with pytest.raises(BridgeError, match=r"ovstage {}\.{}\.{} is installed, the bridge knows 0\.2".format(*version)):
        native.module()


@pytest.mark.parametrize("trouble", [OSError("libovstage.so: cannot open"), RuntimeError("probe failed"), None])
def test_an_ovstage_that_does_not_load(monkeypatch: pytest.MonkeyPatch, trouble: Any) -> None:
    fake(monkeypatch, trouble)
    with pytest.raises(BridgeError, match="does not load"):
        native.module()


def test_a_process_with_pxr(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, (0, 2, 0))
    monkeypatch.setitem(sys.modules, "pxr", ModuleType("pxr"))
    with pytest.raises(BridgeError, match="loaded pxr"):
        native.module()


def test_the_bridge_needs_numpy_and_pyarrow_only() -> None:
    """Every module of the bridge, of the stage and of the contract imports where pxr, numba, typer and rich are missing."""
    code = """
import importlib, pkgutil, sys
for name in ("pxr", "numba", "typer", "rich", "ovstage", "ovphysx", "producer", "consumer"):
    sys.modules[name] = None
import ovsim.bridge, ovsim.contract, ovsim.stage
for package in (ovsim.bridge, ovsim.contract, ovsim.stage):
    for found in pkgutil.iter_modules(package.__path__):
        if found.name != "__main__":
            importlib.import_module(package.__name__ + "." + found.name)
print(len([m for m in sys.modules if m.startswith("ovsim.bridge.")]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 9
