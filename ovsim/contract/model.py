"""The population contract as frozen dataclasses, loaded from one JSON file a component (contract pages of ovphysx 0.6)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ovsim.errors import ContractError

FLT_MAX = 3.4028234663852886e38
VERSION = "0.6"
INSTANCE = "<inst>"
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "FLT_MAX": FLT_MAX, "-FLT_MAX": -FLT_MAX}


@dataclass(frozen=True)
class Units:
    """Stage metadata that derived values depend on; `up_axis` is a token text."""

    meters_per_unit: float = 1.0
    up_axis: str = "Z"


@dataclass(frozen=True)
class Formula:
    """A value that may depend on the stage's units; evaluated in float64, stored by the caller in the column's type.

    Forms: constant (`value`), ratio (`numerator / metersPerUnit`), square (`factor * (numerator / metersPerUnit) ** 2`), up_axis (one vector
    for Y, another for the rest), setting (a runtime setting: no value here).
    """

    form: str
    value: Any = None
    factor: float = 1.0
    numerator: float = 1.0
    y: tuple[float, ...] = ()
    other: tuple[float, ...] = ()

    def __call__(self, units: Units) -> Any:
        """The value on a stage with these units; None for a runtime setting."""
        if self.form == "constant":
            return self.value
        if self.form == "up_axis":
            return self.y if units.up_axis == "Y" else self.other
        if self.form == "setting":
            return None
        scaled = math.inf if units.meters_per_unit == 0 else self.numerator / units.meters_per_unit
        return scaled if self.form == "ratio" else self.factor * scaled**2

    def __str__(self) -> str:
        if self.form == "ratio":
            return f"{self.numerator:g} / metersPerUnit"
        if self.form == "square":
            return f"{self.factor:g} * ({self.numerator:g} / metersPerUnit)^2"
        if self.form == "up_axis":
            return f"{self.y} if upAxis is Y, else {self.other}"
        return f"setting {self.value}" if self.form == "setting" else str(self.value)


@dataclass(frozen=True)
class ProducerRule:
    """What population writes: `resolved` (authored, else fallback), `authored` (only when authored), `derived` (the formula when unauthored;
    `without_api` also where the API is not applied; `only_types` limits it to prim types), `special` (a rule of its own in the producer)."""

    rule: str
    value: Formula | None = None
    without_api: bool = False
    only_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column: storage (`dtype`, `lanes`, `array`), id semantic, unit by motion kind, conversion, fallback, producer rule, parser default."""

    component: str
    name: str
    dtype: str
    lanes: int
    array: bool
    semantic: str = ""
    unit: Mapping[str, str] = field(default_factory=dict)
    conversion: str = ""
    raw_fallback: Any = None
    producer: ProducerRule = ProducerRule("resolved")
    parser_default: Formula | None = None
    diverges: bool = False
    required: bool = False

    @property
    def type(self) -> str:
        """The type as the contract pages spell it, such as `float32[3]` or `uint64 array`."""
        return self.dtype + (f"[{self.lanes}]" if self.lanes > 1 else "") + (" array" if self.array else "")

    def instance(self, name: str) -> str:
        """The column name for an instance of a multi-apply API."""
        return self.name.replace(INSTANCE, name)


@dataclass(frozen=True)
class Component:
    """One contract page. `kind` is type, api, multi_api or block; `instances` tells which instances each joint type reads ("" for a plain API)."""

    name: str
    kind: str
    summary: str
    extends: str
    columns: tuple[Column, ...]
    instances: Mapping[str, tuple[str, ...]]


