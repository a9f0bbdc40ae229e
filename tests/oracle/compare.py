"""Differences between two documents of one stage: ours and the real one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

RELATIVE, ABSOLUTE = 2e-6, 2e-6
POSITION = 2e-5  # absolute: the recording reads articulation poses back through the centre of mass, which costs some bits
ABSENT = "<absent>"
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
Difference = tuple[str, Any, Any]


def _number(x: Any) -> Any:
    return _SPECIAL.get(x, x) if isinstance(x, str) else x


def same(a: Any, b: Any, absolute: float = ABSOLUTE) -> bool:
    """Equal values; numbers within RELATIVE and `absolute`, infinities and NaN exactly."""
    a, b = _number(a), _number(b)
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b or (math.isfinite(a) and math.isfinite(b) and abs(a - b) <= absolute + RELATIVE * max(abs(a), abs(b)))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, absolute) for x, y in zip(a, b))
    return bool(a == b)


def _leaf(path: str, a: Any, b: Any) -> bool:
    if path.endswith(".q") and isinstance(a, list) and isinstance(b, list):  # a quaternion and its negative are one rotation
        return same(a, b, 5e-6) or same(a, [-_number(x) if not isinstance(_number(x), str) else x for x in b], 5e-6)
    if path.endswith(".p") and isinstance(a, list):
        return same(a, b, POSITION * max([1.0, *(abs(_number(x)) for x in a if math.isfinite(_number(x)))]) if path.count(".") else ABSOLUTE)
    return same(a, b)


def as_document(real: dict[str, Any]) -> dict[str, Any]:
    """A recorded PhysX view in the shape of `physx_document(every=True)`: the recording has a list only where a root has several articulations."""
    found = {root: a if isinstance(a, list) else [a] for root, a in real["articulations"].items()}
    return {"articulations": found, "joints": real["joints"]}


def differences(real: Any, ours: Any, path: str = "") -> Iterator[Difference]:
    """Every place where the documents differ, missing and surplus keys included."""
    if isinstance(real, dict) and isinstance(ours, dict):
        for key in sorted({*real, *ours}):
            at = f"{path}.{key}" if path else key
            if key not in ours or key not in real:
                yield at, real.get(key, ABSENT), ours.get(key, ABSENT)
            else:
                yield from differences(real[key], ours[key], at)
    elif not _leaf(path, real, ours):
        yield path, real, ours


def renamed(prims: dict[str, Any]) -> dict[str, Any]:
    """Rows with prototype roots numbered by the first instance that points at each, because their real numbers are arbitrary."""
    names: dict[str, str] = {}
    queue = sorted(p for p in prims if not p.startswith("/__Prototype_"))
    while queue:
        target = prims[queue.pop(0)].get("_protoPath")
        target = target[0] if isinstance(target, list) and target else target
        if isinstance(target, str) and target not in names:
            names[target] = f"/__Prototype_{len(names) + 1}"
            queue += sorted(q for q in prims if q == target or q.startswith(target + "/"))

    def rename(v: Any) -> Any:
        if isinstance(v, list):
            return [rename(x) for x in v]
        if isinstance(v, str) and v.startswith("/__Prototype_"):
            head = "/" + v.split("/")[1]
            return names.get(head, head) + v[len(head) :]
        return v

    return {rename(p): {k: rename(v) for k, v in row.items()} for p, row in prims.items()}
