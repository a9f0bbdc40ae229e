"""The bridge to the real simulator: an ovsim Stage into a live ovstage Stage and back (`push`, `pull`), and stepping it with ovphysx (`run`).

Works in a process where ovstage is installed and pxr is not; besides ovstage it needs numpy and pyarrow only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ovsim.bridge.compare import differences as differences
    from ovsim.bridge.ovstage import pull as pull
    from ovsim.bridge.ovstage import push as push
    from ovsim.bridge.run import populate as populate
    from ovsim.bridge.run import simulate as simulate

_HOME = {
    "differences": "ovsim.bridge.compare",
    "populate": "ovsim.bridge.run",
    "pull": "ovsim.bridge.ovstage",
    "push": "ovsim.bridge.ovstage",
    "simulate": "ovsim.bridge.run",
}
__all__ = ["differences", "populate", "pull", "push", "simulate"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'ovsim.bridge' has no attribute {name!r}")
    return getattr(import_module(home), name)
