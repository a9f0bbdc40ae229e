"""World matrices of prims (spec 4.5 "World matrix source"; contract block `prim`).

A prim's world matrix is its own `omni:fabric:worldMatrix`, else the local matrices of it and its ancestors up to one that resets the stack. What
ancestors have as `omni:fabric:worldMatrix` plays no part in that, and rows without a matrix are passed over (both observed).

The matrices of bodies outnumber all others, so the largest columns of rigid bodies are read where they are and composed when a joint asks for them:
one matrix product with the parent. The rest is composed once into a table. What stands on a body that is read in place (a collider below a link) is
composed on demand too. Which columns are read in place changes no result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consumer.bodies import ENABLED, PROPERTY, RIGID_BODY, BodyTable
from consumer.buffers import Buffers
from consumer.columns import ColumnReader
from consumer.decompose import determinant, products
from consumer.light import clear, light, run_together
from consumer.passes import Pass, Runner, Work
from consumer.world import ROW_BITS, SHIFT, Affine, nearest_row, stored, tabled, upon, world_matrices
from ovsim.diagnostics import Diagnostics
from ovsim.jit import at, inlined, ranged, readonly, rule, serial
from ovsim.stage import Archetype, Stage

F64 = npt.NDArray[np.float64]
U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]

LOCAL, WORLD = "omni:xform", "omni:fabric:worldMatrix"
RESET = "omni:resetXformStack"
IN_PLACE = 3  # columns that are read where they are
_ALIKE, _SIZE = 1e-14, 1e6  # relative difference of rows that count as equally long and square; largest coordinate and squared scale
_SAMPLE = 1024  # rows that tell whether bodies stand on bodies
UP, STANDS = np.uint64(32), np.uint64(1 << 63)  # of a stand: bits of the own slot, and the mark
SURE = np.uint8(RIGID_BODY | ENABLED)  # a target with these bits is its own body under every rule set
WORLD_ROW, _NOWHERE = np.uint32(1), np.uint64(0)
_PROPERTY, _RIGID_BODY, _NO, _YES = (np.uint8(v) for v in (PROPERTY, RIGID_BODY, 0, 1))
_ROOT, _NONE, _ONE, _TWO = np.uint32(1), np.uint32(0), np.uint32(1), np.uint32(2)
_NO_ROWS = readonly(np.empty((0, 16)))
_WHOLE = readonly(np.ones(1, np.uint8))  # a column's rows are world matrices
_UNIT = readonly(np.eye(4).reshape(1, 16))


class _Source(NamedTuple):
    """An archetype's local matrices: values (n, 16), or (1, 16) with step 0; which rows reset the transform stack."""

    archetype: Archetype
    values: F64
    step: int
    reset: U8
    reset_step: int


