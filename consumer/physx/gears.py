"""Gear and rack joints: frames and couplings taken from the joints they couple (spec 8.2).

Observed on 0.6.3: a coupled joint gives its frame on the same actor when it is a D6 or an articulation joint, any type of them; a standalone one that
touches neither actor leaves the authored frame, an articulation joint that does not touch it makes the creation fail. PhysX then takes the pair
only when both are of a fitting kind: a missing one leaves its place empty, an unfitting one empties both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.physx import codes as c
from ovsim.jit import serial

Array = npt.NDArray[Any]
HINGE, SLIDER = 0, 1
# which articulation joint types fit a coupled place, by place kind
FITS = np.zeros((2, len(c.LINK_TYPES)), np.uint8)
FITS[HINGE, [c.REVOLUTE, c.REVOLUTE_UNWRAPPED]] = 1
FITS[SLIDER, c.PRISMATIC] = 1
_INCOMPLETE, _REFUSED = c.BIT["coupling-incomplete"], c.BIT["coupling-refused"]


@serial
def couple(
    gears: Array, is_rack: Array, coupled: Array, joint_of_path: Array, standalone_row: Array, link_row: Array, px_class: Array, actor: Array,
    position: Array, orientation: Array, link: Array, link_type: Array, link_position: Array, link_orientation: Array, fits: Array,
    made: Array, coupled_out: Array, remark: Array, elsewhere: Array,
) -> None:  # fmt: skip
    """Frames and couplings of the gear and rack rows `gears` of the standalone arrays, in joint order.

    coupled (g, 2) path ids; joint_of_path by path id, -1 no joint; standalone_row and link_row by joint, -1 none; `made` by standalone row says
    whether the joint exists already when a later gear looks for it. Writes position, orientation, coupled_out, remark, and `elsewhere` (g,) where
    the creation fails.
    """
    for g in range(gears.size):
        o = gears[g]
        refused = False
        for k in range(2):
            j = joint_of_path[coupled[g, k]]
            row = standalone_row[j] if j >= 0 else -1
            a = link_row[j] if j >= 0 else -1
            if row >= 0 and made[row]:
                coupled_out[o, k] = coupled[g, k]
                if px_class[row] != c.PX_D6:
                    refused = True
                    continue
                side = -1
                if actor[row, 0] == actor[o, k]:
                    side = 0
                elif actor[row, 1] == actor[o, k]:
                    side = 1
                if side >= 0:
                    position[o, k, :] = position[row, side, :]
                    orientation[o, k, :] = orientation[row, side, :]
            elif a >= 0:
                coupled_out[o, k] = coupled[g, k]
                side = -1
                if link[a, 0] == actor[o, k]:
                    side = 0
                elif link[a, 1] == actor[o, k]:
                    side = 1
                else:
                    elsewhere[g] = 1
                if side >= 0:
                    position[o, k, :] = link_position[a, side, :]
                    orientation[o, k, :] = link_orientation[a, side, :]
                place = SLIDER if is_rack[g] and k == 1 else HINGE
                if not fits[place, link_type[a]]:
                    refused = True
            else:
                remark[o] |= _INCOMPLETE
        if refused:
            remark[o] |= _REFUSED
            coupled_out[o, 0] = coupled_out[o, 1] = 0
        if not elsewhere[g]:
            made[o] = 1
