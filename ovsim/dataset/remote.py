"""Stages behind URIs: the file and the layers that it names are copied into a local mirror, since USD opens local files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from ovsim.dataset.fingerprint import direct_layers, package
from ovsim.dataset.storage import filesystem, is_uri
from ovsim.errors import SourceError


@dataclass(frozen=True)
class Mirror:
    """A source on the local disk. `path` is what to open; `base` is the URI for which the directory `root` stands ("" when nothing was copied)."""

    source: str
    path: str
    root: str = ""
    base: str = ""

    def origin(self, path: str) -> str:
        """The URI of a local copy; a path that is no copy stays."""
        return self.base + path[len(self.root) :].replace(os.sep, "/") if self.root and path.startswith(self.root + os.sep) else path


@contextmanager
def mirrored(source: str) -> Iterator[Mirror]:
    """A source as a local file: itself when it is a path, else copied with its layers while the block runs. SourceError when it cannot be read."""
    if not is_uri(source):
        yield Mirror(source, source)
        return
    root = tempfile.mkdtemp(prefix="ovsim-mirror-")
    try:
        scheme, _, rest = source.partition("://")
        mirror = Mirror(source, os.path.join(root, *rest.split("/")), root, f"{scheme}://" if rest.startswith("/") else f"{scheme}:/")
        if not _fetch(mirror, mirror.path):
            raise SourceError(f"{source} does not exist")
        seen = {mirror.path}
        queue = [mirror.path]
        while queue:
            for target in direct_layers(queue.pop())[1]:
                file = package(target)
                if file not in seen and file.startswith(root + os.sep):
                    seen.add(file)
                    if _fetch(mirror, file):
                        queue.append(target)
        yield mirror
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _fetch(mirror: Mirror, path: str) -> bool:
    """Copy one file into the mirror; False when it does not exist."""
    name = mirror.origin(path)
    fs, where = filesystem(name)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with fs.open_input_stream(where) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except FileNotFoundError:
        return False
    except (OSError, pa.ArrowException) as e:
        raise SourceError(f"{name} cannot be read: {e}") from e
    return True
