"""Small stages by hand: prims with matrices, joints with columns, and their resolved rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import consumer
from ovsim.stage import Stage, StageBuilder

Matrix = npt.NDArray[np.float64]
RIGID = "PhysicsRigidBodyAPI"
COLLIDER = "PhysicsCollisionAPI"


def matrix(
    move: Sequence[float] = (0, 0, 0),
    turn: tuple[str, float] | Sequence[float] | None = None,
    scale: float | Sequence[float] = 1.0,
) -> Matrix:
    """4x4 local matrix, row vectors: scale, then turn ((axis name, radians) or a quaternion w x y z), then move."""
    out = np.eye(4)
    out[:3, :3] = np.diag(np.broadcast_to(np.asarray(scale, float), 3)) @ rotation(turn)
    out[3, :3] = move
    return out


def rotation(turn: tuple[str, float] | Sequence[float] | None) -> Matrix:
    """3x3 rotation, row vectors."""
    if turn is None:
        return np.eye(3)
    if isinstance(turn[0], str):
        name, angle = turn
        axis = np.eye(3)["XYZ".index(name)]
        w, (x, y, z) = np.cos(angle / 2), axis * np.sin(angle / 2)
    else:
        w, x, y, z = np.asarray(turn, float) / np.linalg.norm(turn)
    column = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return column.T


class Hand:
    """A stage under construction; every prim is a row of its own."""

    def __init__(self) -> None:
        self.builder = StageBuilder()

    def prim(
        self,
        path: str,
        local: Matrix | None = None,
        schemas: Sequence[str] = (),
        columns: Mapping[str, Any] | None = None,
        kind: str = "Xform",
    ) -> Hand:
        """A prim; `columns` hold one value each."""
        made = {} if local is None else {"omni:xform": local.reshape(1, 16)}
        self.builder.add(kind, [path], made | {n: column(v) for n, v in (columns or {}).items()}, schemas)
        return self

    def body(self, path: str, local: Matrix | None = None, columns: Mapping[str, Any] | None = None) -> Hand:
        """A prim with PhysicsRigidBodyAPI."""
        return self.prim(path, np.eye(4) if local is None else local, [RIGID], columns)

    def joint(
        self,
        path: str,
        kind: str,
        columns: Mapping[str, Any] | None = None,
        schemas: Sequence[str] = (),
        body0: str | None = None,
        body1: str | None = None,
    ) -> Hand:
        """A joint; `columns` hold one value each, a tuple for a vector, an array as it is."""
        made = {n: column(v) for n, v in (columns or {}).items()}
        for name, target in (("physics:body0", body0), ("physics:body1", body1)):
            if target is not None:
                made[name] = [[target]]
        self.builder.add(kind, [path], made, schemas)
        return self

    def stage(self) -> Stage:
        return self.builder.finish()

    def rows(self, rules: str = "observed-0.6.3", custom: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
        """Resolved rows by path, as `to_arrow` gives them."""
        return {r["path"]: r for r in consumer.resolve(self.stage(), rules, custom).to_arrow().to_pylist()}


def column(value: Any) -> Any:
    """A column of one row."""
    if isinstance(value, (str, list)):
        return [value]
    if isinstance(value, tuple):
        return np.array([value], np.float32)
    return value if hasattr(value, "__len__") else np.array([value])


def one(
    kind: str, columns: Mapping[str, Any] | None = None, schemas: Sequence[str] = (), rules: str = "contract-0.6", bodies: bool = False
) -> dict[str, Any]:
    """The resolved row of a single joint, without bodies unless asked for (A at the origin, B at (3, 0, 0))."""
    hand = Hand()
    if bodies:
        hand.body("/A").body("/B", matrix((3, 0, 0)))
    hand.joint("/J", kind, columns, schemas, *(("/A", "/B") if bodies else (None, None)))
    return hand.rows(rules)["/J"]
