"""The peers: which script, which Python, which steps of its report count as which phase."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_SCRIPTS = Path(__file__).parent / "peers"


@dataclass(frozen=True)
class Peer:
    """A peer. `variable` names the environment variable with its Python ("" for this one, where `module` must be importable).

    `phases` maps a phase to the steps of the script's report that it adds up; `shape` is the stage file that it reads.
    """

    name: str
    script: str
    variable: str
    module: str
    phases: Mapping[str, tuple[str, ...]]
    shape: str = "flat"

    @property
    def path(self) -> Path:
        return _SCRIPTS / f"{self.script}.py"

    def python(self) -> tuple[str, str]:
        """(python, ""), or ("", why there is none)."""
        if self.variable:
            named = os.environ.get(self.variable, "")
            if not named:
                return "", f"not installed here: set {self.variable} to the python of an environment with {self.module}"
            return (named, "") if os.access(named, os.X_OK) else ("", f"{self.variable} names {named}, which is no program")
        if importlib.util.find_spec(self.module) is None:
            return "", f"the package {self.module} is not installed"
        return sys.executable, ""


_POPULATION = {"populate": ("populate", "seal")}
_ATTACH = {**_POPULATION, "attach": ("attach",), "parse": ("parse",), "create": ("create_joints",)}
PEERS: Mapping[str, Peer] = {
    p.name: p
    for p in (
        Peer("pxr-loop", "pxr_loop", "", "pxr", {"populate": ("open", "read")}),
        Peer("pxr-parser", "pxr_parser", "", "pxr", {"parse": ("parse",), "open": ("open",)}),
        Peer("ovstage-0.2", "ovstage_population", "OVSIM_ORACLE", "ovphysx==0.6.3", _POPULATION),
        Peer("ovphysx-0.6", "ovphysx_attach", "OVSIM_ORACLE", "ovphysx==0.6.3", _ATTACH),
        Peer("ovstage-0.3", "ovstage_population", "OVSIM_ORACLE_07", "ovphysx==0.7.* and physx-usd-schemas", _POPULATION),
        Peer("ovphysx-0.7", "ovphysx_attach", "OVSIM_ORACLE_07", "ovphysx==0.7.* and physx-usd-schemas", _ATTACH),
        Peer("ovphysx-0.7-joints", "ovphysx_attach", "OVSIM_ORACLE_07", "ovphysx==0.7.* and physx-usd-schemas", _ATTACH, "joints"),
        Peer("newton", "newton_add_usd", "OVSIM_NEWTON", "newton and usd-core", {"physx": ("add_usd",)}),
    )
}
