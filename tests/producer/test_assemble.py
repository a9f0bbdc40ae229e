"""Uniform columns share memory between columns and archetypes, and nothing else does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ovsim.stage import AUTHORED, FALLBACK, Archetype, PathDictionary
from producer.assemble import Assembler, Cells
from producer.values import TYPES

FLOAT, VECTOR = TYPES["float"], TYPES["float3"]


def made(*parts: tuple[str, int, dict[str, Cells]]) -> list[Archetype]:
    paths = PathDictionary()
    assembler = Assembler(paths)
    for type_name, n, cells in parts:
        assembler.add(type_name, (), np.array([paths.path(f"/{type_name}{n}_{i}") for i in range(n)], np.uint64), cells)
    return list(assembler.finish())


def place(values: Any) -> int:
    return int(values.__array_interface__["data"][0])


def constant(value: Any, type_: Any = FLOAT, code: int = FALLBACK) -> Cells:
    return Cells(type_, value, code, True)


def test_uniform_columns_share_and_keep_their_values() -> None:
    short, long = made(("Cube", 2, {"a": constant(1.5), "b": constant(1.5)}), ("Cone", 5, {"a": constant(1.5), "v": constant((1, 2, 3), VECTOR)}))
    assert (short.type_name, long.type_name) == ("Cube", "Cone")
    assert place(short.values("a")) == place(short.values("b")) == place(long.values("a"))
    assert np.array_equal(short.values("b"), np.full(2, 1.5, np.float32))
    assert np.array_equal(long.values("a"), np.full(5, 1.5, np.float32))
    assert np.array_equal(long.values("v"), np.tile(np.float32([1, 2, 3]), (5, 1)))


def test_zeros_of_both_signs_and_equal_bytes_of_other_types_do_not_share() -> None:
    (only,) = made(("Cube", 3, {"a": constant(0.0), "b": constant(-0.0), "c": constant(0, TYPES["int"])}))
    assert not np.signbit(only.values("a")).any()
    assert np.signbit(only.values("b")).all()
    assert only.values("c").dtype == np.int32
    assert len({place(only.values(n)) for n in "abc"}) == 3


def test_parts_with_different_values_are_joined_row_by_row() -> None:
    told = Cells(FLOAT, np.float32([7, 8]), AUTHORED)
    (only,) = made(("Cube", 2, {"a": constant(1.0)}), ("Cube", 2, {"a": told}), ("Cube", 1, {"a": constant(2.0)}))
    assert only.values("a").tolist() == [1, 1, 7, 8, 2]
    assert only.provenance["a"].tolist() == [FALLBACK, FALLBACK, AUTHORED, AUTHORED, FALLBACK]


def test_shared_provenance_is_read_only() -> None:
    (only,) = made(("Cube", 2, {"a": constant(1.0), "b": constant(2.0)}))
    assert place(only.provenance["a"]) == place(only.provenance["b"])
    with pytest.raises(ValueError, match="read-only"):
        only.provenance["a"][0] = AUTHORED
