"""Which properties a prim type and its applied API schemas declare, with type and fallback, as plain data.

The knowledge is USD's own: the schema registry of usd-core with the plugins of physx-usd-schemas and newton-usd-schemas (`ovsim.plugins`). What the
registry lacks comes from the schema files themselves, or without the packages from the project's
contract (`producer.definitions`), and then a diagnostic names what stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from ovsim import plugins
from ovsim.diagnostics import Diagnostics
from producer import definitions, usdvalues
from producer.definitions import Definition, Property
from producer.selection import population
from producer.unapplied import INSTANCE, KnownNames

_FAMILIES = frozenset({"usdPhysics", "physxSchema", "omniUsdPhysicsDeformableSchema", "newton"})
_PLAIN_GPRIM = "Volume"  # declares nothing of its own: what it has is what every Gprim inherits


@dataclass(frozen=True)
class TypeFacts:
    """What rows need to know of a prim type."""

    is_xformable: bool
    is_boundable: bool


@lru_cache
def load() -> Schemas:
    """Register the schema plugins and give the one view of the registry; import pxr on the first call.

    USD builds its registry once a process; plugins that come after that are read as files.
    """
    from pxr import Plug

    folders = [str(f) for paths in plugins.folders().values() for f in paths]
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
        unregistered = [p for p, probe in plugins.PROBES.items() if self._registry.FindAppliedAPIPrimDefinition(probe) is None]
        found = plugins.folders() if unregistered else {}
        self.missing = tuple(p for p in unregistered if not found.get(p))
        self._extra: dict[str, Definition] = definitions.from_contract() if self.missing else {}
        for package in unregistered:
            self._extra.update(definitions.from_files(found.get(package, ())))
        self._extra = {n: d for n, d in self._extra.items() if self._is_unregistered(n)}
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
        listed = [*authored, *self._included(type_name, authored)] if self._extra else list(authored)
        definition = self._definition(type_name, listed)
        newer = population().newer_apis
        kept = {a for a in definition.GetAppliedAPISchemas() if a.partition(":")[0] not in newer} if definition else set()
        if self._extra:
            kept.update(a for a in listed if self._is_extra(a))
        return tuple(sorted(kept))

    def facts(self, type_name: str) -> TypeFacts:
        """Type facts; a type that USD does not know, or that is abstract, is neither Xformable nor Boundable."""
        got = self._facts.get(type_name)
        if got is None:
            from pxr import Usd, UsdGeom

            extra = self._extra.get(type_name)
            if extra is not None and extra.kind == "type":
                return TypeFacts(extra.is_xformable, extra.is_boundable)
            found = self._registry.GetTypeFromSchemaTypeName(type_name) if type_name else None
            if found and Usd.SchemaRegistry.IsConcrete(found) and type_name not in population().newer_types:
                got = TypeFacts(found.IsA(UsdGeom.Xformable), found.IsA(UsdGeom.Boundable))
            else:
                got = TypeFacts(False, False)
            self._facts[type_name] = got
        return got

    def is_registered(self, type_name: str) -> bool:
        """Whether a concrete prim type of this name is known."""
        extra = self._extra.get(type_name)
        return (extra is not None and extra.kind == "type") or self._registry.FindConcretePrimDefinition(type_name) is not None

    @property
    def is_partial(self) -> bool:
        """Whether USD itself lacks schemas: then pxr drops their names from applied lists and knows no type of their attributes."""
        return bool(self._extra)

    def report(self, used: Iterable[str], diagnostics: Diagnostics) -> None:
        """Tell of missing schema packages, and of the used APIs whose columns therefore cannot be known."""
        if not self.missing:
            return
        names = " and ".join(map(plugins.distribution, self.missing))
        diagnostics.add(
            "schemas-missing",
            "warning",
            f"{names} not registered with USD: columns of its APIs come from the contract data; install {names}, and populate before another"
            " library uses USD's schema registry",
        )
        for name in sorted({u.partition(":")[0] for u in used}):
            if self.reports(name):
                diagnostics.add("schema-unknown", "warning", f"the columns of {name} cannot be known without {names}", column=name)

    def reports(self, schema: str) -> bool:
        """Whether `report` tells of this schema: a package is missing that may well have it."""
        base = schema.partition(":")[0]
        return bool(self.missing and base and base not in self._extra and self._is_unregistered(base))

    def kind_of(self, name: str) -> str:
        """What a schema name without an instance is: "type", "api" or "multi_api", "newer" than population's USD, "" for none."""
        if name in population().newer_apis or name in population().newer_types:
            return "newer"
        if name in self._extra:
            return self._extra[name].kind
        if self._registry.FindAppliedAPIPrimDefinition(name) is not None:
            found = self._registry.GetAPITypeFromSchemaTypeName(name)
            return "multi_api" if self._registry.IsMultipleApplyAPISchema(found) else "api"
        return "type" if self._registry.FindConcretePrimDefinition(name) is not None else ""

    @cached_property
    def api_names(self) -> list[str]:
        """Names of the applied API schemas that population can list, sorted."""
        from pxr import Tf, Usd

        derived = Tf.Type.FindByName("UsdAPISchemaBase").GetAllDerivedTypes()
        names = {Usd.SchemaRegistry.GetSchemaTypeName(t) for t in derived} | set(self._extra)
        return sorted(n for n in names if n and self.kind_of(n) in ("api", "multi_api"))

    def _definition(self, type_name: str, schemas: Sequence[str]) -> Any:
        """pxr prim definition, None when neither type nor schemas give one."""
        concrete = self._registry.FindConcretePrimDefinition(type_name) if type_name else None
        if not schemas:
            return concrete
        return self._registry.BuildComposedPrimDefinition(type_name if concrete else "", list(schemas))

    def _is_unregistered(self, name: str) -> bool:
        return self._registry.FindAppliedAPIPrimDefinition(name) is None and self._registry.FindConcretePrimDefinition(name) is None

    def _declared(self, type_name: str, schemas: tuple[str, ...]) -> Mapping[str, Property]:
        definition = self._definition(type_name, schemas)
        out = self._extra_properties(schemas) if self._extra else {}
        for name in definition.GetPropertyNames() if definition else ():
            attribute = definition.GetAttributeDefinition(name)
            if not attribute:
                out[name] = Property("")
                continue
            usd_type = str(attribute.GetTypeName())
            fallback = attribute.GetFallbackValue()
            out[name] = Property(usd_type, None if fallback is None else usdvalues.plain(usd_type, fallback))
        out.update(self._extra_properties((type_name,)) if self._extra else {})  # a type is stronger than its APIs
        return out

    def _is_extra(self, schema: str) -> bool:
        base, _, instance = schema.partition(":")
        return base in self._extra and self._extra[base].fits(instance)

    def _included(self, type_name: str, authored: Sequence[str]) -> list[str]:
        """APIs that come with unregistered ones, in turn."""
        out: list[str] = []
        queue = [type_name, *(a for a in authored if self._is_extra(a))]
        while queue:
            base, _, instance = queue.pop().partition(":")
            for api in self._extra[base].includes if base in self._extra else ():
                name = api.replace(INSTANCE, instance) if INSTANCE in api or not instance or ":" in api else f"{api}:{instance}"
                if name not in out:
                    out.append(name)
                    queue.append(name)
        return out

    def _extra_properties(self, schemas: Sequence[str]) -> dict[str, Property]:
        out: dict[str, Property] = {}
        for schema in schemas:
            base, _, instance = schema.partition(":")
            if base in self._extra and ":" not in instance:
                out.update(self._extra[base].of_instance(instance))
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
        for extra in self._extra.values():
            names.update(n for n in extra.properties if n not in inherited)
            for base, _, instance in (i.partition(":") for i in extra.includes):
                definition = self._registry.FindAppliedAPIPrimDefinition(base)
                names.update(n.replace(INSTANCE, instance or INSTANCE) for n in (definition.GetPropertyNames() if definition else ()))
        return names
