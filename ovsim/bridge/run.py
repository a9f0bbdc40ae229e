"""The simulator around a live stage: population by ovstage itself, and stepping by ovphysx with the bodies' poses read back."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ovsim.bridge import native
from ovsim.bridge.ids import path_texts
from ovsim.bridge.layout import FLOAT, Layout
from ovsim.bridge.pieces import Writing
from ovsim.errors import BridgeError, SourceError
from ovsim.stage import columns as col

KINDS = {"RIGID_BODY": "body", "ARTICULATION_LINK": "link"}
STATE = {"position": 3, "orientation": 4, "linearVelocity": 3, "angularVelocity": 3}
_STATE_TYPES = {n: pa.list_(pa.float32(), lanes) for n, lanes in STATE.items()}
_EMPTY = pa.schema({"path": pa.large_string(), "kind": pa.string(), **_STATE_TYPES}).empty_table()
OUTPUT = "sim:"  # prefix of the columns that hold simulated values
_registered: list[str] = []


def _ovphysx() -> ModuleType:
    native.module()
    try:
        import ovphysx
    except ImportError as e:
        raise BridgeError(f"ovphysx is not installed beside ovstage ({e}); install ovphysx==0.6.3") from e
    return ovphysx


def populate(usd: str | os.PathLike[str], ordinal: int = 1) -> Any:
    """A new `ovstage.Stage` populated from a USD file by ovstage itself (PHYSICS domain), sealed at the ordinal; the caller destroys it.

    PhysX schemas come with ovphysx, Newton's when newton-usd-schemas is installed. SourceError when the file cannot be opened.
    """
    ovphysx, ovstage = _ovphysx(), native.module()
    if not Path(usd).is_file():
        raise SourceError(f"{usd} is not a file; give a USD stage file")
    if not _registered:
        newton = importlib.util.find_spec("newton_usd_schemas")
        _registered.append(str(ovphysx.codeless_schema_root()))
        _registered.extend(str(Path(newton.origin).parent) for _ in (0,) if newton and newton.origin)
        ovstage.population.register_usd_schemas(_registered)
    stage = ovstage.Stage(Path(usd).name)
    try:
        ovstage.population.open_usd(stage, str(usd), ordinal=ordinal, domains=ovstage.PopulationDomain.PHYSICS)
        stage.advance_write_floor(ordinal=ordinal).wait()
    except (ovstage.OvstageError, RuntimeError, ValueError) as e:
        stage.destroy()
        raise SourceError(f"ovstage cannot populate {usd}: {e}") from e
    return stage


def simulate(
    ovstage_stage: Any, steps: int, *, dt: float = 1 / 60, device: str = "cpu", ordinal: int = 1, write_ordinal: int | None = None
) -> pa.Table:
    """Attach ovphysx to a stage sealed at `ordinal`, step it, detach; the state of every simulated body after the steps.

    The table has a row a body in path order: `path`, `kind` (body or link), `position` [stage length, world], `orientation` (x y z w, world),
    `linearVelocity` [length/s], `angularVelocity` [rad/s], float32 as the simulator gives them. `dt` in seconds. `device` is cpu or gpu; the first
    call settles it for the process. With `write_ordinal` the state is also written into the stage as columns `sim:position` and so on, and sealed.
    With 0 steps the stage is only attached and the table is empty, because ovphysx tells no link's state before the first step.
    BridgeError when ovphysx refuses the stage or a step.
    """
    if steps < 0 or dt <= 0:
        raise BridgeError(f"{steps} steps of {dt} s cannot be simulated; give no fewer than 0 steps and a positive dt")
    live = native.Live(ovstage_stage)
    with _attached(ovstage_stage, device, ordinal) as physx:
        if steps:
            physx.step_n_sync(steps, dt)
        table = _state(live, physx) if steps else _EMPTY
    if write_ordinal is not None:
        _write(live, table, write_ordinal)
    return table


@contextmanager
def _attached(ovstage_stage: Any, device: str, ordinal: int) -> Iterator[Any]:
    ovphysx = _ovphysx()
    if device not in ("cpu", "gpu"):
        raise BridgeError(f"device {device!r} is not one of cpu, gpu")
    physx = None
    try:
        if device == "cpu" and not ovphysx.PhysX.get_cpu_mode():
            ovphysx.PhysX.set_cpu_mode(True)
        physx = ovphysx.PhysX()
        physx.attach_ovstage(ovstage_stage, read_ordinal=ordinal)
        physx.wait_all()
        try:
            yield physx
        finally:
            physx.detach_ovstage()
    except (RuntimeError, ValueError) as e:
        raise BridgeError(f"ovphysx on {device}: {e}") from e
    finally:
        if physx is not None:
            physx.destroy()


def _state(live: native.Live, physx: Any) -> pa.Table:
    from ovphysx.types import ObjectScope, SimObjectType

    tables: list[pa.Table] = []
    for name, kind in KINDS.items():
        with physx.read(getattr(SimObjectType, name), list(STATE), scope=ObjectScope.ALL) as result:
            tables += _tables(live, [g for g in result.groups if g.prim_count and not g.is_array], kind)
    return pa.concat_tables([_EMPTY, *tables]).sort_by("path").combine_chunks()


def _tables(live: native.Live, groups: list[Any], kind: str) -> Iterator[pa.Table]:
    """A table a list of prims; output groups hold one column each, of all prims of their own list in its order (ovphysx: read groups)."""
    by_list: dict[bytes, tuple[npt.NDArray[np.uint64], dict[str, pa.Array]]] = {}
    for group in groups:
        (name,) = live.token_texts(np.array([group.attribute], np.uint64))
        values = np.array(group.tensors[0].numpy(), np.float32).reshape(-1, STATE[name])
        if group.index_map is not None:
            values = values[np.asarray(group.index_map.numpy())]
        prims = live.list_paths(group.prim_list)
        by_list.setdefault(prims.tobytes(), (prims, {}))[1][name] = col.dense(values)
    for prims, columns in by_list.values():
        head = {"path": path_texts(live, prims), "kind": pa.array([kind] * prims.size, pa.string())}
        yield pa.table({**head, **{n: columns[n] for n in STATE}})


def _write(live: native.Live, table: pa.Table, ordinal: int) -> None:
    if len(table):
        names = live.tokens(pa.array([OUTPUT + n for n in STATE], pa.large_string()))
        prims = live.paths(table.column("path").combine_chunks())
        writings = []
        for token, (name, lanes) in zip(names.tolist(), STATE.items()):
            values = col.view(table.column(name).combine_chunks())
            writings.append(Writing(token, Layout(FLOAT, 32, lanes, False, "NONE"), np.asarray(values)))
        live.write(prims, writings, ordinal, "writing simulated values")
    live.seal(ordinal)
