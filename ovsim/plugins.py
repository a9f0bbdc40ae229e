"""Where the physics schemas lie that USD does not bring itself: the plugin folders of the schema packages, found without importing them or USD.

Population and the USD backend register the same folders, so that both know the same types, APIs and fallbacks.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

PACKAGES = {
    "physx_usd_schemas": ("PhysxSchema/resources", "OmniUsdPhysicsDeformableSchema/resources"),
    "newton_usd_schemas": (".",),
}
"""Import name of each package to its plugin folders. The name on the package index has hyphens instead (`distribution`)."""

PROBES = {"physx_usd_schemas": "PhysxJointAPI", "newton_usd_schemas": "NewtonJointAPI"}
"""An applied schema of each package: a registry that does not know it lacks the package."""


def distribution(package: str) -> str:
    """What to install for a package."""
    return package.replace("_", "-")


def folders() -> dict[str, list[Path]]:
    """The plugin folders, those that hold a plugInfo.json, by package; an empty list for a package that is not installed."""
    return {package: _found(package, names) for package, names in PACKAGES.items()}


def _found(package: str, names: tuple[str, ...]) -> list[Path]:
    spec = importlib.util.find_spec(package)
    roots = [Path(p) for p in spec.submodule_search_locations or ()] if spec else []
    return [root / n for root in roots for n in names if (root / n / "plugInfo.json").is_file()]
