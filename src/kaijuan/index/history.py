"""The catalog port, its second page: snapshots that people name and drop, runs that they watch, marks of sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kaijuan.core.documents import Version
from kaijuan.core.ids import DocumentId, KbId, RunId, VersionId
from kaijuan.core.snapshots import Changes, SnapshotTag

if TYPE_CHECKING:
    from kaijuan.index.catalog import KnowledgeBase

Row = Mapping[str, Any]
"""One row of a table, by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """What left the catalog for good."""

    snapshots: tuple[int, ...] = ()
    versions: int = 0
    chunks: int = 0
    """Searchable ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNote:
    """What is known of a run besides its end: what was asked for, how far it is, who wants it to stop."""

    request: str = ""
    """JSON; "" where nothing can be asked for again."""
    progress: str = ""
    """JSON of the last progress that was written, with its time."""
    cancelled: str = ""
    """Who asked it to stop, a sentence; "" when nobody did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMark:
    """How a source looked from outside when all that came from it was live."""

    source: str
    mark: str
    fingerprint: str
    """Of all settings that decide what becomes of a source; another one makes the mark void."""


class CatalogHistory(Protocol):
    """What is kept how long, and what runs say of themselves. Each method is one transaction."""

    async def every_kb(self) -> list[KnowledgeBase]:
        """Return the bases of all tenants: those whose documents share the blobs."""

    async def tag_snapshot(self, kb: KbId, tag: SnapshotTag) -> None:
        """Give a kept snapshot a name, which keeps it; NotFoundError when it is not kept, UsageError for a name in use
        by another snapshot."""

    async def untag_snapshot(self, kb: KbId, name: str) -> None:
        """Take a name away; NotFoundError when there is none."""

    async def snapshot_tags(self, kb: KbId) -> list[SnapshotTag]:
        """Return the names by snapshot, then name."""

    async def snapshot_changes(self, kb: KbId) -> dict[int, Changes]:
        """Return for every kept snapshot what it shows differently than the kept one before."""

    async def drop_snapshots(self, kb: KbId, kept: Collection[int], *, now: float) -> Dropped:
        """Keep only these snapshots (and head): the others can no longer be read, and versions that none of those kept
        shows go with everything in them. For the holder of the lease, while no run of the base is under way."""

    async def purge_documents(self, kb: KbId, documents: Collection[DocumentId]) -> Dropped:
        """Remove every version of documents that head does not show, from every snapshot, with their lines in reports,
        reviews, marks, bindings and their names. UsageError while one is live. Sizes of snapshots are counted anew."""

    async def drop_run_lines(self, kb: KbId, *, before: float) -> int:
        """Remove the lines of the reports of runs that ended before a time; return how many runs lost them."""

    async def referenced_blobs(self) -> set[str]:
        """Return the names of all blobs that a version or a review of any knowledge base needs."""

    async def drop_traces(self, kb: KbId, ids: Collection[str]) -> None:
        """Remove saved traces."""

    async def trace_texts(self, kb: KbId) -> list[tuple[str, str]]:
        """Return (id, JSON) of every saved trace, oldest first."""

    async def note_run(self, run: RunId, *, request: str | None = None, progress: str | None = None) -> str:
        """Keep what was asked for or how far a run is; return who wants it to stop, "" when nobody does."""

    async def run_notes(self, runs: Collection[RunId]) -> dict[RunId, RunNote]:
        """Return what is known of these runs."""

    async def item_counts(self, runs: Collection[RunId]) -> dict[RunId, dict[str, int]]:
        """Return how many lines of each state the reports of runs have."""

    async def cancel_run(self, run: RunId, by: str) -> None:
        """Ask a running run to stop; NotFoundError when there is none, UsageError when it has ended."""

    async def save_marks(self, kb: KbId, marks: Sequence[SourceMark]) -> None:
        """Keep marks, each in place of an earlier one of its source. Those of a source, and of the file that it came
        out of, go by themselves when one of its versions is replaced or removed."""

    async def marks(self, kb: KbId, fingerprint: str) -> list[tuple[str, str]]:
        """Return (source, mark) of every mark with this fingerprint."""

    async def forget_marks(self, kb: KbId, sources: Collection[str] | None = None) -> None:
        """Drop the marks of sources and of the files that they came out of; all of the base by default."""

    async def move_access(self, kb: KbId, before: DocumentId, after: DocumentId) -> bool:
        """Close the document that took another's place as that one is closed: by its own readers, or by the rule of a
        folder that the new place is not under; say whether anything had to be done. Bumps the policy version if so.
        Repeatable."""

    async def closed_alike(
        self, kb: KbId, snapshot: int, contents: Mapping[DocumentId, str]
    ) -> dict[DocumentId, list[str]]:
        """Return for documents, given with their content hash, the sources where a snapshot shows the same content
        more closed: those that `move_access` would have something to do for. Documents without any are left out."""

    async def versions_by_content(self, kb: KbId, snapshot: int | None, hashes: Collection[str]) -> list[Version]:
        """Return versions with one of these content hashes that a snapshot shows, by source; of None all that are
        kept."""

    async def check_integrity(self) -> list[str]:
        """Return what the database finds wrong with itself: one sentence a fault, none when it is whole."""

    async def compact(self) -> None:
        """Let the files hold nothing of what was deleted, as far as that is this store's to do. Takes a while."""

    async def copy_to(self, file: Path) -> None:
        """Write a copy of the whole catalog, as of one moment, to a file that is not there; nobody holds a lease in it.
        Runs and readers go on. UsageError where the database has tools of its own for that."""

    def dump(self, kb: KbId) -> Iterator[tuple[str, Row]]:
        """Yield (table, row) of everything that belongs to a base, parents first, as of one moment. Blocks."""

    async def load(self, kb: KbId, rows: Iterator[tuple[str, Row]], *, now: float) -> RunId:
        """Fill an empty base with the rows of a dump, which readers do not see yet (head stays 0), with one unfinished
        run of the kind "import"; rolling that run back empties it again. UsageError when it is not empty."""

    async def finish_import(self, run: RunId, head: int, space: str, *, now: float) -> None:
        """Let readers see the base that was loaded: sets head and space, ends the run."""

    async def versions_staged(self, run: RunId) -> list[VersionId]:
        """Return the versions that a run staged."""
