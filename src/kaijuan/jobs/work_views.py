"""What people did to chunks, as it is shown: what it came to in the live version of each document."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.chunk_work import ChunkWork
from kaijuan.core.documents import Version
from kaijuan.core.ids import DocumentId
from kaijuan.index.catalog import Catalog, KnowledgeBase


class WorkState(StrEnum):
    """What became of work."""

    APPLIED = "applied"
    STALE = "stale"
    """The live version could not take it over: somebody has to look at it."""
    GONE = "gone"
    """The document has been removed; the work is done again should it come back."""
    ENDED = "ended"
    """Somebody has undone it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkView:
    """A piece of work and what became of it."""

    work: ChunkWork
    state: WorkState
    source: str
    title: str
    why: str = ""
    """Why it is stale."""


async def work_views(
    catalog: Catalog,
    kb: KnowledgeBase,
    snapshot: int,
    principals: Collection[str],
    *,
    document: DocumentId | None = None,
    ended: bool = False,
) -> list[WorkView]:
    """Return the work in force at a snapshot, or all up to it, of documents that a principal may read; oldest first."""
    work = await (catalog.work_history if ended else catalog.work)(kb.id, snapshot, document)
    documents = list(dict.fromkeys(one.document_id for one in work))
    readers = await catalog.principals_of(kb.id, documents)
    seen = [id for id in documents if not readers[id].isdisjoint(principals)]
    standing = await catalog.standing(seen, snapshot)
    live = {id: one.live for id, one in standing.items() if one.live is not None}
    made_on = await catalog.versions_by_id({one.version_id for one in work if one.document_id in set(seen)})
    misses = await catalog.misses([version.id for version in live.values()])
    whys = {miss.work_id: miss.why for found in misses.values() for miss in found}
    return [
        _view(one, live.get(one.document_id), made_on.get(one.version_id), whys, snapshot)
        for one in work
        if one.document_id in set(seen)
    ]


def _view(
    one: ChunkWork, live: Version | None, made_on: Version | None, whys: dict[str, str], snapshot: int
) -> WorkView:
    version = live or made_on
    state = WorkState.APPLIED
    if one.valid_to <= snapshot:
        state = WorkState.ENDED
    elif live is None:
        state = WorkState.GONE
    elif one.id in whys:
        state = WorkState.STALE
    return WorkView(
        work=one,
        state=state,
        source=version.source if version else "",
        title=version.title if version else "",
        why=whys.get(one.id, "") if state is WorkState.STALE else "",
    )


def stale(views: Sequence[WorkView]) -> list[WorkView]:
    """Return what somebody has to look at."""
    return [view for view in views if view.state is WorkState.STALE]
