"""The second page of the catalog port over SQLAlchemy: each method one transaction, as in `sql`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Engine

from kaijuan.core.documents import Version
from kaijuan.core.ids import DocumentId, KbId, RunId, VersionId
from kaijuan.core.snapshots import Changes, SnapshotTag
from kaijuan.errors import UsageError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.history import Dropped, Row, RunNote, SourceMark
from kaijuan.stores.catalog import bases, moving, notes, retention, transfer
from kaijuan.stores.catalog import marks as source_marks
from kaijuan.stores.catalog.changes import snapshot_changes
from kaijuan.stores.catalog.faults import translated

_Result = TypeVar("_Result")


class Upkeep:
    """Methods of `SqlCatalog`, which gives `_read`, `_write` and `_open`."""

    _file: Path | None
    _writer: ThreadPoolExecutor
    _readers: ThreadPoolExecutor

    async def _read(self, work: Callable[..., _Result], *args: object) -> _Result:
        raise NotImplementedError

    async def _write(self, work: Callable[..., _Result], *args: object, durable: bool = False) -> _Result:
        raise NotImplementedError

    async def _submit(self, pool: ThreadPoolExecutor, call: Callable[[], _Result]) -> _Result:
        raise NotImplementedError

    def _open(self) -> Engine:
        raise NotImplementedError

    async def every_kb(self) -> list[KnowledgeBase]:
        """Return the bases of all tenants."""
        return await self._read(bases.every_kb)

    async def tag_snapshot(self, kb: KbId, tag: SnapshotTag) -> None:
        """Give a kept snapshot a name."""
        await self._write(retention.tag_snapshot, kb, tag, durable=True)

    async def untag_snapshot(self, kb: KbId, name: str) -> None:
        """Take a name away."""
        await self._write(retention.untag_snapshot, kb, name, durable=True)

    async def snapshot_tags(self, kb: KbId) -> list[SnapshotTag]:
        """Return the names by snapshot."""
        return await self._read(retention.snapshot_tags, kb)

    async def snapshot_changes(self, kb: KbId) -> dict[int, Changes]:
        """Return for every kept snapshot what it shows differently than the kept one before."""
        return await self._read(snapshot_changes, kb)

    async def drop_snapshots(self, kb: KbId, kept: Collection[int], *, now: float) -> Dropped:
        """Keep only these snapshots and head."""
        return await self._write(retention.drop_snapshots, kb, kept, now, durable=True)

    async def purge_documents(self, kb: KbId, documents: Collection[DocumentId]) -> Dropped:
        """Remove every version of documents that head does not show."""
        return await self._write(retention.purge_documents, kb, documents, durable=True)

    async def drop_run_lines(self, kb: KbId, *, before: float) -> int:
        """Remove the lines of old reports."""
        return await self._write(retention.drop_run_lines, kb, before)

    async def referenced_blobs(self) -> set[str]:
        """Return the names of all blobs that something needs."""
        return await self._read(retention.referenced_blobs)

    async def drop_traces(self, kb: KbId, ids: Collection[str]) -> None:
        """Remove saved traces."""
        await self._write(retention.drop_traces, kb, ids)

    async def trace_texts(self, kb: KbId) -> list[tuple[str, str]]:
        """Return (id, JSON) of every saved trace."""
        return await self._read(retention.trace_texts, kb)

    async def note_run(self, run: RunId, *, request: str | None = None, progress: str | None = None) -> str:
        """Keep what was asked for or how far a run is; return who wants it to stop."""
        return await self._write(notes.note_run, run, request, progress)

    async def run_notes(self, runs: Collection[RunId]) -> dict[RunId, RunNote]:
        """Return what is known of these runs."""
        return await self._read(notes.run_notes, runs)

    async def item_counts(self, runs: Collection[RunId]) -> dict[RunId, dict[str, int]]:
        """Return how many lines of each state the reports of runs have."""
        return await self._read(notes.item_counts, runs)

    async def cancel_run(self, run: RunId, by: str) -> None:
        """Ask a running run to stop."""
        await self._write(notes.cancel_run, run, by, durable=True)

    async def versions_staged(self, run: RunId) -> list[VersionId]:
        """Return the versions that a run staged."""
        return await self._read(notes.versions_staged, run)

    async def save_marks(self, kb: KbId, marks: Sequence[SourceMark]) -> None:
        """Keep marks of sources."""
        await self._write(source_marks.save_marks, kb, marks)

    async def marks(self, kb: KbId, fingerprint: str) -> list[tuple[str, str]]:
        """Return (source, mark) of every mark with this fingerprint."""
        return await self._read(source_marks.marks, kb, fingerprint)

    async def forget_marks(self, kb: KbId, sources: Collection[str] | None = None) -> None:
        """Drop marks of sources, or all of the base."""
        await self._write(source_marks.forget_marks, kb, sources)

    async def move_access(self, kb: KbId, before: DocumentId, after: DocumentId) -> bool:
        """Close the document that took another's place as that one is closed."""
        return await self._write(moving.move_access, kb, before, after, durable=True)

    async def closed_alike(
        self, kb: KbId, snapshot: int, contents: Mapping[DocumentId, str]
    ) -> dict[DocumentId, list[str]]:
        """Return where a snapshot shows what documents hold now to fewer than may read those."""
        return await self._read(moving.closed_alike, kb, snapshot, contents)

    async def versions_by_content(self, kb: KbId, snapshot: int | None, hashes: Collection[str]) -> list[Version]:
        """Return visible versions with one of these content hashes."""
        return await self._read(moving.versions_by_content, kb, snapshot, hashes)

    async def check_integrity(self) -> list[str]:
        """Return what the database finds wrong with itself."""
        return await self._read(transfer.check_integrity)

    async def compact(self) -> None:
        """Let the files hold nothing of what was deleted."""

        def call() -> None:
            engine = self._open()
            if engine.dialect.name != "sqlite":
                return
            with translated(self._file), engine.connect() as connection:
                # None of these may stand in a transaction, which SQLAlchemy would open.
                raw = connection.connection.driver_connection
                assert raw is not None
                for statement in ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                    raw.execute(statement).fetchall()

        await self._submit(self._writer, call)

    async def copy_to(self, file: Path) -> None:
        """Write a copy of the whole catalog, as of one moment, to a file that is not there."""

        def call() -> None:
            engine = self._open()
            if engine.dialect.name != "sqlite":
                raise UsageError("This database is backed up by its own tools.", hint="For PostgreSQL that is pg_dump.")
            with translated(self._file), engine.connect() as connection:
                raw = connection.connection.driver_connection
                assert raw is not None
                with closing(sqlite3.connect(file)) as copy:
                    raw.backup(copy)
                    copy.execute("DELETE FROM lease")
                    copy.commit()
                    # One file, that needs no log beside it.
                    copy.execute("PRAGMA journal_mode = DELETE")

        await self._submit(self._readers, call)

    def dump(self, kb: KbId) -> Iterator[tuple[str, Row]]:
        """Yield (table, row) of everything that belongs to a base, as of one moment. Blocks."""
        with translated(self._file), self._open().connect() as connection:
            yield from transfer.dump(connection, kb)

    async def load(self, kb: KbId, rows: Iterator[tuple[str, Row]], *, now: float) -> RunId:
        """Insert the rows of a dump as a base that readers see empty."""
        return await self._write(transfer.load, kb, rows, now, durable=True)

    async def finish_import(self, run: RunId, head: int, space: str, *, now: float) -> None:
        """Let readers see the base that was loaded."""
        await self._write(transfer.finish_import, run, head, space, now, durable=True)
