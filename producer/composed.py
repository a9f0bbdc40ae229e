"""The composed route: any stage through pxr (producer facts, rules 3 to 6 and 14).

Which prims get rows is settled first (members, instance roots), then members are read, then the Boundable prims that their relationships target,
then the ancestors of all. Rows of one kind with the same authored names are read together (`producer.rows`): pxr is asked only for what is authored.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ovsim import contract
from ovsim.contract import Units
from ovsim.diagnostics import Diagnostics
from ovsim.stage import ROOT, PathDictionary, Stage
from producer import instances
from producer import schemas as registry
from producer.assemble import Assembler, Cells
from producer.bindings import PHYSICS_BINDING, Bindings
from producer.instances import Renumbered, prototype_of
from producer.opening import open_stage, quiet
from producer.plan import Planner, RowKind
from producer.provenance import AUTHORED, FALLBACK
from producer.rows import Row, RowReader
from producer.selection import Role, is_binding
from producer.values import TYPES


def populate(source: str | os.PathLike[str] | Any, *, custom_joints: Sequence[str] = ()) -> Stage:
    """See `producer.populate`."""
    diagnostics = Diagnostics()
    schemas = registry.load()
    with _no_collector(), quiet(diagnostics):
        usd, name = open_stage(source)
        return _Walk(usd, name, schemas, frozenset(custom_joints), diagnostics).run()


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

    def __init__(self, usd: Any, name: str, schemas: registry.Schemas, custom_joints: frozenset[str], diagnostics: Diagnostics) -> None:
        from pxr import UsdGeom

        self.usd, self.name, self.schemas, self.diagnostics = usd, name, schemas, diagnostics
        units = Units(float(UsdGeom.GetStageMetersPerUnit(usd)), str(UsdGeom.GetStageUpAxis(usd)))
        self.planner = Planner(schemas, units, custom_joints)
        self.paths = PathDictionary()
        self.assembler = Assembler(self.paths)
        self.kinds: dict[tuple[str, tuple[str, ...]], RowKind] = {}
        self.members: dict[str, Row] = {}
        self.bound: set[str] = set()
        self.used: set[str] = set()

    def run(self) -> Stage:
        from pxr import Usd

        self._metadata_row()
        self._find_members()
        roots = {p: str(p.GetPath()) for p in self.usd.GetPrototypes()}
        held = {path: [str(i.GetPath()) for i in proto.GetInstances()] for proto, path in roots.items()}
        numbers = Renumbered(instances.published(held, (prototype_of(m) for m in self.members)))
        roots_of = {i: numbers.path(p) for p, found in held.items() if p in numbers for i in found}
        rows = [r._replace(prototype=roots_of.get(path, "")) for path, r in self.members.items() if not _in(path) or _in(path) in numbers]

        bindings = Bindings(self.bound, lambda prim: self.planner.is_member(*self._kind(prim)[:2]))
        reader = RowReader(self.planner, self.paths, self.assembler, numbers.path, bindings, self.diagnostics)
        targets = self._target_rows(reader.read(rows), numbers)
        reader.read(targets)
        have = {r.path for r in (*rows, *targets)}
        reader.read(self._ancestor_rows(have, roots_of, numbers))
        self._prototype_rows(reader, numbers)
        self.schemas.report(self.used, self.diagnostics)
        metadata = {
            "source": self.name,
            "route": "composed",
            "reason": "",
            "usd": ".".join(str(v) for v in Usd.GetVersion()),
            "contract": contract.VERSION,
        }
        return Stage(self.paths, self.assembler.finish(), self.diagnostics, metadata)

    def _metadata_row(self) -> None:
        """Rule 14: the row of `/`."""
        from pxr import UsdGeom, UsdPhysics

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
        schemas = tuple(prim.GetAppliedSchemas() if not self.schemas.missing else _listed(prim))
        key = (prim.GetTypeName(), schemas)
        kind = self.kinds.get(key)
        if kind is None:
            clean = self.schemas.sanitise(*key) if self.schemas.missing else tuple(sorted(schemas))
            kind = self.kinds[key] = RowKind(key[0], clean, Role.MEMBER)
            self.used.update((key[0], *schemas))
        return kind

    def _find_members(self) -> None:
        from pxr import Usd

        is_member: dict[RowKind, bool] = {}
        roots = [self.usd.GetPseudoRoot(), *self.usd.GetPrototypes()]
        for root in roots:
            walk = iter(Usd.PrimRange(root))
            next(walk, None)
            for prim in walk:
                kind = self._kind(prim)
                member = is_member.get(kind)
                if member is None:
                    member = is_member[kind] = self.planner.is_member(kind.type_name, kind.schemas)
                names = tuple(prim.GetAuthoredPropertyNames())
                bound = any(map(is_binding, names))
                if not (member or bound or kind.type_name == "GeomSubset"):
                    continue
                path = prim.GetPath().pathString
                if bound:
                    self.bound.add(path)
                subset = kind.type_name == "GeomSubset" and "PhysicsCollisionAPI" in self._kind(prim.GetParent()).schemas
                if member or subset or (PHYSICS_BINDING in names and self._binds_physics(prim)):
                    self.members[path] = self._row(path, prim, kind._replace(is_collider_subset=subset), names)

    def _binds_physics(self, prim: Any) -> bool:
        """Whether a prim authors a physics binding to a Material that is itself a member."""
        targets = (self.usd.GetPrimAtPath(t.GetPrimPath()) for t in prim.GetRelationship(PHYSICS_BINDING).GetTargets())
        return any(t and self.planner.is_member(*self._kind(t)[:2]) for t in targets)

    def _row(self, path: str, prim: Any, kind: RowKind, names: tuple[str, ...] = (), prototype: str = "") -> Row:
        return Row(path, prim, kind, names, self.schemas.facts(kind.type_name).is_xformable, prototype)

    def _target_rows(self, targets: set[str], numbers: Renumbered) -> list[Row]:
        """Rule 3: one hop along published relationships, Boundable prims only."""
        out = []
        for path in sorted(targets - self.members.keys()):
            prim = self.usd.GetPrimAtPath(path) if path.startswith("/") and path != "/" else None
            if not prim:
                continue
            kind = self._kind(prim)
            if not self.schemas.facts(kind.type_name).is_boundable:
                continue
            if prim.IsInstanceProxy() and prototype_of(str(prim.GetPrimInPrototype().GetPath())) in numbers:
                continue
            out.append(self._row(path, prim, kind._replace(role=Role.TARGET), tuple(prim.GetAuthoredPropertyNames())))
        return out

    def _ancestor_rows(self, have: set[str], roots_of: dict[str, str], numbers: Renumbered) -> list[Row]:
        """Every ancestor of a row, and every instance root of a published prototype."""
        out: dict[str, Row] = {}
        queue = [*have, *(i for i in roots_of if not _in(i) or _in(i) in numbers)]
        for start in queue:
            path = start
            while path and path not in out and path != _in(path):
                if path not in have:
                    prim = self.usd.GetPrimAtPath(path)
                    if prim and ((prim.IsDefined() and not prim.IsAbstract()) or path in roots_of):
                        out[path] = self._row(path, prim, self._kind(prim)._replace(role=Role.ANCESTOR), (), roots_of.get(path, ""))
                elif path != start:
                    break
                path = path.rpartition("/")[0]
        return [out[p] for p in sorted(out)]

    def _prototype_rows(self, reader: RowReader, numbers: Renumbered) -> None:
        ids = [reader.path_id(numbers.path(p)) for p in numbers]
        if ids:
            self.assembler.add(instances.UNTYPED, (instances.ROOT_API,), ids, {})


def _in(path: str) -> str:
    return prototype_of(path)


def _listed(prim: Any) -> list[str]:
    """The composed `apiSchemas` list, unknown names included."""
    op = prim.GetMetadata("apiSchemas")
    return list(op.GetAppliedItems()) if op else []
