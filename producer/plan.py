"""The columns of a row, as a function of plain data: the seam between the two readers.

Both readers (`producer.composed` through pxr, `producer.crate` from decoded .usdc) find out, for each row, a `RowKind` and the authored properties
with their types and states, ask `make_plan` which columns that gives, and only then read values. Nothing here knows pxr objects. The parts:

* `selection`: which prims are members; `Role`; who consumes a material binding
* `schemas.load()`: `sanitise` (rules 1, 13), `properties` (declared names, types, fallbacks), `known` (rule 7), `facts` (Xformable, Boundable)
* `derived` (rules 11, 15), `values` (rule 9, 10: USD type to column), `provenance` (states of a property)
* `assemble.Assembler`: rows to archetypes, in one order whoever reads
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ovsim.contract import Column, Units
from ovsim.contract.joints import JOINT_TYPES
from producer import collections, derived
from producer.definitions import Property
from producer.provenance import BLOCKED, DEFAULT, DERIVED, EMPTY, FALLBACK, HIDDEN
from producer.schemas import Schemas
from producer.selection import PHYSICS_BINDING, Role, is_binding, population
from producer.values import RELATIONSHIP, TYPES, ColumnType, contract_type

JOINTS = frozenset(JOINT_TYPES)
CUSTOM_BASE = "PhysicsJoint"  # what a custom joint type without a schema of its own is taken to declare


class RowKind(NamedTuple):
    """What, beside the authored properties, decides the columns of a row. `schemas` are sanitised and sorted.

    `shows`: "subset" for a GeomSubset of a collider, "instancer" for a PointInstancer that reaches a physics prototype, else "".
    """

    type_name: str
    schemas: tuple[str, ...]
    role: Role
    shows: str = ""


class Authored(NamedTuple):
    """An authored property: `type` is the value's own USD type name ("" for a relationship), `state` one of `provenance`'s."""

    type: str
    state: str = DEFAULT


class Constant(NamedTuple):
    """A column whose value is the same on every row of the plan."""

    type: ColumnType
    value: Any
    provenance: int


class Plan(NamedTuple):
    """Columns of a row: `read` name to USD type (take the authored value), `relationships`, `constants`; other authored names are not published."""

    read: Mapping[str, str]
    relationships: tuple[str, ...]
    constants: Mapping[str, Constant]


class Planner:
    """Makes plans for one stage: its units and its custom joint types are fixed."""

    def __init__(self, schemas: Schemas, units: Units, custom_joints: frozenset[str] = frozenset()) -> None:
        self.schemas = schemas
        self.units = units
        self.joints = JOINTS | custom_joints

    def is_member(self, type_name: str, schemas: tuple[str, ...]) -> bool:
        """Rule 3, custom joint types included."""
        return type_name in self.joints or population().is_member(type_name, schemas)

    def declared(self, kind: RowKind) -> Mapping[str, Property]:
        """Properties that type and APIs declare."""
        if kind.type_name in self.joints and not self.schemas.is_registered(kind.type_name) and kind.type_name not in JOINTS:
            return self.schemas.properties(CUSTOM_BASE, kind.schemas)
        return self.schemas.properties(kind.type_name, kind.schemas)

    def derivable(self, kind: RowKind) -> Mapping[str, Column]:
        """Columns of such a row that have a derived value."""
        if kind.role != Role.MEMBER:
            return {}
        return derived.columns(kind.type_name, kind.schemas, self.joints)

    def publishes(self, kind: RowKind, name: str) -> bool:
        """Whether a property name is one that such a row shows."""
        pop = population()
        if kind.shows == "instancer" and name in pop.instancer:
            return True
        if kind.role in (Role.INSTANCER, Role.BINDER):
            return False
        if name in self.schemas.known or (kind.shows == "subset" and name in pop.subset):
            return True
        if kind.role == Role.TARGET and name in pop.target_geometry:
            return True
        return name in pop.geometry and pop.has_shape(kind.schemas)

    def publishes_binding(self, kind: RowKind, name: str) -> bool:
        """Whether the name is a material binding that such a row shows as authored."""
        if kind.role == Role.BINDER:
            return name == PHYSICS_BINDING
        return is_binding(name) and kind.role in (Role.MEMBER, Role.TARGET)

    def plan(self, kind: RowKind, authored: Mapping[str, Authored]) -> Plan:
        """The columns of a row. An ancestor's row has none but its transform."""
        if kind.role == Role.ANCESTOR:
            return Plan({}, (), {})
        read: dict[str, str] = {}
        relationships: list[str] = []
        declared = self.declared(kind)
        derivable = self.derivable(kind)
        gone: set[str] = set()
        for name, prop in authored.items():
            if prop.type == "":
                if (self.publishes_binding(kind, name) or self.publishes(kind, name)) and declared.get(name, _RELATIONSHIP).type == "":
                    relationships.append(name)
            elif prop.state == DEFAULT and prop.type in TYPES:
                gone.add(name)
                if self.publishes(kind, name) and not _is_relationship(declared.get(name)):
                    read[name] = prop.type
            elif prop.state in (BLOCKED, HIDDEN):
                gone.add(name)
        constants: dict[str, Constant] = {}
        for name, own in declared.items():
            if name not in gone and own.fallback is not None and own.type in TYPES and self.publishes(kind, name):
                constants[name] = Constant(TYPES[own.type], own.fallback, FALLBACK)
        for name, column in derivable.items():
            authored_here = authored.get(name)
            if authored_here is None or authored_here.type == "" or authored_here.state in (EMPTY, BLOCKED):
                constants[name] = Constant(contract_type(column), derived.evaluate(column, self.units), DERIVED)
                relationships = [r for r in relationships if r != name]
        for name, own in declared.items():
            if own.type == "opaque" and name in collections.ABOUT and self.publishes(kind, name):
                constants[name] = Constant(RELATIONSHIP, [], DERIVED)  # the reader puts the members in
        return Plan(read, tuple(relationships), constants)


_RELATIONSHIP = Property("")


def _is_relationship(prop: Property | None) -> bool:
    return prop is not None and prop.type == ""
