"""Diagnostics as rows: recoverable findings are data, never only a log line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

SEVERITIES = ("info", "warning", "error")


@dataclass(frozen=True)
class Diagnostic:
    """One finding about one place.

    `code` is stable and documented, `severity` one of `SEVERITIES`, `path` a prim path or "" for the whole stage, `column` a column name or "".
    """

    code: str
    severity: str
    path: str
    column: str
    message: str


class Diagnostics:
    """An append-only list of `Diagnostic` rows that becomes an Arrow table."""

    def __init__(self, rows: Iterable[Diagnostic] = ()) -> None:
        self._rows = list(rows)

    def add(self, code: str, severity: str, message: str, path: str = "", column: str = "") -> None:
        """Append one row; `severity` must be one of `SEVERITIES` (ValueError otherwise)."""
        if severity not in SEVERITIES:
            raise ValueError(f"severity {severity!r} is not one of {', '.join(SEVERITIES)}")
        self._rows.append(Diagnostic(code, severity, path, column, message))

    def extend(self, rows: Iterable[Diagnostic]) -> None:
        self._rows.extend(rows)

    def codes(self) -> set[str]:
        return {r.code for r in self._rows}

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def to_arrow(self) -> pa.Table:
        """Table with the string columns code, severity, path, column, message."""
        import pyarrow as pa

        fields = ("code", "severity", "path", "column", "message")
        return pa.table({f: pa.array([getattr(r, f) for r in self._rows], pa.string()) for f in fields})
