"""Schemas that USD's registry does not know, as plain definitions.

USD builds its registry once a process. When another library has done so before our schema plugins could be registered, the schema files themselves
are read here; when the packages are not installed at all, the project's contract serves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ovsim import contract
from ovsim.contract.model import INSTANCE as SLOT
from producer import usdvalues
from producer.unapplied import INSTANCE
from producer.values import RELATIONSHIP, contract_type

_KINDS = {"concreteTyped": "type", "singleApplyAPI": "api", "multipleApplyAPI": "multi_api"}
_BOUNDABLE = frozenset({"UsdGeomBoundable", "UsdGeomGprim", "UsdGeomPointBased"})
_XFORMABLE = _BOUNDABLE | {"UsdGeomXformable", "UsdGeomXform"}


class Property(NamedTuple):
    """A declared property: `type` is the USD value type name, "" for a relationship; `fallback` a plain value or None."""

    type: str
    fallback: Any = None


@dataclass(frozen=True)
class Definition:
    """One schema: `kind` type, api or multi_api; names of a multi-apply API hold `__INSTANCE_NAME__`; `includes` are the APIs that come with it."""

    kind: str
    properties: Mapping[str, Property]
    includes: tuple[str, ...] = ()
    is_xformable: bool = False
    is_boundable: bool = False

    def of_instance(self, instance: str) -> dict[str, Property]:
        """Properties with the instance name filled in."""
        return {n.replace(INSTANCE, instance): p for n, p in self.properties.items()}

    def fits(self, instance: str) -> bool:
        """Whether an applied schema with (or "" without) this instance name is one."""
        return self.kind == "multi_api" if instance else self.kind == "api"


def from_files(folders: Iterable[Path]) -> dict[str, Definition]:
    """Definitions of the schema plugins in these folders, by schema name."""
    from pxr import Sdf

    out: dict[str, Definition] = {}
    for folder in folders:
        layer = Sdf.Layer.FindOrOpen(str(folder / "generatedSchema.usda"))
        for name, kind, bases in _types(folder / "plugInfo.json"):
            prim = layer.GetPrimAtPath("/" + name) if layer else None
            if prim is None:
                continue
            applied = prim.GetInfo("apiSchemas")
            out[name] = Definition(
                kind,
                {p.name: _property(p) for p in prim.properties},
                tuple(applied.GetAppliedItems()) if applied else (),
                bool(_XFORMABLE & bases),
                bool(_BOUNDABLE & bases),
            )
    return out


def from_contract() -> dict[str, Definition]:
    """Definitions of the contract's components: what the columns are, without those that the contract leaves out."""
    known = contract.load()
    out: dict[str, Definition] = {}
    for component in known.components.values():
        if component.kind not in ("type", "api", "multi_api"):
            continue
        properties = {}
        for column in known.columns_of(component.name):
            if column.producer.rule in ("resolved", "derived", "authored"):
                type_ = contract_type(column)
                usd_type = "" if type_ is RELATIONSHIP else usdvalues.type_name(type_)
                properties[column.name.replace(SLOT, INSTANCE)] = Property(usd_type, column.raw_fallback)
        out[component.name] = Definition(component.kind, properties)
    return out


def _types(plug_info: Path) -> Iterable[tuple[str, str, frozenset[str]]]:
    """(schema name, kind, base classes) of the schemas that a plugInfo.json lists."""
    lines = plug_info.read_text("utf-8").splitlines()
    info = json.loads("\n".join(line for line in lines if not line.lstrip().startswith("#")))
    for plugin in info.get("Plugins", ()):
        for entry in plugin.get("Info", {}).get("Types", {}).values():
            name = entry.get("schemaIdentifier") or entry.get("alias", {}).get("UsdSchemaBase", "")
            kind = _KINDS.get(entry.get("schemaKind", ""))
            if name and kind:
                yield name, kind, frozenset(entry.get("bases", ()))


def _property(spec: Any) -> Property:
    if not hasattr(spec, "typeName"):
        return Property("")
    usd_type = str(spec.typeName)
    return Property(usd_type, None if spec.default is None else usdvalues.plain(usd_type, spec.default))
