"""Path dictionary: interning, bulk forms, strings, order of parents, malformed input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovsim.errors import PathError
from ovsim.stage import ROOT, PathDictionary

NAMES = st.lists(st.sampled_from(["a", "b", "B", "a0", "z10", "z8", "ü", ".prop"]), min_size=1, max_size=5)


def _text(names: list[str]) -> str:
    plain = [n for n in names[:-1] if not n.startswith(".")]
    last = names[-1]
    head = "/" + "/".join(plain) if plain else ""
    return head + last if last.startswith(".") and plain else f"{head}/{last.lstrip('.')}"


@given(st.lists(NAMES, max_size=30))
def test_a_path_keeps_its_id_and_text(lists):
    paths = PathDictionary()
    ids = {}
    for names in lists:
        text = _text(names)
        got = paths.path(text)
        assert ids.setdefault(text, got) == got
        assert paths.find(text) == got
        assert paths.path_string(got) == text
    assert len(set(ids.values())) == len(ids)
    assert (paths.parents[2:] < np.arange(2, paths.path_count)).all()
    everything = np.arange(paths.path_count)
    assert paths.path_strings(everything).to_pylist() == [paths.path_string(int(i)) for i in everything]


def test_bulk_strings_agree_with_single_ones_on_a_large_dictionary():
    paths = PathDictionary()
    env = paths.children_many(np.full(500, paths.path("/World")), paths.token_many(f"env_{i}" for i in range(500)))
    joints = paths.children_many(np.repeat(env, 3), np.tile(paths.token_many(["j0", "j1", "j2"]), 500))
    ask = np.concatenate([joints, env, [0, ROOT, paths.path("/World")]])
    assert paths.path_strings(ask).to_pylist() == [paths.path_string(int(i)) for i in ask]
    assert paths.path_string(int(joints[4])) == "/World/env_1/j1"


def test_children_many_finds_old_and_makes_new_once():
    paths = PathDictionary()
    old = paths.path("/a/x")
    parent, x, y = paths.path("/a"), paths.token("x"), paths.token("y")
    got = paths.children_many([parent] * 4, [y, x, y, x])
    assert got.tolist() == [got[0], old, got[0], old]
    assert paths.path("/a/y") == got[0]
    again = paths.children_many([parent] * 2, [x, y])
    assert again.tolist() == [old, got[0]]


def test_deep_paths_need_no_recursion():
    paths = PathDictionary()
    here = ROOT
    for _ in range(5000):
        here = paths.child(here, paths.token("n"))
    assert paths.path_strings(np.full(100, here)).to_pylist()[0] == "/n" * 5000


@pytest.mark.parametrize("text", ["", "a/b", "/a/", "//a", "/a//b", "/a\0b"])
def test_malformed_paths_are_refused(text):
    with pytest.raises(PathError, match="absolute prim path"):
        PathDictionary().path(text)


def test_append_refuses_children_before_parents_and_unknown_tokens():
    paths = PathDictionary()
    name = paths.token("a")
    with pytest.raises(PathError):
        paths.append([3, 1], [name, name])
    with pytest.raises(PathError):
        paths.append([1], [99])
    with pytest.raises(PathError):
        paths.children_many([77], [name])
    assert paths.path_count == 2


def test_unknown_ids_are_refused():
    paths = PathDictionary()
    for bad in (5, -1):
        with pytest.raises(PathError):
            paths.path_string(bad)
        with pytest.raises(PathError):
            paths.path_strings([bad])
    with pytest.raises(PathError):
        paths.token_string(9)


def test_ten_million_paths_fit_in_a_gibibyte():
    """Parents and names are 8 bytes a path; the lookup index, made on demand, 12 more."""
    paths = PathDictionary()
    n = 200_000
    paths.append(np.full(n, ROOT), paths.token_many(f"p{i}" for i in range(n)))
    held = paths.parents.nbytes + paths.names.nbytes
    assert held <= 8 * (n + 2)
    assert paths.find("/p199999") == paths.path_count - 1