class Contract:
    """All components of one contract version."""

    def __init__(self, components: Mapping[str, Component], version: str = VERSION) -> None:
        self.version = version
        self.components = MappingProxyType(dict(components))
        self._exact: dict[str, Column] = {}
        self._templates: dict[tuple[str, str], Column] = {}
        for component in components.values():
            for column in component.columns:
                head, inst, tail = column.name.partition(INSTANCE)
                if inst:
                    self._templates[head, tail] = column
                else:
                    self._exact.setdefault(column.name, column)

    def component(self, name: str) -> Component:
        """The component, ContractError with near names when unknown."""
        got = self.components.get(name)
        if got is None:
            import difflib

            near = difflib.get_close_matches(name, self.components, 3, 0.4)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise ContractError(f"contract {self.version} has no component {name!r}{hint}")
        return got

    def columns_of(self, name: str) -> tuple[Column, ...]:
        """Columns of a component and of what it extends, the base first."""
        component = self.component(name)
        return (*(self.columns_of(component.extends) if component.extends else ()), *component.columns)

    def find(self, column: str) -> Column | None:
        """The column that a concrete name such as `drive:angular:physics:damping` spells, None when the contract has none.

        An instance is any single name without a colon, known to a joint type or not.
        """
        got = self._exact.get(column)
        if got is None:
            first = column.find(":")
            second = column.find(":", first + 1)
            if 0 < first < second:
                got = self._templates.get((column[: first + 1], column[second:]))
        return got

    def on(self, type_name: str, column: str) -> Column | None:
        """The column as the prim type declares it, else as `find` gives it: two components may share a name with other defaults."""
        if type_name in self.components:
            for declared in self.columns_of(type_name):
                if declared.name == column:
                    return declared
        return self.find(column)

    def instances(self, api: str, joint_type: str) -> tuple[str, ...]:
        """Instances of `api` that a joint type reads, in descriptor list order; empty when it never reads the API."""
        return self.component(api).instances.get(joint_type, ())


@lru_cache
def load(version: str = VERSION) -> Contract:
    """The contract of a version; ContractError when ovsim has no data for it."""
    if version != VERSION:
        raise ContractError(f"no contract data for version {version!r}; this ovsim has {VERSION}")
    folder = files("ovsim.contract") / "data"
    parsed = (_component(json.loads(f.read_text("utf-8"))) for f in folder.iterdir() if f.name.endswith(".json"))
    return Contract({c.name: c for c in sorted(parsed, key=lambda c: c.name)})


def _value(raw: Any) -> Any:
    if isinstance(raw, list):
        return tuple(_value(v) for v in raw)
    return _SPECIAL.get(raw, raw) if isinstance(raw, str) else raw


def _formula(raw: Mapping[str, Any] | None) -> Formula | None:
    if raw is None:
        return None
    form = raw["form"]
    if form == "up_axis":
        return Formula(form, y=tuple(raw["Y"]), other=tuple(raw["other"]))
    if form == "setting":
        return Formula(form, raw["name"])
    return Formula(form, _value(raw.get("value")), raw.get("factor", 1.0), raw.get("numerator", 1.0))


def _column(component: str, raw: Mapping[str, Any]) -> Column:
    base, _, array = raw["type"].partition(" ")
    dtype, _, lanes = base.partition("[")
    rule = raw["producer"]
    return Column(
        component,
        raw["name"],
        dtype,
        int(lanes.rstrip("]") or 1),
        array == "array",
        raw.get("semantic", ""),
        MappingProxyType(raw.get("unit", {})),
        raw.get("conversion", ""),
        _value(raw.get("raw_fallback")),
        ProducerRule(rule["rule"], _formula(rule.get("value")), rule.get("without_api", False), tuple(rule.get("only_types", ()))),
        _formula(raw.get("parser_default")),
        raw.get("diverges", False),
        raw.get("required", False),
    )


def _component(raw: Mapping[str, Any]) -> Component:
    name = raw["component"]
    return Component(
        name,
        raw["kind"],
        raw.get("summary", ""),
        raw.get("extends", ""),
        tuple(_column(name, c) for c in raw["columns"]),
        MappingProxyType({k: tuple(v) for k, v in raw.get("instances", {}).items()}),
    )
