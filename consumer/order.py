"""Order of joints and bodies: byte order of the full path string, found without making the strings (spec 2.1 rules 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from consumer.buffers import Buffers
from consumer.passes import FEW, Runner
from ovsim.contract.joints import JOINT_TYPES, custom_joint_types
from ovsim.errors import PathError
from ovsim.jit import at, ranged, readonly, rule, serial
from ovsim.stage import ROOT, Archetype, PathDictionary, Stage

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
WORD = 64  # ranks in a word of bits
_U1, _U2, _U4, _U6, _U8, _U16, _U32, _LOW, _COUNT = (np.uint64(v) for v in (1, 2, 4, 6, 8, 16, 32, WORD - 1, 0x7F))
_PAIRS, _FOURS, _EIGHTS = (np.uint64(v * 0x0101010101010101) for v in (0x55, 0x33, 0x0F))
_FIRST_NAME_BYTE = 0x30  # "0": above both separators "/" and "."


_TWICE = "a joint prim has two rows; a prim has one row, give all its columns in one add"
_known: WeakKeyDictionary[PathDictionary, U32] = WeakKeyDictionary()
_depths: WeakKeyDictionary[PathDictionary, tuple[int, int]] = WeakKeyDictionary()


def path_ranks(paths: PathDictionary) -> U32:
    """Rank of every path id in the byte order of the full path strings, shape (path_count,), uint32; 0 for id 0.

    A dictionary only grows, so its ranks are kept with it until it does.
    """
    kept = _known.get(paths)
    if kept is None or kept.size != paths.path_count:
        kept = _known[paths] = rank_paths(paths)
    return kept


def path_depth(paths: PathDictionary) -> int:
    """How many names the deepest path has; kept with the dictionary like its ranks."""
    kept = _depths.get(paths)
    if kept is None or kept[0] != paths.path_count:
        kept = _depths[paths] = (paths.path_count, int(deepest(paths.parents, np.zeros(paths.path_count, np.uint32))))
    return kept[1]


@serial
def deepest(parents: U32, depth: U32) -> int:
    """Largest depth; fills `depth` (zeros) by path id."""
    most = np.uint32(0)
    for p in range(ROOT + 1, parents.size):
        depth[p] = depth[parents[p]] + np.uint32(1)
        most = max(most, depth[p])
    return most


def rank_paths(paths: PathDictionary) -> U32:
    """The ranks, made anew.

    A subtree is contiguous in that order as long as no name holds a byte below "0", as USD names never do: then siblings go by their names,
    properties before prims because "." sorts before "/". Otherwise the strings themselves are sorted.
    """
    ranks = np.zeros(paths.path_count, np.uint32)
    used = np.zeros(paths.token_count, np.bool_)
    used[paths.names] = True
    used[0] = False
    if not used.any():
        ranks[ROOT] = 1
        return readonly(ranks)
    tokens = pa.array(paths.token_strings(), pa.large_string()).filter(pa.array(used))
    if not _hierarchical(tokens):
        order = pc.sort_indices(paths.path_strings(np.arange(ROOT, paths.path_count)).cast(pa.large_binary())).to_numpy()
        ranks[order + np.uint64(ROOT)] = np.arange(1, order.size + 1, dtype=np.uint32)
        return readonly(ranks)
    name_rank = np.zeros(paths.token_count, np.uint32)
    sorted_tokens = pc.sort_indices(tokens.cast(pa.large_binary())).to_numpy()
    name_rank[np.flatnonzero(used)[sorted_tokens]] = np.arange(sorted_tokens.size, dtype=np.uint32)
    rank_hierarchy(paths.parents, paths.names, readonly(name_rank), sorted_tokens.size, ranks)
    return readonly(ranks)


def _hierarchical(tokens: pa.LargeStringArray) -> bool:
    offsets = np.frombuffer(tokens.buffers()[1], np.int64)[tokens.offset : tokens.offset + len(tokens) + 1]
    data = np.frombuffer(tokens.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    low = int(np.count_nonzero(data < _FIRST_NAME_BYTE))
    starts = (offsets[:-1] - offsets[0])[np.diff(offsets) > 0]
    return low == int(np.count_nonzero(data[starts] == ord(".")))  # the dot that leads a property name is the only one allowed


@serial
def rank_hierarchy(parents: U32, names: U32, name_rank: U32, name_count: int, ranks: U32) -> None:
    """Fill `ranks` by path id: one counting sort of the paths by name, subtree sizes from the leaves up, then positions from the root down."""
    n = parents.size
    start = np.zeros(name_count + 1, np.uint32)
    for p in range(2, n):
        start[name_rank[names[p]] + 1] += np.uint32(1)
    for k in range(name_count):
        start[k + 1] += start[k]
    by_name = np.empty(n - 2, np.uint32)
    for p in range(2, n):
        k = name_rank[names[p]]
        by_name[start[k]] = p
        start[k] += np.uint32(1)
    size = np.ones(n, np.uint32)
    for p in range(n - 1, 1, -1):
        size[parents[p]] += size[p]
    filled = np.zeros(n, np.uint32)
    for k in range(n - 2):
        p = by_name[k]
        above = parents[p]
        ranks[p] = filled[above]
        filled[above] += size[p]
    ranks[1] = 1
    for p in range(2, n):
        ranks[p] += ranks[parents[p]] + np.uint32(1)


@dataclass(frozen=True)
class Placed:
    """One archetype of joints and the row of its block that each of its rows goes to, shape (n,), uint32."""

    archetype: Archetype
    rows: U32


def joint_types(custom_types: Sequence[str]) -> tuple[str, ...]:
    """Type tokens in the parser's order, custom ones last in the given order (spec 2.1; their position is not documented).

    CustomJointError for custom types that are none (`ovsim.contract.joints`).
    """
    return (*JOINT_TYPES, *custom_joint_types(custom_types))


def place_joints(stage: Stage, types: Sequence[str], ranks: U32, runner: Runner, buffers: Buffers) -> list[list[Placed]]:
    """Archetypes of every type with the destination rows: ascending path inside a type.

    A row is the number of joints of its type with a smaller rank: one bit a rank, counted by words. PathError when two rows share a path.
    """
    every = buffers.cleared("order.every", (ranks.size // WORD + 1,), np.uint64)
    there = {a.type_name for a in stage.archetypes if len(a)}
    many = sum(t in there for t in types) > 1 and len(stage) > FEW
    alone = Runner(1, runner.chunk) if many else runner  # types side by side, or the rows of one type
    placed = (runner if many else Runner(1)).each([partial(_place_type, stage, t, ranks, alone, buffers) for t in types])
    for _, bits in placed:
        _join(bits, every)
    return [found for found, _ in placed]


def place_type(stage: Stage, type_name: str, ranks: U32, every: U64, runner: Runner, buffers: Buffers) -> list[Placed]:
    """Archetypes of one type with their destination rows; `every` uint64, a bit a rank, holds the joints of all types so far."""
    placed, bits = _place_type(stage, type_name, ranks, runner, buffers)
    _join(bits, every)
    return placed


def _place_type(stage: Stage, type_name: str, ranks: U32, runner: Runner, buffers: Buffers) -> tuple[list[Placed], U64]:
    """The same, with the bits of its ranks; none for a type without rows."""
    group = [a for a in stage.with_type(type_name) if len(a)]
    if not group:
        return [], np.empty(0, np.uint64)
    bits = buffers.cleared(("order.bits", type_name), (ranks.size // WORD + 1,), np.uint64)
    before = buffers.empty(("order.before", type_name), bits.shape, np.uint32)
    ids = [readonly(a.path_ids) for a in group]
    for each in ids:
        if not mark_ranks(each, ranks, bits):
            raise PathError(f"a {type_name} row has path id {int(each.max())}, beyond the path dictionary; rebuild the stage")
    if count_before(bits, before) != sum(each.size for each in ids):
        raise PathError(_TWICE)
    placed = []
    for k, (archetype, each) in enumerate(zip(group, ids)):
        rows = buffers.empty(("order.rows", type_name, k), (each.size,), np.uint32)
        runner.over(each.size, place_rows, each, ranks, bits, before, rows)
        placed.append(Placed(archetype, readonly(rows)))
    return placed, bits


def _join(bits: U64, every: U64) -> None:
    if join_bits(bits, every):
        raise PathError(_TWICE)


@rule
def ones(word: np.uint64) -> np.uint32:
    """Bits set in a word."""
    word = word - ((word >> _U1) & _PAIRS)
    word = (word & _FOURS) + ((word >> _U2) & _FOURS)
    word = (word + (word >> _U4)) & _EIGHTS
    word = word + (word >> _U8)
    word = word + (word >> _U16)
    return np.uint32((word + (word >> _U32)) & _COUNT)


@serial
def mark_ranks(ids: U64, ranks: U32, bits: U64) -> bool:
    """Set the bit of every path's rank; False when an id is none of the dictionary's."""
    for i in range(ids.size):
        if ids[at(i, 1)] >= ranks.size:
            return False
        rank = np.uint64(ranks[ids[at(i, 1)]])
        bits[rank >> _U6] |= _U1 << (rank & _LOW)
    return True


@serial
def count_before(bits: U64, before: U32) -> int:
    """Bits set in all words before each; returns how many are set."""
    total = np.uint32(0)
    for w in range(bits.size):
        before[w] = total
        total += ones(bits[w])
    return total


@serial
def join_bits(bits: U64, every: U64) -> bool:
    """Add bits to those of `every`; whether any was there already."""
    shared = np.uint64(0)
    for w in range(bits.size):
        shared |= bits[w] & every[w]
        every[w] |= bits[w]
    return shared != 0


@ranged
def place_rows(lo: int, hi: int, ids: U64, ranks: U32, bits: U64, before: U32, rows: U32) -> None:
    """Bits set before each path's own."""
    for i in range(lo, hi):
        rank = np.uint64(ranks[ids[at(i, 1)]])
        word = rank >> _U6
        rows[at(i, 1)] = before[word] + ones(bits[word] & ((_U1 << (rank & _LOW)) - _U1))
