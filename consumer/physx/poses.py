"""Link poses that PhysX refuses (observed on 0.6.3): the parent pose becomes the world pose of the child body, the child pose the identity."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consumer.bodies import BodyTable
from consumer.decompose import Mat3, determinant, quaternion
from consumer.physx.articulation_joint import LinkJoints
from consumer.physx.codes import BIT
from consumer.physx.fixup import sane_frames
from consumer.transforms import Transforms
from consumer.world import tabled
from ovsim.diagnostics import Diagnostics
from ovsim.jit import readonly, rule, serial
from ovsim.stage import Stage

Array = npt.NDArray[Any]


@rule
def row_rotation(m: Mat3) -> Mat3:
    """Rotation of a body pose: rows made orthonormal from the first on (observed); unlike the polar factor of joint frames when there is shear."""
    sign = -1.0 if determinant(m) < 0.0 else 1.0
    x = np.sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]) * sign
    a, b, c = m[0] / x, m[1] / x, m[2] / x
    along = m[3] * a + m[4] * b + m[5] * c
    d, e, f = m[3] - along * a, m[4] - along * b, m[5] - along * c
    y = np.sqrt(d * d + e * e + f * f) * sign
    d, e, f = d / y, e / y, f / y
    return a, b, c, d, e, f, b * f - c * e, c * d - a * f, a * e - b * d


@serial
def world_poses(world: Array, position: Array, orientation: Array) -> None:
    """Translation (n, 3) and rotation (n, 4), without scale and shear, of world matrices (n, 4, 3)."""
    for i in range(len(world)):
        basis, _ = tabled(world, i)
        q = quaternion(row_rotation(basis))
        for lane in range(3):
            position[i, lane] = world[i, 3, lane]
        for lane in range(4):
            orientation[i, lane] = q[lane]


def replace_refused_poses(stage: Stage, bodies: BodyTable, links: LinkJoints) -> None:
    """Put the poses that the articulation keeps in place of those that PhysX refuses."""
    sane = np.empty((len(links), 2), np.uint8)
    sane_frames(links.position, links.orientation, sane)
    parents, children = np.flatnonzero(sane[:, 0] == 0), np.flatnonzero(sane[:, 1] == 0)
    if not parents.size and not children.size:
        return
    links.remark[parents] |= BIT["replaced-pose"]
    links.remark[children] |= BIT["replaced-pose"]
    links.position[children, 1] = 0
    links.orientation[children, 1] = (0, 0, 0, 1)
    world = Transforms.of(stage, bodies, Diagnostics()).of_paths(links.link[parents, 1])
    position, orientation = np.empty((parents.size, 3)), np.empty((parents.size, 4))
    world_poses(readonly(world), position, orientation)
    links.position[parents, 0], links.orientation[parents, 0] = position, orientation
