"""The dataset on disk: what is committed, how a part appears, how an earlier state is found again.

    DATASET/dataset.json            format, level, rules
    DATASET/parts/PART/TABLE.parquet   every table of the level; `files.parquet` has a row for each stage of the part
    DATASET/_staging/               parts being written; nothing here counts
    DATASET/report.html             of the last run

A part holds whole stages, and counts when its `files.parquet` is there. On a local file system it is written aside and appears by one rename; in an
object store `files.parquet` is put last. Only the process that started the run commits, so workers that outlive it can add nothing. When stages of a
part are converted anew, the part is first written again without them; the new part names the one it replaces, so a run killed in between leaves no
stage twice: the replaced one is ignored by readers and removed by the next run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ovsim.dataset.parts import FILES, PARTS, STAGING, PartWriter, file_rows, refused, run_name, staged, sync
from ovsim.dataset.schemas import FORMAT, FORMAT_VERSION, LEVELS, schema, tables
from ovsim.dataset.storage import ASIDE, Storage, StorageError
from ovsim.errors import OvsimError

MANIFEST = "dataset.json"
_LOCK = "_lock"


class DatasetError(OvsimError):
    """A directory is no dataset, is one of another format, level or rules, or is being written by another run."""


@dataclass(frozen=True)
class Settings:
    """What the rows of a dataset depend on, besides the stages."""

    level: str = "physx"
    rules: str = "contract-0.6"
    route: str = "auto"
    custom_joints: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        return {"level": self.level, "rules": self.rules, "route": self.route, "custom_joints": list(self.custom_joints)}


@dataclass(frozen=True)
class Layout:
    """A dataset directory with its settings."""

    storage: Storage
    settings: Settings

    @staticmethod
    def create(where: str | os.PathLike[str], settings: Settings) -> Layout:
        """Open a dataset for writing, make it when the place is empty. DatasetError when something else stands there or its settings differ."""
        storage = Storage.at(where)
        try:
            if storage.exists(MANIFEST):
                old = Layout.open(where)
                if old.settings != settings:
                    raise DatasetError(f"{storage.uri} was made with {_differ(old.settings, settings)}; choose another --out or the same settings")
                storage.make(PARTS)  # a run may have been ended between the two
                return old
            names = [n for n in storage.list("") if n != _LOCK and not n.endswith(ASIDE)]
            if names:
                raise DatasetError(f"{storage.uri} exists and is no ovsim dataset (it has {names[0]}); choose another directory")
            storage.make("")
            document = {"format": FORMAT, "version": FORMAT_VERSION, **settings.document()}
            storage.write(MANIFEST, json.dumps(document, indent=1).encode())
            storage.make(PARTS)
        except OSError as e:
            raise refused(storage, e) from e
        return Layout(storage, settings)

    @staticmethod
    def open(where: str | os.PathLike[str]) -> Layout:
        """Open a dataset for reading; DatasetError when it is none."""
        storage = Storage.at(where)
        try:
            document = json.loads(storage.read(MANIFEST))
            if document["format"] != FORMAT:
                raise DatasetError(f"{storage.uri} is not an ovsim dataset")
            if document["version"] != FORMAT_VERSION:
                raise DatasetError(f"{storage.uri} has dataset format {document['version']}, this ovsim reads {FORMAT_VERSION}; convert again")
            settings = Settings(document["level"], document["rules"], document["route"], tuple(document["custom_joints"]))
            if settings.level not in LEVELS:
                raise DatasetError(f"{storage.uri}: {MANIFEST} names an unknown level {settings.level!r}")
        except FileNotFoundError:
            raise DatasetError(f"{storage.uri} holds no {MANIFEST}, so it is no ovsim dataset") from None
        except (OSError, ValueError, KeyError, TypeError) as e:
            raise DatasetError(f"{storage.uri}: {MANIFEST} cannot be read: {e!r}") from e
        return Layout(storage, settings)

    # -- reading ---------------------------------------------------------------------------------------------------

    def parts(self) -> list[str]:
        """Names of the parts that count, in the order of their making."""
        replaced: set[str] = set()
        found = []
        for name in self.storage.list(PARTS):
            if self.storage.exists(f"{PARTS}/{name}/{FILES}"):
                found.append(name)
                replaced.update(_about(self._footer(name)).get("replaces", ()))
        return [n for n in found if n not in replaced]

    def files(self, table: str) -> list[str]:
        """Paths (in the storage's file system) of a table's Parquet files; DatasetError when the level has no such table."""
        if table not in tables(self.settings.level):
            raise DatasetError(f"a dataset of level {self.settings.level} has no table {table!r}; it has {', '.join(tables(self.settings.level))}")
        return [self.storage.path(PARTS, n, f"{table}.parquet") for n in self.parts()]

    def records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(part, row of `files`) of every stage."""
        for name in self.parts():
            with self.storage.fs.open_input_file(self.storage.path(PARTS, name, FILES)) as f:
                for row in pq.read_table(f).to_pylist():
                    yield name, row

    # -- writing ---------------------------------------------------------------------------------------------------

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other runs out of a local dataset while this one writes; DatasetError when one is at work. URIs have no lock."""
        if not self.storage.local:
            yield
            return
        try:
            import fcntl
        except ImportError:  # Windows
            yield
            return
        try:
            handle = os.open(self.storage.path(_LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as e:
            raise refused(self.storage, e) from e
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as e:
                raise DatasetError(f"another run is writing {self.storage.uri}; wait for it, or end it and run again") from e
            yield
        finally:
            os.close(handle)

    def sweep(self) -> None:
        """Remove what an interrupted run left: parts and files in the making, parts without `files.parquet`, replaced parts."""
        self.sweep_staging()
        for name in self.storage.list(""):
            if self.storage.local and name.endswith(ASIDE):
                self._guard(partial(os.unlink, self.storage.path(name)))
        live = set(self.parts())
        for name in list(self.storage.list(PARTS)):
            if name not in live:
                self.remove(name)

    def sweep_staging(self) -> None:
        """Remove the parts in the making."""
        self._guard(lambda: self.storage.remove(STAGING))

    def commit(self, place: str, records: Iterable[Mapping[str, Any]], replaces: Iterable[str] = ()) -> str:
        """Make a written part count; returns its name. Before this call nothing of it is in the dataset, after it everything is."""
        name = place.rpartition("/")[2]
        about = {**_about(schema("files")), "replaces": sorted(replaces)}
        rows = file_rows(records).replace_schema_metadata({"ovsim": json.dumps(about, sort_keys=True)})
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink, compression="zstd")

        def put() -> None:
            self.storage.write(f"{place}/{FILES}", sink.getvalue().to_pybytes())
            if self.storage.local:
                sync(self.storage.path(place))
                os.rename(self.storage.path(place), self.storage.path(PARTS, name))
                sync(self.storage.path(PARTS))

        self._guard(put)
        return name

    def remove(self, name: str) -> None:
        """Take a part out: it stops counting at once, its files go after."""

        def out() -> None:
            where = f"{PARTS}/{name}"
            if self.storage.local:
                self.storage.make(STAGING)
                trash = self.storage.path(STAGING, f"{run_name()}-trash")
                os.rename(self.storage.path(where), trash)
                self.storage.remove(trash[len(self.storage.root) + 1 :])
                return
            if self.storage.exists(f"{where}/{FILES}"):
                self.storage.fs.delete_file(self.storage.path(where, FILES))
            self.storage.remove(where)

        self._guard(out)

    def drop(self, stale: Mapping[str, set[str]]) -> None:
        """Take stages out: `stale` gives for each part the files whose rows go. What else the part holds is written again first."""
        for name, files in sorted(stale.items()):
            with self.storage.fs.open_input_file(self.storage.path(PARTS, name, FILES)) as f:
                rows = pq.read_table(f).to_pylist()
            kept = [r for r in rows if r["file"] not in files]
            if kept:
                self._rewrite(name, kept)
            self.remove(name)

    def _rewrite(self, name: str, kept: list[dict[str, Any]]) -> None:
        writer = PartWriter(self.storage, staged(self.storage, f"{run_name()}-kept"), self.settings.level)
        wanted = pa.array([r["file"] for r in kept], pa.string())
        for table in tables(self.settings.level)[:-1]:
            with self.storage.fs.open_input_file(self.storage.path(PARTS, name, f"{table}.parquet")) as f:
                reader = pq.ParquetFile(f)
                for group in range(reader.num_row_groups):
                    rows = reader.read_row_group(group)
                    writer.write(table, rows.filter(pc.is_in(rows["file"], wanted)))
        writer.close()
        self.commit(writer.place, kept, (name,))

    def _footer(self, name: str) -> pa.Schema:
        try:
            with self.storage.fs.open_input_file(self.storage.path(PARTS, name, FILES)) as f:
                return pq.read_schema(f)
        except (OSError, pa.ArrowException) as e:
            raise DatasetError(f"{self.storage.uri}: part {name} is damaged ({e}); remove that directory and convert again") from e

    def _guard(self, act: Any) -> None:
        try:
            act()
        except OSError as e:
            if isinstance(e, StorageError):
                raise
            raise refused(self.storage, e) from e


def _about(described: pa.Schema) -> dict[str, Any]:
    got: dict[str, Any] = json.loads((described.metadata or {}).get(b"ovsim", b"{}"))
    return got


def _differ(old: Settings, new: Settings) -> str:
    pairs = ((k, v, new.document()[k]) for k, v in old.document().items() if v != new.document()[k])
    return ", ".join(f"{k} {v!r}, not {n!r}" for k, v, n in pairs)
