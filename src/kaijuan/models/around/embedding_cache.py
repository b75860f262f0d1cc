"""Keeps vectors on disk, so that unchanged text is never embedded twice. Wraps any embedder."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np

from kaijuan import telemetry
from kaijuan.core.spans import Span
from kaijuan.errors import ClosedError
from kaijuan.index.ports import Embedder, EmbedderInfo, Vector, Vectors
from kaijuan.ingest.ports import spans_of_each

T = TypeVar("T")

_SLICE = 256
"""Texts computed and stored in one step: a killed run loses no more than that."""
_QUERIES = 256
"""Questions whose vectors stay in memory."""
_LOOKUP = 500
"""Keys in one SELECT, below SQLite's limit of parameters in every build."""
_EVICTED = 0.1
"""Share of the rows that goes when the file is full."""
_BUSY_SECONDS = 5.0
_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"


class CachedEmbedder:
    """An embedder whose passages come from an SQLite file where it has them.

    Rows hold the float32 bytes that the inner embedder returned, so that a vector is the same whether computed or
    found, and are keyed by its fingerprint and the text. The file is a saving, never a need: a damaged one is set
    aside with an event, one that cannot be opened or written is done without. Above `max_bytes` the rows stored
    longest ago are dropped. Several processes may share the file.
    """

    def __init__(self, inner: Embedder, path: Path, *, max_bytes: int) -> None:
        self._inner = inner
        self._store = _VectorFile(path, max_bytes)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kaijuan-embedding-cache")
        self._queries: OrderedDict[str, Vector] = OrderedDict()
        self._closed = False

    @property
    def info(self) -> EmbedderInfo:
        """Say what the inner embedder is: a cache changes no vector."""
        return self._inner.info

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return stored vectors and compute the others. Counts `embedding.cached` and `embedding.computed`."""
        self._check_open()
        keys = await self._run(lambda: [_key(self.info.fingerprint, text) for text in texts])
        known = await self._run(lambda: self._store.read(keys, self.info.dimensions))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        telemetry.count("embedding.cached", len(set(keys)) - len(missing))
        telemetry.count("embedding.computed", len(missing))
        await self._compute(missing, known)
        rows = np.empty((len(texts), self.info.dimensions), dtype=np.float32)
        for row, key in zip(rows, keys, strict=True):
            row[:] = known[key]
        return rows

    async def embed_query(self, text: str) -> Vector:
        """Embed a question; the latest ones are remembered in memory only."""
        self._check_open()
        vector = self._queries.get(text)
        if vector is None:
            vector = await self._inner.embed_query(text)
            self._queries[text] = vector
            if len(self._queries) > _QUERIES:
                self._queries.popitem(last=False)
        else:
            telemetry.count("embedding.query_cached")
            self._queries.move_to_end(text)
        # A copy, since a caller that scales its vector in place must not change the next caller's.
        return vector.copy()

    def token_spans(self, text: str) -> Sequence[Span]:
        """Return the spans of the inner embedder."""
        return self._inner.token_spans(text)

    def token_spans_each(self, texts: Sequence[str]) -> Sequence[Sequence[Span]]:
        """Return the spans of the inner embedder, found together where it can do that."""
        return spans_of_each(self._inner, texts)

    async def check(self, *, repair: bool) -> list[str]:
        """Look at every row; return one sentence a fault. With `repair`, rows that are wrong go."""
        return await self._run(lambda: self._store.check(repair))

    async def close(self) -> None:
        """Close the file and the inner embedder."""
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._executor, self._store.close)
            await asyncio.to_thread(self._executor.shutdown)
        await self._inner.close()

    async def _compute(self, missing: Mapping[bytes, str], known: dict[bytes, Vector]) -> None:
        todo = list(missing.items())
        for at in range(0, len(todo), _SLICE):
            part = todo[at : at + _SLICE]
            rows = await self._inner.embed_passages([text for _, text in part])
            made = {key: row for (key, _), row in zip(part, rows, strict=True)}
            known.update(made)
            await self._run(lambda made=made: self._store.write(made))  # type: ignore[misc]

    async def _run(self, work: Callable[[], T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("The embedder is closed.")


class _VectorFile:
    """Key to vector in SQLite. Used from one thread; no method raises for what is wrong with the file."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._connection: sqlite3.Connection | None = None
        self._given_up = False

    def read(self, keys: Iterable[bytes], dimensions: int) -> dict[bytes, Vector]:
        """Return the vectors that are there, whole and of the right length."""
        wanted = list(dict.fromkeys(keys))
        found = self._guarded(lambda connection: _select(connection, wanted)) or []
        vectors = ((key, _unpack(blob, dimensions)) for key, blob in found)
        return {key: vector for key, vector in vectors if vector is not None}

    def write(self, vectors: Mapping[bytes, Vector]) -> None:
        """Store vectors and drop the oldest where the file became too large."""
        self._guarded(lambda connection: self._insert(connection, vectors))

    def check(self, repair: bool) -> list[str]:
        """Compare every row with its checksum; a damaged file is set aside as by any other use."""
        if not self._path.exists():
            return []

        def look(connection: sqlite3.Connection) -> list[str]:
            faults = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)") if row[0] != "ok"]
            rows = connection.execute("SELECT key, vector FROM vectors")
            bad = [(key,) for key, blob in rows if zlib.crc32(blob[:-4]) != int.from_bytes(blob[-4:], "little")]
            if bad and repair:
                with connection:
                    connection.executemany("DELETE FROM vectors WHERE key = ?", bad)
            return faults + ([f"{len(bad)} vectors are damaged"] if bad else [])

        found = self._guarded(look)
        return ["the cache of vectors is damaged and set aside"] if found is None else found

    def close(self) -> None:
        """Close the file; SQLite folds the log into it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._given_up = True

    def _insert(self, connection: sqlite3.Connection, vectors: Mapping[bytes, Vector]) -> None:
        with connection:
            connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [(key, _pack(vector)) for key, vector in vectors.items()],
            )
            if _used_bytes(connection) > self._max_bytes:
                (rows,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
                evicted = max(1, int(rows * _EVICTED), rows - self._room(connection, rows))
                oldest = "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors ORDER BY rowid LIMIT ?)"
                connection.execute(oldest, (evicted,))
                telemetry.count("embedding.evicted", evicted)

    def _room(self, connection: sqlite3.Connection, rows: int) -> int:
        """Return how many rows fit, by their mean size now."""
        return int(rows * self._max_bytes / _used_bytes(connection))

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `work`; a damaged file is replaced by an empty one, other trouble costs this one step."""
        if self._given_up:
            return None
        try:
            return work(self._opened())
        except sqlite3.OperationalError as error:
            # Locked, full or read-only: the vectors are in memory all the same.
            telemetry.event("embedding_cache.skipped", error=str(error))
            self._given_up = self._connection is None
        except sqlite3.DatabaseError as error:
            self._set_aside(str(error))
        return None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise sqlite3.OperationalError(str(error)) from error
            connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, check_same_thread=False)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                # A power cut may lose the newest rows, never the file.
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(_SCHEMA)
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _set_aside(self, reason: str) -> None:
        telemetry.event("embedding_cache.damaged", path=str(self._path), error=reason)
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        try:
            os.replace(self._path, self._path.with_name(self._path.name + ".damaged"))
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            telemetry.event("embedding_cache.skipped", error=str(error))
            self._given_up = not isinstance(error, FileNotFoundError)


