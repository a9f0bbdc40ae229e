"""The columnar route: the rows of `producer.composed`, from decoded .usdc files instead of pxr's stage (producer facts, rules 1 to 15)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ovsim import contract
from ovsim.contract import Units
from ovsim.diagnostics import Diagnostics
from ovsim.errors import CrateError
from ovsim.jit import serial
from ovsim.stage import ROOT, UNTYPED, PathDictionary, Stage
from ovsim.stage.distinct import distinct
from producer import dropped, instances
from producer import schemas as registry
from producer.assemble import Assembler, Cells
from producer.crate import assets, opinions
from producer.crate import entries as en
from producer.crate import fields as fd
from producer.crate import reps as rp
from producer.crate.errors import Unprovable
from producer.crate.index import Composer
from producer.crate.layer import Layer, property_names
from producer.crate.library import Library
from producer.crate.namespace import Namespace, Namespacer
from producer.crate.order import in_order
from producer.crate.rows import OP_PREFIX, RowReader, Rows
from producer.crate.targets import Targets
from producer.opening import check_file, quiet
from producer.plan import Planner, RowKind
from producer.provenance import AUTHORED, FALLBACK
from producer.selection import PHYSICS_BINDING, Role, is_binding, population
from producer.spool import Spool
from producer.values import TYPES

I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

SUBSET, INSTANCER, COLLIDER = "GeomSubset", "PointInstancer", "PhysicsCollisionAPI"

_METADATA = {"metersPerUnit": (rp.DOUBLE, 0.01), "kilogramsPerUnit": (rp.DOUBLE, 1.0), "upAxis": (rp.TOKEN, "Y")}


def populate(source: str | os.PathLike[str], *, custom_joints: Sequence[str] = (), spool: Spool | None = None) -> Stage:
    """Populate from a file. SourceError when it cannot be read, CrateError when it is broken, `Unprovable` when only USD can compose it."""
    if not isinstance(source, (str, os.PathLike)):
        raise Unprovable("the source is an open stage, not a file")
    name = os.fspath(source)
    check_file(Path(name))
    diagnostics = Diagnostics()
    paths = PathDictionary()
    assembler = Assembler(paths, spool)
    try:
        layers = _collect(name, frozenset(custom_joints), paths, assembler, diagnostics)
    except Unprovable:
        raise
    except CrateError as e:
        raise e.of(name) from e
    found = {"source": name, "route": "crate", "reason": "composed from decoded layers", "contract": contract.VERSION, "layers": layers}
    return Stage(paths, assembler.finish(), diagnostics, found)


def _collect(name: str, custom_joints: frozenset[str], paths: PathDictionary, assembler: Assembler, diagnostics: Diagnostics) -> list[str]:
    """Put the rows into the assembler; returns the layers. Layers and namespace are gone before the columns are joined."""
    library = Library(paths)
    number = library.layer_number(assets.identify(os.path.realpath(name)))
    space = Namespacer(library, Composer(library)).build(number)
    library.seal()
    with quiet(diagnostics):
        _Population(library, space, number, custom_joints, assembler, diagnostics).run()
    return [layer.identifier for layer in library.layers]


class _Population:
    """One population of one composed namespace."""

    def __init__(
        self, library: Library, space: Namespace, number: int, custom_joints: frozenset[str], assembler: Assembler, diagnostics: Diagnostics
    ) -> None:
        self.library, self.space, self.assembler = library, space, assembler
        self.paths = library.paths
        self.diagnostics = diagnostics
        self.schemas = registry.load()
        self.metadata = {n: _stage_value(library.layers[number], n) for n in _METADATA}
        units = Units(float(self.metadata["metersPerUnit"][0]), str(self.metadata["upAxis"][0]))
        self.planner = Planner(self.schemas, units, custom_joints)

    def run(self) -> None:
        """Every row into the assembler."""
        self._metadata_row()
        meta = opinions.resolve(self.library, self.space)
        self.states = opinions.states(self.space, meta)
        self.active = (meta.active[self.space.stack] != 0) & ((self.states & opinions.EXISTS) != 0)
        self._classify(meta)
        members = self._members()
        self._check_bindings(members)
        shown = self._number_prototypes(members)
        self._tell_dropped()
        self.targets = Targets(self.library, self.space, self.path_of, self.is_instance)
        self.reader = RowReader(self.planner, self.library, self.space, self.targets, self.assembler, self.diagnostics)
        hops = self._read(members & shown, self.member_kind)
        chosen = self._target_rows(members, shown, hops)
        self._read(chosen, self.target_kind)
        self._ancestors((members & shown) | chosen)
        for root in sorted(self.published):
            self.assembler.add(UNTYPED, (instances.ROOT_API,), [int(self.path_of[root])], {})
        self.schemas.report(self.used, self.diagnostics)

    def _metadata_row(self) -> None:
        """Rule 14: the row of `/`."""
        cells = {}
        for name, (value, authored) in self.metadata.items():
            type_ = TYPES["token" if isinstance(value, str) else "double"]
            cells[f"usd-metadata:{name}"] = Cells(type_, value, AUTHORED if authored else FALLBACK, True)
        self.assembler.add("", (), [ROOT], cells)

    # -- kinds ---------------------------------------------------------------------------------------------------------

    def _classify(self, meta: opinions.Metadata) -> None:
        """Row kinds by index: three roles a kind of prim, and which are members, Boundable."""
        self.kinds: list[RowKind] = []
        self.used: set[str] = set()
        self.dropped: list[tuple[str, ...]] = []
        member, boundable = [], []
        for type_name, listed in meta.kinds:
            clean = self.schemas.sanitise(type_name, listed)
            self.used.update((type_name, *listed))
            self.dropped.append(dropped.names(listed, clean))
            self.kinds += [RowKind(type_name, clean, role) for role in (Role.MEMBER, Role.TARGET, Role.ANCESTOR)]
            member.append(self.planner.is_member(type_name, clean))
            boundable.append(self.schemas.facts(type_name).is_boundable)
        self.derivable = {n for kind in self.kinds for n in self.planner.derivable(kind)}
        self.kind_of = meta.kind[self.space.stack]
        self.is_member, self.boundable = np.array(member), np.array(boundable)
        self.member_kind, self.target_kind, self.ancestor_kind = (np.arange(len(meta.kinds)) * 3 + i for i in range(3))
        self._refuse(meta)

    def _refuse(self, meta: opinions.Metadata) -> None:
        """Prims whose rows depend on more than kind and properties."""
        walked = (self.states & opinions.WALKED) != 0
        present = set(distinct(self.kind_of[walked], len(meta.kinds)).tolist())
        types = {meta.kinds[k][0] for k in present}
        if INSTANCER in types:
            raise Unprovable("the stage has PointInstancers")
        if SUBSET in types:
            parents = self.kind_of[self.space.parent[walked & np.isin(self.kind_of, [k for k in present if meta.kinds[k][0] == SUBSET])]]
            if any(COLLIDER in self.kinds[3 * k].schemas for k in np.unique(parents).tolist()):
                raise Unprovable("a collider has GeomSubsets")

    def _members(self) -> Bool:
        """Rule 3, members: what a traversal meets and whose type or schemas are in the physics set."""
        walked = (self.states & opinions.WALKED) != 0
        members = self.is_member[self.kind_of] & walked
        members[[p.root for p in self.space.prototypes]] = False
        members[0] = False
        self._check_custom_data(members)
        return members

    def _check_bindings(self, members: Bool) -> None:
        """Material bindings that USD would have to resolve: of consumers at or below a prim that binds, and physics bindings of other prims."""
        self.library.indexed()
        if not any(is_binding(layer.tables.tokens[t]) for layer in self.library.layers for t in property_names(layer)):
            return
        walked = (self.states & opinions.WALKED) != 0
        found = en.read(self.library, self.space, self._stacks(walked), is_binding)
        stack = np.repeat(found.stacks, np.diff(found.first))
        physics = stack[found.name == self.paths.find_token(PHYSICS_BINDING)]
        if (np.isin(self.space.stack, physics) & walked & ~members).any():
            raise Unprovable("a prim outside of the physics set binds a physics material")
        below = (np.isin(self.space.stack, stack) & walked).astype(np.int64)
        _inherit_owner(self.space.parent, below)
        consumes = np.array([population().consumes_material(k.schemas) for k in self.kinds[::3]], bool)
        if (members & consumes[self.kind_of] & (below > 0)).any():
            raise Unprovable("a shape or body has a material binding")

    def _check_custom_data(self, members: Bool) -> None:
        """Local velocities are custom data that becomes a column."""
        field = self.library.field("customData")[self.space.site_row]
        site = np.flatnonzero(field >= 0)
        if not site.size:
            return
        of_member = np.zeros(self.space.first.size - 1, bool)
        of_member[self.space.stack[members]] = True
        mine = of_member[np.searchsorted(self.space.first, site, "right") - 1]
        reps = {self.library.field_owner(int(f))[1]: int(f) for f in field[site[mine]].tolist()}
        for rep, f in reps.items():
            if "physics" in self.library.field_owner(f)[0].decoder.dictionary(rep):
                raise Unprovable("a prim has physics custom data")

    # -- paths ---------------------------------------------------------------------------------------------------------

    def _number_prototypes(self, members: Bool) -> Bool:
        """Number the published prototypes (rule 5) and give every prim outside of the others its path id; tells which prims are shown."""
        space = self.space
        n = len(space)
        owner = np.zeros(n, np.int64)  # prototype root, 0 outside
        for p in space.prototypes:
            owner[p.root] = p.root
        if space.prototypes:
            _inherit_owner(space.parent, owner)
        exists = (self.states & opinions.EXISTS) != 0
        real = self._real_prototypes(owner)
        held = {f"{instances.PREFIX}{root}": [self._old_path(i) for i in found] for root, found in real.items()}
        with_members = {f"{instances.PREFIX}{int(r)}" for r in distinct(owner[members & (owner > 0)])}
        order_names = instances.published(held, with_members)
        order = [int(p.removeprefix(instances.PREFIX)) for p in order_names]
        self.published = order
        names = space.name.copy()
        for k, root in enumerate(order, 1):
            names[root] = self.paths.token(f"{instances.PREFIX[1:]}{k}")
        shown = exists & ((owner == 0) | np.isin(owner, order))
        self.visible = instances.Visible(instances.Renumbered(order_names, held), held)
        self.path_of = np.where(shown, np.cumsum(shown), 0)
        keep = np.flatnonzero(shown)[1:]
        self.paths.append(self.path_of[space.parent[keep]], names[keep])
        self.instances = np.zeros(n, np.int64)  # path id of the prototype of instance roots
        self.is_instance = np.zeros(n, bool)
        for root, found in real.items():
            self.is_instance[found] = True
            if root in order:
                self.instances[[i for i in found if shown[i]]] = self.path_of[root]
        return shown

    def _real_prototypes(self, owner: I64) -> dict[int, list[int]]:
        """Prototypes with an active instance outside of prototypes, or inside a prototype that has one; their instances."""
        found = {p.root: np.concatenate(p.instances) for p in self.space.prototypes}
        found = {root: ids[self.active[ids]] for root, ids in found.items()}
        real: dict[int, list[int]] = {}
        size = -1
        while size != sum(map(len, real.values())):
            size = sum(map(len, real.values()))
            inside = np.array([0, *real])
            real = {root: mine.tolist() for root, ids in found.items() if (mine := ids[np.isin(owner[ids], inside)]).size}
        return real

    def _old_path(self, prim: int) -> str:
        """Path string of a composed prim, prototype roots by composed index."""
        parts: list[str] = []
        while prim > 0:
            name = int(self.space.name[prim])
            parts.append(self.paths.token_string(name) if name else f"{instances.PREFIX[1:]}{prim}")
            prim = int(self.space.parent[prim])
        return "/" + "/".join(reversed(parts))

    def _tell_dropped(self) -> None:
        """`schema-dropped` of the prims that a traversal meets."""
        walked = (self.states & opinions.WALKED) != 0
        walked[[0, *(p.root for p in self.space.prototypes)]] = False
        for schema in sorted({name for names in self.dropped for name in names}):
            mine = np.array([schema in names for names in self.dropped])
            prims = np.flatnonzero(mine[self.kind_of] & walked)
            paths = (self.visible.path(self._old_path(p)) for p in prims.tolist())
            dropped.tell(self.schemas, schema, paths, self.diagnostics)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _wanted(self, name: str) -> bool:
        """Whether the name may play a part in a row."""
        pop = population()
        shown = name in self.schemas.known or name in self.derivable or name in pop.geometry or name in pop.target_geometry
        return shown or is_binding(name) or name.startswith(OP_PREFIX)

    def _read(self, chosen: Bool, kinds: I64) -> I64:
        """Read the rows of the chosen prims; returns (source, target) pairs of their relationships."""
        prims = np.flatnonzero(chosen)
        if not prims.size:
            return np.empty((2, 0), np.int64)
        entries = en.read(self.library, self.space, self._stacks(prims), self._wanted)
        return self.reader.read(Rows(prims, kinds[self.kind_of[prims]], self.kinds, self.instances[prims]), entries)

    def _target_rows(self, members: Bool, shown: Bool, hops: I64) -> Bool:
        """Rule 3, one hop along published relationships: Boundable prims that are no members."""
        kind = self.kind_of[hops[1]]
        possible = self.boundable[kind] & ~self.is_member[kind] & ~members[hops[1]] & ((self.states[hops[1]] & opinions.EXISTS) != 0)
        hops = hops[:, possible & (hops[1] > 0)]
        chosen = np.zeros(len(self.space), bool)
        chosen[hops[1]] = True
        if not chosen.any():
            return chosen
        if any(self.kinds[3 * int(k)].type_name == INSTANCER for k in np.unique(self.kind_of[chosen])):
            raise Unprovable("a relationship targets a PointInstancer")
        self._check_custom_data(chosen)
        if en.read(self.library, self.space, self._stacks(chosen), lambda n: n == PHYSICS_BINDING).name.size:
            raise Unprovable("a relationship targets a prim that binds a physics material")
        rows = (members & shown) | chosen
        above = self._above(rows)
        # whoever stands above an earlier row is no target, and whoever stands above an earlier target does not hop: that depends on the order
        if (above & chosen).any() or self._above(chosen)[hops[0]].any():
            return in_order(self.library, self.space, members & shown, hops)
        return chosen

    def _above(self, rows: Bool) -> Bool:
        """Ancestors of the chosen prims."""
        out = np.zeros(len(self.space), bool)
        _mark_above(self.space.parent, rows, out)
        return out

    def _stacks(self, prims: I64 | Bool) -> I64:
        """Distinct stacks of prims, ascending."""
        used = np.zeros(self.space.first.size - 1, bool)
        used[self.space.stack[prims]] = True
        return np.flatnonzero(used)

    def _ancestors(self, below: Bool) -> None:
        """Every ancestor of a row, and every instance root of a published prototype, whose own ancestors get no row for it."""
        chosen = self._above(below) | (self.instances > 0)
        chosen &= ~below
        chosen[[p.root for p in self.space.prototypes]] = False
        self._read(chosen, np.where(self.is_member, self.member_kind, self.ancestor_kind))


@serial
def _inherit_owner(parent: I64, owner: I64) -> None:
    """Give each prim the mark of the nearest prim at or above it that has one; parents come first."""
    for i in range(1, parent.size):
        if owner[i] == 0:
            owner[i] = owner[parent[i]]


@serial
def _mark_above(parent: I64, rows: Bool, out: Bool) -> None:
    """Mark the ancestors of rows, the pseudo-root left out; parents come before their children."""
    for k in range(parent.size):
        i = parent.size - 1 - k
        if parent[i] > 0 and (rows[i] or out[i]):
            out[parent[i]] = True


def _stage_value(layer: Layer, name: str) -> tuple[Any, bool]:
    """Stage metadata of the root layer: value and whether it is authored."""
    kind, fallback = _METADATA[name]
    at = int(layer.slot[fd.SLOT[name], 0])
    if at < 0:
        return fallback, False
    rep = int(layer.tables.field_rep[at])
    if (rep >> 48) & 0xFF != kind:
        raise Unprovable(f"the stage's {name} is of an unusual type")
    value = layer.decoder.scalar(rep)
    return (value if isinstance(value, str) else float(value)), True
