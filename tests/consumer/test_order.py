"""Enumeration and order (spec 2.1)."""

from __future__ import annotations

import numpy as np
import pytest
from hand import Hand
from hypothesis import given
from strategies import odd_paths, paths

import consumer
from consumer.order import path_ranks
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
