"""The composed route: any stage through pxr (producer facts, rules 3 to 6 and 14).

Which prims get rows is settled first (members, instance roots), then members are read, then the Boundable prims that their relationships target,
then the ancestors of all. Rows of one kind with the same authored names are read together (`producer.rows`): pxr is asked only for what is authored.
"""

from __future__ import annotations

import gc
import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pxr import Usd, UsdGeom, UsdPhysics

from ovsim import contract
from ovsim.contract import Units
from ovsim.diagnostics import Diagnostics
from ovsim.stage import ROOT, UNTYPED, PathDictionary, Stage
from producer import dropped, instances
from producer import schemas as registry
from producer.assemble import Assembler, Cells
from producer.bindings import Bindings
from producer.instances import Renumbered, Visible, prototype_of
from producer.mismatch import WrongTypes
from producer.opening import open_stage, quiet
from producer.plan import Planner, RowKind
from producer.provenance import AUTHORED, FALLBACK
from producer.rows import Row, RowReader
from producer.selection import PHYSICS_BINDING, Role, is_binding
from producer.spool import Spool
from producer.values import TYPES

SUBSET, INSTANCER = "GeomSubset", "PointInstancer"
_VELOCITIES = "physics:localSpaceVelocities"


def populate(source: str | os.PathLike[str] | Any, *, custom_joints: Sequence[str] = (), spool: Spool | None = None) -> Stage:
    """See `producer.populate`."""
    diagnostics = Diagnostics()
    with _no_collector(), quiet(diagnostics):
        schemas = registry.load()
        usd, name = open_stage(source, diagnostics)
        return _Walk(usd, name, schemas, frozenset(custom_joints), diagnostics, spool).run()


