"""Ids between two dictionaries."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from fake import FIRST, FakeLive
from hypothesis import given
from hypothesis import strategies as st

from ovsim.bridge.ids import Inward, Outward, path_texts
from ovsim.bridge.layout import ALIAS
from ovsim.bridge.ovstage import _names
from ovsim.errors import BridgeError
from ovsim.stage.paths import PathDictionary

NAMES = st.lists(st.sampled_from(["World", "a", "b", "joint_1", "B", "x9"]), min_size=0, max_size=5)
PROPERTIES = st.sampled_from(["", "", ".physics:body0", ".rel[/World/a]", ".rel[/World/a.x]"])
TEXTS = st.lists(st.tuples(NAMES, PROPERTIES).map(lambda x: "/" + "/".join(x[0]) + (x[1] if x[0] else "")), max_size=25)


@given(TEXTS)
def test_paths_come_in_as_they_are(texts: list[str]) -> None:
    live = FakeLive()
    ids = live.paths(pa.array(texts, pa.large_string()))
    inward = Inward(live)
    inward.learn("path", ids)
    inward.intern()
    got = inward.translate(ids, ("path",))
    assert inward.paths.path_strings(got).to_pylist() == texts
    own = PathDictionary()
    assert [inward.paths.path_string(int(g)) for g in got] == [own.path_string(own.path(t)) for t in texts]


@given(TEXTS)
def test_out_and_in_again(texts: list[str]) -> None:
    paths, live = PathDictionary(), FakeLive()
    mine = np.array([paths.path(t) for t in texts], np.uint64)
    outward = Outward(paths)
    outward.need("path", mine, "here")
    outward.intern(live)
    theirs = outward.translate(mine, ("path",))
    assert (theirs >= FIRST).all()
    assert path_texts(live, theirs).to_pylist() == texts


def test_only_what_is_needed_becomes_known() -> None:
    paths, live = PathDictionary(), FakeLive()
    used = paths.path("/World/used")
    paths.path("/World/unused")
    tokens = paths.token_many(["force", "acceleration", "none"])
    outward = Outward(paths)
    outward.need_texts("physics:mass", "")
    outward.need("path", np.array([used, used]), "here")
    outward.need("token", tokens[:2], "here")
    outward.intern(live)
    assert set(live.ids) == {("token", "physics:mass"), ("path", "/World/used"), ("token", "force"), ("token", "acceleration")}
    assert outward.text("physics:mass") == live.ids["token", "physics:mass"]
    assert outward.text("") == 0
    assert live.calls.count("tokens") <= 2


def test_lanes_of_two_kinds_and_zero() -> None:
    paths, live = PathDictionary(), FakeLive()
    pairs = np.array([[paths.path("/a"), paths.token("x")], [0, 0]], np.uint64)
    outward = Outward(paths)
    outward.need("path", pairs[:, 0], "here")
    outward.need("token", pairs[:, 1], "here")
    outward.intern(live)
    out = outward.translate(pairs, ("path", "token"))
    assert out.tolist() == [[live.ids["path", "/a"], live.ids["token", "x"]], [0, 0]]
    inward = Inward(live)
    inward.learn("path", out[:, 0])
    inward.learn("token", out[:, 1])
    inward.intern()
    back = inward.translate(out, ("path", "token"))
    assert [inward.paths.path_string(int(i)) for i in back[:, 0]] == ["/a", ""]
    assert [inward.paths.token_string(int(i)) for i in back[:, 1]] == ["x", ""]


def test_foreign_ids_are_refused_with_their_place() -> None:
    outward = Outward(PathDictionary())
    with pytest.raises(BridgeError, match="3 rows, column physics:axis: token id 77"):
        outward.need("token", np.array([0, 77]), "3 rows, column physics:axis")
    with pytest.raises(BridgeError, match="two stages"):
        outward.need("path", np.array([2]), "here")


def test_ids_that_ovstage_does_not_know_are_refused() -> None:
    live = FakeLive()
    inward = Inward(live)
    inward.learn("path", np.array([FIRST + 999], np.uint64))
    with pytest.raises(BridgeError, match="not one of the stage's dictionary"):
        inward.intern()


def test_nothing_to_map() -> None:
    inward = Inward(FakeLive())
    inward.intern()
    assert inward.translate(np.zeros(2, np.uint64), ("token",)).tolist() == [0, 0]
    assert inward.paths.path_count == 2


def test_names_of_attributes_in_any_order() -> None:
    """Each token id has its own text, however discovery lists the attributes, and once however often."""
    live = FakeLive()
    texts = ["physics:axis", "physics:body0", "omni:xform"]
    ids = live.tokens(pa.array(texts)).tolist()
    listed = SimpleNamespace(
        attributes=lambda: [*reversed(ids), ids[1]],
        token_texts=live.token_texts,
        dictionary=SimpleNamespace(intern_token=lambda text: f"token of {text}"),
    )
    names = _names(listed)
    assert {i: names[i] for i in ids} == {i: ALIAS.get(t, t) for i, t in zip(ids, texts)}
