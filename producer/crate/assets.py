"""Asset paths to files, and files to layers: .usdc directly, .usda through pxr's own parser into crate bytes."""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
from pathlib import Path

from ovsim.errors import SourceError
from ovsim.packages import PACKAGE
from producer.crate.errors import Unprovable
from producer.crate.layer import Layer, read_layer
from producer.crate.layout import is_crate

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+:")
_TEXT = b"#usda"


def locate(asset: str, anchor: str) -> str:
    """The file, or the member `package.usdz[name]` of a package, that an asset path authored in layer `anchor` means.

    Relative paths stand beside the layer, in a package inside it; without a leading dot they may be found on a search path too, but what stands
    beside the layer wins. `Unprovable` for URIs, expressions, layer arguments, and what is not there.
    """
    odd = _SCHEME.match(asset) or asset.startswith("`") or "[" in asset or ":SDF_FORMAT_ARGS:" in asset
    if odd or (os.path.isabs(asset) and anchor.endswith("]")):
        raise Unprovable(f"the asset path {asset!r} is no plain file path")
    package, member = _split(anchor)
    path = os.path.normpath(os.path.join(os.path.dirname(member or anchor), asset))
    if member:
        if path not in _members(package):
            raise Unprovable(f"the asset {asset!r} is not in {package}")
        return f"{package}[{path}]"
    if not os.path.isfile(path):
        raise Unprovable(f"the asset {asset!r} of {anchor} is not a file beside it")
    return identify(os.path.realpath(path))


def identify(path: str) -> str:
    """The layer that a file stands for: itself, or the first member of a package."""
    if not path.endswith(PACKAGE):
        return path
    members = _members(path)
    if not members:
        raise Unprovable(f"{path} is an empty package")
    return f"{path}[{next(iter(members))}]"


def load(path: str) -> Layer:
    """A layer from a file or package member. SourceError when it cannot be read, CrateError when broken, `Unprovable` for other formats."""
    package, member = _split(path)
    data = _member_bytes(package, member) if member else _file_bytes(path)
    if is_crate(data[:8]):
        return read_layer(data, path)
    if data.startswith(_TEXT):
        return read_layer(_crate_bytes(path), path)
    raise Unprovable(f"{path} is neither .usdc nor .usda")


def _split(path: str) -> tuple[str, str]:
    """Package and member of a path, member "" for a plain file."""
    if not path.endswith("]"):
        return path, ""
    package, _, member = path[:-1].partition("[")
    return package, member


def _file_bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as e:
        raise SourceError(f"cannot read {path}: {e.strerror or e}; check the path and its permissions") from e


def _members(package: str) -> dict[str, zipfile.ZipInfo]:
    """Members of a package by name; only stored ones count, as the format demands."""
    try:
        with zipfile.ZipFile(package) as z:
            return {i.filename: i for i in z.infolist() if i.compress_type == zipfile.ZIP_STORED}
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as e:
        raise Unprovable(f"{package} is no readable package: {e}") from e


def _member_bytes(package: str, member: str) -> bytes:
    info = _members(package)[member]
    if info.file_size > os.path.getsize(package):
        raise Unprovable(f"{member} claims to be larger than {package}")
    try:
        with zipfile.ZipFile(package) as z:
            return z.read(info)
    except (OSError, zipfile.BadZipFile, ValueError, EOFError) as e:
        raise Unprovable(f"{member} in {package} cannot be read: {e}") from e


def _crate_bytes(path: str) -> bytes:
    from pxr import Sdf, Tf

    try:
        layer = Sdf.Layer.OpenAsAnonymous(path)
    except Tf.ErrorException as e:
        raise Unprovable(f"pxr finds fault with {path}") from e
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "layer.usdc"
        layer.Export(str(target))
        return target.read_bytes()
