"""Applied schemas that population leaves out of `usd-schemas` without a word (producer facts, rules 1 and 13): told here, prim by prim.

Both readers find the prims that a traversal meets and their composed `apiSchemas`; a name that `Schemas.sanitise` does not keep is a finding.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest

from ovsim.diagnostics import Diagnostics
from producer.schemas import Schemas

MOST = 50  # prims of one schema that are told one by one
_ALIKE = 0.8


def names(authored: Sequence[str], kept: Sequence[str]) -> tuple[str, ...]:
    """The authored applied schemas that are not among the kept ones, each once, in order."""
    return tuple(dict.fromkeys(a for a in authored if a not in kept))


def tell(schemas: Schemas, schema: str, paths: Iterable[str], diagnostics: Diagnostics) -> None:
    """`schema-dropped`: one row a prim, the first `MOST` in path order, and one without a path for the rest. Told apart from `schema-unknown`."""
    if schemas.reports(schema):
        return
    every = [p for p in paths if p]
    text = f"{schema} is left out of usd-schemas: {_reason(schemas, schema)}"
    for path in nsmallest(MOST, every):
        diagnostics.add("schema-dropped", "warning", text, path, schema)
    if len(every) > MOST:
        diagnostics.add("schema-dropped", "warning", f"{len(every) - MOST} more prims: {text}", "", schema)


def _reason(schemas: Schemas, schema: str) -> str:
    base, _, instance = schema.partition(":")
    reasons: dict[str, Callable[[], str]] = {
        "newer": lambda: "the USD of population is older than this schema and does not know it",
        "api": lambda: f"{base} takes no instance name; apply it as {base}" if instance else "",
        "multi_api": lambda: "" if instance else f"{base} needs an instance name; apply it as {base}:NAME",
        "type": lambda: "it is a prim type, not an applied API schema",
    }
    known = reasons.get(schemas.kind_of(base), lambda: "")()
    if known:
        return known
    near = difflib.get_close_matches(base, schemas.api_names, 2, _ALIKE)
    meant = f"did you mean {' or '.join(near)}?" if near else "correct its name, or remove it"
    return f"USD knows no applied API schema of this name; {meant}"
