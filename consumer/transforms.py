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

from consumer.bodies import MOST_STEPS, PROPERTY, RIGID_BODY, BodyTable
from consumer.buffers import Buffers
from consumer.columns import ColumnReader
from consumer.decompose import Mat3, Vec3, determinant, multiply, products, transform
from consumer.passes import Pass, Runner, Work
from ovsim.diagnostics import Diagnostics
from ovsim.jit import at, ranged, readonly, rule, serial
from ovsim.stage import Archetype, Stage

F64 = npt.NDArray[np.float64]
U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]
U8 = npt.NDArray[np.uint8]
Affine = tuple[Mat3, Vec3]

LOCAL, WORLD = "omni:xform", "omni:fabric:worldMatrix"
RESET = "omni:resetXformStack"
IN_PLACE = 3  # columns that are read where they are
_ALIKE, _SIZE = 1e-14, 1e6  # relative difference of rows that count as equally long and square; largest coordinate and squared scale
_SAMPLE = 1024  # rows that tell whether bodies stand on bodies
SHIFT, ROW_BITS = np.uint32(30), np.uint32((1 << 30) - 1)  # slot: column + 1, or 0 for the table; row in it
_PROPERTY, _RIGID_BODY, _NO, _YES = (np.uint8(v) for v in (PROPERTY, RIGID_BODY, 0, 1))
_ROOT, _NONE, _ONE, _TWO = np.uint32(1), np.uint32(0), np.uint32(1), np.uint32(2)
_IDENTITY: Affine = ((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
_NO_ROWS = readonly(np.empty((0, 16)))
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
    the origin, else 0; zeros where no column is read in place. `own` uint32 by path id, or of length 1 when nothing has one: the row of the table
    with the path's own `omni:fabric:worldMatrix`, 0 without. A path without a matrix is an identity child of its nearest ancestor that has one; a
    property path is one of the prim above its own (observed).
    """

    parents: U32
    flags: U8
    slot: U32
    table: F64
    ready: U8
    stretch: F64
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
        slot = kept.cleared("transforms.slot", (stage.paths.path_count,), np.uint32)
        given = [(a, m) for a in stage.archetypes if len(a) and (m := ColumnReader(a, diagnostics).matrix(WORLD)) is not None]
        firsts = np.cumsum([2, *(len(s.archetype) for s in far), *(len(a) for a, _ in given)]).tolist()
        if max([firsts[-1], *(len(s.archetype) for s in near)]) > ROW_BITS:
            raise MemoryError(f"more than {ROW_BITS} matrices in one stage")
        table = kept.empty("transforms.table", (firsts[-1], 4, 3), np.float64)
        ready = kept.empty("transforms.ready", (firsts[-1],), np.uint8)
        work = [Work(len(s.archetype), [Pass(place, (_ids(s), (k + 1) << int(SHIFT), slot))]) for k, s in enumerate(near)]
        for s, first in zip(far, firsts):
            copy = Pass(affine, (s.values, s.step, s.reset, s.reset_step, first, table, ready))
            work.append(Work(len(s.archetype), [Pass(place, (_ids(s), first, slot)), copy]))
        own = kept.cleared("transforms.own", (stage.paths.path_count,), np.uint32) if given else np.zeros(1, np.uint32)
        for (a, matrices), first in zip(given, firsts[len(far) :]):
            copy = Pass(affine, (matrices, 1, readonly(np.ones(1, np.uint8)), 0, first, table, ready))
            work.append(Work(len(a), [Pass(place, (readonly(a.path_ids), first, own)), copy]))
        run.run(work)
        table[:2], ready[:2] = np.eye(4, 3), 1
        if bodies.deep:
            inherit(parents, bodies.flags, slot)
        ids = [_ids(s) for s in far]
        ascending = len(ids) == 1 and bool(np.all(ids[0][:-1] < ids[0][1:]))
        order = ids[0] if ascending else readonly(np.sort(np.concatenate(ids))) if ids else _no_ids()
        compose_world(order, parents, bodies.flags, slot, table, ready)
        stretch = np.zeros(firsts[-1])
        if near:
            run.over(firsts[-1], find_stretch, table, ready, stretch)
        places = (*(s.values for s in near), *(_NO_ROWS,) * (IN_PLACE - len(near)))
        return cls(parents, bodies.flags, readonly(slot), readonly(table), readonly(ready), readonly(stretch), places, readonly(own))  # type: ignore[arg-type]

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


def _ids(source: _Source) -> U64:
    return readonly(source.archetype.path_ids)


def _no_ids() -> U64:
    return readonly(np.empty(0, np.uint64))


def _source(archetype: Archetype, diagnostics: Diagnostics) -> _Source | None:
    reader = ColumnReader(archetype, diagnostics)
    local = reader.matrix(LOCAL)
    reset, step = reader.boolean(RESET, default=False)
    if not len(archetype) or (local is None and not reset.any()):
        return None
    return _Source(archetype, _UNIT if local is None else local, int(local is not None), reset, step)


def _in_place(sources: list[_Source], most: int, stage: Stage, flags: U8) -> list[_Source]:
    """The largest columns of rigid bodies whose rows are all of one kind; none when bodies stand on bodies, as a sample of them tells."""
    able = [s for s in sources if s.step and "PhysicsRigidBodyAPI" in s.archetype.schemas and not s.reset.any()]
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
def affine(lo: int, hi: int, values: F64, step: int, reset: U8, rs: int, first: int, table: F64, ready: U8) -> None:
    """Copy row-major matrices without their last column; one that resets the stack is ready."""
    for i in range(lo, hi):
        for r in range(4):
            for c in range(3):
                table[at(first + i, 1), r, c] = values[at(i, step), 4 * r + c]
        ready[at(first + i, 1)] = _YES if reset[at(i, rs)] else _NO


@ranged
def find_stretch(lo: int, hi: int, table: F64, ready: U8, stretch: F64) -> None:
    """Fill `stretch` (zeros)."""
    for i in range(lo, hi):
        m, to = tabled(table, i)
        c00, c11, c22, c01, c02, c12 = products(m)
        most = _ALIKE * c00
        turns = (abs(c01) <= most) & (abs(c02) <= most) & (abs(c12) <= most) & (abs(c11 - c00) <= most) & (abs(c22 - c00) <= most)
        sized = (c00 >= 1.0 / _SIZE) & (c00 <= _SIZE) & (abs(to[0]) <= _SIZE) & (abs(to[1]) <= _SIZE) & (abs(to[2]) <= _SIZE)
        if ready[at(i, 1)] and turns and sized:
            stretch[at(i, 1)] = -np.sqrt(c00) if determinant(m) < 0.0 else np.sqrt(c00)


@rule
def nearest_row(path: Any, parents: U32, flags: U8, slot: U32) -> np.uint32:
    """The path itself or its nearest ancestor with a local matrix, 0 when there is none. A property's path stands beside its prim (observed)."""
    here = np.uint32(path)
    while here > _ROOT:
        if flags[here] & _PROPERTY:
            here = parents[parents[here]]
            continue
        if slot[here] != _NONE:
            return here
        here = parents[here]
    return here if here == _ROOT and slot[here] != _NONE else _NONE


@rule
def stored(values: F64, row: int) -> Affine:
    """A matrix of a column, without its last column."""
    return (
        (
            values[row, 0],
            values[row, 1],
            values[row, 2],
            values[row, 4],
            values[row, 5],
            values[row, 6],
            values[row, 8],
            values[row, 9],
            values[row, 10],
        ),
        (values[row, 12], values[row, 13], values[row, 14]),
    )


@rule
def tabled(table: F64, row: Any) -> Affine:
    """A matrix of the table."""
    return (
        (
            table[row, 0, 0], table[row, 0, 1], table[row, 0, 2],
            table[row, 1, 0], table[row, 1, 1], table[row, 1, 2],
            table[row, 2, 0], table[row, 2, 1], table[row, 2, 2],
        ),
        (table[row, 3, 0], table[row, 3, 1], table[row, 3, 2]),
    )  # fmt: skip


@rule
def upon(local: Affine, above: Affine) -> Affine:
    """World matrix of a prim: its local one times its parent's world matrix."""
    to = transform(local[1], above[0])
    home = above[1]
    return multiply(local[0], above[0]), (to[0] + home[0], to[1] + home[1], to[2] + home[2])


@rule
def own_matrix(here: Any, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64) -> tuple[bool, Affine]:
    """(it is composed already, the local or composed matrix of this path's row)."""
    code = slot[here]
    column, row = code >> SHIFT, code & ROW_BITS
    if column == _NONE:
        return ready[row] != _NO, tabled(table, row)
    if column == _ONE:
        return False, stored(v0, row)
    if column == _TWO:
        return False, stored(v1, row)
    return False, stored(v2, row)


@rule
def own_row(path: Any, own: U32) -> np.uint32:
    """The row of the table with the path's own world matrix, 0 without."""
    return own[path] if own.size > 1 else _NONE


@rule
def world_matrix(path: Any, parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64, own: U32) -> tuple[bool, Affine]:
    """(there is one, the world matrix of a path); the identity when there is none."""
    whole = own_row(path, own)
    if whole != _NONE:
        return True, tabled(table, whole)
    here = nearest_row(path, parents, flags, slot)
    if here == _NONE:
        return False, _IDENTITY
    done, local = own_matrix(here, slot, table, ready, v0, v1, v2)
    if done:
        return True, local
    above = nearest_row(parents[here], parents, flags, slot)
    if above == _NONE:
        return True, local
    code = slot[above]
    if code <= ROW_BITS and ready[code]:
        return True, upon(local, tabled(table, code))
    return True, upon(local, chained(above, parents, flags, slot, table, ready, v0, v1, v2))


@rule
def chained(path: Any, parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64) -> Affine:
    """World matrix of a path with a row, composed from the first ancestor down that needs no other."""
    chain = np.empty(MOST_STEPS + 2, np.uint32)
    n = 0
    here = np.uint32(path)
    while here != _NONE:
        chain[n] = here
        n += 1
        done, out = own_matrix(here, slot, table, ready, v0, v1, v2)
        if done:
            break
        here = nearest_row(parents[here], parents, flags, slot)
    done, out = own_matrix(chain[n - 1], slot, table, ready, v0, v1, v2)
    for k in range(n - 2, -1, -1):
        _, local = own_matrix(chain[k], slot, table, ready, v0, v1, v2)
        out = upon(local, out)
    return out


@ranged
def world_matrices(
    lo: int, hi: int, ids: U64, parents: U32, flags: U8, slot: U32, table: F64, ready: U8, v0: F64, v1: F64, v2: F64, own: U32,
    out: F64,
) -> None:  # fmt: skip
    """World matrices of paths."""
    for i in range(lo, hi):
        _, m = world_matrix(ids[i], parents, flags, slot, table, ready, v0, v1, v2, own)
        for r in range(3):
            for c in range(3):
                out[i, r, c] = m[0][3 * r + c]
            out[i, 3, r] = m[1][r]


@serial
def compose_world(ids: U64, parents: U32, flags: U8, slot: U32, table: F64, ready: U8) -> None:
    """Turn local matrices of the table into world matrices, parents first; those that stand on a column in place wait."""
    for i in range(ids.size):
        own = slot[ids[i]]
        if ready[own]:
            continue
        above = nearest_row(parents[ids[i]], parents, flags, slot)
        code = slot[above]
        if above != _NONE and (code > ROW_BITS or not ready[code]):
            continue
        if above != _NONE:
            m = upon(tabled(table, own), tabled(table, code))
            for r in range(3):
                for c in range(3):
                    table[own, r, c] = m[0][3 * r + c]
                table[own, 3, r] = m[1][r]
        ready[own] = _YES


@serial
def inherit(parents: U32, flags: U8, slot: U32) -> None:
    """Give every path without a row the slot of its nearest ancestor that has one, at last the identity's, so that nothing walks far."""
    if slot[1] == _NONE:
        slot[1] = _ONE
    for p in range(2, parents.size):
        if slot[p] == _NONE and not flags[p] & _PROPERTY:
            slot[p] = slot[parents[p]]
