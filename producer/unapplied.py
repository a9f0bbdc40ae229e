"""Names of physics schemas, applied or not (producer facts, rule 7).

An authored property is published on any physics row when its name belongs to a known physics schema; a multi-apply template takes any instance
without a colon. So the test is on the name alone: `drive:x:physics:type` is known, `drive:a:b:physics:type` and `physics:foo` are not.
"""

from __future__ import annotations

from collections.abc import Iterable

from producer.selection import population

INSTANCE = "__INSTANCE_NAME__"


class KnownNames:
    """Exact names and (head, tail) templates of the physics schemas."""

    def __init__(self, names: Iterable[str]) -> None:
        pop = population()
        exact: set[str] = set()
        templates: set[tuple[str, str]] = set()
        for name in names:
            if pop.hides(name):
                continue
            head, instance, tail = name.partition(INSTANCE)
            if instance:
                templates.add((head, tail))
            else:
                exact.add(name)
        self._exact = frozenset(exact)
        self._templates = frozenset(templates)
        self._cache: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        got = self._cache.get(name)
        if got is None:
            got = self._cache[name] = name in self._exact or self._is_instance(name)
        return got

    def _is_instance(self, name: str) -> bool:
        first = name.find(":")
        second = name.find(":", first + 1)
        if second < 0:
            return first >= 0 and (name[: first + 1], "") in self._templates
        return second > first + 1 and (name[: first + 1], name[second:]) in self._templates
