"""SQL over a dataset through DuckDB: each table is a view of its name, `columns` is all columns tables in one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ovsim.dataset.layout import Layout
from ovsim.dataset.schemas import COLUMNS_TABLES, tables
from ovsim.errors import OvsimError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


class QueryError(OvsimError):
    """DuckDB is not installed, or refuses the SQL."""


def connect(where: str | os.PathLike[str]) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection in memory with a view for every table of the dataset; the dataset itself cannot be written through it.

    DatasetError when `where` is no dataset, QueryError without DuckDB.
    """
    try:
        import duckdb
    except ImportError:
        raise QueryError("`ovsim query` needs DuckDB: pip install 'ovsim[query]'") from None
    layout = Layout.open(where)
    connection = duckdb.connect()
    if not layout.storage.local:
        _register(connection, layout)
    for table in tables(layout.settings.level):
        connection.execute(f'CREATE VIEW "{table}" AS {_source(layout, table)}')
    every = " UNION ALL BY NAME ".join(f"""SELECT '{t.partition("_")[2]}' AS joint_type, * FROM "{t}\"""" for t in COLUMNS_TABLES)
    connection.execute(f'CREATE VIEW "columns" AS {every}')
    return connection


def query(where: str | os.PathLike[str], sql: str) -> pa.Table:
    """Rows of a SQL query over a dataset; QueryError with DuckDB's reason when it refuses."""
    connection = connect(where)
    import duckdb

    try:
        result: pa.Table = _arrow(connection.sql(sql))
    except duckdb.Error as e:
        raise QueryError(f"DuckDB: {e}") from e
    return result


def _arrow(done: Any) -> Any:
    """The result as an Arrow table (the method has had several names); no columns for a statement that gives none."""
    if done is None:
        import pyarrow as pa

        return pa.table({})
    fetch = next(getattr(done, n) for n in ("to_arrow_table", "fetch_arrow_table", "arrow") if hasattr(done, n))
    got = fetch()
    return got.read_all() if hasattr(got, "read_all") else got


def _source(layout: Layout, table: str) -> str:
    files = layout.files(table)
    if not files:
        return f"SELECT * FROM ({_nothing(table)}) WHERE false"
    scheme = "" if layout.storage.local else f"{_PROTOCOL}://"
    names = ", ".join("'" + (scheme + f).replace("'", "''") + "'" for f in files)
    return f"SELECT * FROM read_parquet([{names}])"


_PROTOCOL = "ovsimdata"


def _register(connection: duckdb.DuckDBPyConnection, layout: Layout) -> None:
    """Let DuckDB read through the dataset's own file system."""
    try:
        from fsspec.implementations.arrow import ArrowFSWrapper
    except ImportError:
        raise QueryError("querying a dataset behind a URI needs fsspec: pip install 'ovsim[remote]'") from None

    class Through(ArrowFSWrapper):
        protocol = _PROTOCOL

    connection.register_filesystem(Through(layout.storage.fs))


def _nothing(table: str) -> str:
    from ovsim.dataset.schemas import schema

    return "SELECT " + ", ".join(f'CAST(NULL AS {_sql(f.type)}) AS "{f.name}"' for f in schema(table))


def _sql(type_: Any) -> str:
    """DuckDB's name of an Arrow type of the dataset."""
    import pyarrow as pa

    simple = {
        pa.string(): "VARCHAR", pa.large_string(): "VARCHAR", pa.bool_(): "BOOLEAN", pa.float32(): "FLOAT", pa.float64(): "DOUBLE",
        pa.int32(): "INTEGER", pa.int64(): "BIGINT", pa.uint8(): "UTINYINT", pa.uint32(): "UINTEGER", pa.uint64(): "UBIGINT",
    }  # fmt: skip
    if type_ in simple:
        return simple[type_]
    if pa.types.is_timestamp(type_):
        return "TIMESTAMPTZ"
    if pa.types.is_struct(type_):
        return "STRUCT(" + ", ".join(f'"{f.name}" {_sql(f.type)}' for f in type_) + ")"
    return _sql(type_.value_type) + "[]"
