"""Physics materials of shapes and bodies (contract page MaterialBindingAPI).

On rows that consume a material the relationship `material:binding:physics` is the resolved one (direct, inherited, by collection; the physics purpose
before the general one), provided that the bound Material itself is a member of the physics set; otherwise it stays as authored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pxr import UsdShade


class Bindings:
    """Resolved bindings of one stage. `bound`: paths of prims that author a binding relationship."""

    def __init__(self, bound: set[str], is_physics: Callable[[Any], bool]) -> None:
        self._above: dict[str, bool] = dict.fromkeys(bound, True)
        self._has_any = bool(bound)
        self._is_physics = is_physics

    def resolve(self, prims: Sequence[Any]) -> dict[str, str]:
        """Prim path to material path for those of `prims` that resolve to a physics material."""
        if not self._has_any:
            return {}
        below = [p for p in prims if self._is_below(str(p.GetPath()))]
        if not below:
            return {}
        materials, _ = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(below, "physics")
        found = ((p, m.GetPrim()) for p, m in zip(below, materials) if m)
        return {str(p.GetPath()): str(m.GetPath()) for p, m in found if self._is_physics(m)}

    def _is_below(self, path: str) -> bool:
        got = self._above.get(path)
        if got is None:
            parent = path.rpartition("/")[0]
            got = self._above[path] = bool(parent) and self._is_below(parent)
        return got
