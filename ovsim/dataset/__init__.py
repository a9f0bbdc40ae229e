"""Many stages into one Parquet dataset: sources, the function a stage, engines, the dataset on disk, its reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ovsim.dataset.layout import Settings as Settings
    from ovsim.dataset.reading import Dataset as Dataset
    from ovsim.dataset.run import Summary as Summary
    from ovsim.dataset.run import convert as convert
    from ovsim.dataset.stage import convert_stage as convert_stage

_HOME = {
    "Dataset": "ovsim.dataset.reading",
    "Settings": "ovsim.dataset.layout",
    "Summary": "ovsim.dataset.run",
    "convert": "ovsim.dataset.run",
    "convert_stage": "ovsim.dataset.stage",
}
__all__ = ["Dataset", "Settings", "Summary", "convert", "convert_stage"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'ovsim.dataset' has no attribute {name!r}")
    return getattr(import_module(home), name)
