"""The result of a comparison: its differences, as rows and as an Arrow table."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ovsim.contract import findings
from ovsim.diff.comparator import UNEXPLAINED, Difference, Tolerance
from ovsim.diff.sides import Side
from ovsim.files import jsonable

SCHEMA = pa.schema(
    [
        *(pa.field(n, pa.string(), nullable=False) for n in ("level", "path", "field", "kind")),
        pa.field("left", pa.string()),
        pa.field("right", pa.string()),
        pa.field("delta", pa.float64()),
        *(pa.field(n, pa.string(), nullable=False) for n in ("finding", "severity")),
    ],
    metadata={b"ovsim:differences": b"1"},
)
NOTHING, EXPLAINED, UNKNOWN = 0, 1, 2


@dataclass(frozen=True)
class Comparison:
    """Differences between two sides, by level, path and field."""

    left: Side
    right: Side
    levels: tuple[str, ...]
    tolerance: Tolerance
    joints: dict[str, tuple[int, int]]
    differences: Sequence[Difference]

    def __len__(self) -> int:
        return len(self.differences)

    @property
    def exit_code(self) -> int:
        """0 nothing differs, 1 every difference is explained by a finding, 2 some is not."""
        if not self.differences:
            return NOTHING
        return UNKNOWN if any(d.finding == UNEXPLAINED for d in self.differences) else EXPLAINED

    def counts(self) -> dict[str, int]:
        """How many differences each finding explains, the unexplained ones first, then by number."""
        found = Counter(d.finding for d in self.differences)
        return dict(sorted(found.items(), key=lambda item: (item[0] != UNEXPLAINED, -item[1], item[0])))

    def to_arrow(self) -> pa.Table:
        """A row a difference: level, path, field, kind, left and right as JSON texts (null = absent), delta (null where it is no number), finding,
        severity of the finding ("" for unexplained)."""
        known = findings.load()
        columns: dict[str, list[Any]] = {f.name: [] for f in SCHEMA}
        for d in self.differences:
            for name in ("level", "path", "field", "kind", "finding"):
                columns[name].append(getattr(d, name))
            columns["left"].append(text(d.left))
            columns["right"].append(text(d.right))
            columns["delta"].append(None if math.isnan(d.delta) else d.delta)
            columns["severity"].append(known[d.finding].severity if d.finding in known else "")
        return pa.table(columns, schema=SCHEMA)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def document(self) -> dict[str, Any]:
        """The whole comparison as JSON values; non-finite numbers are strings."""
        known = findings.load()
        return {
            "left": self.left.label,
            "right": self.right.label,
            "levels": list(self.levels),
            "tolerance": {"relative": self.tolerance.relative, "absolute": self.tolerance.absolute},
            "joints": {level: {"left": a, "right": b} for level, (a, b) in self.joints.items()},
            "counts": self.counts(),
            "findings": {
                i: {"severity": known[i].severity, "happens": known[i].happens, "advice": known[i].advice} for i in self.counts() if i in known
            },
            "differences": [
                {
                    "level": d.level,
                    "path": d.path,
                    "field": d.field,
                    "kind": d.kind,
                    "left": jsonable(d.left),
                    "right": jsonable(d.right),
                    "delta": None if math.isnan(d.delta) else jsonable(d.delta),
                    "finding": d.finding,
                }
                for d in self.differences
            ],
        }


def _told(finding: findings.Finding) -> dict[str, str]:
    return {"severity": finding.severity, "happens": finding.happens, "advice": finding.advice}


def text(value: Any) -> str | None:
    """A value as JSON text, None for an absent one."""
    return None if value is None else json.dumps(jsonable(value))
