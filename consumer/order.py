"""Order of joints and bodies: byte order of the full path string, found without making the strings (spec 2.1 rules 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from consumer.buffers import Buffers
from consumer.light import clear, light, run_together
from consumer.passes import Pass, Runner, Work
from ovsim.contract.joints import JOINT_TYPES, custom_joint_types
from ovsim.errors import PathError
from ovsim.jit import at, ranged, readonly, serial
from ovsim.stage import ROOT, Archetype, PathDictionary, Stage

U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
BLOCK, WORD = 256, 8  # ranks of a block, so many that a byte counts those before; ranks of a word
MOST_CODES = 255  # types that a byte tells apart
_SHIFT, _ONE = np.uint32(8), np.uint32(1)
_NO, _YES = np.uint8(0), np.uint8(1)
_FIRST_NAME_BYTE = 0x30  # "0": above both separators "/" and "."

_known: WeakKeyDictionary[PathDictionary, U32] = WeakKeyDictionary()
_depths: WeakKeyDictionary[PathDictionary, tuple[int, int]] = WeakKeyDictionary()
_properties: WeakKeyDictionary[PathDictionary, tuple[int, U32]] = WeakKeyDictionary()


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


def property_paths(paths: PathDictionary) -> U32:
    """Path ids of all properties, ascending, shape (n,), uint32; kept with the dictionary like its ranks."""
    kept = _properties.get(paths)
    if kept is None or kept[0] != paths.path_count:
        is_property = np.zeros(paths.token_count, np.bool_)
        is_property[list(paths.property_tokens)] = True
        found = np.flatnonzero(is_property[paths.names]) if paths.property_tokens else np.empty(0)
        kept = _properties[paths] = (paths.path_count, readonly(found.astype(np.uint32)))
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

    A row is the number of joints of its type with a smaller rank. PathError when two rows share a path, or when a path is none of the dictionary's.
    """
    groups = {t: group for t in types if (group := _rows_of(stage, t))}
    many = len(groups) > MOST_CODES
    seen = no_marks(ranks, buffers) if many else None
    found: dict[str, list[Placed]] = {}
    for k in range(0, len(groups), MOST_CODES):
        found |= _place(dict(islice(groups.items(), k, k + MOST_CODES)), ranks, seen, runner, buffers)
    return [found.get(t, []) for t in types]


def place_type(stage: Stage, type_name: str, ranks: U32, seen: U8, runner: Runner, buffers: Buffers) -> list[Placed]:
    """Archetypes of one type with their destination rows; `seen`, at first `no_marks`, holds the joints of all types so far."""
    group = _rows_of(stage, type_name)
    return _place({type_name: group}, ranks, seen, runner, buffers)[type_name] if group else []


def no_marks(ranks: U32, buffers: Buffers) -> U8:
    """A byte for every rank, all zero, and some more so that blocks are whole."""
    return buffers.cleared("order.seen", (_blocks(ranks) * BLOCK,), np.uint8)


