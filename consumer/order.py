"""Order of joints and bodies: byte order of the full path string, found without making the strings (spec 2.1 rules 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from consumer.jit import readonly, serial
from ovsim.contract.joints import JOINT_TYPES
from ovsim.errors import PathError
from ovsim.stage import ROOT, Archetype, PathDictionary, Stage

U16 = npt.NDArray[np.uint16]
U32 = npt.NDArray[np.uint32]
_FIRST_NAME_BYTE = 0x30  # "0": above both separators "/" and "."


def path_ranks(paths: PathDictionary) -> U32:
    """Rank of every path id in the byte order of the full path strings, shape (path_count,), uint32; 0 for id 0.

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
    """Type tokens in the parser's order, custom ones last in the given order (spec 2.1; their position is not documented)."""
    return tuple(dict.fromkeys((*JOINT_TYPES, *custom_types)))


def place_joints(stage: Stage, types: Sequence[str], ranks: U32) -> list[list[Placed]]:
    """Archetypes of every type with the destination rows: ascending path inside a type. PathError when two rows share a path."""
    kind_at_rank = np.zeros(ranks.size + 1, np.uint16)
    groups = [list(stage.with_type(t)) for t in types]
    total = 0
    for kind, group in enumerate(groups, 1):
        for archetype in group:
            ids = archetype.path_ids
            if ids.size and int(ids.max()) >= ranks.size:
                raise PathError(f"a {archetype.type_name} row has path id {int(ids.max())}, beyond the path dictionary; rebuild the stage")
            kind_at_rank[ranks[ids]] = kind
            total += ids.size
    if int(np.count_nonzero(kind_at_rank)) != total:
        raise PathError("a joint prim has two rows; a prim has one row, give all its columns in one add")
    row_at_rank = np.empty(kind_at_rank.size, np.uint32)
    number_rows(kind_at_rank, len(types), row_at_rank)
    return [[Placed(a, readonly(row_at_rank[ranks[a.path_ids]])) for a in group] for group in groups]


@serial
def number_rows(kind_at_rank: U16, kinds: int, row_at_rank: U32) -> None:
    """Count up one number a kind along the ranks."""
    following = np.zeros(kinds + 1, np.uint32)
    for r in range(kind_at_rank.size):
        kind = kind_at_rank[r]
        row_at_rank[r] = following[kind]
        following[kind] += np.uint32(1)
