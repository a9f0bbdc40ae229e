"""The Python API: a stage file or snapshot in, a Stage, Descriptors or a PhysX view out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ovsim import tables
from ovsim.contract.joints import custom_joint_types
from ovsim.errors import SourceError
from ovsim.stage import Stage
from ovsim.stage.snapshot import is_snapshot

if TYPE_CHECKING:
    from consumer import Descriptors, PhysxView

Source = str | os.PathLike[str] | Stage


def populate(
    source: str | os.PathLike[str],
    *,
    route: str = "auto",
    custom_joints: Sequence[str] = (),
    spool: str | os.PathLike[str] | None = None,
) -> Stage:
    """Population's rows and columns of a USD stage file (.usd, .usda, .usdc, .usdz).

    `route` is auto, crate or composed; `custom_joints` are further joint type tokens; `spool` is a folder for the columns of a stage that is larger
    than memory. SourceError when the file cannot be read, SpoolError when the folder has no room.
    """
    import producer

    return producer.populate(source, route=route, custom_joints=custom_joints, spool=spool)


def open_stage(source: Source, *, route: str = "auto", custom_joints: Sequence[str] = (), spool: str | os.PathLike[str] | None = None) -> Stage:
    """A Stage from whatever stands for one: a Stage itself, a snapshot directory, a USD file, a table or a directory of tables (`ovsim.tables`).

    `spool` as for `populate`. SourceError, SpoolError, SnapshotError or TableError otherwise;
    CustomJointError for custom joints that are none (`ovsim.contract.joints`).
    """
    custom_joints = custom_joint_types(custom_joints)
    if isinstance(source, Stage):
        return source
    where = Path(source)
    if not where.exists():
        raise SourceError(f"{where} does not exist; give a stage file, a snapshot or a table")
    if where.is_dir() and is_snapshot(where):
        return Stage.load(where)
    if tables.is_table(where):
        return tables.read_stage(where)
    if where.is_dir():
        raise SourceError(f"{where} is a directory without snapshot.json; give a stage file or a directory that `ovsim populate` wrote")
    return populate(source, route=route, custom_joints=custom_joints, spool=spool)


def resolve(source: Source, *, rules: str = "contract-0.6", custom_joints: Sequence[str] = (), **options: Any) -> Descriptors:
    """Joint descriptors of a stage, snapshot or USD file under a rule set (`contract-0.6` or `observed-0.6.3`; RulesError otherwise)."""
    import consumer

    return consumer.resolve(open_stage(source, custom_joints=custom_joints), rules=rules, custom_types=custom_joints, **options)


def physx(source: Source, *, custom_joints: Sequence[str] = ()) -> PhysxView:
    """What the runtime builds of a stage, snapshot or USD file: articulations, links, joints, diagnostics (rules observed-0.6.3)."""
    import consumer

    return consumer.physx_view(open_stage(source, custom_joints=custom_joints), custom_types=custom_joints)
