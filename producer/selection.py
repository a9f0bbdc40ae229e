"""Which prims get rows, and which names population knows (producer facts, rules 3 and 7; contract block `prim`).

The sets are data (`data/population.json`), recorded from ovstage 0.2 by populating every registered schema on a typeless prim, a Scope, an Xform
and a Sphere: membership depends on the type token or on one applied schema, never on the pair.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from importlib.resources import files


class Role(IntEnum):
    """Why a prim has a row, and so what the row shows.

    MEMBER: it carries physics itself. TARGET: a published relationship targets it. INSTANCER: a PointInstancer of physics prototypes.
    BINDER: it authors a binding to a physics material, and shows that alone. ANCESTOR: it stands above such a prim, or is the instance root of a
    published prototype.
    """

    MEMBER = 0
    TARGET = 1
    INSTANCER = 2
    BINDER = 3
    ANCESTOR = 4


@dataclass(frozen=True)
class Population:
    """The producer's physics set.

    `types`, `apis`, `multi_apis`: what makes a member. `shape_apis`: what makes `geometry` names publishable. `material_consumers`: rows that
    carry the resolved material binding. `target_geometry`, `subset`, `instancer`: what a target row, a collider's GeomSubset and a PointInstancer of
    physics prototypes show beside. `newer_*`: schemas of today's USD that the USD inside ovstage 0.2 does not know.
    """

    types: frozenset[str]
    apis: frozenset[str]
    multi_apis: frozenset[str]
    shape_apis: frozenset[str]
    material_consumers: frozenset[str]
    geometry: frozenset[str]
    target_geometry: frozenset[str]
    subset: frozenset[str]
    instancer: frozenset[str]
    newer_types: frozenset[str]
    newer_apis: frozenset[str]
    hidden_names: frozenset[str]
    hidden_prefixes: tuple[str, ...]
    hidden_patterns: tuple[tuple[str, str], ...]

    def is_member(self, type_name: str, schemas: Iterable[str]) -> bool:
        """Rule 3: the type, a single-apply API or an instance of a multi-apply API is in the set."""
        return type_name in self.types or any(self._counts(s) for s in schemas)

    def _counts(self, schema: str) -> bool:
        base, colon, _ = schema.partition(":")
        return base in (self.multi_apis if colon else self.apis)

    def has_shape(self, schemas: Iterable[str]) -> bool:
        """Whether an API reads the prim's shape, so that its geometry is published."""
        return not self.shape_apis.isdisjoint(schemas)

    def consumes_material(self, schemas: Iterable[str]) -> bool:
        """Whether the row carries the resolved physics material (contract page MaterialBindingAPI)."""
        return not self.material_consumers.isdisjoint(schemas)

    def hides(self, name: str) -> bool:
        """Names that physics schemas declare but this population never publishes (newer than its own list)."""
        return (
            name in self.hidden_names
            or name.startswith(self.hidden_prefixes)
            or any(name.startswith(a) and name.endswith(b) for a, b in self.hidden_patterns)
        )


@lru_cache
def population() -> Population:
    """The recorded physics set."""
    raw = json.loads((files("producer") / "data" / "population.json").read_text("utf-8"))
    hidden = raw["notPublished"]
    keys = ("types", "apis", "multiApis", "shapeApis", "materialConsumers", "geometry", "targetGeometry", "subset", "instancer")
    types, apis, multi, shape, consumers, geometry, target, subset, instancer = (frozenset(raw[k]) for k in keys)
    names, prefixes, patterns = frozenset(hidden["names"]), tuple(hidden["prefixes"]), tuple((a, b) for a, b in hidden["patterns"])
    newer = frozenset(raw["newer"]["types"]), frozenset(raw["newer"]["apis"])
    return Population(types, apis, multi, shape, consumers, geometry, target, subset, instancer, *newer, names, prefixes, patterns)


PHYSICS_BINDING = "material:binding:physics"


def is_binding(name: str) -> bool:
    """Whether a relationship is a material binding, which every row but an ancestor's publishes as authored."""
    return name == "material:binding" or name.startswith("material:binding:")
