"""Files that appear whole or not at all, and values that JSON can hold."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ovsim.errors import OvsimError

if TYPE_CHECKING:
    import pyarrow as pa


def jsonable(value: Any) -> Any:
    """A value whose non-finite floats are the strings "inf", "-inf" and "nan" (JSON has no such numbers)."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {k: jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    return value


def umask() -> int:
    """The process's file mode mask."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A path to write to, in the same directory; renamed to `file` when the block ends well. OvsimError when the disk refuses."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        os.close(handle)
        aside = Path(name)
        try:
            yield aside
            aside.chmod(0o666 & ~umask())
            os.replace(aside, file)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as e:
        raise OvsimError(f"cannot write {file}: {e}") from e


def write_file(file: Path, data: bytes) -> None:
    """Write one file whole. OvsimError when the disk refuses."""
    with whole(file) as aside:
        aside.write_bytes(data)


def write_directory(directory: Path, tables: Mapping[str, pa.Table], format: str) -> None:
    """Write each table as NAME.parquet, or NAME.json where `format` is json, each file whole. OvsimError when the disk refuses."""
    import pyarrow.parquet as pq

    for name, table in tables.items():
        if format == "json":
            write_file(directory / f"{name}.json", (json.dumps(jsonable(table.to_pylist()), indent=1) + "\n").encode())
        else:
            with whole(directory / f"{name}.parquet") as aside:
                pq.write_table(table, aside)
