"""Registers the PhysX and Newton schemas with USD, so that their types, APIs and fallbacks are known (population facts, "The rule")."""

from __future__ import annotations

from functools import lru_cache

from pxr import Plug, Usd

from ovsim import plugins
from ovsim.errors import SourceError


@lru_cache
def register() -> None:
    """Register every plugin description of the schema packages.

    SourceError when a package is missing, or when USD built its schema registry before: it reads plugins once a process, and without the physics
    schemas attributes would silently read as absent.
    """
    for package, folders in plugins.folders().items():
        if not folders:
            name = plugins.distribution(package)
            raise SourceError(f"the package {name} is not installed; without it USD does not know the physics schemas")
        Plug.Registry().RegisterPlugins([str(f) for f in folders])
    registry = Usd.SchemaRegistry()
    if any(registry.FindAppliedAPIPrimDefinition(probe) is None for probe in plugins.PROBES.values()):
        raise SourceError(
            "USD's schema registry was built in this process before the physics schemas were registered; "
            "use the USD backend before opening a stage yourself, or in a process of its own"
        )
