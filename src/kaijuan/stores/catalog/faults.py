"""From the database driver's errors to ours: the one place of the catalog that knows the vendor's codes."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from kaijuan.errors import BusyError, CorruptStoreError, DiskFullError, StoreError, UsageError

_PRIMARY = 0xFF
"""The low byte of an extended SQLite result code is its family."""
_KINDS: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_FULL: (DiskFullError, "There is no room left for the catalog."),
    sqlite3.SQLITE_BUSY: (BusyError, "Another process is writing to the catalog."),
    sqlite3.SQLITE_LOCKED: (BusyError, "Another process is writing to the catalog."),
    sqlite3.SQLITE_CORRUPT: (CorruptStoreError, "The catalog file is damaged."),
    sqlite3.SQLITE_NOTADB: (CorruptStoreError, "The catalog file is not a database."),
    sqlite3.SQLITE_READONLY: (StoreError, "The catalog cannot be written: it is read-only."),
    sqlite3.SQLITE_CANTOPEN: (StoreError, "The catalog file cannot be opened."),
}
_HINTS = {
    sqlite3.SQLITE_READONLY: "Check the permissions of the home folder: reading needs to write there as well.",
    sqlite3.SQLITE_CANTOPEN: "Check that the home folder exists and can be written.",
    # Nothing can rebuild the catalog itself, so that the usual advice of the class would mislead.
    sqlite3.SQLITE_CORRUPT: "Restore the catalog file from a backup.",
    sqlite3.SQLITE_NOTADB: "Restore the catalog file from a backup.",
}
_UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_ROOM = 1 << 20
_SHOWN = 200


def storable(text: str) -> bool:
    """Say whether the database can hold the text; what it cannot hold, nothing in it is equal to."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_store_error(error: SQLAlchemyError | sqlite3.Error, path: Path | None) -> StoreError:
    """Return our error for one of the database's."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", 0) & _PRIMARY
    if code == sqlite3.SQLITE_IOERR and path is not None and shutil.disk_usage(path.parent).free < _ROOM:
        # Some writes that find no room (of the shared-memory file) are reported as plain I/O errors.
        code = sqlite3.SQLITE_FULL
    if code in _UNWRITABLE and path is not None and path.parent.exists() and not os.access(path.parent, os.W_OK):
        return StoreError(
            f"The folder {path.parent} cannot be written. Reading a home needs that too: for the catalog's log and the "
            "lock of the index.",
            hint="Give this user write access, or copy the folder and name the copy with --home.",
        )
    kind, message = _KINDS.get(code, (StoreError, f"The catalog failed: {cause}."))
    return kind(message, hint=_HINTS.get(code))


@contextmanager
def translated(path: Path | None = None, absent: type[UsageError] = UsageError) -> Iterator[None]:
    """Raise a StoreError in place of any error of the database, and `absent` where what is asked for is no text.

    Bytes of a command line that are no UTF-8 reach us as half characters, which no database takes.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        raise absent(f"{error.object[:_SHOWN]!a} is not text: it holds undecodable bytes.") from error
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise as_store_error(error, path) from error
