"""The function a stage: populate, resolve, PhysX view, diagnostics, given out as Arrow tables with the dataset's schemas.

Every engine calls this one function; what it gives does not depend on the engine, the process or what was converted before.
"""

from __future__ import annotations

import datetime
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import ovsim
from ovsim import contract
from ovsim.addresses import without_addresses
from ovsim.dataset import fingerprint as fp
from ovsim.dataset import resources
from ovsim.dataset.layout import Settings
from ovsim.dataset.remote import Mirror, mirrored
from ovsim.dataset.schemas import schema
from ovsim.dataset.storage import StorageError, is_uri
from ovsim.diagnostic_codes import LOSSES
from ovsim.errors import OvsimError, SourceError

if TYPE_CHECKING:
    from ovsim.diagnostics import Diagnostic
    from ovsim.stage import Stage

Emit = Callable[[str, pa.Table], None]
_LONGEST = 4_000
_ATTEMPTS = 4
_MANY_ROWS = 100_000
_CLOCK_NS = 20_000_000


class ChangedError(SourceError):
    """A file of the stage kept changing while it was read."""


OUTCOMES = {
    "ok": "converted",
    "incomplete": "rows are there, but not what an arc of the stage names: it is missing, or leads back to itself",
    "error": "cannot be read or converted",
    "timeout": "took longer than --timeout",
    "memory": "needed more than --memory",
    "crashed": "ended its worker each time it was tried",
    "changed": "was written to each time it was read",
}
"""What may become of a stage, and what that means."""


def without_file(record: Mapping[str, Any]) -> str:
    """The message of a row of `files` for a place where the file's name stands already."""
    text, file = str(record["message"]), str(record["file"])
    return text[len(file) :].lstrip(": ") if text.startswith((f"{file}: ", f"{file} ")) else text


def blank(file: str, settings: Settings) -> dict[str, Any]:
    """A row of `files` before anything is known."""
    counts = dict.fromkeys(_COUNTS, 0)
    return {
        "file": file, "outcome": "ok", "cause": "", "message": "", "route": "", "route_reason": "", "prims": 0, **counts, "warnings": 0, "errors": 0,
        "seconds": 0.0, "peak_memory": 0, "attempts": 1, "size": 0, "content": "", "layers": [], "meters_per_unit": None, "up_axis": None,
        "level": settings.level, "rules": settings.rules, "contract": contract.VERSION, "ovsim": ovsim.__version__,
        "converted": datetime.datetime.now(datetime.timezone.utc),
    }  # fmt: skip


_COUNTS = ("joints", "limits", "drives", "physx_joints", "articulations", "links")


def convert_stage(file: str, settings: Settings, emit: Emit, seen: Callable[[list[fp.Layer]], None] = lambda layers: None) -> dict[str, Any]:
    """Convert one stage; returns its row of `files`.

    `file`: absolute path or URI. `emit(table, rows)` receives slices with the schemas of `ovsim.dataset.schemas`; when the outcome is neither `ok`
    nor `incomplete` the caller forgets them. `seen` receives the root's fingerprint before the stage is opened, so that a caller that kills this
    process still knows what was read. A stage's failure is its row's outcome; only StorageError, raised by `emit`, passes through.
    """
    record = blank(file, settings)
    started = time.perf_counter()
    resources.reset_peak()
    try:
        if "\\x" in file and not is_uri(file) and not os.path.lexists(file):
            raise SourceError(f"{file}: no such file, or its name is not UTF-8; rename it")
        with mirrored(file) as mirror:
            _convert(mirror, settings, emit, seen, record)
    except StorageError:
        raise
    except MemoryError:
        _failed(record, "memory", "MemoryError", "not enough memory for this stage; raise --memory or convert it alone")
    except ChangedError as e:
        _failed(record, "changed", type(e).__name__, str(e))
    except OvsimError as e:
        _failed(record, "error", type(e).__name__, str(e))
    except Exception as e:
        _failed(record, "error", type(e).__name__, f"unexpected {type(e).__name__}: {e} ({_where(e)})")
    if not record["layers"]:
        record_root(file, record)
    record["seconds"] = time.perf_counter() - started
    record["peak_memory"] = resources.peak()
    return record


def _convert(mirror: Mirror, settings: Settings, emit: Emit, seen: Callable[[list[fp.Layer]], None], record: dict[str, Any]) -> None:
    from ovsim.dataset import columns

    stage, layers = _steady(mirror, settings, seen)
    record_layers(record, layers)
    record.update(route=str(stage.metadata.get("route", "")), route_reason=str(stage.metadata.get("reason") or ""), prims=len(stage))
    record.update(meters_per_unit=stage.meters_per_unit, up_axis=_up_axis(stage))
    counts: Counter[str] = Counter()

    def give(pairs: Iterable[tuple[str, pa.Table]]) -> None:
        for table, rows in pairs:
            if rows.num_rows:
                counts[table] += rows.num_rows
                emit(table, rows)

    def tell(step: str, found: Iterable[Diagnostic]) -> None:
        rows = list(found)
        counts.update(d.severity for d in rows)
        give([("diagnostics", _diagnostics(record["file"], step, rows))])

    tell("populate", stage.diagnostics)
    if settings.level == "columns":
        record["joints"] = sum(len(a) for t in _joint_types(settings) for a in stage.with_type(t))
    give(columns.blocks(stage, record["file"], settings.custom_joints))
    if settings.level != "columns":
        _deeper(stage, settings, record["file"], give, tell)
    record.update({n: counts[n] for n in _COUNTS if n in counts}, warnings=counts["warning"], errors=counts["error"])
    broken = [d for d in stage.diagnostics if d.code in LOSSES]
    if broken:
        record.update(outcome="incomplete", cause=broken[0].code, message=_tidy(broken[0].message))


