"""Registers the PhysX and Newton schemas with USD, so that their types, APIs and fallbacks are known (population facts, "The rule")."""

from __future__ import annotations

import importlib.metadata
from functools import lru_cache
from pathlib import Path

from pxr import Plug, Usd

from ovsim.errors import SourceError

PACKAGES = ("physx-usd-schemas", "newton-usd-schemas")


@lru_cache
def register() -> None:
    """Register every plugin description of the schema packages.

    SourceError when a package is missing, or when USD built its schema registry before: it reads plugins once a process, and without the physics
    schemas attributes would silently read as absent.
    """
    for package in PACKAGES:
        try:
            listed = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            raise SourceError(f"the package {package} is not installed; without it USD does not know the physics schemas") from None
        for file in listed:
            if file.name == "plugInfo.json":
                Plug.Registry().RegisterPlugins(str(Path(str(file.locate())).parent))
    if Usd.SchemaRegistry().FindAppliedAPIPrimDefinition("PhysxJointAPI") is None:
        raise SourceError(
            "USD's schema registry was built in this process before the physics schemas were registered; "
            "use the USD backend before opening a stage yourself, or in a process of its own"
        )
