"""Bootstrap and table of contents: which version, and where each section lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ovsim.errors import CrateError
from producer.crate.buffer import Buffer

IDENT = b"PXR-USDC"
BOOTSTRAP = 88
OLDEST, NEWEST = (0, 4, 0), (0, 14, 0)
SECTIONS = ("TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS")
_ENTRY = 32  # 16 bytes of name, start, size


class Section(NamedTuple):
    """Byte range of one section."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Layout:
    """Version triple and the six structural sections by name."""

    version: tuple[int, int, int]
    sections: dict[str, Section]

    def __getitem__(self, name: str) -> Section:
        return self.sections[name]


def is_crate(head: bytes) -> bool:
    """Whether the first bytes of a file say that it is a crate file."""
    return head[: len(IDENT)] == IDENT


def read_layout(buffer: Buffer) -> Layout:
    """Layout of a file. CrateError: no crate file, a version outside 0.4.0 to 0.14.0, sections missing, repeated or outside the file."""
    if buffer.size < BOOTSTRAP:
        raise CrateError(f"{buffer.size} bytes are too few for a .usdc file; it is empty or truncated", 0)
    if not is_crate(buffer.data[:8].tobytes()):
        raise CrateError("the file does not start with PXR-USDC; it is not a .usdc file", 0)
    major, minor, patch = (int(v) for v in buffer.data[8:11])
    if not OLDEST <= (major, minor, patch) <= NEWEST:
        known = " to ".join(".".join(map(str, v)) for v in (OLDEST, NEWEST))
        raise CrateError(f"crate version {major}.{minor}.{patch} is not one of {known}; write the file anew with a current USD", 8)
    toc = buffer.i64(16, "offset of the table of contents")
    count = buffer.u64(toc, "table of contents")
    entries = buffer.span(toc + 8, count * _ENTRY, "table of contents").tobytes()
    sections: dict[str, Section] = {}
    for i in range(count):
        entry = entries[i * _ENTRY : (i + 1) * _ENTRY]
        name = entry[:16].split(b"\0")[0].decode("latin-1")
        start, size = (int.from_bytes(entry[o : o + 8], "little", signed=True) for o in (16, 24))
        if name not in SECTIONS:
            continue  # sections of other writers carry nothing that population reads
        where = toc + 8 + i * _ENTRY
        if name in sections:
            raise CrateError(f"section {name} stands twice in the table of contents", where)
        if start < BOOTSTRAP:
            raise CrateError(f"section {name} starts inside the bootstrap", where)
        buffer.span(start, size, f"section {name}")
        sections[name] = Section(name, start, start + size)
    missing = [n for n in SECTIONS if n not in sections]
    if missing:
        raise CrateError(f"the table of contents lacks {', '.join(missing)}", toc)
    return Layout((major, minor, patch), sections)
