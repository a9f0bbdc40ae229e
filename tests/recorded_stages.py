"""Stages with what the real population (ovstage 0.2, PHYSICS domain) wrote for them: `tests/data/stages/NAME.usda` and `NAME.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data" / "stages"
PROTOTYPE = "/__Prototype_"
WORLD = "omni:fabric:worldMatrix"


def names() -> list[str]:
    """Names of the recorded stages; a .usda without a .json is a part of another stage."""
    return sorted(p.stem for p in FOLDER.glob("*.json"))


def recorded(name: str) -> dict[str, dict[str, Any]]:
    """Rows of a recorded stage by path, each a dict of its columns."""
    rows: dict[str, dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["prims"]
    return rows


def renumbered(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Rows with prototypes numbered by their first instances, since the real numbers mean nothing."""
    new: dict[str, str] = {}
    queue = sorted(p for p in rows if not p.startswith(PROTOTYPE))
    while queue:
        target = rows[queue.pop(0)].get("_protoPath")
        if target and target not in new:
            new[target] = f"{PROTOTYPE}{len(new) + 1}"
            queue += sorted(p for p in rows if p == target or p.startswith(target + "/"))

    def spell(value: Any) -> Any:
        if isinstance(value, list):
            return [spell(v) for v in value]
        if not isinstance(value, str) or not value.startswith(PROTOTYPE):
            return value
        root = "/" + value.split("/")[1]
        return new.get(root, root) + value[len(root) :]

    return {spell(p): {c: spell(v) for c, v in row.items()} for p, row in rows.items()}


def differences(expected: dict[str, dict[str, Any]], got: dict[str, dict[str, Any]]) -> list[str]:
    """Every cell that is not exactly the same, bools and numbers told apart; world matrices are derived and not recorded."""
    out = [f"{p}: row missing" for p in sorted(expected.keys() - got.keys())]
    out += [f"{p}: row too many" for p in sorted(got.keys() - expected.keys())]
    for path in sorted(expected.keys() & got.keys()):
        mine, real = got[path], expected[path]
        for column in sorted((mine.keys() | real.keys()) - {WORLD}):
            a, b = real.get(column, "<absent>"), mine.get(column, "<absent>")
            if not _same(a, b):
                out.append(f"{path} [{column}]: recorded {a!r}, got {b!r}")
    return out


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and a == b
