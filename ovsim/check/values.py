"""Values that look wrong: reversed and one-sided bounds, radians where degrees belong, quaternions with w first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.check.context import Context
from ovsim.contract.joints import D6, D6_INSTANCES, DISTANCE, PRISMATIC, REVOLUTE, ROTATIONAL_INSTANCES, SPHERICAL
from ovsim.stage import Archetype, Ragged, Stage
from ovsim.stage import columns as col

if TYPE_CHECKING:
    from consumer import Descriptors

_TURN = 2 * np.pi + 1e-4
_CONE = ("physics:coneAngle0Limit", "physics:coneAngle1Limit")
_DISTANCES = ("physics:minDistance", "physics:maxDistance")
_SENTINEL = 0.5e38


def check(context: Context) -> None:
    """`reversed-limit`, `reversed-distance`, `one-sided-limit`, `radians-suspected`, `w-first-suspected`, `unknown-token`."""
    for archetype in context.joints():
        _tokens(context, archetype)
        for low_name, high_name, rotational, locks in _bounds(archetype):
            low, high = context.numbers(archetype, low_name), context.numbers(archetype, high_name)
            if low is not None and high is not None and low.ndim == 1 and high.ndim == 1:
                _pair(context, archetype, low_name, low, high, rotational, locks)
        if archetype.type_name == SPHERICAL:
            _cone(context, archetype)
        if archetype.type_name == DISTANCE:
            _distance(context, archetype)
    _w_first(context)


def _tokens(context: Context, archetype: Archetype) -> None:
    """Tokens that the parser does not know: it takes X, and a force drive, without a word (spec 1.2, 5.1)."""
    known: dict[str, tuple[str, ...]] = {"physics:axis": ("X", "Y", "Z")} if archetype.type_name in (REVOLUTE, PRISMATIC, SPHERICAL) else {}
    known |= {n: ("force", "acceleration") for n in archetype.names if n.startswith("drive:") and n.endswith(":physics:type")}
    for name, words in known.items():
        values = archetype.values(name) if name in archetype else None
        if values is None or isinstance(values, Ragged) or values.dtype != np.uint64 or values.ndim != 1:
            continue
        odd = ~np.isin(values, [context.stage.paths.find_token(w) for w in words])
        message = f"a token that the parser does not know, so it takes {words[0]}; write {' or '.join(words)}, case and all"
        context.tell("unknown-token", "warning", archetype, name, message, odd)


def _bounds(archetype: Archetype) -> list[tuple[str, str, bool, bool]]:
    """(low column, high column, rotational, whether reversed bounds lock the axis on purpose)."""
    if archetype.type_name in (REVOLUTE, PRISMATIC):
        return [("physics:lowerLimit", "physics:upperLimit", archetype.type_name == REVOLUTE, False)]
    if archetype.type_name != D6:
        return []
    listed = [i for i in D6_INSTANCES if archetype.lists(f"PhysicsLimitAPI:{i}")]
    return [(f"limit:{i}:physics:low", f"limit:{i}:physics:high", i in ROTATIONAL_INSTANCES, True) for i in listed]


def _pair(
    context: Context, a: Archetype, name: str, low: npt.NDArray[np.float64], high: npt.NDArray[np.float64], rotational: bool, locks: bool
) -> None:
    if not locks:
        message = "the lower bound is above the upper one: PhysX refuses such a limit, it does not lock; swap them"
        context.tell("reversed-limit", "warning", a, name, message, low > high)
    real_low, real_high = np.isfinite(low) & (low > -_SENTINEL), np.isfinite(high) & (high < _SENTINEL)
    free_low, free_high = low <= -_SENTINEL, high >= _SENTINEL
    message = "one bound is infinite: PhysX takes no such limit; give both a finite value"
    context.tell("one-sided-limit", "warning", a, name, message, (real_low & free_high) | (real_high & free_low))
    if rotational:
        context.tell("radians-suspected", "warning", a, name, _RADIANS, _radians(low, high))


_RADIANS = "these bounds look like radians; columns hold degrees: multiply by 180 / pi"


def _radians(low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Both bounds finite and within a turn of radians, the range not empty, and neither bound a whole number but 0."""
    with np.errstate(invalid="ignore"):
        small = (np.abs(low) <= _TURN) & (np.abs(high) <= _TURN) & (high - low > 1e-3)
        whole = ((low == np.round(low)) & (low != 0)) | ((high == np.round(high)) & (high != 0))
    return small & ~whole & ((low != 0) | (high != 0))


