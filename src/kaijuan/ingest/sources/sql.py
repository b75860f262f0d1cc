"""Rows of a database. The query comes from the configuration, never from a caller, and can only read."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import quote

from pydantic import SecretStr
from sqlalchemy import Connection, CursorResult, Engine, create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from kaijuan.errors import (
    BrokenDocumentError,
    DocumentError,
    FetchError,
    MissingExtraError,
    MissingSourceError,
    OversizeDocumentError,
)
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.settings import SourceSettings, SqlSettings
from kaijuan.ingest.sources.sql_rows import Row, reader_for
from kaijuan.ingest.sources.stepping import stepped

_SCHEME = "sql:"
_BATCH = 500
"""Rows held at once, where the driver can stream."""
_PARAMETER = re.compile(r"(?<![:\w\\]):(?=\w)")
_FIRST_LINES = 300
_READ_ONLY = {
    "mysql": "SET SESSION TRANSACTION READ ONLY",
    "mariadb": "SET SESSION TRANSACTION READ ONLY",
    "oracle": "SET TRANSACTION READ ONLY",
}
"""How a dialect is told that nothing may be written. PostgreSQL is told by the driver, SQLite opens the file so."""


class SqlSource:
    """Source of the rows that one query gives. Its address is sql:NAME, by the name in the configuration.

    The transaction is read-only where the database knows that, and never committed. Rows are streamed.
    """

    def __init__(self, settings: SqlSettings | None, *, max_bytes: int) -> None:
        self._settings = settings
        self._max_bytes = max_bytes

    @classmethod
    def from_settings(cls, limits: IngestSettings, settings: SourceSettings | None, _cache: Path) -> Self:
        """Return the source as configured."""
        return cls(cast(SqlSettings | None, settings), max_bytes=limits.max_bytes)

    def accepts(self, target: str) -> bool:
        """Say whether `target` is sql: and a name."""
        return target.startswith(_SCHEME) and len(target) > len(_SCHEME)

    def scope(self, target: str) -> str:
        """Return sql:NAME#, or the address of one row as it is."""
        name, found, record = target.removeprefix(_SCHEME).partition("#")
        return f"{_address(name)}#{record if found else ''}"

    def walk(self, target: str) -> AsyncIterator[SourceItem | SourceFailure]:
        """Yield one item a row or group of rows, in the order of the query."""
        return stepped(self._walk(_address(target.removeprefix(_SCHEME).partition("#")[0])))

    def _walk(self, address: str) -> Iterator[SourceItem | SourceFailure]:
        try:
            if self._settings is None:
                name = address.removeprefix(_SCHEME)
                raise MissingSourceError(
                    f"The configuration has no query called {name!r}.", hint=f"Describe it in [sources.{name}]."
                )
            yield from self._documents(address, self._settings)
        except DocumentError as error:
            yield SourceFailure(source=address, code=error.code, message=f"{address}: {error}")

    def _documents(self, address: str, settings: SqlSettings) -> Iterator[SourceItem | SourceFailure]:
        url = _url(settings.url)
        with _named_errors(url), _connected(_read_only(url), settings.seconds) as connection:
            result = _ask(connection, settings.query)
            reader = reader_for(address, settings, list(result.keys()), self._max_bytes)
            yield from reader.documents(_rows(result, settings.rows))


def _address(name: str) -> str:
    return _SCHEME + quote(name, safe="~-._")


def _url(secret: SecretStr) -> URL:
    if not secret.get_secret_value():
        raise MissingSourceError("The url of the database is not set.", hint="Set KAIJUAN_SOURCES__NAME__URL.")
    try:
        return make_url(secret.get_secret_value())
    except ArgumentError:
        # Its message shows the address, password included.
        raise BrokenDocumentError(
            "The url is no database address.", hint="Write it like postgresql+pg8000://user:password@host:5432/name."
        ) from None


def _read_only(url: URL) -> URL:
    if url.get_backend_name() != "sqlite":
        return url
    path = Path(url.database or "")
    if not path.is_file():
        raise MissingSourceError(f"There is no database file {path}.")
    # Else SQLite would make a file that is not there, and could write to one that is.
    return url.set(database=f"file:{quote(str(path.absolute()))}", query={"mode": "ro", "uri": "true"})


@contextmanager
def _named_errors(url: URL) -> Iterator[None]:
    """Turn what drivers raise into our errors, without the password."""
    shown = url.set(query={}).render_as_string(hide_password=True)
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(
            f"The driver of {shown} is not installed: {error}.",
            hint="Run: pip install 'kaijuan[sql]' and write postgresql+pg8000:// or mysql+pymysql://.",
        ) from error
    except (SQLAlchemyError, OSError) as error:
        # The statement and its parameters, which SQLAlchemy adds, say nothing to who reads a report.
        said = str(getattr(error, "orig", None) or error)
        if url.password:
            said = said.replace(str(url.password), "***")
        first = " ".join(said.split())[:_FIRST_LINES].rstrip(".")
        raise FetchError(
            f"{shown} cannot be read: {first}.", hint="Check the address, the query and the database."
        ) from None


@contextmanager
def _connected(url: URL, seconds: float) -> Iterator[Connection]:
    engine: Engine = create_engine(url, poolclass=NullPool, connect_args=_limits(url, seconds))
    try:
        with engine.connect() as connection:
            backend = url.get_backend_name()
            if backend == "postgresql":
                connection = connection.execution_options(postgresql_readonly=True)
            elif backend in _READ_ONLY:
                connection.execute(text(_READ_ONLY[backend]))
            yield connection
            connection.rollback()
    finally:
        engine.dispose()


def _limits(url: URL, seconds: float) -> dict[str, Any]:
    """Return what keeps a driver from waiting for ever, in its own words."""
    whole = max(1, round(seconds))
    known: dict[str, dict[str, Any]] = {
        "pg8000": {"timeout": seconds},
        "psycopg": {"connect_timeout": whole, "options": f"-c statement_timeout={whole * 1000}"},
        "psycopg2": {"connect_timeout": whole, "options": f"-c statement_timeout={whole * 1000}"},
        "pymysql": {"connect_timeout": whole, "read_timeout": whole},
        "pysqlite": {"timeout": seconds},
    }
    return known.get(url.get_driver_name(), {})


def _ask(connection: Connection, query: str) -> CursorResult[Any]:
    # A colon in a query is its own, never a parameter of ours.
    statement = text(_PARAMETER.sub(r"\\:", query.strip().rstrip(";")))
    options = {"stream_results": True, "max_row_buffer": _BATCH}
    result = connection.execution_options(**options).execute(statement)
    if not result.returns_rows:
        raise BrokenDocumentError("The query gives no rows.", hint="Write one SELECT.")
    return result


def _rows(result: CursorResult[Any], most: int) -> Iterator[Row]:
    for number, row in enumerate(result.mappings(), 1):
        if number > most:
            raise OversizeDocumentError(
                f"The query gives more than {most:,} rows.", hint="Narrow it, or raise `rows` of the source."
            )
        yield cast(Row, row)
