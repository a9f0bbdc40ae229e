"""The automatic route: columnar where its result is proved and pays, through pxr otherwise; the stage says which and why.

A small file that brings in no other content is read through pxr: loading the columnar reader's kernels would take longer than the whole population.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ovsim.stage import Stage
from producer import composed
from producer.spool import Spool

SMALL = 48 << 10  # bytes of a file that pxr populates faster than kernels load, in a process that has not loaded them yet
_ARCS = (b"references", b"payload", b"subLayers", b"inheritPaths", b"inherits", b"specializes", b"variantSelection")


def populate(source: str | os.PathLike[str] | Any, *, custom_joints: Sequence[str] = (), spool: Spool | None = None) -> Stage:
    """See `producer.populate`. SourceError when the file is missing or unreadable, CrateError when a .usdc file is corrupt."""
    reason = _better_composed(source)
    if not reason:
        from producer.crate import population
        from producer.crate.errors import Unprovable

        try:
            return _told(population.populate(source, custom_joints=custom_joints, spool=spool), "read columnar")
        except Unprovable as e:
            reason = e.reason
    stage = composed.populate(source, custom_joints=custom_joints, spool=spool)
    stage.metadata["reason"] = reason
    return _told(stage, "read through pxr")


def _told(stage: Stage, how: str) -> Stage:
    stage.diagnostics.add("route", "info", f"{how}: {stage.metadata['reason']}")
    return stage


def _better_composed(source: Any) -> str:
    """Why the composed route is taken without trying, "" when the columnar one is to be tried."""
    if not isinstance(source, (str, os.PathLike)):
        return "the source is an open stage"
    try:
        if os.path.getsize(source) > SMALL or _kernels_are_loaded():
            return ""
        with open(source, "rb") as f:
            data = f.read(SMALL)
    except OSError:
        return "the file cannot be read as it is"
    from producer.crate.layout import is_crate

    texts = _tokens(data) if is_crate(data) else data
    return "" if texts is None or any(arc in texts for arc in _ARCS) else "the file is small and stands alone"


def _kernels_are_loaded() -> bool:
    import sys

    return "producer.crate.population" in sys.modules


def _tokens(data: bytes) -> bytes | None:
    """Texts of a crate file's tokens, None when they cannot be had without the kernels."""
    import pyarrow as pa

    from ovsim.errors import CrateError
    from producer.crate.buffer import Buffer
    from producer.crate.layout import read_layout

    try:
        buffer = Buffer(data)
        start = read_layout(buffer)["TOKENS"].start
        plain, packed = buffer.u64(start + 8, "tokens"), buffer.u64(start + 16, "tokens")
        block = buffer.span(start + 24, packed, "tokens")
        if packed < 2 or block[0] != 0 or plain > 255 * packed:
            return None
        return bytes(pa.Codec("lz4_raw").decompress(pa.py_buffer(block[1:]), plain))
    except (CrateError, OSError):
        return None
