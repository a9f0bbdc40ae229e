"""The structural tables of one file: tokens, strings, fields, field sets, paths, specs, decoded as arrays and checked against each other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ovsim.errors import CrateError
from ovsim.jit import serial
from producer.crate.buffer import Buffer
from producer.crate.integers import I32, read_integers
from producer.crate.layout import Layout, Section, read_layout
from producer.crate.lz4 import decompress
from producer.crate.tree import PathTree, read_tree

U64 = npt.NDArray[np.uint64]

# spec types (facts of SdfSpecType)
ATTRIBUTE, CONNECTION, PRIM_SPEC, ROOT_SPEC, RELATIONSHIP, TARGET, VARIANT, VARIANT_SET = 1, 2, 6, 7, 8, 9, 10, 11
_SPEC_TYPES = 12

_SIDE_BY_SIDE = 1 << 16  # bytes of the spec lists from which a second thread pays; on a busy machine it waits long for its turn


@dataclass(frozen=True)
class Tables:
    """One decoded file.

    `strings`: token index by string index. `field_name` (token index) and `field_rep` (value rep) by field index. `field_sets`: runs of field
    indices, each ended by -1. Specs: `spec_path` (path index), `spec_fields` (start of a run), `spec_type`.
    """

    buffer: Buffer
    layout: Layout
    tokens: list[str]
    strings: I32
    field_name: I32
    field_rep: U64
    field_sets: I32
    paths: PathTree
    spec_path: I32
    spec_fields: I32
    spec_type: I32

    @cached_property
    def token_index(self) -> dict[str, int]:
        """Token to its index."""
        return {t: i for i, t in enumerate(self.tokens)}


def read_tables(buffer: Buffer) -> Tables:
    """All tables of a file; CrateError with the byte position when any of them is broken or points outside another."""
    layout = read_layout(buffer)
    tokens = _tokens(buffer, layout["TOKENS"])
    strings = _strings(buffer, layout["STRINGS"], len(tokens))
    name, rep = _fields(buffer, layout["FIELDS"], len(tokens))
    special = np.zeros(len(tokens), np.uint8)
    special[[i for i, t in enumerate(tokens) if not t or t[0] in "{[."]] = 1
    if layout["SPECS"].end - layout["SPECS"].start < _SIDE_BY_SIDE:
        sets = _field_sets(buffer, layout["FIELDSETS"], name.size)
        lists = _spec_lists(buffer, layout["SPECS"])
        paths = read_tree(buffer, layout["PATHS"], special)
    else:
        with ThreadPoolExecutor(1) as pool:  # the longest parts side by side; the kernels let go of the interpreter
            reading = pool.submit(_spec_lists, buffer, layout["SPECS"])
            gathering = pool.submit(_field_sets, buffer, layout["FIELDSETS"], name.size)
            paths = read_tree(buffer, layout["PATHS"], special)
            sets, lists = gathering.result(), reading.result()
    spec = _checked_specs(*lists, layout["SPECS"], paths, sets)
    return Tables(buffer, layout, tokens, strings, name, rep, sets, paths, *spec)


def _tokens(buffer: Buffer, section: Section) -> list[str]:
    at = section.start
    count, plain, packed = (buffer.u64(at + o, "size of the token table") for o in (0, 8, 16))
    if at + 24 + packed > section.end:
        raise CrateError("the tokens leave their section", at + 16)
    if count > plain:
        raise CrateError(f"{count} tokens cannot stand in {plain} bytes", at)
    if count == 0:
        return []
    data = decompress(buffer, at + 24, packed, plain, "the tokens")
    buffer.charge(count * 64, at, "the token table")
    if data.size != plain or data[-1] != 0:
        raise CrateError(f"the tokens expand to {data.size} bytes, not to {plain} that end in a zero", at + 24)
    try:
        texts = data.tobytes().decode().split("\0")
    except UnicodeDecodeError as e:
        raise CrateError(f"the tokens are not UTF-8 (decompressed byte {e.start})", at + 24) from e
    if len(texts) - 1 < count:
        raise CrateError(f"{count} tokens are claimed, {len(texts) - 1} found", at)
    return texts[:count]


def _strings(buffer: Buffer, section: Section, tokens: int) -> I32:
    count = buffer.u64(section.start, "number of strings")
    if 8 + count * 4 > section.end - section.start:
        raise CrateError(f"{count} strings leave their section", section.start)
    out = np.frombuffer(buffer.span(section.start + 8, count * 4, "strings").tobytes(), "<i4")
    return _within(out, tokens, "a string's token", section)


def _fields(buffer: Buffer, section: Section, tokens: int) -> tuple[I32, U64]:
    count = buffer.u64(section.start, "number of fields")
    name, at = read_integers(buffer, section.start + 8, section.end, count, "field names")
    size = buffer.u64(at, "size of the value reps")
    if at + 8 + size > section.end:
        raise CrateError("the value reps leave their section", at)
    data = decompress(buffer, at + 8, size, count * 8, "the value reps") if count else np.empty(0, np.uint8)
    if data.size != count * 8:
        raise CrateError(f"{count} fields have {data.size} bytes of value reps", at + 8)
    return _within(name, tokens, "a field's name", section), data.view("<u8")


def _field_sets(buffer: Buffer, section: Section, fields: int) -> I32:
    count = buffer.u64(section.start, "size of the field sets")
    sets, _ = read_integers(buffer, section.start + 8, section.end, count, "field sets")
    if count and sets[-1] != -1:
        raise CrateError("the last field set has no end", section.start)
    if count and (int(sets.max()) >= fields or int(sets.min()) < -1):
        raise CrateError(f"a field set names a field beyond the {fields} of the file", section.start)
    return sets


def _spec_lists(buffer: Buffer, section: Section) -> tuple[I32, I32, I32]:
    count = buffer.u64(section.start, "number of specs")
    lists = []
    at = section.start + 8
    for what in ("spec paths", "spec field sets", "spec types"):
        values, at = read_integers(buffer, at, section.end, count, what)
        lists.append(values)
    return lists[0], lists[1], lists[2]


def _checked_specs(path: I32, fields: I32, kind: I32, section: Section, paths: PathTree, sets: I32) -> tuple[I32, I32, I32]:
    _within(path, paths.parent.size, "a spec's path", section)
    _within(fields, sets.size, "a spec's field set", section)
    if path.size:
        if int(kind.max()) >= _SPEC_TYPES or int(kind.min()) < 1:
            raise CrateError("a spec has an unknown type", section.start)
        problem = int(_check_specs(path, fields, paths.kind.copy(), sets))
        if problem:
            raise CrateError(_PROBLEMS[problem], section.start)
    return path, fields, kind


_PROBLEMS = (
    "",
    "a spec has a path that the path table does not describe",
    "two specs have one path",
    "a spec's fields start inside a field set",
)


@serial
def _check_specs(path: I32, fields: I32, kind: npt.NDArray[np.uint8], sets: I32) -> int:
    """Index into `_PROBLEMS`; spoils `kind`."""
    for i in range(path.size):
        p = path[i]
        if kind[p] == 0:
            return 1
        if kind[p] == 255:
            return 2
        kind[p] = 255
        if fields[i] > 0 and sets[fields[i] - 1] != -1:
            return 3
    return 0


def _within(values: I32, limit: int, what: str, section: Section) -> I32:
    if values.size and (int(values.max()) >= limit or int(values.min()) < 0):
        raise CrateError(f"{what} is beyond the {limit} of the file", section.start)
    return values
