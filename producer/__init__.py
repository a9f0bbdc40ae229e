"""Producer: a USD stage to an ovsim `Stage`, as ovstage population writes it (producer facts, rules 1 to 15)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ovsim.contract.joints import custom_joint_types
from producer.spool import Spool

if TYPE_CHECKING:
    from ovsim.stage import Stage

ROUTES = {"auto": "producer.auto", "crate": "producer.crate.population", "composed": "producer.composed"}
"""Route name to the module that has `populate(source, *, custom_joints, spool)`."""

__all__ = ["ROUTES", "populate"]


def populate(
    source: str | os.PathLike[str] | Any,
    *,
    custom_joints: Sequence[str] = (),
    route: str = "auto",
    spool: str | os.PathLike[str] | None = None,
) -> Stage:
    """Populate a `Stage` from a USD file (.usd, .usda, .usdc, .usdz) or an open `pxr.Usd.Stage`.

    `custom_joints`: prim types that count as joints beside the eight of the contract. `route`: `composed` (through pxr, all of USD), `crate`
    (columnar, CrateError where it cannot prove its result) or `auto` (columnar where proved, else composed); every reader gives the same rows.
    `spool`: a folder that large columns are written to and mapped from, as files without a name, for stages that are larger than memory.

    The stage's `metadata` holds the route and its reason. SourceError when the file is missing, not USD or unreadable; everything recoverable
    is a row of the result's `diagnostics`. CustomJointError for custom joints that are none (`ovsim.contract.joints`).
    SpoolError when the folder has no room.
    """
    if route not in ROUTES:
        raise ValueError(f"route {route!r} is not one of {', '.join(ROUTES)}")
    stage: Stage = import_module(ROUTES[route]).populate(
        source, custom_joints=custom_joint_types(custom_joints), spool=Spool(spool) if spool else None
    )
    return stage
