"""Which stages a run converts: files, directories, globs, URIs, or a list on standard input."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow.fs as pafs

from ovsim.dataset.storage import filesystem, is_uri, local_path
from ovsim.errors import SourceError

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
SNAPSHOT = "snapshot.json"
_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Scope:
    """What one argument stands for. A source that it covers, that an earlier run saw and that is listed no more, has vanished."""

    kind: str  # file, directory or glob
    text: str  # absolute path or URI; the pattern of a glob

    def covers(self, source: str) -> bool:
        if self.kind == "directory":
            return source.startswith(self.text.rstrip("/") + "/")
        return self.kind == "glob" and _matches(source, self.text)


@dataclass(frozen=True)
class Listing:
    """Sources (absolute paths or URIs, each once, in the order of the arguments) and the scopes they came from."""

    sources: tuple[str, ...]
    scopes: tuple[Scope, ...]

    def covers(self, source: str) -> bool:
        return any(s.covers(source) for s in self.scopes)


def expand(arguments: Iterable[str], lines: Iterable[str] = ()) -> Listing:
    """Sources of the arguments; `-` stands for `lines`, one argument each.

    A directory gives every stage file (.usd, .usda, .usdc, .usdz) and snapshot below it, a glob (`*`, `?`, `[...]`, `**`) what it matches. A file
    that is named is taken as it is, existing or not, so that its failure gets a row. SourceError when a directory or glob gives nothing: a
    mistyped or unmounted place must not pass for an empty fleet.
    """
    found: dict[str, None] = {}
    scopes: list[Scope] = []
    for text in _texts(arguments, lines):
        scope = _scope(text)
        scopes.append(scope)
        before = len(found)
        got = [_printable(s) for s in _list(scope)]
        found.update(dict.fromkeys(got))
        if not got and len(found) == before:
            what = "matches no file" if scope.kind == "glob" else f"holds no stage file ({', '.join(SUFFIXES)}) and no snapshot"
            raise SourceError(f"{text} {what}")
    return Listing(tuple(found), tuple(scopes))


def _printable(name: str) -> str:
    """A name that tables can hold: bytes that are no UTF-8 stand as \\xNN, so such a file gets its row (and fails with a word about its name)."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _texts(arguments: Iterable[str], lines: Iterable[str]) -> Iterator[str]:
    for argument in arguments:
        if argument == "-":
            yield from (line.rstrip("\r\n") for line in lines if line.strip())
        else:
            yield os.fspath(argument)


def _scope(text: str) -> Scope:
    path = local_path(text)
    if path is not None:
        if os.path.isdir(path):
            return Scope("file" if os.path.isfile(os.path.join(path, SNAPSHOT)) else "directory", path)
        return Scope("glob" if _MAGIC.search(path) and not os.path.lexists(path) else "file", path)
    if _MAGIC.search(text):
        return Scope("glob", text)
    fs, where = filesystem(text)
    try:
        kind = fs.get_file_info(where).type
    except OSError as e:
        raise SourceError(f"{text}: {e}") from e
    return Scope("directory" if kind == pafs.FileType.Directory else "file", text.rstrip("/"))


def _list(scope: Scope) -> Iterator[str]:
    if scope.kind == "file":
        return iter((scope.text,))
    if is_uri(scope.text):
        return _remote(scope)
    return _tree(scope.text) if scope.kind == "directory" else _globbed(scope.text)


def _tree(root: str) -> Iterator[str]:
    """Stage files and snapshots below a directory in path order; links to directories are not followed, so cycles cannot arise."""
    with os.scandir(root) as entries:
        each = sorted(entries, key=lambda e: e.name)
    for entry in each:
        if entry.is_dir(follow_symlinks=False):
            if os.path.isfile(os.path.join(entry.path, SNAPSHOT)):
                yield entry.path
            else:
                yield from _tree(entry.path)
        elif entry.name.lower().endswith(SUFFIXES):
            yield entry.path


def _globbed(pattern: str) -> Iterator[str]:
    for hit in sorted(glob.glob(pattern, recursive=True)):
        if not os.path.isdir(hit) or os.path.isfile(os.path.join(hit, SNAPSHOT)):
            yield hit


def _remote(scope: Scope) -> Iterator[str]:
    fixed = scope.text if scope.kind == "directory" else _MAGIC.split(scope.text, maxsplit=1)[0].rpartition("/")[0]
    fs, root = filesystem(fixed)
    try:
        infos = fs.get_file_info(pafs.FileSelector(root, recursive=True, allow_not_found=True))
    except OSError as e:
        raise SourceError(f"{fixed}: {e}") from e
    for info in sorted(infos, key=lambda i: str(i.path)):
        source = fixed.rstrip("/") + info.path[len(root.rstrip("/")) :]
        wanted = source.lower().endswith(SUFFIXES) if scope.kind == "directory" else scope.covers(source)
        if info.type == pafs.FileType.File and wanted:
            yield source


def _matches(source: str, pattern: str) -> bool:
    """Glob match by path parts: `*` stays within a part, `**` spans any number of them."""
    return _parts(source.split("/"), pattern.split("/"))


def _parts(names: list[str], patterns: list[str]) -> bool:
    if not patterns:
        return not names
    if patterns[0] == "**":
        return _parts(names, patterns[1:]) or (bool(names) and _parts(names[1:], patterns))
    return bool(names) and fnmatch.fnmatchcase(names[0], patterns[0]) and _parts(names[1:], patterns[1:])
