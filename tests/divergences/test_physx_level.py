"""The PhysX level of `diff`, made from arrays, says what the interchange document says, joint by joint and name by name."""

from __future__ import annotations

import math
from typing import Any

import pytest
from bench_stages import usd
from hypothesis import given, settings
from recorded_stages import FOLDER
from usd_stages import stages

import producer
from consumer.physx import PhysxView, physx_document, physx_view
from ovsim.diff.physx import ARTICULATION, of_view

_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def _flat(value: Any, head: str = "") -> dict[str, Any]:
    """Dotted names of a nested document, lists as tuples, special numbers as floats."""
    out: dict[str, Any] = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            out |= _flat(inner, f"{head}{name}.")
        elif isinstance(inner, list):
            out[head + name] = tuple(_SPECIAL.get(v, v) if isinstance(v, str) else v for v in inner)
        else:
            out[head + name] = _SPECIAL.get(inner, inner) if isinstance(inner, str) else inner
    return out


def _expected(view: PhysxView) -> dict[str, dict[str, Any]]:
    document = physx_document(view, "", every=True)
    rows = {path: _flat(joint) for path, joint in document["joints"].items()}
    for root, several in document["articulations"].items():
        made = [(e["fixBase"], tuple(e["links"])) for e in several]
        fixed, links = made[0] if len(made) == 1 else tuple(zip(*made))
        rows[ARTICULATION + root] = {"fixBase": fixed, "links": links}
    return rows


def _check(view: PhysxView) -> None:
    flat, expected = of_view(view), _expected(view)
    assert sorted(flat.paths) == sorted(expected)
    for path, fields in expected.items():
        row = flat.row[path]
        got = {n: flat.get(path, n) for n, c in flat.columns.items() if c.valid[row] and n not in view.settings}
        assert repr(sorted(got.items())) == repr(sorted(fields.items())), path
        for name in view.settings if path.startswith(ARTICULATION) else ():
            assert flat.get(path, name) is not None


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.usda")), ids=lambda f: f.stem)
def test_recorded_stages(file):
    _check(physx_view(producer.populate(file)))


@settings(max_examples=25)
@given(stages())
def test_random_stages(text):
    _check(physx_view(producer.populate(usd(text.partition(")\n")[2]))))