@contextmanager
def _no_collector() -> Iterator[None]:
    """Hundreds of thousands of live pxr objects make each collection slow, and none of them is in a cycle."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Walk:
    """One population of one stage."""

    def __init__(
        self, usd: Any, name: str, schemas: registry.Schemas, custom_joints: frozenset[str], diagnostics: Diagnostics, spool: Spool | None
    ) -> None:
        self.usd, self.name, self.schemas, self.diagnostics = usd, name, schemas, diagnostics
        units = Units(float(UsdGeom.GetStageMetersPerUnit(usd)), str(UsdGeom.GetStageUpAxis(usd)))
        self.planner = Planner(schemas, units, custom_joints)
        self.paths = PathDictionary()
        self.assembler = Assembler(self.paths, spool)
        self.kinds: dict[tuple[str, tuple[str, ...]], tuple[RowKind, tuple[str, ...]]] = {}
        self.members: dict[str, Row] = {}
        self.is_member: dict[RowKind, bool] = {}
        self.bound: set[str] = set()
        self.roots: dict[str, str] = {}  # instance root to the published path of its prototype
        self.used: set[str] = set()
        self.lost: dict[str, list[str]] = {}  # applied schema that is left out to the prims that list it

    def run(self) -> Stage:
        self._metadata_row()
        roots = (self.usd.GetPseudoRoot(), *self.usd.GetPrototypes())
        self.prims = [p for root in roots for p in Usd.PrimRange(root) if p != root]
        types = WrongTypes(self.prims)
        self._find_members()
        held = {str(p.GetPath()): [str(i.GetPath()) for i in p.GetInstances()] for p in self.usd.GetPrototypes()}
        numbers = Renumbered(instances.published(held, (prototype_of(m) for m in self.members)), held)
        self.roots = {i: numbers.path(p) for p, found in held.items() if p in numbers for i in found if _is_shown(i, numbers)}
        for path, row in self.members.items():
            if path in self.roots:
                self.members[path] = row._replace(prototype=self.roots[path])
        self._find_instancers()
        visible = Visible(numbers, held)
        for schema in sorted(self.lost):
            dropped.tell(self.schemas, schema, map(visible.path, self.lost[schema]), self.diagnostics)

        bindings = Bindings(self.bound, lambda prim: self._is_member(self._kind(prim)))
        schemas_of = lambda prim: self._kind(prim).schemas  # noqa: E731
        reader = RowReader(self.planner, self.paths, self.assembler, numbers.path, bindings, types, schemas_of, self.diagnostics)
        shown = [r for p, r in self.members.items() if _is_shown(p, numbers)]
        targets = self._target_rows(shown, reader.read(shown))
        reader.read(targets)
        reader.read(self._ancestor_rows([*self.members, *(t.path for t in targets)]))
        ids = [reader.path_id(numbers.path(p)) for p in numbers]
        if ids:
            self.assembler.add(UNTYPED, (instances.ROOT_API,), ids, {})
        self.schemas.report(self.used, self.diagnostics)
        metadata = {
            "source": self.name,
            "route": "composed",
            "reason": "composed through pxr",
            "usd": ".".join(str(v) for v in Usd.GetVersion()),
            "contract": contract.VERSION,
        }
        return Stage(self.paths, self.assembler.finish(), self.diagnostics, metadata)

    def _metadata_row(self) -> None:
        """Rule 14: the row of `/`."""
        code = {True: AUTHORED, False: FALLBACK}
        double, token = TYPES["double"], TYPES["token"]
        meters = code[UsdGeom.StageHasAuthoredMetersPerUnit(self.usd)]
        kilograms = code[UsdPhysics.StageHasAuthoredKilogramsPerUnit(self.usd)]
        axis = code[self.usd.HasAuthoredMetadata("upAxis")]
        cells = {
            "usd-metadata:metersPerUnit": Cells(double, self.planner.units.meters_per_unit, meters, True),
            "usd-metadata:kilogramsPerUnit": Cells(double, float(UsdPhysics.GetStageKilogramsPerUnit(self.usd)), kilograms, True),
            "usd-metadata:upAxis": Cells(token, self.planner.units.up_axis, axis, True),
        }
        self.assembler.add("", (), [ROOT], cells)

    # -- which prims -------------------------------------------------------------------------------------------------

    def _kind(self, prim: Any) -> RowKind:
        """Type and sanitised schemas of a prim, as a member."""
        return self._classified(prim)[0]

    def _classified(self, prim: Any) -> tuple[RowKind, tuple[str, ...]]:
        """Kind of a prim, and the applied schemas that it lists in vain."""
        schemas = tuple(prim.GetPrimTypeInfo().GetAppliedAPISchemas())  # as composed, unknown names included
        key = (prim.GetTypeName(), schemas)
        found = self.kinds.get(key)
        if found is None:
            kind = RowKind(key[0], self.schemas.sanitise(*key), Role.MEMBER)
            found = self.kinds[key] = kind, dropped.names(schemas, kind.schemas)
            self.used.update((key[0], *schemas))
        return found

    def _is_member(self, kind: RowKind) -> bool:
        got = self.is_member.get(kind)
        if got is None:
            got = self.is_member[kind] = self.planner.is_member(kind.type_name, kind.schemas)
        return got

    def _find_members(self) -> None:
        """Rule 3, members: by type or schema, GeomSubsets of colliders, prims that bind a physics material."""
        self.instancers: list[tuple[str, Any, tuple[str, ...]]] = []
        is_bound: dict[tuple[str, ...], bool] = {}
        for prim in self.prims:
            kind, lost = self._classified(prim)
            for schema in lost:
                self.lost.setdefault(schema, []).append(prim.GetPath().pathString)
            names = tuple(prim.GetAuthoredPropertyNames())
            bound = is_bound.get(names)
            if bound is None:
                bound = is_bound[names] = any(map(is_binding, names))
            if not (bound or self._is_member(kind) or kind.type_name in (SUBSET, INSTANCER)):
                continue
            path = prim.GetPath().pathString
            if bound:
                self.bound.add(path)
            if kind.type_name == INSTANCER and "prototypes" in names:
                self.instancers.append((path, prim, names))
            if kind.type_name == SUBSET and "PhysicsCollisionAPI" in self._kind(prim.GetParent()).schemas:
                kind = kind._replace(shows="subset")
            elif not self._is_member(kind):
                if PHYSICS_BINDING not in names or not self._binds_physics(prim):
                    continue
                kind = kind._replace(role=Role.BINDER)
            self.members[path] = self._row(path, prim, kind, names)

    def _binds_physics(self, prim: Any) -> bool:
        """Whether a prim authors a physics binding to a prim that is itself a member."""
        targets = (self.usd.GetPrimAtPath(t.GetPrimPath()) for t in prim.GetRelationship(PHYSICS_BINDING).GetTargets())
        return any(t and self._is_member(self._kind(t)) for t in targets)

    def _find_instancers(self) -> None:
        """Rule 3, PointInstancers with a prototype at or below which there is a member or an instance of published content."""
        self.physics = sorted([*(p for p, r in self.members.items() if r.kind.role == Role.MEMBER), *self.roots])
        for path, prim, names in self.instancers:
            if not self._reaches_physics(prim):
                continue
            row = self.members.get(path)
            if row is None:
                kind = self._kind(prim)._replace(role=Role.INSTANCER)
                row = self._row(path, prim, kind, names)._replace(prototype=self.roots.get(path, ""))
            self.members[path] = row._replace(kind=row.kind._replace(shows="instancer"))

    def _reaches_physics(self, prim: Any) -> bool:
        targets = prim.GetRelationship("prototypes").GetTargets()
        return any(_holds(self.physics, t.pathString) for t in targets if t.IsPrimPath())

    def _row(self, path: str, prim: Any, kind: RowKind, names: tuple[str, ...] = ()) -> Row:
        velocities = prim.GetCustomDataByKey(_VELOCITIES) if kind.role in (Role.MEMBER, Role.TARGET) else None
        return Row(
            path,
            prim,
            kind,
            names,
            self.schemas.facts(kind.type_name).is_xformable,
            self.roots.get(path, ""),
            velocities if isinstance(velocities, (bool, int)) else None,
        )

    def _target_rows(self, shown: Sequence[Row], hops: Mapping[str, list[str]]) -> list[Row]:
        """Rule 3, one hop along published relationships: Boundable prims, inactive, undefined, abstract and instance proxies too.

        A prim that would be a member but is none (inactive, say, or a proxy whose prototype shows it) stays out. The stage is gone through once, in
        order: what has a row as an ancestor of something earlier is no target any more, and a member that got its row that way does not hop.
        """
        out: dict[str, Row] = {}
        above: set[str] = set()
        for source in shown:
            was_above = source.path in above
            _add_ancestors(source.path, above)
            if was_above or source.kind.role != Role.MEMBER or source.kind.shows == "subset":
                continue
            for path in hops.get(source.path, ()):
                if path in self.members or path in out or path in above:
                    continue
                row = self._target_row(path)
                if row is not None:
                    out[path] = row
                    _add_ancestors(path, above)
        return list(out.values())

    def _target_row(self, path: str) -> Row | None:
        prim = self.usd.GetPrimAtPath(path) if path.startswith("/") and path != "/" else None
        if not prim:
            return None
        kind = self._kind(prim)
        if not self.schemas.facts(kind.type_name).is_boundable:
            return None
        names = tuple(prim.GetAuthoredPropertyNames())
        if prim.IsInstanceProxy() and str(prim.GetPrimInPrototype().GetPath()) in self.members:
            return None
        if self._is_member(kind) or (PHYSICS_BINDING in names and self._binds_physics(prim)):
            return None
        if kind.type_name == INSTANCER and self._reaches_physics(prim):
            return None
        return self._row(path, prim, kind._replace(role=Role.TARGET), names)

    def _ancestor_rows(self, below: list[str]) -> list[Row]:
        """Every ancestor of a row, and every instance root of a published prototype, whose own ancestors get no row for it (observed)."""
        have = set(below)
        out: dict[str, Row] = {}
        for start in [*below, *self.roots]:
            path = start if start in self.roots else start.rpartition("/")[0]
            while path and path not in out and path != prototype_of(path):
                if path not in have:
                    prim = self.usd.GetPrimAtPath(path)
                    if start in have or start == path or (prim.IsDefined() and not prim.IsAbstract()):
                        kind = self._kind(prim)
                        is_member = self._is_member(kind)  # of an instance proxy, of an undefined or abstract prim
                        names = tuple(prim.GetAuthoredPropertyNames()) if is_member else ()
                        out[path] = self._row(path, prim, kind if is_member else kind._replace(role=Role.ANCESTOR), names)
                path = path.rpartition("/")[0] if start in have else ""
        return [out[p] for p in sorted(out)]


def _add_ancestors(path: str, above: set[str]) -> None:
    parent = path.rpartition("/")[0]
    while parent and parent not in above:
        above.add(parent)
        parent = parent.rpartition("/")[0]


def _is_shown(path: str, numbers: Renumbered) -> bool:
    """Whether a path is outside of prototypes or inside a published one."""
    prototype = prototype_of(path)
    return not prototype or prototype in numbers


def _holds(paths: list[str], root: str) -> bool:
    """Whether sorted `paths` hold `root` or a path below it."""
    for first in (root, root + "/"):
        i = bisect_left(paths, first)
        if i < len(paths) and (paths[i] == root or paths[i].startswith(root + "/")):
            return True
    return False