def _deeper(stage: Stage, settings: Settings, file: str, give: Callable[..., None], tell: Callable[..., None]) -> None:
    import consumer
    from ovsim.dataset import descriptors

    threads = _threads(stage)
    found = consumer.resolve(stage, rules=settings.rules, custom_types=settings.custom_joints, threads=threads)
    told = set(found.diagnostics)
    tell("resolve", found.diagnostics)
    give(descriptors.blocks(found, file))
    del found
    if settings.level == "physx":
        from ovsim.dataset import runtime

        view = consumer.physx_view(stage, custom_types=settings.custom_joints, threads=threads)
        tell("physx", (d for d in view.diagnostics if d not in told))
        give(runtime.blocks(view, file))


def _threads(stage: Stage) -> int:
    """Threads for the kernels of a stage: those that this process was given (`NUMBA_NUM_THREADS`), one where the rows are too few to share."""
    import numba

    return min(numba.get_num_threads(), os.cpu_count() or 1) if len(stage) >= _MANY_ROWS else 1


def _steady(mirror: Mirror, settings: Settings, seen: Callable[[list[fp.Layer]], None]) -> tuple[Stage, list[fp.Layer]]:
    """Populate, and make sure that the layers with these hashes are what was read; ChangedError when they never hold still."""
    from ovsim.api import open_stage

    if settings.route == "auto":
        import producer.crate.population  # noqa: F401  # its choice depends on whether this is loaded; the rows of a stage must not
    root = None
    known: dict[str, fp.Layer] = {}
    if not os.path.isdir(mirror.path):
        root = fp.fingerprint(mirror.origin(mirror.path), mirror.path)
        known[mirror.path] = fp.look(mirror.path)
        seen([root])
    moved: list[str] = []
    for attempt in range(_ATTEMPTS):
        begun = time.time_ns() - _CLOCK_NS
        files, kept = _early_layers(mirror.path)
        known |= {p: fp.look(p) for p in files if p not in known}
        stage = open_stage(mirror.path, route=settings.route, custom_joints=settings.custom_joints)
        del kept
        files = files or _layer_files(mirror.path, stage)
        now = {p: fp.look(p) for p in files}
        moved = [p for p in files if _moved(now[p], known.get(p), begun)]
        hashed = {p: root if p == mirror.path and root and not attempt else fp.fingerprint(mirror.origin(p), p) for p in files}
        moved += [p for p in files if p not in moved and fp.look(p) != now[p]]
        if not moved or is_uri(mirror.source):
            return stage, list(hashed.values())
        time.sleep(0.05 * 4**attempt)
        known = {p: fp.look(p) for p in files}
    raise ChangedError(f"{moved[0]} changed while it was read, {_ATTEMPTS} times in a row; convert again when it is finished")


def _moved(now: fp.Layer, before: fp.Layer | None, begun: int) -> bool:
    """Whether a file changed since it was looked at, or, when it never was, since the reading began by the clock."""
    return now != before if before is not None else max(now.mtime_ns, now.ctime_ns) >= begun


def _early_layers(path: str) -> tuple[list[str], list[Any]]:
    """Layers of a text stage, opened before and kept for the population, so that nothing is parsed twice; nothing for crates and snapshots."""
    return ([], []) if os.path.isdir(path) or fp.is_crate(path) else fp.layer_files(path)


def _layer_files(path: str, stage: Stage) -> list[str]:
    if os.path.isdir(path):
        return fp.snapshot_files(path)
    told = stage.metadata.get("layers")
    return list(dict.fromkeys((path, *map(fp.package, told)))) if told else fp.layer_files(path)[0]


def record_layers(record: dict[str, Any], layers: list[fp.Layer]) -> None:
    """Note the layers of a stage, the root first."""
    record.update(layers=[vars(x) for x in layers], size=layers[0].size, content=fp.content(layers))


def record_root(file: str, record: dict[str, Any]) -> None:
    """What is known of a stage that failed early: its root, so that the next run sees whether it changed."""
    try:
        layer = fp.fingerprint(file) if not is_uri(file) else fp.look(file)
    except (OvsimError, OSError):
        layer = fp.Layer(file)
    record_layers(record, [layer])


def _failed(record: dict[str, Any], outcome: str, cause: str, message: str) -> None:
    record.update(outcome=outcome, cause=cause, message=_tidy(message), warnings=0, errors=0, **dict.fromkeys(_COUNTS, 0))


def _tidy(text: str) -> str:
    """A message without the addresses of objects in memory, so that the same stage gives the same rows every time; of a bearable length."""
    plain = without_addresses(text).encode("utf-8", "replace").decode()
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 4] + " ..."


def _diagnostics(file: str, step: str, rows: list[Diagnostic]) -> pa.Table:
    texts = [[_tidy(getattr(d, n)) for d in rows] for n in ("code", "severity", "path", "column", "message")]
    arrays = [pa.array([v] * len(rows), pa.string()) for v in (file, step)]
    return pa.Table.from_arrays([*arrays, *(pa.array(t, pa.string()) for t in texts)], schema=schema("diagnostics"))


def _joint_types(settings: Settings) -> tuple[str, ...]:
    from ovsim.contract.joints import JOINT_TYPES

    return (*JOINT_TYPES, *settings.custom_joints)


def _up_axis(stage: Stage) -> str | None:
    hit = stage.find("/")
    name = "usd-metadata:upAxis"
    if hit is None or name not in hit[0]:
        return None
    return stage.paths.token_string(int(hit[0].values(name)[hit[1]]))


def _where(error: BaseException) -> str:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "no frame"
