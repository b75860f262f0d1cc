"""What language models wrote about documents, in one SQLite file of the home's cache folder."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from kaijuan import telemetry

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS written (key TEXT PRIMARY KEY, owner TEXT NOT NULL, said TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS written_by_owner ON written (owner);
"""
_LOOKUP = 500
"""Keys in one SELECT, below SQLite's limit of parameters in every build."""
_BUSY_SECONDS = 5.0


class SqliteWritten:
    """Texts by key, for several threads and processes.

    The file saves money, and is no need: a damaged one is set aside with an event, one that cannot be opened or written
    is done without. Deleted rows are overwritten (secure_delete): what was removed from a base must not be read from
    this file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._given_up = False

    def known(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return what is kept under these keys; never makes the file."""
        if not keys or (self._connection is None and not self._path.exists()):
            return {}

        def look(connection: sqlite3.Connection) -> dict[str, str]:
            found: dict[str, str] = {}
            for at in range(0, len(keys), _LOOKUP):
                part = keys[at : at + _LOOKUP]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT key, said FROM written WHERE key IN ({marks})", part)  # noqa: S608 marks
                found.update(rows)
            return found

        return self._run(look) or {}

    def keep(self, owner: str, rows: Mapping[str, str]) -> None:
        """Keep texts by key, on disk when this returns."""

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO written VALUES (?, ?, ?)",
                    [(key, owner, said) for key, said in rows.items()],
                )

        self._run(write)

    def forget(self, owners: Collection[str]) -> int:
        """Drop what is kept of documents."""
        if not owners or (self._connection is None and not self._path.exists()):
            return 0

        def drop(connection: sqlite3.Connection) -> int:
            with connection:
                gone = sum(
                    connection.execute("DELETE FROM written WHERE owner = ?", (owner,)).rowcount for owner in owners
                )
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return gone

        return self._run(drop) or 0

    def owners(self) -> Collection[str]:
        """Return the documents that something is kept of."""
        if self._connection is None and not self._path.exists():
            return ()
        found = self._run(lambda connection: connection.execute("SELECT DISTINCT owner FROM written").fetchall())
        return [owner for (owner,) in found or () if owner]

    def of(self, owner: str) -> Mapping[str, str]:
        """Return what is kept of a document, by key."""
        if self._connection is None and not self._path.exists():
            return {}
        query = "SELECT key, said FROM written WHERE owner = ?"
        return self._run(lambda connection: dict(connection.execute(query, (owner,)).fetchall())) or {}

    def close(self) -> None:
        """Close the file. Twice is fine."""
        with self._lock:
            self._given_up = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        with self._lock:
            if self._given_up:
                return None
            try:
                return work(self._opened())
            except sqlite3.DatabaseError as error:
                self._mend(error)
                return None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            made = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, check_same_thread=False)
            made.execute("PRAGMA journal_mode = WAL")
            made.execute("PRAGMA secure_delete = ON")
            made.executescript(_SCHEMA)
            with suppress(OSError):
                os.chmod(self._path, 0o600)
            self._connection = made
        return self._connection

    def _mend(self, error: sqlite3.DatabaseError) -> None:
        """Set a damaged file aside; do without one that cannot be used."""
        telemetry.event("written.failed", path=str(self._path), reason=str(error))
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
        if isinstance(error, sqlite3.OperationalError):
            # A full disk, a lock held too long: the next call may do.
            return
        with suppress(OSError):
            os.replace(self._path, self._path.with_name(self._path.name + ".damaged"))
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
