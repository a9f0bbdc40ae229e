"""Enumeration and order (spec 2.1)."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hand import Hand
from hypothesis import given
from strategies import odd_paths, paths

import consumer
from consumer import order
from consumer.buffers import Buffers
from consumer.order import path_ranks, place_joints
from consumer.passes import Runner
from ovsim.contract.joints import JOINT_TYPES
from ovsim.errors import PathError
from ovsim.stage import Archetype, PathDictionary, Stage, StageBuilder


def _order(hand, custom=()):
    table = consumer.resolve(hand.stage(), custom_types=custom).to_arrow()
    return list(zip(table["type"].to_pylist(), table["path"].to_pylist()))


def test_spec_2_1_1_exact_types_only():
    """spec 2.1(1): no derived type, no unknown type; each of the eight is found."""
    hand = Hand()
    for i, kind in enumerate((*JOINT_TYPES, "PhysicsHingeJoint", "Xform", "physicsjoint")):
        hand.joint(f"/J{i}", kind)
    assert [k for k, _ in _order(hand)] == list(JOINT_TYPES)


def test_spec_2_1_1_custom_tokens():
    """spec 2.1(1), 11.10: registered tokens are joints, after the eight types, in the order of their registration."""
    hand = Hand()
    for path, kind in (("/A", "MyJoint"), ("/B", "Other"), ("/C", "PhysxPhysicsRackAndPinionJoint")):
        hand.joint(path, kind)
    assert _order(hand, ("Other", "MyJoint", "Other")) == [("PhysxPhysicsRackAndPinionJoint", "/C"), ("Other", "/B"), ("MyJoint", "/A")]
    assert len(_order(hand)) == 1


def test_spec_2_1_2_joint_without_local_pos():
    """spec 2.1(2): physics:localPos0 is only a probe."""
    hand = Hand()
    hand.joint("/J", "PhysicsFixedJoint")
    assert _order(hand) == [("PhysicsFixedJoint", "/J")]


def test_spec_2_1_3_type_then_bytes():
    """spec 2.1(3): type order, inside it the byte order of the path: capitals first, z10 before z8; adding order does not matter."""
    names = ["/b", "/B", "/A", "/a", "/z8", "/z10", "/A/x", "/A0", "/A_", "/\u00e9", "/Z/J"]
    hand = Hand()
    for kind in ("PhysicsRevoluteJoint", "PhysicsFixedJoint"):
        for n in names:
            hand.joint(f"/{kind[7:9]}{n}", kind)
    want = sorted(names, key=str.encode)
    assert [p for _, p in _order(hand)] == [f"/Fi{n}" for n in want] + [f"/Re{n}" for n in want]


def test_spec_2_1_3_archetypes_of_one_type_are_merged():
    """spec 2.1(3): rows of different column sets interleave by path."""
    hand = Hand()
    for i, schemas in enumerate(([], ["PhysxJointAPI"], [], ["PhysicsDriveAPI:angular"])):
        hand.joint(f"/J{i}", "PhysicsRevoluteJoint", {"physics:breakForce": float(i)}, schemas)
    block = consumer.resolve(hand.stage()).block("PhysicsRevoluteJoint")
    assert block is not None
    assert block.break_force[:, 0].tolist() == [0, 1, 2, 3]
    assert block.drive_listed[:, 0].tolist() == [0, 0, 0, 1]


def test_spec_2_1_5_prototype_joints_are_rows():
    """Joints below a native-instancing prototype are descriptors; only PhysX never has them."""
    hand = Hand()
    hand.joint("/__Prototype_3/J", "PhysicsFixedJoint")
    assert _order(hand) == [("PhysicsFixedJoint", "/__Prototype_3/J")]


def _ranked(texts):
    dictionary = PathDictionary()
    ids = [dictionary.path(t) for t in texts]
    every = dictionary.path_strings(np.arange(1, dictionary.path_count)).to_pylist()
    ranks = path_ranks(dictionary)
    by_rank = [every[i] for i in np.argsort(ranks[1:], kind="stable")]
    return by_rank, sorted(every, key=str.encode), len(set(ranks.tolist())) == dictionary.path_count, ids


@given(paths())
def test_ranks_are_the_byte_order_of_the_strings(texts):
    """spec 2.1(3, 4): ranks from arrays against sorted strings, properties included."""
    by_rank, want, unique, _ = _ranked(texts)
    assert by_rank == want
    assert unique


@given(odd_paths())
def test_ranks_with_bytes_below_the_separators(texts):
    """Names that hold a byte below "0" interleave subtrees; the exact order holds there too."""
    by_rank, want, unique, _ = _ranked(texts)
    assert by_rank == want
    assert unique


def test_ranks_of_an_empty_dictionary():
    assert path_ranks(PathDictionary()).tolist() == [0, 1]


def test_empty_stage_gives_no_rows():
    found = consumer.resolve(StageBuilder().finish())
    assert len(found) == 0
    assert found.to_arrow().num_rows == 0


@pytest.mark.parametrize("count", [0, 10_000])
def test_bad_thread_count(count):
    with pytest.raises(ValueError, match="threads is 1 to"):
        consumer.resolve(StageBuilder().finish(), threads=count)


def _scattered(types: list[str], count: int, seed: int) -> Stage:
    """Joints of all types in archetypes of different columns, under a few prims, in an order that is not that of their paths."""
    rng = np.random.default_rng(seed)
    builder = StageBuilder()
    paths = [f"/{'abcdef'[k % 6]}{k % 7}/{'J' if k % 3 else 'K'}{k}" for k in rng.permutation(count).tolist()]
    kinds = rng.integers(0, 3 * len(types), count)
    for kind in range(3 * len(types)):
        mine = [p for p, k in zip(paths, kinds) if k == kind]
        if mine:
            builder.add(types[kind // 3], mine, schemas=[f"Some{kind}API"])
    return builder.finish()


def _assert_placed(stage: Stage, types: list[str], placed: list[list[order.Placed]]) -> None:
    """Rows against sorted strings, type by type."""
    assert len(placed) == len(types)
    for type_name, group in zip(types, placed):
        want = [a for a in stage.archetypes if a.type_name == type_name]
        assert [p.archetype for p in group] == want
        paths = [t for p in group for t in stage.paths.path_strings(p.archetype.path_ids).to_pylist()]
        by_path = {t: row for row, t in enumerate(sorted(paths, key=str.encode))}
        assert [row for p in group for row in p.rows.tolist()] == [by_path[t] for t in paths]


@pytest.mark.parametrize("chunk", [1, 100, None])
def test_rows_against_sorted_paths(chunk):
    """Several archetypes a type over several blocks of ranks, in ranges of any size, in memory that other stages have used."""
    types = ["A", "B", "Nobody", "C"]
    kept = Buffers()
    for seed, count in ((0, 900), (1, 300), (2, 1200)):
        stage = _scattered(types, count, seed)
        ranks = path_ranks(stage.paths)
        for threads in sorted({1, os.cpu_count() or 1}):
            _assert_placed(stage, types, place_joints(stage, types, ranks, Runner.of(threads, chunk), kept))


def test_more_types_than_a_byte_tells_apart():
    """More than 255 types with rows take several rounds; a path in two of them is found all the same."""
    types = [f"T{k}" for k in range(600)]
    stage = _scattered(types, 1500, 3)
    assert sum(1 for t in types if any(stage.with_type(t))) > order.MOST_CODES
    _assert_placed(stage, types, place_joints(stage, types, path_ranks(stage.paths), Runner.of(None, None), Buffers()))
    first, last = (next(stage.with_type(t)) for t in (types[0], types[-1]))
    again = Archetype(stage.paths, last.type_name, ("OtherAPI",), first.batch)
    with pytest.raises(PathError, match="two rows"):
        place_joints(Stage(stage.paths, (*stage.archetypes, again)), types, path_ranks(stage.paths), Runner.of(None, None), Buffers())


def _twice(stage):
    return Stage(stage.paths, (*stage.archetypes, *stage.archetypes))


def test_two_rows_of_one_joint_are_refused():
    """A stage that no builder made: an error, never a row of leftovers."""
    hand = Hand().joint("/J", "PhysicsFixedJoint")
    with pytest.raises(PathError, match="two rows"):
        consumer.resolve(_twice(hand.stage()))


def test_row_beyond_the_dictionary_is_refused():
    """A row whose path id the dictionary does not hold."""
    (archetype,) = Hand().joint("/J", "PhysicsFixedJoint").stage().archetypes
    broken = Archetype(PathDictionary(), archetype.type_name, archetype.schemas, archetype.batch)
    with pytest.raises(PathError, match="beyond the path dictionary"):
        consumer.resolve(Stage(broken.paths, (broken,)))


def test_row_beyond_the_dictionary_is_named():
    """The first type in the parser's order with such a row, and its largest path id."""
    stage = Hand().joint("/A", "PhysicsFixedJoint").joint("/B", "PhysicsRevoluteJoint").joint("/C", "PhysicsRevoluteJoint").stage()
    known = Hand().joint("/A", "PhysicsFixedJoint").stage().paths
    with pytest.raises(PathError, match=f"PhysicsRevoluteJoint row has path id {stage.paths.find('/C')}, beyond"):
        consumer.resolve(Stage(known, stage.archetypes))


@pytest.mark.parametrize("kinds", [("PhysicsFixedJoint", "PhysicsFixedJoint"), ("PhysicsRevoluteJoint", "PhysicsFixedJoint")])
@pytest.mark.parametrize("whole", [True, False])
def test_two_rows_of_one_path_in_two_archetypes(kinds, whole):
    """Of one type or of two, in one go or batch by batch."""
    hand = Hand().joint("/J", kinds[0]).joint("/K", kinds[0]).joint("/L", kinds[1], schemas=["PhysxJointAPI"])
    stage = hand.stage()
    other = next(a for a in stage.archetypes if a.schemas)
    again = Archetype(stage.paths, kinds[1], other.schemas, next(a for a in stage.archetypes if not a.schemas).batch)
    broken = Stage(stage.paths, (*(a for a in stage.archetypes if a is not other), again))
    with pytest.raises(PathError, match="two rows"):
        consumer.resolve(broken) if whole else list(consumer.resolve_batches(broken))
