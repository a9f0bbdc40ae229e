"""The comparator itself: harmless differences pass, planted ones are found."""

from __future__ import annotations

import copy

import pytest
from oracle.compare import differences, renamed

DOCUMENT = {
    "articulations": {"/W": {"fixBase": False, "links": ["/W/A", "/W/B"]}},
    "joints": {"/W/J": {"kind": "articulation", "parentPose": {"p": [1.0, 0.0, 0.0], "q": [0.0, 0.0, 0.6, 0.8]}, "limit": ["inf", 1.0], "on": True}},
}


def changed(path: str, value: object) -> dict[str, object]:
    out = copy.deepcopy(DOCUMENT)
    here: dict[str, object] = out
    *keys, last = path.split("|")
    for k in keys:
        here = here[k]  # type: ignore[assignment]
    here[last] = value
    return out


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("joints|/W/J|parentPose|q", [0.0, 0.0, -0.6, -0.8]),
        ("joints|/W/J|parentPose|p", [1.000001, 1e-6, 0.0]),
        ("joints|/W/J|limit", ["inf", 1.0000005]),
    ],
)
def test_harmless_differences_pass(path: str, value: object) -> None:
    assert list(differences(DOCUMENT, changed(path, value))) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("joints|/W/J|parentPose|q", [0.0, 0.0, -0.6, 0.8]),
        ("joints|/W/J|parentPose|p", [1.001, 0.0, 0.0]),
        ("joints|/W/J|limit", [3.4e38, 1.0]),
        ("joints|/W/J|limit", ["nan", 1.0]),
        ("joints|/W/J|on", 1),
        ("joints|/W/J|extra", 0.0),
        ("articulations|/W|links", ["/W/B", "/W/A"]),
        ("joints|/W/K", {"kind": "standalone"}),
    ],
)
def test_planted_differences_are_found(path: str, value: object) -> None:
    assert len(list(differences(DOCUMENT, changed(path, value)))) == 1
    assert len(list(differences(changed(path, value), DOCUMENT))) == 1


def test_prototype_numbers_are_arbitrary() -> None:
    a = {"/I": {"_protoPath": "/__Prototype_4"}, "/__Prototype_4": {}, "/__Prototype_4/J": {"r": ["/__Prototype_4/B"]}}
    b = {"/I": {"_protoPath": "/__Prototype_9"}, "/__Prototype_9": {}, "/__Prototype_9/J": {"r": ["/__Prototype_9/B"]}}
    assert renamed(a) == renamed(b)
