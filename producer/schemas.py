"""Which properties a prim type and its applied API schemas declare, with type and fallback, as plain data.

The knowledge is USD's own: the schema registry of usd-core with the resource plugins of physx-usd-schemas and newton-usd-schemas. Their Python
packages are located but not imported. Without them the project's contract serves as declaration, and a diagnostic names what stays unknown.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ovsim import contract
from ovsim.contract.model import INSTANCE as SLOT
from ovsim.diagnostics import Diagnostics
from producer import usdvalues
from producer.selection import population
from producer.unapplied import INSTANCE, KnownNames
from producer.values import RELATIONSHIP, contract_type

PACKAGES = {
    "physx_usd_schemas": ("PhysxSchema/resources", "OmniUsdPhysicsDeformableSchema/resources"),
    "newton_usd_schemas": (".",),
}
_PROBES = {"physx_usd_schemas": "PhysxJointAPI", "newton_usd_schemas": "NewtonJointAPI"}
_FAMILIES = frozenset({"usdPhysics", "physxSchema", "omniUsdPhysicsDeformableSchema", "newton"})
_PLAIN_GPRIM = "Volume"  # declares nothing of its own: what it has is what every Gprim inherits


class Property(NamedTuple):
    """A declared property: `type` is the USD value type name, "" for a relationship; `fallback` a plain value or None."""

    type: str
    fallback: Any = None


@dataclass(frozen=True)
class TypeFacts:
    """What rows need to know of a prim type."""

    is_xformable: bool
    is_boundable: bool


def resources() -> dict[str, list[Path]]:
    """Plugin folders of the schema packages that are installed, by package; found without importing them."""
    out: dict[str, list[Path]] = {}
    for package, folders in PACKAGES.items():
        spec = importlib.util.find_spec(package)
        if spec and spec.origin:
            found = [Path(spec.origin).parent / f for f in folders]
            out[package] = [f for f in found if (f / "plugInfo.json").is_file()]
    return out


@lru_cache
def load() -> Schemas:
    """Register the schema plugins and give the one view of the registry; import pxr on the first call.

    USD builds its registry once a process, so plugins registered after another library has used it stay unknown; the diagnostics then say so.
    """
    from pxr import Plug

    folders = [str(f) for paths in resources().values() for f in paths]
    if folders:
        Plug.Registry().RegisterPlugins(folders)
    return Schemas()


class Schemas:
    """The registry as plain data, cached by (type, applied schemas)."""

    def __init__(self) -> None:
        from pxr import Usd

        self._registry = Usd.SchemaRegistry()
        self._properties: dict[tuple[str, tuple[str, ...]], Mapping[str, Property]] = {}
        self._facts: dict[str, TypeFacts] = {}
        self.missing = tuple(p for p, probe in _PROBES.items() if self._registry.FindAppliedAPIPrimDefinition(probe) is None)
        self.known = KnownNames(self._physics_names())

    def properties(self, type_name: str, schemas: tuple[str, ...]) -> Mapping[str, Property]:
        """Declared properties by name; `schemas` are sanitised ones. Multi-apply instances with a colon declare nothing (rule 13)."""
        key = (type_name, schemas)
        got = self._properties.get(key)
        if got is None:
            got = self._properties[key] = self._declared(type_name, schemas)
        return got

    def sanitise(self, type_name: str, authored: Sequence[str]) -> tuple[str, ...]:
        """`usd-schemas` of a prim: built-in APIs of its type, the authored ones with what they include, unknown ones dropped (rules 1, 13).

        Sorted by name. `authored` is the composed `apiSchemas` list.
        """
        definition = self._definition(type_name, authored)
        newer = population().newer_apis
        kept = {a for a in definition.GetAppliedAPISchemas() if a.partition(":")[0] not in newer} if definition else set()
        if self.missing:
            kept.update(a for a in authored if _is_contract_api(a))
        return tuple(sorted(kept))

    def facts(self, type_name: str) -> TypeFacts:
        """Type facts; a type that USD does not know, or that is abstract, is neither Xformable nor Boundable."""
        got = self._facts.get(type_name)
        if got is None:
            from pxr import Usd, UsdGeom

            found = self._registry.GetTypeFromSchemaTypeName(type_name) if type_name else None
            if found and Usd.SchemaRegistry.IsConcrete(found) and type_name not in population().newer_types:
                got = TypeFacts(found.IsA(UsdGeom.Xformable), found.IsA(UsdGeom.Boundable))
            else:
                got = TypeFacts(False, False)
            self._facts[type_name] = got
        return got

    def is_registered(self, type_name: str) -> bool:
        """Whether USD knows a concrete prim type of this name."""
        return self._registry.FindConcretePrimDefinition(type_name) is not None

    def report(self, used: Iterable[str], diagnostics: Diagnostics) -> None:
        """Tell of missing schema packages, and of the used APIs whose columns therefore cannot be known."""
        if not self.missing:
            return
        names = " and ".join(p.replace("_", "-") for p in self.missing)
        diagnostics.add(
            "schemas-missing",
            "warning",
            f"{names} not registered with USD: columns of its APIs come from the contract data; install {names}, and populate before another"
            " library uses USD's schema registry",
        )
        for name in sorted({u.partition(":")[0] for u in used}):
            if self._is_unregistered(name) and name not in contract.load().components:
                diagnostics.add("schema-unknown", "warning", f"the columns of {name} cannot be known without {names}", column=name)

    def _definition(self, type_name: str, schemas: Sequence[str]) -> Any:
        """pxr prim definition, None when neither type nor schemas give one."""
        if schemas:
            return self._registry.BuildComposedPrimDefinition(type_name if self.is_registered(type_name) else "", list(schemas))
        return self._registry.FindConcretePrimDefinition(type_name) if type_name else None

    def _is_unregistered(self, name: str) -> bool:
        return self._registry.FindAppliedAPIPrimDefinition(name) is None and self._registry.FindConcretePrimDefinition(name) is None

    def _declared(self, type_name: str, schemas: tuple[str, ...]) -> Mapping[str, Property]:
        definition = self._definition(type_name, schemas)
        out = dict(_contract_properties(type_name, schemas)) if self.missing else {}
        for name in definition.GetPropertyNames() if definition else ():
            attribute = definition.GetAttributeDefinition(name)
            if not attribute:
                out[name] = Property("")
                continue
            usd_type = str(attribute.GetTypeName())
            fallback = attribute.GetFallbackValue()
            out[name] = Property(usd_type, None if fallback is None else usdvalues.plain(usd_type, fallback))
        return out

    def _physics_names(self) -> set[str]:
        from pxr import Plug, Tf, Usd

        inherited = set(self._registry.FindConcretePrimDefinition(_PLAIN_GPRIM).GetPropertyNames())
        names: set[str] = set()
        for found in Tf.Type.FindByName("UsdSchemaBase").GetAllDerivedTypes():
            plugin = Plug.Registry().GetPluginForType(found)
            if plugin is None or plugin.name not in _FAMILIES:
                continue
            schema = Usd.SchemaRegistry.GetSchemaTypeName(found)
            definition = self._registry.FindConcretePrimDefinition(schema) or self._registry.FindAppliedAPIPrimDefinition(schema)
            if definition:
                names.update(n for n in definition.GetPropertyNames() if n not in inherited)
        if self.missing:
            for component in contract.load().components.values():
                if component.kind != "block" and not self._registry.FindConcretePrimDefinition(component.name):
                    names.update(c.name.replace(SLOT, INSTANCE) for c in component.columns)
        return names


def _is_contract_api(schema: str) -> bool:
    base, colon, instance = schema.partition(":")
    component = contract.load().components.get(base)
    if component is None or component.kind not in ("api", "multi_api"):
        pop = population()
        return (bool(instance) and base in pop.multi_apis) if colon else base in pop.apis
    return bool(instance) if component.kind == "multi_api" else not colon


def _contract_properties(type_name: str, schemas: Sequence[str]) -> Iterable[tuple[str, Property]]:
    """Declarations out of the contract: what serves for schemas that USD does not know."""
    known = contract.load()
    wanted = [(type_name, "")] if type_name in known.components else []
    wanted += [(base, instance) for base, _, instance in (s.partition(":") for s in schemas) if base in known.components and ":" not in instance]
    for component, instance in wanted:
        for column in known.columns_of(component):
            if column.producer.rule in ("resolved", "derived", "authored"):
                type_ = contract_type(column)
                usd_type = "" if type_ is RELATIONSHIP else usdvalues.type_name(type_)
                yield column.instance(instance), Property(usd_type, column.raw_fallback)
