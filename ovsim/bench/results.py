"""Results of a run: one row a measurement; JSON and Parquet files; medians with their spread."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ovsim.errors import OvsimError
from ovsim.files import whole, write_file

FORMAT = "ovsim-bench"
JSON, PARQUET = "results.json", "results.parquet"


class BenchError(OvsimError):
    """A run of the suite that cannot start, or results that cannot be written or read."""


@dataclass(frozen=True)
class Row:
    """One measurement: `who` (ovsim or a peer) did `phase` on `joints` joints of a `kind` of stage.

    `temperature` is cold (first call in a fresh process) or warm. `bytes` are those that must be read and written, 0 where that is not counted;
    `copy_bandwidth` [bytes/s] is the machine's in the same round, 0 where it was not measured. `peak_bytes` is the process's peak resident size.
    """

    who: str
    phase: str
    kind: str
    joints: int
    round: int
    temperature: str
    seconds: float
    bytes: int = 0
    copy_bandwidth: float = 0.0
    peak_bytes: int = 0
    threads: int = 0

    @property
    def fraction(self) -> float:
        """Share of the machine's copy bandwidth, 0 where unknown."""
        return self.bytes / self.seconds / self.copy_bandwidth if self.bytes and self.copy_bandwidth and self.seconds else 0.0


Key = tuple[str, str, str, int, str]


def key(row: Row) -> Key:
    """What rows of different rounds and runs share."""
    return (row.who, row.phase, row.kind, row.joints, row.temperature)


@dataclass
class Run:
    """All rows of a run, what was skipped and why, and the facts about machine and versions."""

    rows: list[Row] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """Median and range over the rounds of one key."""

    key: Key
    count: int
    seconds: float
    lowest: float
    highest: float
    fraction: float
    peak_bytes: int
    bytes: int

    @property
    def rate(self) -> float:
        """Joints per second at the median."""
        return self.key[3] / self.seconds if self.seconds else 0.0

    @property
    def nanoseconds(self) -> float:
        """Nanoseconds a joint at the median."""
        return 1e9 * self.seconds / self.key[3]


def summaries(rows: Iterable[Row]) -> list[Summary]:
    """One summary a key, in order of first appearance. The fraction is the median of the rounds' own fractions, so that drift cancels."""
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    out = []
    for k, group in groups.items():
        times = [r.seconds for r in group]
        fraction = statistics.median(r.fraction for r in group)
        peak, moved = max(r.peak_bytes for r in group), max(r.bytes for r in group)
        out.append(Summary(k, len(group), statistics.median(times), min(times), max(times), fraction, peak, moved))
    return out


def save(run: Run, directory: Path) -> None:
    """Write results.json and results.parquet, each whole or not at all. OvsimError when the disk refuses."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    document = {"format": FORMAT, "version": 1, "facts": run.facts, "skipped": run.skipped, "rows": [asdict(r) for r in run.rows]}
    columns = {f.name: [getattr(r, f.name) for r in run.rows] for f in fields(Row)}
    write_file(directory / JSON, (json.dumps(document, indent=1) + "\n").encode())
    with whole(directory / PARQUET) as aside:
        pq.write_table(pa.table(columns), aside)


def load(where: Path) -> Run:
    """Read results.json, or the one in a directory. BenchError when it is missing or not a result of the suite."""
    place = where / JSON if where.is_dir() else where
    try:
        document = json.loads(place.read_text("utf-8"))
        if document["format"] != FORMAT or document["version"] != 1:
            raise BenchError(f"{place} is of format {document['format']} {document['version']}, not {FORMAT} 1; run the suite again")
        return Run([Row(**r) for r in document["rows"]], document["skipped"], document["facts"])
    except OSError as e:
        raise BenchError(f"cannot read {place}: {e.strerror or e}") from e
    except (ValueError, KeyError, TypeError) as e:
        raise BenchError(f"{place} is not a results file of `ovsim bench`: {e}") from e
