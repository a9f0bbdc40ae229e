"""Asset paths to files, and files to layers: .usdc directly, .usda through pxr's own parser into crate bytes."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from ovsim.errors import SourceError
from producer.crate.errors import Unprovable
from producer.crate.layer import Layer, read_layer
from producer.crate.layout import is_crate

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+:")
_TEXT = b"#usda"


def locate(asset: str, anchor: str) -> str:
    """The file that an asset path authored in layer `anchor` means.

    Relative paths stand beside the layer; without a leading dot they may be found on a search path too, but a file beside the layer wins.
    `Unprovable` for packages, URIs, expressions, layer arguments, and files that are not there.
    """
    if _SCHEME.match(asset) or asset.startswith("`") or "[" in asset or ":SDF_FORMAT_ARGS:" in asset:
        raise Unprovable(f"the asset path {asset!r} is no plain file path")
    path = os.path.normpath(os.path.join(os.path.dirname(anchor), asset))
    if not os.path.isfile(path):
        raise Unprovable(f"the asset {asset!r} of {anchor} is not a file beside it")
    return os.path.realpath(path)


def load(path: str) -> Layer:
    """A layer from a file. SourceError when it cannot be read, CrateError when broken, `Unprovable` for other formats."""
    try:
        with open(path, "rb") as f:
            head = f.read(8)
    except OSError as e:
        raise SourceError(f"cannot read {path}: {e.strerror or e}; check the path and its permissions") from e
    if is_crate(head):
        return read_layer(path, path)
    if head.startswith(_TEXT):
        return read_layer(_crate_bytes(path), path)
    raise Unprovable(f"{path} is neither .usdc nor .usda")


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
