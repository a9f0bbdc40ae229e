"""Random joint graphs: namespace groups, trees and cycles, excluded and disabled joints, odd bodies, several roots, world sides, every joint type."""

from __future__ import annotations

import random

from reference_articulations import WORLD, Joint, World

from ovsim.contract.joints import JOINT_TYPES as TYPES

_WEIGHTS = (6, 8, 3, 2, 1, 2, 1, 1)


def random_world(seed: int, most_bodies: int = 8) -> World:
    """A world under /W, joints in joint order (type, then path)."""
    r = random.Random(seed)
    groups = r.sample(["/W/g", "/W/h", "/W/g/in", "/W/m", "/W/G"], r.randint(1, 4))
    bodies: dict[str, str] = {}
    for i in range(r.randint(1, most_bodies)):
        above = r.choice([*groups, *bodies]) if bodies and r.random() < 0.25 else r.choice(groups)
        path = f"{above}/{r.choice('abxyzAZ')}{i}"
        bodies[path] = r.choices(["dynamic", "kinematic", "disabled"], [12, 1, 1])[0]
    names = list(bodies)
    statics = {f"{r.choice(groups)}/s{i}" for i in range(r.randint(0, 1))}
    joints: list[Joint] = []

    def add(a: str, b: str) -> None:
        if r.random() < 0.5:
            a, b = b, a
        where = r.choice([*groups, "/W", *names])
        joints.append(
            Joint(f"{where}/j{r.randint(0, 99):02}_{len(joints)}", r.choices(TYPES, _WEIGHTS)[0], a, b, r.random() > 0.06, r.random() < 0.12)
        )

    for i in range(1, len(names)):
        if r.random() < 0.9:
            add(names[r.randrange(i)] if r.random() < 0.6 else names[i - 1], names[i])
    for _ in range(r.choice((0, 0, 1, 2, 5))):
        add(r.choice(names), r.choice(names))
    for _ in range(r.choice((0, 0, 0, 1, 1, 2))):
        add(r.choice(names), r.choice([WORLD, WORLD, *statics]))
    if r.random() < 0.05:
        add(WORLD, WORLD)
    joints.sort(key=lambda j: (TYPES.index(j.type), j.path.encode()))
    places = ["/W", *groups, *names, *(j.path for j in joints)]
    roots = r.sample(places, min(len(places), r.choice((1, 1, 1, 2, 3))))
    if r.random() < 0.4:
        roots = [r.choice(["/W", *groups])]
    return World(bodies, joints, sorted(set(roots), key=str.encode), statics)