def _cone(context: Context, archetype: Archetype) -> None:
    a, b = (context.numbers(archetype, n) for n in _CONE)
    if a is not None and b is not None:
        with np.errstate(invalid="ignore"):
            set_ = (a > 0) & (b > 0)
        context.tell(
            "radians-suspected", "warning", archetype, _CONE[0], _RADIANS, set_ & _radians(np.zeros_like(a), a) & _radians(np.zeros_like(b), b)
        )


def _distance(context: Context, archetype: Archetype) -> None:
    """Both bounds hold, which is when they are not negative (spec 5.1), and the minimum lies above the maximum, which PhysX does not check (8.2)."""
    low, high = (context.numbers(archetype, n) for n in _DISTANCES)
    if low is None or high is None or low.ndim != 1 or high.ndim != 1:
        return
    message = "the minimum is above the maximum: PhysX takes both, which no distance can meet, so the joint pulls and pushes at once; swap them"
    context.tell("reversed-distance", "warning", archetype, _DISTANCES[0], message, (low > high) & (high >= 0))


def _w_first(context: Context) -> None:
    """Rotations that are identity with w first, or that make the two frames meet only when read so (one of them, or both)."""
    import consumer

    plain = consumer.resolve(context.stage, custom_types=context.custom_joints)
    apart = _checked(plain, 0)
    healed: dict[int, npt.NDArray[np.uint64]] = {0: np.empty(0, np.uint64), 1: np.empty(0, np.uint64)}
    for sides in ((0,), (1,), (0, 1)) if apart.size else ():
        meets = _checked(consumer.resolve(with_w_first(context.stage, sides), custom_types=context.custom_joints), 1)
        found = np.intersect1d(apart, meets)
        apart = np.setdiff1d(apart, found)
        for k in sides:
            healed[k] = np.union1d(healed[k], found)
    for archetype in context.joints():
        for k in (0, 1):
            name = f"physics:localRot{k}"
            q = context.numbers(archetype, name)
            if q is None or q.ndim != 2 or q.shape[1] != 4:
                continue
            identity = (np.abs(q[:, 0]) == 1) & (q[:, 1:] == 0).all(axis=1)
            moved = np.isin(archetype.path_ids, healed[k]) & (q != np.array([0, 0, 0, 1.0])).any(axis=1)
            message = "this looks like a quaternion with w first; columns hold x, y, z, w: move the first number to the end"
            context.tell("w-first-suspected", "warning", archetype, name, message, identity | moved)


def _checked(descriptors: Descriptors, valid: int) -> npt.NDArray[np.uint64]:
    """Path ids of the joints whose frames meet (1) or do not (0)."""
    return np.concatenate([b.path[b.valid_frames == valid] for b in descriptors.blocks] or [np.empty(0, np.uint64)])


def with_w_first(stage: Stage, sides: Sequence[int] = (0, 1)) -> Stage:
    """The stage with the joint rotations of these sides read as if w stood first."""
    out = []
    for archetype in stage.archetypes:
        batch = archetype.batch
        for name in (f"physics:localRot{k}" for k in sides):
            if name in archetype and pa.types.is_fixed_size_list(archetype.field(name).type) and archetype.field(name).type.list_size == 4:
                at = batch.schema.get_field_index(name)
                q = archetype.values(name)
                batch = batch.set_column(at, batch.schema.field(at), col.dense(np.roll(q, -1, axis=1)))
        out.append(Archetype(archetype.paths, archetype.type_name, archetype.schemas, batch, archetype.provenance))
    return Stage(stage.paths, tuple(out))