@dataclass(frozen=True)
class Transforms:
    """World matrices by path.

    `slot` uint32 by path id: 0 for a path without a local matrix, else a row of `table` float64 (m, 4, 3) (row vectors, translation in row 3), or of
    one of the columns `places` (n, 16), marked in the two highest bits. `ready` uint8 (m,): the row of the table is composed, not a local one that
    waits for the body it stands on. `stretch` float64 (m,): p where the row's matrix is a rotation times p (negative: and a reflection) not far from
    the origin, else 0; zeros where no column is read in place. `stand` uint64 by path id, or of length 0 without columns in place: of an enabled
    rigid body whose matrix is in such a column its slot, from bit `UP` on the row of the table it stands on (`WORLD_ROW`: on the world; 0: on none
    there), and the bit `STANDS`; else 0. `own` uint32 by path id, or of length 1 when nothing has one: the row of the table with the path's own
    `omni:fabric:worldMatrix`, 0 without. A path without a matrix is an identity child of its nearest ancestor that has one; a property path is one of
    the prim above its own (observed).
    """

    parents: U32
    flags: U8
    slot: U32
    table: F64
    ready: U8
    stretch: F64
    stand: U64
    places: tuple[F64, F64, F64]
    own: U32

    @classmethod
    def of(
        cls,
        stage: Stage,
        bodies: BodyTable,
        diagnostics: Diagnostics,
        runner: Runner | None = None,
        buffers: Buffers | None = None,
        in_place: int = IN_PLACE,
    ) -> Transforms:
        """Matrices of a stage; `in_place` columns at most are read where they are, none where that would be slow. With `buffers` the result is good
        until their next use."""
        run, kept = runner or Runner.of(None, None), buffers or Buffers()
        parents = stage.paths.parents
        sources = [s for s in (_source(a, diagnostics) for a in stage.archetypes) if s is not None]
        near = [] if bodies.deep else _in_place(sources, in_place, stage, bodies.flags)
        far = [s for s in sources if not any(s is n for n in near)]
        slot = kept.empty("transforms.slot", (stage.paths.path_count,), np.uint32)
        given = [(a, m) for a in stage.archetypes if len(a) and WORLD in a and (m := ColumnReader(a, diagnostics).matrix(WORLD)) is not None]
        firsts = np.cumsum([2, *(len(s.archetype) for s in far), *(len(a) for a, _ in given)]).tolist()
        if max([firsts[-1], *(len(s.archetype) for s in near)]) > ROW_BITS:
            raise MemoryError(f"more than {ROW_BITS} matrices in one stage")
        table = kept.empty("transforms.table", (firsts[-1], 4, 3), np.float64)
        ready = kept.empty("transforms.ready", (firsts[-1],), np.uint8)
        stretch = (kept.empty if near else kept.zeros)("transforms.stretch", (firsts[-1],), np.float64)
        above = kept.empty("transforms.above", (firsts[-1],), np.uint32)
        stood = kept.cleared("transforms.stood", (firsts[-1],), np.uint8)
        own = kept.cleared("transforms.own", (stage.paths.path_count,), np.uint32) if given else np.zeros(1, np.uint32)
        clear(run, slot)
        numbered = [(_ids(s), (k + 1) << int(SHIFT), slot) for k, s in enumerate(near)]
        numbered += [(_ids(s), first, slot) for s, first in zip(far, firsts)]
        numbered += [(readonly(a.path_ids), first, own) for (a, _), first in zip(given, firsts[len(far) :])]
        run_together(run, [Work(args[0].size, [Pass(place, args)]) for args in numbered])
        table[:2], ready[:2] = np.eye(4, 3), 1
        above[firsts[len(far)] :] = _NONE
        if near:
            stretch[:2] = 0.0, 1.0  # of what stands on no row of the table; of the identity
        if bodies.deep:
            inherit(parents, bodies.flags, slot)
        run.run(
            [Work(len(s.archetype), [Pass(find_above, (_ids(s), first, parents, bodies.flags, slot, above, stood))]) for s, first in zip(far, firsts)]
        )
        stand = kept.empty("transforms.stand", (slot.size if near and not given else 0,), np.uint64)
        light(run, stand.size).over(stand.size, find_stands, parents, bodies.flags, slot, stand)
        _settle_stood(far, firsts, stood, above, table, ready)
        matrices: list[tuple[Any, ...]] = [(s.values, s.step, s.reset, s.reset_step) for s in far]
        matrices += [(values, 1, _WHOLE, 0) for _, values in given]
        table_work = []
        for args, first, after in zip(matrices, firsts, firsts[1:]):
            table_work.append(Work(after - first, [Pass(settle_rows, (*args, first, above, stood, table, ready))]))
            if near:
                table_work[-1].passes.append(Pass(find_stretch, (first, table, ready, stretch)))
        run.run(table_work)
        places = (*(s.values for s in near), *(_NO_ROWS,) * (IN_PLACE - len(near)))
        return cls(parents, bodies.flags, readonly(slot), readonly(table), readonly(ready), readonly(stretch), readonly(stand), places, readonly(own))  # type: ignore[arg-type]

    @property
    def args(self) -> tuple[Any, ...]:
        """What `world_matrix` takes after the path."""
        return (self.parents, self.flags, self.slot, self.table, self.ready, *self.places, self.own)

    def of_paths(self, paths: npt.ArrayLike) -> F64:
        """World matrices of path ids (n,), float64 (n, 4, 3); the identity for id 0."""
        ids = readonly(np.asarray(paths, np.uint64).reshape(-1))
        out = np.empty((ids.size, 4, 3))
        matrices: Any = world_matrices
        matrices(0, ids.size, ids, *self.args, out)
        return out


