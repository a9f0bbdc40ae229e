"""What is wrong with a .usdz package: USD only says that it cannot be opened."""

from __future__ import annotations

import os
import zipfile

PACKAGE = ".usdz"
_LAYERS = (".usd", ".usda", ".usdc")


def package_fault(path: str | os.PathLike[str]) -> str:
    """The fault of a package in a few words; "" for a sound one and for files of other names. Reads the whole file."""
    name = os.fspath(path)
    if not name.lower().endswith(PACKAGE):
        return ""
    try:
        with zipfile.ZipFile(name) as package:
            members = sorted(package.infolist(), key=lambda m: m.header_offset)
            if not members:
                return "the package holds no file"
            first = members[0].filename
            if not first.lower().endswith(_LAYERS):
                return f"the first file of the package, {first}, is no USD layer"
            damaged = package.testzip()
            return f"the package is damaged: the checksum of {damaged} does not fit" if damaged else ""
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, RuntimeError):
        return _broken(name)
    except OSError as e:
        return e.strerror or str(e)


def _broken(name: str) -> str:
    with open(name, "rb") as file:
        if file.read(2) != b"PK":
            return "it is no zip archive, as a package is"
    return "the package is cut short or damaged: the list of its files, which stands at its end, is not there"
