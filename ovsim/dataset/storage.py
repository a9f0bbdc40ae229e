"""Where bytes live: a local directory or any `pyarrow.fs` / fsspec URI behind one small interface."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from ovsim.errors import OvsimError, SourceError

ASIDE = ".aside"
"""Ending of a local file that is being written; one that a killed process left counts for nothing."""
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")


class StorageError(OvsimError):
    """The output cannot be written or read: no space, no permission, an unknown URI. The converted part of a dataset stays valid."""


def is_uri(text: str) -> bool:
    """Whether a text is a URI with a scheme of two letters or more (so that `C:` stays a drive); `file://` counts as one."""
    return bool(_SCHEME.match(text))


def filesystem(uri: str) -> tuple[pafs.FileSystem, str]:
    """File system and path of a URI: pyarrow's own, else fsspec's when that is installed. SourceError for a scheme that neither knows."""
    try:
        fs, path = pafs.FileSystem.from_uri(uri)
        return fs, str(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as first:
        try:
            import fsspec
        except ImportError:
            raise SourceError(f"{uri}: pyarrow cannot open this URI ({first}); `pip install 'ovsim[remote]'` adds fsspec's schemes") from first
        try:
            handler, path = fsspec.core.url_to_fs(uri)
        except (ValueError, ImportError) as e:
            raise SourceError(f"{uri}: no file system for this URI: {e}") from e
        return pafs.PyFileSystem(pafs.FSSpecHandler(handler)), str(path)
    except OSError as e:
        raise SourceError(f"{uri}: {e}") from e


def local_path(text: str) -> str | None:
    """The absolute local path that a path or `file://` URI names, None for other URIs."""
    if not is_uri(text):
        return os.path.abspath(text)
    if text.startswith("file://"):
        return os.path.abspath(str(pafs.FileSystem.from_uri(text)[1]))
    return None


@dataclass(frozen=True)
class Storage:
    """A directory, local (`root` is a path) or behind a file system. Names given to the methods are relative and use `/`."""

    uri: str
    fs: pafs.FileSystem
    root: str
    local: bool

    @staticmethod
    def at(text: str | os.PathLike[str]) -> Storage:
        """The directory that a path or URI names; nothing is created."""
        text = os.fspath(text)
        path = local_path(text)
        if path is not None:
            return Storage(path, pafs.LocalFileSystem(), path, True)
        fs, root = filesystem(text)
        return Storage(text.rstrip("/"), fs, root.rstrip("/"), False)

    def path(self, *names: str) -> str:
        return "/".join((self.root, *names))

    def exists(self, name: str) -> bool:
        return self.fs.get_file_info(self.path(name)).type != pafs.FileType.NotFound

    def list(self, name: str) -> Iterator[str]:
        """Names directly below a directory, sorted; nothing when it does not exist."""
        got = self.fs.get_file_info(pafs.FileSelector(self.path(name), allow_not_found=True))
        return iter(sorted(i.base_name for i in got))

    def make(self, name: str) -> None:
        self.fs.create_dir(self.path(name), recursive=True)

    def remove(self, name: str) -> None:
        """Remove a directory and what is in it; fine when it is gone already."""
        if self.local:
            shutil.rmtree(self.path(name), ignore_errors=True)
        elif self.exists(name):
            self.fs.delete_dir(self.path(name))

    def read(self, name: str) -> bytes:
        with self.fs.open_input_stream(self.path(name)) as f:
            return bytes(f.read())

    def write(self, name: str, data: bytes) -> None:
        """Write a file that appears whole: aside and renamed when local, one object when not."""
        if not self.local:
            with self.fs.open_output_stream(self.path(name)) as f:
                f.write(data)
            return
        target = self.path(name)
        aside = f"{target}.{os.getpid()}{ASIDE}"
        try:
            with open(aside, "wb") as f:
                f.write(data)
                f.flush()
                os.fsync(f.fileno())
            os.replace(aside, target)
        finally:
            if os.path.exists(aside):
                os.unlink(aside)

    def __getstate__(self) -> dict[str, Any]:
        return {"uri": self.uri}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(Storage.at(state["uri"]).__dict__)
