"""Opening the database: pragmas, transactions, and the batches that long lists are asked in."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, Table, bindparam, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

_Item = TypeVar("_Item")
BUSY_SECONDS = 15.0
"""How long a write waits for another process's before BusyError."""
_CACHE_KIB = 32 * 1024
_LENGTHS = (8, 32, 128, 500)
BATCH = _LENGTHS[-1]
"""Values in one IN-list; SQLite before 3.32 allowed 999 variables in all."""
_WAL_TRIES = 100


def url_of(place: str | Path) -> URL:
    """Return the database address: an URL as it is, a path as an SQLite file."""
    if isinstance(place, str) and "://" in place:
        return make_url(place)
    return URL.create("sqlite", database=str(Path(place)))


def file_of(url: URL) -> Path | None:
    """Return the file of an SQLite address, None for a server."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    # SQLite's own addresses (file:/a/b?mode=ro) hold a path, and are none.
    is_address = url.database.startswith("file:") and "uri" in url.query
    return Path(unquote(urlsplit(url.database).path) if is_address else url.database)


def open_engine(url: URL, *, connections: int) -> Engine:
    """Return an engine whose connections keep the catalog's promises."""
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_size=connections, pool_pre_ping=True)
    engine = create_engine(
        url, pool_size=connections, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False}
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    # The driver's own guesses about transactions are switched off; `_begin` opens every one of them.
    connection.isolation_level = None
    cursor = connection.cursor()
    _switch_to_wal(cursor)
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    cursor.close()


def _switch_to_wal(cursor: Any) -> None:
    # The busy handler does not wait for this one switch, which two processes may make at once on a new file.
    for attempt in range(_WAL_TRIES):
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.fetchall()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or attempt == _WAL_TRIES - 1:
                raise
            time.sleep(0.05)


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if "durable" not in options:
        connection.exec_driver_sql("BEGIN")
        return
    # In WAL mode NORMAL loses the newest commits in a power cut, though never half of one; FULL syncs the log,
    # and with it all commits before. So staging is cheap, and what begins or ends a run is lasting.
    connection.exec_driver_sql(f"PRAGMA synchronous = {'FULL' if options['durable'] else 'NORMAL'}")
    # Taking the write lock at once: a reader that turns writer halfway would fail instead of waiting.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def batches(items: Collection[_Item], size: int = BATCH) -> Iterator[list[_Item]]:
    """Yield the items in lists of at most `size`."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch


def rows_with(
    connection: Connection,
    query: Select[Any],
    column: ColumnElement[Any],
    values: Collection[str],
    **given: str | int,
) -> Iterator[Row[Any]]:
    """Yield the rows of `query` whose column has one of the values. `given` are values of its own parameters.

    The statement is built once for each of a few lengths and the list padded with its last value: a list of any other
    length would be compiled anew every time, which costs as much as the query. `query` must be a lasting value.
    """
    for batch in batches(values):
        size = next(length for length in _LENGTHS if length >= len(batch))
        padded = batch + [batch[-1]] * (size - len(batch))
        names = (f"value{number}" for number in range(size))
        yield from connection.execute(_among(query, column, size), given | dict(zip(names, padded, strict=True))).all()


@lru_cache(maxsize=64)
def _among(query: Select[Any], column: ColumnElement[Any], size: int) -> Select[Any]:
    return query.where(column.in_([bindparam(f"value{number}") for number in range(size)]))


def insert_missing(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert the rows whose key is not there yet; return how many were new."""
    if not rows:
        return 0
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    # The rows themselves are counted: some drivers do not say how many an insert made.
    statement = dialect.insert(table).on_conflict_do_nothing().returning(*table.primary_key)
    return sum(len(connection.execute(statement, dict(row)).all()) for row in rows)
