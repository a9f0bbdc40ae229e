"""Numbers of prototypes: facts rule 5, and the order of `producer.instances`."""

from __future__ import annotations

import pytest

from producer.instances import Renumbered, prototype_of, published


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("/__Prototype_2", "/__Prototype_2"),
        ("/__Prototype_2/link/joint", "/__Prototype_2"),
        ("/__Prototype_2.x", "/__Prototype_2"),
        ("/__Prototype_2/link.physics:body0", "/__Prototype_2"),
        ("/World/__Prototype_2", ""),
        ("/World.x", ""),
    ],
)
def test_the_prototype_of_a_path(path: str, root: str) -> None:
    assert prototype_of(path) == root


def test_numbers_follow_the_first_instances_whatever_usd_calls_them() -> None:
    """The second robot's prototype has USD's number 1, and one without physics has 2; properties of a root are renumbered with it."""
    held = {"/__Prototype_1": ["/World/b"], "/__Prototype_2": ["/World/c"], "/__Prototype_3": ["/World/a", "/World/d"]}
    numbers = Renumbered(published(held, ["/__Prototype_1", "/__Prototype_3"]), held)
    got = [numbers.path(p) for p in ("/__Prototype_3/link", "/__Prototype_1.x", "/World/a")]
    assert got == ["/__Prototype_1/link", "/__Prototype_2.x", "/World/a"]
    assert numbers.path("/__Prototype_2/link") == "/__Prototype_3/link"
    assert "/__Prototype_2" not in numbers
