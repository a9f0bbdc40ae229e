"""Content addressing: which files a stage was made of, their hashes, and whether they still are what they were."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from ovsim.dataset.sources import SNAPSHOT
from ovsim.dataset.storage import filesystem, is_uri
from ovsim.errors import SourceError

_BLOCK = 1 << 20
_UNSETTLED_NS = 1_000_000_000


@dataclass(frozen=True)
class Layer:
    """One file of a stage: path or URI, size in bytes, times in ns (0 = not to be trusted), BLAKE2b hash in hex ("" = the file did not exist)."""

    path: str
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    hash: str = ""

    @property
    def times(self) -> tuple[int, int, int]:
        return self.size, self.mtime_ns, self.ctime_ns


LAYER_TYPE = pa.struct(
    [
        pa.field("path", pa.string()),
        pa.field("size", pa.int64(), metadata={"unit": "byte"}),
        pa.field("mtime_ns", pa.int64(), metadata={"unit": "ns"}),
        pa.field("ctime_ns", pa.int64(), metadata={"unit": "ns"}),
        pa.field("hash", pa.string()),
    ]
)


def look(path: str) -> Layer:
    """A file's size and times without its hash, a missing one as such. SourceError when it is neither a file nor missing (a pipe, a device)."""
    if is_uri(path):
        fs, where = filesystem(path)
        info = fs.get_file_info(where)
        if info.type == pafs.FileType.NotFound:
            return Layer(path)
        return Layer(path, info.size or 0, info.mtime_ns or 0, info.mtime_ns or 0)
    try:
        got = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return Layer(path)
    except (OSError, ValueError) as e:
        raise SourceError(f"{path}: {e}") from e
    if not stat.S_ISREG(got.st_mode):
        kind = "a named pipe" if stat.S_ISFIFO(got.st_mode) else "a directory" if stat.S_ISDIR(got.st_mode) else "a device or socket"
        raise SourceError(f"{path} is {kind}, not a stage file")
    return Layer(path, got.st_size, got.st_mtime_ns, got.st_ctime_ns)


def fingerprint(path: str, copy: str | None = None) -> Layer:
    """A file with its hash; `copy` is where a URI's bytes lie locally.

    Times of the last second are stored as 0: a later write could leave them as they are, so the next run compares the hash instead.
    """
    before = look(path)
    here = copy or path
    try:
        with open(here, "rb") as f:
            digest = hashlib.blake2b(digest_size=16)
            while block := f.read(_BLOCK):
                digest.update(block)
    except FileNotFoundError:
        return Layer(path)
    except OSError as e:
        raise SourceError(f"{path} cannot be read: {e}") from e
    settled = max(before.mtime_ns, before.ctime_ns) < time.time_ns() - _UNSETTLED_NS
    times = (before.mtime_ns, before.ctime_ns) if settled else (0, 0)
    return Layer(path, before.size, *times, digest.hexdigest())


def content(layers: Sequence[Layer]) -> str:
    """Hash over the layers of a stage, the root first: equal when every file has the same place and bytes."""
    digest = hashlib.blake2b(digest_size=16)
    for layer in (*layers[:1], *sorted(layers[1:], key=lambda x: x.path)):
        digest.update(f"{layer.path}\0{layer.hash}\n".encode())
    return digest.hexdigest()


def unchanged(layers: Iterable[Mapping[str, Any]]) -> bool:
    """Whether every recorded file is what it was. Files whose size and times are as recorded are believed; the others are hashed."""
    try:
        return all(_same(Layer(**layer)) for layer in layers)
    except (SourceError, OSError):
        return False


def _same(old: Layer) -> bool:
    now = look(old.path)
    if not old.hash:
        return now == old
    if old.mtime_ns and now.times == old.times:
        return True
    if now.size != old.size or (not now.mtime_ns and not now.size):
        return False
    if is_uri(old.path):
        return False
    return fingerprint(old.path).hash == old.hash


def snapshot_files(directory: str) -> list[str]:
    """Every file of a snapshot, its manifest first."""
    names = sorted(n for n in os.listdir(directory) if n != SNAPSHOT and os.path.isfile(os.path.join(directory, n)))
    return [os.path.join(directory, n) for n in (SNAPSHOT, *names)]


def layer_files(root: str) -> tuple[list[str], list[Any]]:
    """Local files that a stage file can be composed of, and the open layers: while these are kept, opening the stage does not parse them again.

    The files are the root itself, then all that its sublayers, references and payloads name in any variant, existing or not, so that the appearance
    of a missing one counts as a change. Textures and other assets are not layers.
    """
    found: dict[str, None] = {root: None}
    queue = [root]
    kept = []
    while queue:
        layer, targets = direct_layers(queue.pop())
        kept.append(layer)
        for target in targets:
            if target not in found:
                found[target] = None
                queue.append(target)
    return list(dict.fromkeys(package(p) for p in found)), kept


def direct_layers(path: str) -> tuple[Any, list[str]]:
    """An open layer (None when it cannot be opened) and the absolute paths of the layers that it names, existing or not."""
    from pxr import Ar, Sdf, Tf

    try:
        layer = Sdf.Layer.FindOrOpen(path)
    except Tf.ErrorException:
        layer = None
    out: dict[str, None] = {}
    for asset in sorted(filter(None, layer.GetCompositionAssetDependencies())) if layer else ():  # "" is the layer itself
        target = Sdf.ComputeAssetPathRelativeToLayer(layer, asset)
        target = str(Ar.GetResolver().Resolve(target)) or target
        if target and not target.startswith("anon:") and not is_uri(target):
            anchored = target if os.path.isabs(target) else os.path.normpath(os.path.join(os.path.dirname(package(path)), target))
            out[anchored] = None
    return layer, list(out)


def is_crate(path: str) -> bool:
    """Whether a file begins like a .usdc."""
    try:
        with open(path, "rb") as f:
            return f.read(8) == b"PXR-USDC"
    except OSError:
        return False


def package(path: str) -> str:
    """The file on disk of a path that may point into a package: `a.usdz[b.usdc]` is `a.usdz`."""
    return path.partition("[")[0] if path.endswith("]") and ".usdz[" in path else path
