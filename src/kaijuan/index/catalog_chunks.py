"""The part of the catalog port that keeps what people do to chunks (spec C6)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from kaijuan.core.chunk_work import ChunkWork, Miss
from kaijuan.core.ids import DocumentId, KbId, VersionId

if TYPE_CHECKING:
    from kaijuan.index.catalog import Run


class ChunkWorkWriter(Protocol):
    """Work is staged by a run like versions are: in force from its target on, gone if it is rolled back."""

    async def record_work(self, run: Run, work: Sequence[ChunkWork]) -> None:
        """Insert work in force from the run's target on, all or none. Repeatable."""

    async def end_work(self, run: Run, ids: Collection[str], *, by: str, now: float) -> None:
        """Put work out of force from the run's target on, all or none; NotFoundError for what is not in force."""


class ChunkWorkReader(Protocol):
    """Who did what to which passage."""

    async def work(self, kb: KbId, snapshot: int, document: DocumentId | None = None) -> list[ChunkWork]:
        """Work in force at a snapshot, in the order in which it was done."""

    async def work_history(self, kb: KbId, snapshot: int, document: DocumentId | None = None) -> list[ChunkWork]:
        """All work that was ever in force up to a snapshot, in the order in which it was done."""

    async def misses(self, versions: Collection[VersionId]) -> Mapping[VersionId, Sequence[Miss]]:
        """Work that each of these versions could not take over, and why."""
