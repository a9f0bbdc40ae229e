"""Checks for people who populate by hand: what in their columns does not do what it seems to do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ovsim.check import absent, columns, structure, values
from ovsim.check.context import Context
from ovsim.check.repair import CHANGES, fix
from ovsim.diagnostics import SEVERITIES, Diagnostic, Diagnostics
from ovsim.stage import Stage

if TYPE_CHECKING:
    from consumer import PhysxView

CHECKS = (absent, columns, structure, values)
_ALSO_TOLD_HERE = {
    "column-type": "wrong-type",
    "column-cast": "wrong-type",
    "target-without-row": "dangling-target",
    "unknown-path-id": "dangling-id",
    "reversed-limit": "reversed-limit",
    "one-sided-limit": "one-sided-limit",
}

__all__ = ["CHANGES", "check", "fix"]


def check(source: str | os.PathLike[str] | Stage, *, custom_joints: Sequence[str] = (), view: PhysxView | None = None) -> Diagnostics:
    """Everything that looks wrong in a stage file, snapshot, table or Stage, errors first.

    The checks of this package, population's and the parser's own diagnostics, those of the PhysX view, and for stage files OpenUSD's
    physics validators. `view` spares a second PhysX view of the same stage. Errors as `ovsim.open_stage`.
    """
    from ovsim.api import open_stage

    stage = open_stage(source, custom_joints=custom_joints)
    context = Context(stage, tuple(custom_joints))
    sound = _sound(stage)
    for module in CHECKS:
        if sound or module is not values:
            module.check(context)
    if sound:
        _parser(context, view)
    context.out.extend(_population(context))
    if not isinstance(source, Stage) and _is_usd(Path(source)):
        from ovsim.check.usd import validate

        validate(source, context.out)
    return _sorted(context.out)


def _population(context: Context) -> list[Diagnostic]:
    """Population's diagnostics that are not told already: a cell of another type than the contract's has a verdict of what the parser makes of it."""
    judged = {(_kind(context.stage, d), d.column) for d in context.out if _ALSO_TOLD_HERE.get(d.code, d.code) == "wrong-type"}
    untold = (d for d in context.stage.diagnostics if d.code != "missing-ancestor")
    return [d for d in untold if d.code != "wrong-type" or (_kind(context.stage, d), d.column) not in judged]


def _kind(stage: Stage, told: Diagnostic) -> int | str:
    """The archetype of a diagnostic's row, for whose columns one verdict holds; its path when there is no such row."""
    hit = stage.find(told.path) if told.path else None
    return told.path if hit is None else id(hit[0])


def _is_usd(where: Path) -> bool:
    return where.is_file() and where.suffix.lower() in (".usd", ".usda", ".usdc", ".usdz")


def _sound(stage: Stage) -> bool:
    """Whether ids are within the dictionary, so that the parser may run."""
    probe = Context(stage)
    structure.check(probe)
    return "dangling-id" not in probe.out.codes()


def _parser(context: Context, view: PhysxView | None) -> None:
    """Diagnostics of descriptors and PhysX view that no check of this package has told already."""
    import consumer

    told = {(d.code, d.path, d.column) for d in context.out}
    somewhere = {(code, path) for code, path, _ in told}  # the parser tells of a joint what the checks tell of its column
    built = consumer.physx_view(context.stage, context.custom_joints) if view is None else view
    for found in (built.descriptors.diagnostics, built.diagnostics):
        for d in found:
            code = _ALSO_TOLD_HERE.get(d.code, d.code)
            own = (d.code, d.path, d.column)
            if not {own, (code, d.path, d.column)} & told and (d.column or (code, d.path) not in somewhere):
                told.add(own)
                context.out.extend([d])


def _sorted(found: Diagnostics) -> Diagnostics:
    def key(d: Diagnostic) -> tuple[int, str, str, str]:
        return -SEVERITIES.index(d.severity), d.path, d.column, d.code

    return Diagnostics(sorted(dict.fromkeys(found), key=key))