def _key(fingerprint: str, text: str) -> bytes:
    # The fingerprint is the key of the hash: the same text under another model is another entry.
    salt = hashlib.blake2b(fingerprint.encode(), digest_size=32).digest()
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32, key=salt).digest()


def _pack(vector: Vector) -> bytes:
    data = np.ascontiguousarray(vector, dtype="<f4").tobytes()
    return data + zlib.crc32(data).to_bytes(4, "little")


def _unpack(blob: bytes, dimensions: int) -> Vector | None:
    # SQLite does not notice a flipped bit inside a row; a wrong vector would stay unseen for ever.
    data = blob[:-4]
    if len(data) != 4 * dimensions or zlib.crc32(data) != int.from_bytes(blob[-4:], "little"):
        return None
    return np.frombuffer(data, dtype="<f4").astype(np.float32, copy=False)


def _select(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    rows: list[tuple[bytes, bytes]] = []
    for at in range(0, len(keys), _LOOKUP):
        part = keys[at : at + _LOOKUP]
        marks = ",".join("?" * len(part))
        rows += connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)  # noqa: S608 - marks only
    return rows


def _used_bytes(connection: sqlite3.Connection) -> int:
    numbers = [
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    ]
    return int((numbers[0] - numbers[1]) * numbers[2])