def _blocks(ranks: U32) -> int:
    return -(-ranks.size // BLOCK)


def _rows_of(stage: Stage, type_name: str) -> list[Archetype]:
    return [a for a in stage.with_type(type_name) if len(a)]


def _place(groups: Mapping[str, Sequence[Archetype]], ranks: U32, seen: U8 | None, runner: Runner, buffers: Buffers) -> dict[str, list[Placed]]:
    """Rows of `MOST_CODES` types at most, with one byte a path, by ranges on all threads.

    Every joint puts a code of its type at its rank; block by block the codes become how many equal ones come before, which leads to the row.
    """
    blocks = _blocks(ranks)
    marks = buffers.empty("order.marks", (blocks * BLOCK,), np.uint8)
    before = buffers.empty("order.before", (blocks + 1, len(groups) + 1), np.uint32)
    unknown, twice = np.zeros(1, np.uint8), np.zeros(1, np.uint8)
    placed: dict[str, list[Placed]] = {}
    mark, put = [], []
    for code, (type_name, group) in enumerate(groups.items(), 1):
        placed[type_name] = []
        for k, archetype in enumerate(group):
            rows = buffers.empty(("order.rows", type_name, k), (len(archetype),), np.uint32)
            mark.append(Work(rows.size, [Pass(mark_ranks, (readonly(archetype.path_ids), ranks, code, marks, rows, unknown))]))
            put.append(Work(rows.size, [Pass(place_rows, (code, marks, before, rows))]))
            placed[type_name].append(Placed(archetype, readonly(rows)))
    total = sum(work.rows for work in mark)
    by_rank = light(runner, marks.size)
    by_block = replace(by_rank, chunk=max(1, by_rank.chunk // BLOCK))
    clear(runner, marks)
    run_together(runner, mark)
    if unknown[0]:
        raise PathError(_beyond(groups, ranks.size))
    number = [Pass(number_ranks, (marks.view(np.uint64), marks, before))]
    if seen is not None:
        number.insert(0, Pass(join_marks, (marks, seen, twice)))
    by_block.run([Work(blocks, number)])
    if twice[0] or sum_blocks(before) != total:
        raise PathError("a joint prim has two rows; a prim has one row, give all its columns in one add")
    run_together(runner, put)
    return placed


def _beyond(groups: Mapping[str, Sequence[Archetype]], count: int) -> str:
    most = ((t, max(int(a.path_ids.max()) for a in group)) for t, group in groups.items())
    type_name, path = next((t, path) for t, path in most if path >= count)
    return f"a {type_name} row has path id {path}, beyond the path dictionary; rebuild the stage"


@ranged
def mark_ranks(lo: int, hi: int, ids: U64, ranks: U32, code: int, marks: U8, rows: U32, unknown: U8) -> None:
    """Put the code at every path's rank, and the rank where the row will be; `unknown` tells of an id that is none of the dictionary's."""
    for i in range(lo, hi):
        path = ids[at(i, 1)]
        if path >= ranks.size:
            unknown[0] = 1
            return
        rank = ranks[path]
        marks[rank] = code
        rows[at(i, 1)] = rank


@ranged
def join_marks(lo: int, hi: int, marks: U8, seen: U8, twice: U8) -> None:
    """Add the marks of blocks to those of `seen`; `twice` tells whether any was there already."""
    both = _NO
    for r in range(lo * BLOCK, hi * BLOCK):
        here = _YES if marks[at(r, 1)] != _NO else _NO
        both |= here & seen[at(r, 1)]
        seen[at(r, 1)] |= here
    if both:
        twice[0] = 1


@ranged
def number_ranks(lo: int, hi: int, words: U64, marks: U8, before: U32) -> None:
    """Replace each code by how many equal ones come before it in its block; how many there are in the block goes to `before` (blocks + 1, codes).

    `words` are the marks, `WORD` at a time: most of those without any joint are passed over at once.
    """
    for b in range(lo, hi):
        for code in range(before.shape[1]):
            before[at(b, 1), code] = 0
        for w in range(b * (BLOCK // WORD), (b + 1) * (BLOCK // WORD)):
            if words[at(w, 1)] == 0:
                continue
            for r in range(w * WORD, (w + 1) * WORD):
                code = marks[at(r, 1)]
                marks[at(r, 1)] = before[at(b, 1), code]
                before[at(b, 1), code] += _ONE


@serial
def sum_blocks(before: U32) -> int:
    """Turn the counts of blocks into those of all blocks before; returns how many joints there are."""
    last = before.shape[0] - 1
    for code in range(before.shape[1]):
        before[last, code] = 0
    for b in range(last):
        for code in range(before.shape[1]):
            here = before[b, code]
            before[b, code] = before[last, code]
            before[last, code] += here
    total = 0
    for code in range(1, before.shape[1]):
        total += before[last, code]
    return total


@ranged
def place_rows(lo: int, hi: int, code: int, marks: U8, before: U32, rows: U32) -> None:
    """Joints of the type before each; `rows` hold the ranks."""
    for i in range(lo, hi):
        rank = rows[at(i, 1)]
        rows[at(i, 1)] = before[rank >> _SHIFT, code] + marks[rank]
