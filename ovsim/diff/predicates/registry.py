"""Predicates by name: where each is asked, and the function that answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ovsim.diff.case import ABSENT, Case
from ovsim.diff.sides import Side

Function = Callable[[Case], bool]
ALL = ("columns", "descriptors", "physx")
FRAME = r"localPose[01](Position|Orientation)"
SIDE = rf"body[01]|{FRAME}|validBodyTransformations"


class Predicate(NamedTuple):
    """Where a predicate is asked: levels, and a pattern that the whole field name must match."""

    levels: tuple[str, ...]
    fields: re.Pattern[str]
    holds: Function


PREDICATES: dict[str, Predicate] = {}


def predicate(levels: tuple[str, ...], fields: str) -> Callable[[Function], Function]:
    """Register a function under its own name."""

    def register(function: Function) -> Function:
        PREDICATES[function.__name__] = Predicate(levels, re.compile(fields), function)
        return function

    return register


def targets(case: Case) -> list[str]:
    """First targets of the relationships that decide the field, as prim paths; property paths are left out."""
    return [t for t in all_targets(case) if "." not in t]


def all_targets(case: Case) -> list[str]:
    """First targets of the relationships that decide the field."""
    sides = case.pair.columns
    out = []
    for name in ("physics:body0", "physics:body1"):
        if case.field == "validBodyTransformations" or name[-1] in case.field:
            got = case.cell(sides[0], name) if sides else ABSENT
            if isinstance(got, list) and got:
                out.append(got[0])
    return out


def nearest_body(case: Case, side: Side, path: str) -> str:
    """The first prim at or above a path that lists PhysicsRigidBodyAPI, "" when there is none."""
    while len(path) > 1:
        if case.lists(side, "PhysicsRigidBodyAPI", path):
            return path
        path = path.rpartition("/")[0] or "/"
    return ""
