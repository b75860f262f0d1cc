"""Answers in one SQLite file of the home's cache folder."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import numpy as np

from kaijuan import telemetry
from kaijuan.answer.remembering import Kept, Scope

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY, kb TEXT NOT NULL, generation TEXT NOT NULL, scope TEXT NOT NULL, words TEXT NOT NULL,
  question TEXT NOT NULL, answer TEXT NOT NULL, vector BLOB, kept_at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS answers_by_words ON answers (scope, words);
CREATE INDEX IF NOT EXISTS answers_by_base ON answers (kb, generation);
"""
_BUSY_SECONDS = 2.0
_EVICTED = 0.1
"""Share of the rows that goes when the file is full."""
_MOST_LIKE = 50


class SqliteAnswers:
    """Answers by key, for several processes. A damaged file is set aside; one that cannot be written is done without.

    Deleted rows are overwritten (secure_delete): what was removed from a base must not be read from its cache's file.
    """

    def __init__(self, path: Path, *, max_bytes: int, seconds: float) -> None:
        self._path, self._max_bytes, self._seconds = path, max_bytes, seconds
        self._connection: sqlite3.Connection | None = None
        self._given_up = False
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kaijuan-answer-cache")

    async def exact(self, scope: Scope, key: str, *, now: float) -> Kept | None:
        """Return what is kept under a key; drops what other generations of the base left."""

        def look(connection: sqlite3.Connection) -> Kept | None:
            with connection:
                connection.execute(
                    "DELETE FROM answers WHERE kb = ? AND (generation <> ? OR kept_at < ?)",
                    (scope.kb, scope.generation, now - self._seconds),
                )
            row = connection.execute(
                "SELECT question, answer, vector FROM answers WHERE key = ? AND scope = ?", (key, scope.digest)
            ).fetchone()
            return None if row is None else _kept(row)

        return await self._run(look)

    async def like(self, scope: Scope, words: str, *, now: float) -> Sequence[Kept]:
        """Return answers of the scope whose questions have these telling words, the newest first."""

        def look(connection: sqlite3.Connection) -> list[Kept]:
            rows = connection.execute(
                "SELECT question, answer, vector FROM answers WHERE scope = ? AND words = ? AND kept_at >= ?"
                " ORDER BY kept_at DESC LIMIT ?",
                (scope.digest, words, now - self._seconds, _MOST_LIKE),
            ).fetchall()
            return [_kept(row) for row in rows]

        return await self._run(look) or []

    async def keep(self, scope: Scope, key: str, words: str, kept: Kept, *, now: float) -> None:
        """Store an answer; above the limit the oldest rows go."""
        vector = None if kept.vector is None else np.ascontiguousarray(kept.vector, dtype="<f4").tobytes()
        row = (key, scope.kb, scope.generation, scope.digest, words, kept.question, kept.text, vector, now)

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
                self._make_room(connection)

        await self._run(write)

    async def forget(self, kb: str) -> int:
        """Drop every answer of a base."""

        def drop(connection: sqlite3.Connection) -> int:
            with connection:
                gone = connection.execute("DELETE FROM answers WHERE kb = ?", (kb,)).rowcount
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return gone

        if not self._path.exists():
            return 0
        return await self._run(drop) or 0

    async def close(self) -> None:
        """Close the file. Twice is fine."""
        if self._given_up and self._connection is None:
            self._executor.shutdown(wait=False)
            return
        await asyncio.get_running_loop().run_in_executor(self._executor, self._shut)
        await asyncio.to_thread(self._executor.shutdown)

    def _shut(self) -> None:
        self._given_up = True
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        if self._given_up:
            return None
        return await asyncio.get_running_loop().run_in_executor(self._executor, lambda: self._guarded(work))

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        if self._given_up:
            return None
        try:
            return work(self._opened())
        except sqlite3.OperationalError as error:
            # Locked, full or read-only: the answer is made anew.
            telemetry.event("answer_cache.skipped", error=str(error))
            self._given_up = self._connection is None
        except sqlite3.DatabaseError as error:
            self._set_aside(str(error))
        return None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                # Answers hold words of private documents.
                os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))
            except OSError as error:
                raise sqlite3.OperationalError(str(error)) from error
            connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, check_same_thread=False)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA secure_delete = ON")
                connection.executescript(_SCHEMA)
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _make_room(self, connection: sqlite3.Connection) -> None:
        pages, free, size = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        if (pages - free) * size <= self._max_bytes:
            return
        (rows,) = connection.execute("SELECT count(*) FROM answers").fetchone()
        connection.execute(
            "DELETE FROM answers WHERE key IN (SELECT key FROM answers ORDER BY kept_at, key LIMIT ?)",
            (max(1, int(rows * _EVICTED)),),
        )
        telemetry.count("answer.cache_evicted")

    def _set_aside(self, reason: str) -> None:
        telemetry.event("answer_cache.damaged", path=str(self._path), error=reason)
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        with suppress(OSError):
            os.replace(self._path, self._path.with_name(self._path.name + ".damaged"))
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)


def _kept(row: tuple[str, str, bytes | None]) -> Kept:
    question, text, vector = row
    return Kept(
        question=question,
        text=text,
        vector=None if vector is None else np.frombuffer(vector, dtype="<f4").astype(np.float32),
    )
