"""Which standalone joints PhysX is asked to create at all (spec 3.4)."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from consumer.physx import codes as c
from ovsim.jit import serial

Array = npt.NDArray[Any]


@serial
def gate(enabled: Array, body: Array, acts: Array, dynamic: Array, reason: Array) -> None:
    """Reason (n,) why each joint is not created, in the order of the checks.

    body (n, 2) path ids; acts (n, 2): the side has an actor; dynamic (n, 2): the actor is a link, or a rigid body that is neither
    disabled nor kinematic.
    """
    for i in range(enabled.size):
        if not enabled[i]:
            reason[i] = c.DISABLED
        elif not acts[i, 0] and not acts[i, 1]:
            reason[i] = c.NO_BODIES
        elif not dynamic[i, 0] and not dynamic[i, 1]:
            reason[i] = c.STATIC_BODIES
        elif acts[i, 0] and acts[i, 1] and body[i, 0] == body[i, 1]:
            reason[i] = c.SAME_BODY
