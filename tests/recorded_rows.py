"""Recorded rows, {path: {column: value}}, as a stage: lets the consumer be tested on what the real population wrote, without a producer."""

from __future__ import annotations

from typing import Any

from ovsim import contract
from ovsim.errors import ColumnError
from ovsim.stage import Stage, StageBuilder

_STRUCTURAL = {"usd-prim-type", "usd-schemas", "_protoPath"}


def _number(v: Any) -> Any:
    if isinstance(v, list):
        return [_number(x) for x in v]
    return float(v) if v in ("inf", "-inf", "nan") else v


def stage_from_rows(prims: dict[str, dict[str, Any]]) -> Stage:
    """A stage of these rows; columns that the contract does not know are left out, values that do not fit its type too."""
    builder = StageBuilder()
    known = contract.load()
    for path, row in prims.items():
        columns = {}
        for name, value in row.items():
            if name in _STRUCTURAL or known.find(name) is None:
                continue
            columns[name] = [_number(value)]
        while True:
            try:
                builder.add(row.get("usd-prim-type", ""), [path], columns, row.get("usd-schemas", ()))
                break
            except ColumnError as e:
                bad = next(n for n in columns if f"column {n} " in str(e))
                del columns[bad]
    return builder.finish()
