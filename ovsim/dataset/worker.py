"""The worker process: converts the stages it is given one after the other and writes parts; its start-up is paid once.

`python -m ovsim.dataset.worker` speaks length-prefixed pickles on its standard streams with the process that started it (`ovsim.dataset.process`):

    in   ("setup", Setup), then ("stage", file, attempts, patience), ("flush",), ("stop",)
    out  ("ready", CPU seconds of the start), ("seen", layers), ("stage", record), ("part", place, records), ("blocks", record, blocks),
         ("refused", message), ("idle",)

A worker writes aside only. It never commits, so one that is lost, or that outlives its run, adds nothing to the dataset.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import time
from dataclasses import dataclass
from typing import IO, Any

from ovsim.dataset.layout import Settings
from ovsim.dataset.storage import Storage, StorageError

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Setup:
    """What a worker needs once. Without `storage` it sends each stage's blocks back (engine ray) instead of writing parts."""

    settings: Settings
    name: str
    memory: int = 0  # bytes; 0 = unbounded
    threads: int = 1
    storage: Storage | None = None


def send(stream: IO[bytes], message: Any) -> None:
    data = pickle.dumps(message, protocol=5)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message, None at the end of the stream (also when it ends in the middle of one)."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    size = _LENGTH.unpack(head)[0]
    data = stream.read(size)
    return pickle.loads(data) if len(data) == size else None


class Worker:
    """Answers the messages of one run."""

    def __init__(self, setup: Setup, out: IO[bytes]) -> None:
        from ovsim.dataset.parts import Group

        self._setup = setup
        self._out = out
        self._group = Group(setup.storage, setup.settings.level, setup.name) if setup.storage else None

    def stage(self, file: str, attempts: int, patience: float) -> None:
        from ovsim.dataset.blocks import pack
        from ovsim.dataset.stage import convert_stage

        blocks: list[tuple[str, Any]] = []
        group = self._group
        emit = group.add if group else lambda table, rows: blocks.append((table, rows))
        record = convert_stage(file, self._setup.settings, emit, lambda layers: self.tell("seen", layers))
        record["attempts"] = attempts
        if record["outcome"] not in ("ok", "incomplete"):
            blocks.clear()
            if group:
                group.fail()
        if group is None:
            self.tell("blocks", record, pack(blocks))
            return
        part = group.finish(record)
        self.tell("stage", record)
        if part:
            self.tell("part", *part)
        if group.due(patience):
            self.flush()

    def flush(self) -> None:
        part = self._group.flush() if self._group else None
        if part:
            self.tell("part", *part)

    def tell(self, *message: Any) -> None:
        send(self._out, message)


def _streams() -> tuple[IO[bytes], IO[bytes]]:
    """The pipe to the parent. Whatever a library prints goes to standard error from here on, never into the pipe."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    return source, sink


def main() -> None:
    from ovsim.dataset import resources

    resources.follow_parent()
    source, sink = _streams()
    first = receive(source)
    if first is None:
        return
    setup: Setup = first[1]
    import pyarrow as pa

    from ovsim.dataset.warm import warm

    pa.set_cpu_count(setup.threads)
    worker = Worker(setup, sink)
    try:
        warm(setup.settings)
        if setup.memory:
            resources.bound(2 * setup.memory)
        worker.tell("ready", time.process_time())
        while (message := receive(source)) is not None and message[0] != "stop":
            try:
                getattr(worker, message[0])(*message[1:])
            except StorageError as e:
                worker.tell("refused", str(e))
            worker.tell("idle")
    except BrokenPipeError:
        os._exit(1)  # the run is gone
    sys.stdout.flush()


if __name__ == "__main__":
    main()