def _settle_stood(far: list[_Source], firsts: list[int], stood: U8, above: U32, table: F64, ready: U8) -> None:
    """World matrices of the rows that others stand on, parents first: their paths have smaller ids."""
    rows = np.flatnonzero(stood)
    rows = rows[np.searchsorted(rows, firsts[0]) :]
    ids = []
    for s, first, after in zip(far, firsts, firsts[1:]):
        lo, hi = np.searchsorted(rows, (first, after))
        if lo < hi:
            copy_stood(readonly(rows[lo:hi]), s.values, s.step, s.reset, s.reset_step, first, table, ready)
            ids.append(s.archetype.path_ids[rows[lo:hi] - first])
    if ids:
        settle_stood(readonly(rows[np.argsort(np.concatenate(ids), kind="stable")]), above, table, ready)


def _ids(source: _Source) -> U64:
    return readonly(source.archetype.path_ids)


def _source(archetype: Archetype, diagnostics: Diagnostics) -> _Source | None:
    if not len(archetype) or (LOCAL not in archetype and RESET not in archetype):
        return None
    reader = ColumnReader(archetype, diagnostics)
    local = reader.matrix(LOCAL)
    reset, step = reader.boolean(RESET, default=False)
    if local is None and not reset.max():
        return None
    return _Source(archetype, _UNIT if local is None else local, int(local is not None), reset, step)


