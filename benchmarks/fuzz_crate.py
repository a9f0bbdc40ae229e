"""Mutated .usdc files against the columnar reader: every one must end in a result or in an error of ovsim's own, quickly and in little memory.

    python benchmarks/fuzz_crate.py SEED_FILE... --cases 100000 [--seed 0] [--seconds 5] [--keep DIR]

Prints a JSON summary; exit status 1 when a case crashed, took longer than `--seconds`, or the process grew beyond bounds. Cases that fail are kept.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ovsim.errors import OvsimError
from producer.crate.buffer import Buffer
from producer.crate.decode import Decoder
from producer.crate.integers import read_integers
from producer.crate.layout import SECTIONS, read_layout
from producer.crate.tables import read_tables
from producer.crate.values import read_array

HUGE = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**63 - 1, 2**63, 2**64 - 1)
_FOLDER = "/dev/shm" if os.path.isdir("/dev/shm") else None
_CODEC = pa.Codec("lz4_raw")


def walk(data: bytes) -> int:
    """Decode every table and every stored value of a file; returns how many values there were."""
    tables = read_tables(Buffer(data))
    decoder = Decoder(tables)
    values = 0
    for rep in np.unique(tables.field_rep).tolist():
        kind = (rep >> 48) & 0xFF
        for read in _readers(decoder, rep, kind):
            try:
                read()
                values += 1
            except OvsimError:
                continue
    return values


def target_in(folder: Path) -> Callable[[bytes], int]:
    """What a case does: `walk` the tables, then populate with the columnar route from a file in `folder`, where its references are."""
    from producer.crate import population

    mutant = folder / "mutant.usdc"

    def case(data: bytes) -> int:
        mutant.write_bytes(data)
        return walk(data) + len(population.populate(mutant))

    return case


def _readers(decoder: Decoder, rep: int, kind: int) -> Iterator[Callable[[], Any]]:
    tables = decoder.tables
    yield lambda: decoder.list_op(rep)
    yield lambda: decoder.texts(rep)
    yield lambda: decoder.scalar(rep)
    if kind == 31:
        yield lambda: decoder.dictionary(rep)
    if kind == 45:
        yield lambda: decoder.selections(rep)
    if rep >> 63:
        yield lambda: read_array(tables.buffer, tables.layout.version, rep)


# -- mutations ---------------------------------------------------------------------------------------------------------


def flip(data: bytearray, rng: random.Random) -> None:
    """A few bytes anywhere become others."""
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        data[rng.randrange(len(data))] = rng.randrange(256)


def stored(data: bytearray, rng: random.Random) -> None:
    """Bytes of the stored values change: list-ops, dictionaries, vectors, arrays."""
    try:
        layout = read_layout(Buffer(bytes(data)))
        end = min(layout[n].start for n in SECTIONS)
    except OvsimError:
        end = len(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(88, max(end, 89))
        if at < len(data):
            data[at] = rng.choice((0, 1, 255, rng.randrange(256), data[rng.randrange(len(data))]))


def truncate(data: bytearray, rng: random.Random) -> None:
    """The end is cut off, or zeros are put there."""
    cut = rng.randrange(len(data))
    tail = len(data) - cut
    del data[cut:]
    if rng.random() < 0.3:
        data.extend(bytes(tail))


def splice(data: bytearray, rng: random.Random) -> None:
    """A piece of the file overwrites another place."""
    size = rng.choice((4, 8, 16, 64, 512))
    a, b = rng.randrange(len(data)), rng.randrange(len(data))
    data[a : a + size] = data[b : b + size]


def huge(data: bytearray, rng: random.Random) -> None:
    """A number in a structural place becomes an extreme one."""
    places = [8, 16]
    try:
        layout = read_layout(Buffer(bytes(data)))
        places += [layout[n].start + o for n in SECTIONS for o in (0, 8, 16)]
        toc = int.from_bytes(data[16:24], "little")
        places += [toc + 8 * i for i in range((len(data) - toc) // 8)]
    except OvsimError:
        places += [rng.randrange(len(data))]
    at = rng.choice(places)
    data[at : at + 8] = struct.pack("<Q", rng.choice(HUGE) if rng.random() < 0.8 else rng.randrange(len(data) * 2))


def encode(values: np.ndarray) -> bytes:
    """Integers in the compressed form, without any care for size."""
    delta = np.diff(values.astype(np.int64), prepend=0).astype("<i4")
    plain = struct.pack("<i", 0) + b"\xff" * ((values.size * 2 + 7) // 8) + delta.tobytes()
    packed = b"\0" + _CODEC.compress(plain).to_pybytes()
    return struct.pack("<Q", len(packed)) + packed


def reencode(data: bytearray, rng: random.Random) -> None:
    """A decoded integer table or the value reps are changed and written back at the end of the file: faults that no checksum or codec catches."""
    try:
        buffer = Buffer(bytes(data))
        layout = read_layout(buffer)
        name = rng.choice(("FIELDS", "FIELDSETS", "PATHS", "SPECS"))
        section = layout[name]
        head = 16 if name == "PATHS" else 8
        count = buffer.u64(section.start + head - 8, "count")
        lists, at = [], section.start + head
        for _ in range({"FIELDS": 1, "FIELDSETS": 1, "PATHS": 3, "SPECS": 3}[name]):
            values, at = read_integers(buffer, at, section.end, count, "list")
            lists.append(values.copy())
        body = bytearray(data[section.start : section.start + head])
        victim = rng.choice(lists)
        for _ in range(rng.choice((1, 1, 3, 10))):
            i = rng.randrange(max(victim.size, 1))
            victim[i] = rng.choice((victim[rng.randrange(victim.size)], rng.randrange(-3, 60), 2**31 - 1, -(2**31), (int(victim[i]) + 1) % 2**31))
        for values in lists:
            body += encode(values)
        if name == "FIELDS":
            reps = np.frombuffer(_CODEC.decompress(pa.py_buffer(data[at + 9 : at + 8 + buffer.u64(at, "n")]), count * 8), "<u8").copy()
            for _ in range(rng.choice((0, 1, 3, 10))):
                i = rng.randrange(reps.size)
                reps[i] = rng.choice((int(reps[i]) ^ (1 << rng.randrange(64)), int(reps[rng.randrange(reps.size)]), rng.getrandbits(64)))
            packed = b"\0" + _CODEC.compress(reps.tobytes()).to_pybytes()
            body += struct.pack("<Q", len(packed)) + packed
    except (OvsimError, IndexError, ValueError, OSError, OverflowError):
        return flip(data, rng)
    toc = int.from_bytes(data[16:24], "little")
    for i in range(int.from_bytes(data[toc : toc + 8], "little")):
        entry = toc + 8 + 32 * i
        if data[entry : entry + 16].rstrip(b"\0") == name.encode():
            data[entry + 16 : entry + 32] = struct.pack("<qq", len(data), len(body))
    data.extend(body)
    return None


MUTATIONS = (flip, truncate, splice, huge, stored, stored, reencode, reencode, reencode)


def mutate(seed: bytes, rng: random.Random) -> bytes:
    """A mutated copy of a file."""
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if len(data) > 8:
            rng.choice(MUTATIONS)(data, rng)
    return bytes(data)


# -- running -----------------------------------------------------------------------------------------------------------


class TooSlow(BaseException):
    """A case ran out of its time."""


def _alarm(_signal: int, _frame: object) -> None:
    raise TooSlow


def run(seeds: list[bytes], cases: int, seed: int, seconds: float, keep: Path | None, target: Callable[[bytes], Any] = walk) -> dict[str, Any]:
    """Run `cases` mutations; the summary counts outcomes and lists failures."""
    for data in seeds:
        with contextlib.suppress(OvsimError):
            target(data)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcomes: collections.Counter[str] = collections.Counter()
    failures = []
    slowest = 0.0
    signal.signal(signal.SIGPROF, _alarm)  # processor time: a busy machine is no hang
    for case in range(cases):
        rng = random.Random(f"{seed}-{case}")
        data = mutate(rng.choice(seeds), rng)
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            target(data)
            outcome = "read"
        except OvsimError as e:
            outcome = type(e).__name__
        except (Exception, TooSlow) as e:
            outcome = f"FAILED {type(e).__name__}"
            failures.append({"case": case, "error": f"{type(e).__name__}: {e}"[:200]})
            if keep:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{seed}-{case}.usdc").write_bytes(data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, time.process_time() - start)
        outcomes[outcome] += 1
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"cases": cases, "outcomes": dict(outcomes), "failures": failures[:20], "slowest_s": round(slowest, 3), "grown_mib": grown >> 10}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0, help="processor time that a case may take")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    seeds = [f.read_bytes() for f in options.files]
    with tempfile.TemporaryDirectory(dir=_FOLDER) as folder:
        for f, data in zip(options.files, seeds):
            (Path(folder) / f.name).write_bytes(data)
        summary = run(seeds, options.cases, options.seed, options.seconds, options.keep, target_in(Path(folder)))
    print(json.dumps(summary, indent=1))
    return 1 if summary["failures"] or summary["grown_mib"] > 512 else 0


if __name__ == "__main__":
    sys.exit(main())
