"""ovsim: USD physics joints as Arrow columns, and what ovphysx makes of them.

The names below load on first use, so that importing ovsim costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ovsim.api import open_stage as open_stage
    from ovsim.api import physx as physx
    from ovsim.api import populate as populate
    from ovsim.api import resolve as resolve
    from ovsim.dataset.reading import Dataset as Dataset
    from ovsim.dataset.run import convert as convert
    from ovsim.diff import compare as compare
    from ovsim.stage import PathDictionary as PathDictionary
    from ovsim.stage import Stage as Stage
    from ovsim.stage import StageBuilder as StageBuilder

__version__ = "0.1.0"

_HOME = {
    "compare": "ovsim.diff",
    "Dataset": "ovsim.dataset.reading",
    "convert": "ovsim.dataset.run",
    "open_stage": "ovsim.api",
    "physx": "ovsim.api",
    "populate": "ovsim.api",
    "resolve": "ovsim.api",
    "PathDictionary": "ovsim.stage",
    "Stage": "ovsim.stage",
    "StageBuilder": "ovsim.stage",
}
__all__ = ["Dataset", "PathDictionary", "Stage", "StageBuilder", "compare", "convert", "open_stage", "physx", "populate", "resolve"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'ovsim' has no attribute {name!r}")
    return getattr(import_module(home), name)