def _in_place(sources: list[_Source], most: int, stage: Stage, flags: U8) -> list[_Source]:
    """The largest columns of rigid bodies whose rows are all of one kind; none when bodies stand on bodies, as a sample of them tells."""
    able = [s for s in sources if s.step and "PhysicsRigidBodyAPI" in s.archetype.schemas and not s.reset.max()]
    chosen = sorted(able, key=lambda s: -len(s.archetype))[:most]
    for s in chosen:
        ids = s.archetype.path_ids
        above = stage.paths.parents[ids[:: max(1, ids.size // _SAMPLE)]]
        while above.any():
            if (flags[above] & _RIGID_BODY).any():
                return []
            above = stage.paths.parents[above]
    return chosen


@ranged
def place(lo: int, hi: int, ids: U64, first: int, slot: U32) -> None:
    """Number the rows of a column from `first` on."""
    for i in range(lo, hi):
        slot[ids[at(i, 1)]] = np.uint32(first + i)


@ranged
def find_above(lo: int, hi: int, ids: U64, first: int, parents: U32, flags: U8, slot: U32, above: U32, stood: U8) -> None:
    """What the rows of the table from `first` on stand on: its slot, 0 for nothing. `stood` marks those of the table."""
    for i in range(lo, hi):
        here = parents[ids[at(i, 1)]]
        code = slot[here]
        if not stands_there(here, code, flags[here]):
            code = slot_from(here, parents, flags, slot)
        above[at(first + i, 1)] = code
        if code != _NONE and code <= ROW_BITS and not stood[code]:
            stood[code] = _YES


@ranged
def find_stands(lo: int, hi: int, parents: U32, flags: U8, slot: U32, stand: U64) -> None:
    """Fill `stand`, path by path."""
    for i in range(lo, hi):
        path = at(i, 1)
        own, found = slot[path], _NOWHERE
        if own > ROW_BITS and flags[path] & SURE == SURE:
            here = parents[path]
            above = slot[here]
            if not stands_there(here, above, flags[here]):
                above = slot_from(here, parents, flags, slot)
            if above == _NONE:
                above = WORLD_ROW
            found = np.uint64(own) | (np.uint64(above) << UP if above <= ROW_BITS else _NOWHERE) | STANDS
        stand[path] = found


@rule
def slot_from(here: Any, parents: U32, flags: U8, slot: U32) -> np.uint32:
    """The slot of a path or of its nearest ancestor with a local matrix, 0 when there is none. Kernels that ask often look at the path first."""
    row = nearest_row(here, parents, flags, slot)
    return slot[row] if row != _NONE else _NONE


@rule
def stands_there(here: Any, code: Any, flag: Any) -> bool:
    """Whether the slot of a path is what stands below it stands on: there is one, and the path is no property."""
    return _NONE not in (here, code) and not flag & _PROPERTY


@inlined
def settle(row: Any, local: Affine, reset: Any, above: Any, table: F64, ready: U8) -> None:
    """Write a row of the table: its world matrix, or its local one when what it stands on is no world matrix in the table."""
    held = ready[above] if above <= ROW_BITS else _NO  # row 0 stands for nothing
    if held and not reset and above != _NONE:
        put(table, row, upon(local, tabled(table, above)))
    else:
        put(table, row, local)
    ready[row] = _YES if reset or held else _NO


@rule
def put(table: F64, row: Any, m: Affine) -> None:
    for r in range(3):
        for c in range(3):
            table[row, r, c] = m[0][3 * r + c]
        table[row, 3, r] = m[1][r]


@serial
def settle_stood(order: I64, above: U32, table: F64, ready: U8) -> None:
    """Rows that others stand on, in an order that has parents first; their local matrices are in the table."""
    for row in order:
        settle(at(row, 1), tabled(table, at(row, 1)), ready[at(row, 1)], above[at(row, 1)], table, ready)


@serial
def copy_stood(rows: I64, values: F64, step: int, reset: U8, rs: int, first: int, table: F64, ready: U8) -> None:
    """Local matrices of rows that others stand on; one that resets the stack is ready."""
    for row in rows:
        i = row - first
        put(table, at(row, 1), stored(values, at(i, step)))
        ready[at(row, 1)] = _YES if reset[at(i, rs)] else _NO


@ranged
def settle_rows(
    lo: int, hi: int, values: F64, step: int, reset: U8, rs: int, first: int, above: U32, stood: U8, table: F64, ready: U8
) -> None:  # fmt: skip
    """Rows from `first` on that none stands on."""
    for i in range(lo, hi):
        row = at(first + i, 1)
        if not stood[row]:
            settle(row, stored(values, at(i, step)), reset[at(i, rs)], above[row], table, ready)


@ranged
def find_stretch(lo: int, hi: int, first: int, table: F64, ready: U8, stretch: F64) -> None:
    """Fill `stretch` of the rows from `first` on."""
    for i in range(first + lo, first + hi):
        m, to = tabled(table, at(i, 1))
        c00, c11, c22, c01, c02, c12 = products(m)
        most = _ALIKE * c00
        turns = (abs(c01) <= most) & (abs(c02) <= most) & (abs(c12) <= most) & (abs(c11 - c00) <= most) & (abs(c22 - c00) <= most)
        sized = (c00 >= 1.0 / _SIZE) & (c00 <= _SIZE) & (abs(to[0]) <= _SIZE) & (abs(to[1]) <= _SIZE) & (abs(to[2]) <= _SIZE)
        p = -np.sqrt(c00) if determinant(m) < 0.0 else np.sqrt(c00)
        stretch[at(i, 1)] = p if ready[at(i, 1)] and turns and sized else 0.0


@serial
def inherit(parents: U32, flags: U8, slot: U32) -> None:
    """Give every path without a row the slot of its nearest ancestor that has one, at last the identity's, so that nothing walks far."""
    if slot[1] == _NONE:
        slot[1] = _ONE
    for p in range(2, parents.size):
        if slot[p] == _NONE and not flags[p] & _PROPERTY:
            slot[p] = slot[parents[p]]
