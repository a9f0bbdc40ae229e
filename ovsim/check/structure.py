"""Rows and ids: ancestors without rows, ids that lead nowhere."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ovsim.check.context import MOST, Context
from ovsim.stage import ROOT, Archetype, Ragged
from ovsim.stage import columns as col


def check(context: Context) -> None:
    """`missing-ancestor`, `dangling-id`, `dangling-target`."""
    parents = context.stage.paths.parents
    for archetype in context.stage.archetypes:
        above = parents[archetype.path_ids.astype(np.int64)]
        lost = (above > ROOT) & ~context.has_row[above]
        for row in np.flatnonzero(lost)[:MOST].tolist():
            parent = context.stage.paths.path_string(int(above[row]))
            message = f"its parent {parent} has no row, so the parent's transform counts as identity; add a row for {parent}"
            context.tell("missing-ancestor", "warning", archetype, "", message, np.array([row]))
        if np.count_nonzero(lost) > MOST:
            more = f"{np.count_nonzero(lost) - MOST} more {archetype.type_name} rows: their parents have no rows; add them"
            context.out.add("missing-ancestor", "warning", more)
        for name in archetype.names:
            _ids(context, archetype, name)


def _ids(context: Context, archetype: Archetype, name: str) -> None:
    kind = col.semantic(archetype.field(name))
    column = context.contract.find(name)
    if not kind and column is not None and pa.types.is_uint64(_inner(archetype.field(name).type)):
        kind = column.semantic
    limit = {
        col.TOKEN_ID: context.stage.paths.token_count,
        col.PATH_ID: context.stage.paths.path_count,
        col.RELATIONSHIP: context.stage.paths.path_count,
    }.get(kind)
    if limit is None:
        return
    got = archetype.values(name)
    values = got.values if isinstance(got, Ragged) else got
    rows = np.repeat(np.arange(len(archetype)), np.diff(got.offsets)) if isinstance(got, Ragged) else np.arange(len(archetype))
    bad = (values >= limit).reshape(len(rows), -1).any(axis=1) if values.size else np.zeros(0, np.bool_)
    context.tell(
        "dangling-id",
        "error",
        archetype,
        name,
        "an id that the stage's dictionary does not hold; intern its text and write that id",
        np.unique(rows[bad]),
    )
    if kind == col.RELATIONSHIP and name in ("physics:body0", "physics:body1", *_COUPLED):
        good = ~bad
        lost = rows[good][~context.has_row[values[good].astype(np.int64)]]
        context.tell("dangling-target", "warning", archetype, name, "the target has no row; publish it or repair the relationship", np.unique(lost))


_COUPLED = ("physics:hinge", "physics:hinge0", "physics:hinge1", "physics:prismatic")


def _inner(t: pa.DataType) -> pa.DataType:
    return t.value_type if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t) else t
