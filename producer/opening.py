"""Opening a stage through pxr: clear errors, and every USD complaint as a diagnostic row instead of text on stderr."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pxr import Tf, Usd, UsdUtils

from ovsim import complaints
from ovsim.addresses import without_addresses
from ovsim.diagnostics import Diagnostics
from ovsim.errors import SourceError
from ovsim.packages import package_fault

_CODES = (
    (
        "unresolved-reference",
        re.compile(r"Could not open asset|Unresolved (reference|payload|sublayer) prim path|Failed to open layer|Could not load sublayer"),
    ),
    ("reference-cycle", re.compile(r"[Cc]ycle")),
    ("transform-op-skipped", re.compile(r"xformOp", re.IGNORECASE)),
)
_TOLD_BY_ROWS = re.compile(r"API schema '.*' can not be added")  # `producer.dropped` names the prims, which USD does not
_ASSET = re.compile(r"Could not open asset @([^@]+)@")
_PATH = re.compile(r"<(/[^>]*)>")


@contextmanager
def quiet(diagnostics: Diagnostics) -> Iterator[None]:
    """Within the block USD's warnings and errors go to `diagnostics`; the same message once."""
    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        yield
    finally:
        messages = [complaints.text(d) for d in delegate.TakeUncoalescedDiagnostics()]
        del delegate
        note(messages, diagnostics)


def note(messages: Iterable[str], diagnostics: Diagnostics) -> None:
    """Add USD messages as rows, each once, sorted: USD composes in parallel and reports in any order."""
    for message in sorted({without_addresses(m) for m in messages if not _TOLD_BY_ROWS.search(m)}):
        code = code_of(message)
        fault = _fault_of_asset(message) if code == "unresolved-reference" else ""
        diagnostics.add(code, "warning", f"{message} ({fault})" if fault else message, path_of(message))


def code_of(message: str) -> str:
    """Diagnostic code of a USD message, "usd-warning" when it is none of the known kinds."""
    return next((code for code, pattern in _CODES if pattern.search(message)), "usd-warning")


def path_of(message: str) -> str:
    """The first prim path that a USD message names, "" when it names none."""
    found = _PATH.search(message)
    return found.group(1).partition(".")[0].partition("{")[0] if found else ""


def open_stage(source: Any, diagnostics: Diagnostics) -> tuple[Any, str]:
    """The pxr stage and its name. `source` is a path or a stage that is open already; SourceError when it cannot be opened.

    USD told of composition errors when it opened the stage, so for an open one they are asked for.
    """
    if isinstance(source, Usd.Stage):
        note(map(complaints.text, source.GetCompositionErrors()), diagnostics)
        return source, str(source.GetRootLayer().identifier)
    name = os.fspath(source)
    check_file(Path(name))
    try:
        stage = Usd.Stage.Open(name)
    except Tf.ErrorException as e:
        raise SourceError(f"{name} is not a readable USD stage: {complaints.reason(e, name)}") from None
    except (RuntimeError, ValueError, MemoryError) as e:
        raise SourceError(f"{name} is not a readable USD stage: {without_addresses(str(e))}") from None
    if stage is None:
        raise SourceError(f"{name} is not a readable USD stage")
    return stage, name


def check_file(path: Path) -> None:
    if not path.exists():
        raise SourceError(f"{path} does not exist; give a .usd, .usda, .usdc or .usdz file")
    if path.is_dir():
        raise SourceError(f"{path} is a directory, not a USD stage")
    try:
        with path.open("rb") as f:
            empty = not f.read(1)
    except OSError as e:
        raise SourceError(f"{path} cannot be read: {e.strerror or e}") from None
    if empty:
        raise SourceError(f"{path} is empty, not a USD stage")


def _fault_of_asset(message: str) -> str:
    """What is wrong with the package that an arc names, "" when it is no package or not there."""
    found = _ASSET.search(message)
    return package_fault(found.group(1)) if found and os.path.isfile(found.group(1)) else ""
