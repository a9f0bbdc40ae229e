"""What a worker does before its first stage, so that no stage pays for it: imports, and every kernel loaded, or compiled where none is on the disk.

A small stage of the package, with joints of every type in and out of an articulation, goes through each reader as any stage would. Compiling takes
about a minute, once for an installation; workers that start together take turns at it, so that one compiles and the others load.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from ovsim.dataset.layout import Settings

STAGE = Path(__file__).parent / "data" / "warm.usda"


def warm(settings: Settings) -> None:
    """Load everything that stages of these settings need; raises what a broken installation raises."""
    import pyarrow.parquet  # noqa: F401

    from ovsim.dataset.stage import convert_stage

    with nullcontext() if settings.level == "columns" and settings.route == "composed" else _turns():
        for reader in ("crate", "composed") if settings.route == "auto" else (settings.route,):
            convert_stage(str(STAGE), replace(settings, route=reader), lambda table, rows: None)


@contextmanager
def _turns() -> Iterator[None]:
    """From the first kernel that has to be compiled until the end, keep other processes of this installation from compiling."""
    from ovsim.jit import at

    try:
        import fcntl
    except ImportError:  # Windows: each compiles for itself
        yield
        return
    if not hasattr(at, "py_func"):  # interpreted
        yield
        return
    from numba.core import event

    held: list[int] = []

    class Turn(event.Listener):
        def on_start(self, event: event.Event) -> None:
            if held:
                return
            try:
                held.append(os.open(STAGE.parent, os.O_RDONLY | os.O_CLOEXEC))
                fcntl.flock(held[0], fcntl.LOCK_EX)
            except OSError:
                return  # a file system without locks: each compiles for itself

        def on_end(self, event: event.Event) -> None:
            return

    with event.install_listener("numba:compile", Turn()):
        try:
            yield
        finally:
            for handle in held:
                os.close(handle)
