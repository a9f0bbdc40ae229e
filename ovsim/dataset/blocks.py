"""Arrow blocks between processes: record batches in IPC form without their schema, which both sides know by the table's name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from ovsim.dataset.schemas import schema

Block = tuple[str, pa.Buffer]


def pack(pairs: Iterable[tuple[str, pa.Table]]) -> list[Block]:
    """(table name, rows) to blocks, the rows of a table joined; their order within a table is kept."""
    by_table: dict[str, list[pa.Table]] = {}
    for table, rows in pairs:
        by_table.setdefault(table, []).append(rows)
    return [(n, batch.serialize()) for n, rows in by_table.items() for batch in pa.concat_tables(rows).combine_chunks().to_batches()]


def unpack(blocks: Iterable[Block]) -> Iterator[tuple[str, pa.Table]]:
    """Blocks to (table name, rows) over the same memory."""
    for table, data in blocks:
        yield table, pa.Table.from_batches([pa.ipc.read_record_batch(data, schema(table))], schema(table))
