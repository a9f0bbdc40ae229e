"""Geometric roles of columns: ovstage keeps one beside a column's numbers (ovstage attribute semantics; contract: a column's `semantic`).

The contract tells the role of its own columns, so a field carries a role only where the contract does not tell it: `mark` for a column that is
made, `told` for what the contract says.
"""

from __future__ import annotations

from ovsim import contract

GEOMETRIC = frozenset({"POINT", "VECTOR", "NORMAL", "COLOR", "QUATERNION", "MATRIX", "TEXTURE_COORDINATE", "TIME_CODE", "FRAME"})
NONE = "NONE"


def told(name: str, lanes: int) -> str:
    """Role that the contract gives a float column of this many lanes, NONE when it gives none."""
    spec = contract.load().find(name)
    if spec is None or spec.semantic not in GEOMETRIC or spec.lanes != lanes:
        return NONE
    return spec.semantic


def mark(name: str, role: str, lanes: int) -> str:
    """What the field of a float column says of its role, "" where the contract tells it; `role` is that of the USD value type, "" without one.

    On a column of the contract's width population keeps the schema's role whatever vector type was authored, but a plain float4 is no quaternion.
    """
    spec = contract.load().find(name)
    if spec is None or spec.lanes != lanes or role == "TIME_CODE":
        return role
    return NONE if told(name, lanes) == "QUATERNION" and role != "QUATERNION" else ""
