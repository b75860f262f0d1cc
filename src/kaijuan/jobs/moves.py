"""Documents that moved under a mirrored place: whoever could not read one must not read it where it is now.

Whether a document moved or was copied is known only when its old place is met or found empty. Until then nothing that
may be a closed document is published at a more open place; and where it cannot be known, it is closed there too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from kaijuan import telemetry
from kaijuan.core.documents import Version
from kaijuan.core.ids import KbId, VersionId, document_id
from kaijuan.index.catalog import Catalog
from kaijuan.index.write import write_versions
from kaijuan.jobs.change import Change
from kaijuan.jobs.mirror import is_within
from kaijuan.jobs.report import Moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A content that came to a place, in a version or held back for a decision."""

    source: str
    content: str
    version: VersionId | None = None


class Doubts:
    """Arrivals of what closed documents hold, by where those are or were."""

    def __init__(self, catalog: Catalog, kb: KbId, head: int, scope: str) -> None:
        self._catalog, self._kb, self._head, self._scope = catalog, kb, head, scope
        self._arrived: dict[str, list[Arrival]] = {}

    async def look(self, arrivals: Collection[Arrival]) -> None:
        """Find out of which of these there is a more closed document at another place."""
        places = {document_id(self._kb, one.source): one for one in arrivals}
        contents = {document: one.content for document, one in places.items()}
        alike = await self._catalog.closed_alike(self._kb, self._head, contents)
        for document, sources in alike.items():
            for source in sources:
                if is_within(source, self._scope):
                    self._arrived.setdefault(source, []).append(places[document])

    def settle(self, stayed: Callable[[str], bool]) -> bool:
        """Forget those that `stayed` where they were, of which the others are copies; say whether no doubt is left."""
        self._arrived = {source: arrivals for source, arrivals in self._arrived.items() if not stayed(source)}
        return not self._arrived

    async def close(self, change: Change) -> None:
        """Close what is still in doubt as it is closed at its old place."""
        closed: list[VersionId] = []
        for source, arrivals in self._arrived.items():
            before = document_id(self._kb, source)
            for one in arrivals:
                if await self._catalog.move_access(self._kb, before, document_id(self._kb, one.source)):
                    telemetry.event("run.closed_in_doubt", run=change.run.id, source=one.source, like=source)
                    closed += [one.version] if one.version else []
        await _write_again(change, closed)


def arrived(version: Version) -> Arrival:
    """Return the arrival that a stored version is."""
    return Arrival(source=version.source, content=version.content_hash, version=version.id)


async def follow_moves(catalog: Catalog, change: Change, gone: Sequence[Version]) -> None:
    """Let documents with the content of one that went be as closed as that was, and tell of them."""
    run = change.run
    hashes = {version.content_hash for version in gone}
    came: dict[str, list[Version]] = {}
    for version in await catalog.versions_by_content(run.kb_id, run.target, hashes):
        if version.valid_from > change.tally.begun:
            came.setdefault(version.content_hash, []).append(version)
    closed: list[VersionId] = []
    for version in gone:
        places = came.get(version.content_hash, [])
        if places:
            change.tally.moved.append(Moved(before=version.source, after=places[-1].source))
        closed += [
            after.id for after in places if await catalog.move_access(run.kb_id, version.document_id, after.document_id)
        ]
    await _write_again(change, closed)


async def _write_again(change: Change, versions: Sequence[VersionId]) -> None:
    if versions:
        # Their points may be written already, with the readers of the base.
        await write_versions(change.outbox.writer, list(dict.fromkeys(versions)))
