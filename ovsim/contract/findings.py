"""Recorded findings: where producer, consumer, pages and runtime disagree, as data (contract page "Recorded findings"; spec sections 9 and 11).

Each finding names a predicate; `ovsim.diff.predicates` holds the function that recognises a difference caused by it. A finding without one can
cause no difference between joints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ovsim.contract.model import INSTANCE
from ovsim.errors import ContractError

SEVERITIES = ("defect", "fragile", "note")
SIDES = ("producer", "consumer", "both")


@dataclass(frozen=True)
class Finding:
    """One recorded finding.

    `id` is stable; `severity` one of `SEVERITIES`, `side` one of `SIDES`; `columns` may hold `<inst>`; `versions` are the contract versions that it
    holds for; `canary` tells whether a test reproduces it end to end; `switch` names the rule-set switch that turns it, "" for none.
    """

    id: str
    severity: str
    side: str
    components: tuple[str, ...]
    columns: tuple[str, ...]
    versions: tuple[str, ...]
    source: str
    happens: str
    advice: str
    predicate: str | None
    canary: bool
    switch: str = ""

    def touches(self, column: str) -> bool:
        """Whether a concrete column name is one of the finding's columns."""
        return any(_matches(pattern, column) for pattern in self.columns)


def _matches(pattern: str, column: str) -> bool:
    head, inst, tail = pattern.partition(INSTANCE)
    if not inst:
        return pattern == column
    return column.startswith(head) and column.endswith(tail) and len(column) > len(head) + len(tail)


@lru_cache
def load() -> Mapping[str, Finding]:
    """All findings by id, in a fixed order. ContractError when the data is inconsistent (double id, unknown severity or side)."""
    out: dict[str, Finding] = {}
    folder = files("ovsim.contract") / "data" / "findings"
    for file in sorted((f for f in folder.iterdir() if f.name.endswith(".json")), key=lambda f: f.name):
        for raw in json.loads(file.read_text("utf-8")):
            finding = _finding(raw)
            if finding.id in out:
                raise ContractError(f"finding {finding.id} is recorded twice, the second time in {file.name}")
            out[finding.id] = finding
    return MappingProxyType(out)


def get(finding: str) -> Finding:
    """The finding of an id; ContractError with near ids when unknown."""
    got = load().get(finding)
    if got is None:
        import difflib

        near = difflib.get_close_matches(finding, load(), 3, 0.4)
        raise ContractError(f"no finding is called {finding!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))
    return got


def touching(column: str) -> tuple[Finding, ...]:
    """Findings that name a concrete column."""
    return tuple(f for f in load().values() if f.touches(column))


def of_version(version: str) -> tuple[Finding, ...]:
    """Findings that hold for a contract version."""
    return tuple(f for f in load().values() if version in f.versions)


def _finding(raw: Mapping[str, Any]) -> Finding:
    if raw["severity"] not in SEVERITIES or raw["side"] not in SIDES:
        raise ContractError(f"finding {raw['id']} has the severity {raw['severity']!r} and the side {raw['side']!r}")
    return Finding(
        raw["id"],
        raw["severity"],
        raw["side"],
        tuple(raw["components"]),
        tuple(raw["columns"]),
        tuple(raw["versions"]),
        raw["source"],
        raw["happens"],
        raw["advice"],
        raw["predicate"],
        raw["canary"],
        raw.get("switch", ""),
    )
