"""Bytes that resolving a stage must move, for the fraction of the copy bandwidth.

Counted once each, however often the implementation touches them:

* read: of joint rows, the path id and every column that the type or a listed API declares; of rows with a matrix, the path id, the matrix and
  the reset flag; of rigid bodies, `physics:rigidBodyEnabled`; of the path dictionary, parent and name of every path;
* written: every descriptor array that the joint's type fills, all record slots included.

Not counted: intermediate tables, columns that nothing reads, arrays of another type's fields, page clearing, cache lines that a write reads first.
"""

from __future__ import annotations

import numpy as np

from consumer.blocks import Descriptors, JointBlock
from ovsim import contract
from ovsim.contract.joints import DISTANCE, GEAR, JOINT_TYPES, PRISMATIC, RACK, REVOLUTE, SPHERICAL
from ovsim.stage import Archetype, Ragged, Stage

_ONLY = {"axis": {REVOLUTE, PRISMATIC, SPHERICAL}, "spring": {DISTANCE}, "spring_enabled": {DISTANCE}, "coupled": {GEAR, RACK}, "ratio": {GEAR, RACK}}
_PATH_ID, _PATH_ENTRY = 8, 8  # bytes of a row's id; of a parent and a name


def resolve_bytes(stage: Stage, descriptors: Descriptors) -> int:
    """Bytes read plus bytes written."""
    return read_bytes(stage) + sum(written_bytes(b) for b in descriptors.blocks)


def read_bytes(stage: Stage) -> int:
    """Bytes of the columns that the parser needs, and of the path dictionary."""
    return _PATH_ENTRY * stage.paths.path_count + sum(_read(a) for a in stage.archetypes)


def written_bytes(block: JointBlock) -> int:
    """Bytes of the descriptor arrays of a type."""
    total = 0
    for name, value in vars(block).items():
        if isinstance(value, np.ndarray) and block.type_name in _ONLY.get(name, {block.type_name}):
            total += value.nbytes
    return total


def _read(a: Archetype) -> int:
    names = [n for n in a.names if _needed(a, n)]
    return sum(_size(a, n) for n in names) + (_PATH_ID * len(a) if names else 0)


def _needed(a: Archetype, name: str) -> bool:
    if a.type_name not in JOINT_TYPES:
        return name in ("omni:xform", "omni:resetXformStack") or (name == "physics:rigidBodyEnabled" and "PhysicsRigidBodyAPI" in a.schemas)
    known = contract.load()
    if any(c.name == name for c in known.columns_of(a.type_name)):
        return True
    apis = (s.partition(":") for s in a.schemas)
    return any(c.instance(instance) == name for api, _, instance in apis for c in known.columns_of(api))


def _size(a: Archetype, name: str) -> int:
    values = a.values(name)
    return values.offsets.nbytes + values.values.nbytes if isinstance(values, Ragged) else values.nbytes
