"""Writing one part of a dataset: a directory with one Parquet file a table, and the group of finished stages that goes into it."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ovsim.dataset.schemas import schema, tables
from ovsim.dataset.storage import Storage, StorageError

ROW_GROUP = 131_072
BIG = 64 << 20  # Arrow bytes from which a stage gets a part of its own, written as it comes
FULL = 64 << 20  # Arrow bytes in a group that make it due
MANY = 1_000  # stages in a group that make it due
STAGING, PARTS, FILES = "_staging", "parts", "files.parquet"


def file_rows(records: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows of the `files` table."""
    return pa.Table.from_pylist([dict(r) for r in records], schema=schema("files"))


class PartWriter:
    """Writes the tables of one part, `files` excepted: that file is the commit, made by the run's one committer.

    Every table of the level gets a file, empty or not, so that each exists from the first part on. StorageError when the output refuses.
    """

    def __init__(self, storage: Storage, place: str, level: str) -> None:
        self.storage = storage
        self.place = place
        self._names = tables(level)[:-1]
        self._writers: dict[str, tuple[pq.ParquetWriter, Any]] = {}
        with _refusal(self.storage):
            storage.make(place)

    def write(self, table: str, rows: pa.Table) -> None:
        with _refusal(self.storage):
            self._writer(table).write_table(rows, row_group_size=ROW_GROUP)

    def close(self) -> None:
        """Finish every file and bring it to the disk."""
        with _refusal(self.storage):
            for name in self._names:
                self._writer(name).close()
            for _, sink in self._writers.values():
                sink.close()
            if self.storage.local:
                for name in self._names:
                    sync(self.storage.path(self.place, f"{name}.parquet"))

    def abort(self) -> None:
        for writer, sink in self._writers.values():
            try:
                writer.close()
                sink.close()
            except (OSError, pa.ArrowException, ValueError):
                continue  # a full disk refuses the footer too; the directory goes anyway
        with _refusal(self.storage):
            self.storage.remove(self.place)

    def _writer(self, table: str) -> pq.ParquetWriter:
        if table not in self._writers:
            sink = self.storage.fs.open_output_stream(self.storage.path(self.place, f"{table}.parquet"))
            self._writers[table] = pq.ParquetWriter(sink, schema(table), compression="zstd"), sink
        return self._writers[table][0]


class Group:
    """Finished stages on their way into a part, and the stage that is being converted.

    A stage's rows join the group only when the stage is done, so one that fails half-way leaves nothing. A stage of more than `BIG` bytes is
    written through into a part of its own.
    """

    def __init__(self, storage: Storage, level: str, prefix: str) -> None:
        self.records: list[dict[str, Any]] = []
        self.seconds = 0.0
        self._storage = storage
        self._level = level
        self._prefix = prefix
        self._number = 0
        self._rows: dict[str, list[pa.Table]] = {}
        self._bytes = 0
        self._stage: list[tuple[str, pa.Table]] = []
        self._stage_bytes = 0
        self._solo: PartWriter | None = None

    def add(self, table: str, rows: pa.Table) -> None:
        """Take rows of the current stage."""
        if self._solo is not None:
            self._solo.write(table, rows)
            return
        self._stage.append((table, rows))
        self._stage_bytes += rows.nbytes
        if self._stage_bytes > BIG:
            self._solo = PartWriter(self._storage, self._place(), self._level)
            held, self._stage = self._stage, []
            for name, each in held:
                self._solo.write(name, each)

    def fail(self) -> None:
        """Forget the rows of the current stage."""
        self._stage, self._stage_bytes = [], 0
        if self._solo is not None:
            solo, self._solo = self._solo, None
            solo.abort()

    def finish(self, record: dict[str, Any]) -> tuple[str, list[dict[str, Any]]] | None:
        """End the current stage with its row of `files`; returns (place, records) when it got a part of its own."""
        if self._solo is not None:
            solo, self._solo = self._solo, None
            self._stage_bytes = 0
            try:
                solo.close()
            except StorageError:
                solo.abort()
                raise
            return solo.place, [record]
        for name, rows in self._stage:
            self._rows.setdefault(name, []).append(rows)
        self._bytes += self._stage_bytes
        self._stage, self._stage_bytes = [], 0
        self.records.append(record)
        self.seconds += record["seconds"]
        return None

    def due(self, patience: float) -> bool:
        """Whether the group should be written: it is big, or its stages took more than `patience` seconds."""
        return bool(self.records) and (self._bytes >= FULL or len(self.records) >= MANY or self.seconds >= patience)

    def flush(self) -> tuple[str, list[dict[str, Any]]] | None:
        """Write the group into a new part and empty it; (place, records), None when there was nothing."""
        if not self.records:
            return None
        writer = PartWriter(self._storage, self._place(), self._level)
        try:
            for name in sorted(self._rows):
                writer.write(name, pa.concat_tables(self._rows[name]).combine_chunks())
            writer.close()
        except StorageError:
            writer.abort()
            raise
        out = writer.place, self.records
        self.records, self._rows, self._bytes, self.seconds = [], {}, 0, 0.0
        return out

    def _place(self) -> str:
        self._number += 1
        return staged(self._storage, f"{self._prefix}-{self._number:05d}")


def staged(storage: Storage, name: str) -> str:
    """Where an uncommitted part is written: aside when the storage can rename directories, else in its place (its `files` comes last)."""
    return f"{STAGING}/{name}" if storage.local else f"{PARTS}/{name}"


def run_name() -> str:
    """A new, sortable name for a run."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.urandom(3).hex()}"


def sync(path: str) -> None:
    """Bring a local file or directory to the disk, where the system lets us."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as e:
        if e.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
    finally:
        os.close(handle)


class _refusal:  # noqa: N801
    """Turns what a file system raises into StorageError."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, StorageError):
            raise refused(self._storage, error) from error


def refused(storage: Storage, error: BaseException) -> StorageError:
    return StorageError(f"cannot write into {storage.uri}: {error}; what is committed stays valid, make room or mend the place and run again")
