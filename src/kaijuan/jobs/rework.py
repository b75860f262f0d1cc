"""Work on the chunks of one document, as a run of its own: the document is cut anew from what is stored, with the work
done, and published as the next snapshot. Texts that stay are not embedded again, their vectors being cached."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from kaijuan.core.chunk_work import ChunkWork, Wish, passage_of, work_id
from kaijuan.core.documents import Chunk, Version
from kaijuan.core.ids import RunId
from kaijuan.core.spans import Span
from kaijuan.errors import CorruptStoreError, DocumentError, UsageError
from kaijuan.index.catalog import ItemState, KnowledgeBase, RunItem, Staged, Standing
from kaijuan.ingest.ports import SourceItem
from kaijuan.jobs.again import stored_document
from kaijuan.jobs.change import Change, Tell
from kaijuan.jobs.duplicates import find_duplicates
from kaijuan.jobs.prepare import Changed, Ground, Parsed, Prepared, finish
from kaijuan.jobs.report import RunReport, Tally
from kaijuan.jobs.run import Ingest


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What became of work on a document."""

    report: RunReport
    version: Version
    work: tuple[ChunkWork, ...]
    """What was put in force."""
    ended: tuple[ChunkWork, ...]
    """What was put out of force."""
    chunks: tuple[Chunk, ...]
    """The chunks that now stand where work was done or undone."""
    text: str
    """The document's text, which their spans count in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What is to be done to one document, by whom and why."""

    version: Version
    """The version that the orders were given on; they are refused if another is live by then."""
    text: str
    wishes: Sequence[Wish] = ()
    ending: Collection[str] = ()
    """Ids of work to be undone."""
    by: str = ""
    note: str = ""


async def rework(ingest: Ingest, kb: KnowledgeBase, orders: Orders, *, progress: Tell | None = None) -> Worked:
    """Do and undo work on one document and publish that. UsageError for work that cannot be done: all or none."""
    tally = Tally()
    async with ingest.changing(kb, "chunks", tally, progress) as change:
        catalog, run = ingest.catalog, change.run
        before = await catalog.work(kb.id, change.head)
        work = _work(run.id, orders, ingest.clock)
        await catalog.record_work(run, work)
        await catalog.end_work(run, orders.ending, by=orders.by, now=ingest.clock())
        ingest.reached("record_work")
        kept = [one for one in before if one.id not in set(orders.ending)]
        ground = await ingest.ground(kb.id, change.head, [*kept, *work])
        staged = await cut_again(ground, orders.version, await _standing(ground, orders.version))
        _refuse_misses(work, staged)
        await _stage(ingest, change, staged)
        ended = tuple(one for one in before if one.id in set(orders.ending))
    return Worked(
        report=change.report,
        version=staged.version,
        work=tuple(work),
        ended=ended,
        chunks=_touched(staged.chunks, [*work, *ended], orders.text),
        text=orders.text,
    )


def _work(run: RunId, orders: Orders, clock: Callable[[], float]) -> list[ChunkWork]:
    version = orders.version
    return [
        ChunkWork(
            id=work_id(run, number),
            kb_id=version.kb_id,
            document_id=version.document_id,
            version_id=version.id,
            number=number,
            kind=wish.kind,
            passage=passage_of(orders.text, wish.span),
            cuts=wish.cuts,
            said=wish.said,
            by=orders.by,
            note=orders.note,
            at=clock(),
        )
        for number, wish in enumerate(orders.wishes)
    ]


async def _standing(ground: Ground, version: Version) -> Standing:
    standing = (await ground.catalog.standing([version.document_id], ground.head))[version.document_id]
    if standing.live is None or standing.live.id != version.id:
        raise UsageError(
            f"{version.source} has changed meanwhile.", hint="List its chunks again with `kaijuan chunks list`."
        )
    return standing


async def cut_again(ground: Ground, version: Version, standing: Standing) -> Staged:
    """Return the next version of a document: the same content, cut with the work of `ground` done."""
    document = await stored_document(ground.catalog, ground.blobs, version)
    if document is None:
        raise CorruptStoreError(f"The stored text of {version.source} cannot be read.", hint="Add the document again.")
    data = await ground.blobs.get(version.original_hash)
    item = SourceItem(
        source=version.source, name=version.title, size=len(data), data=data, kind=version.kind, title=version.title
    )
    changed = Changed(
        item=item,
        document=version.document_id,
        content=version.content_hash,
        reading=version.fingerprint.partition(":")[0],
        standing=standing,
    )
    (made,) = await finish(ground, [Parsed(changed=changed, document=document, stored=True)])
    if not isinstance(made, Prepared):
        raise DocumentError(f"{version.source} cannot be cut again: {getattr(made, 'message', made)}")
    # Nobody has said anything new: the version is as old as the one whose words it has.
    return replace(made.staged, version=replace(made.staged.version, created_at=version.created_at))


def _refuse_misses(work: Sequence[ChunkWork], staged: Staged) -> None:
    whys = {miss.work_id: miss.why for miss in staged.misses}
    for one in work:
        if one.id in whys:
            raise UsageError(f"The {one.kind.value} cannot be done: {whys[one.id]}.")


async def _stage(ingest: Ingest, change: Change, staged: Staged) -> None:
    await ingest.catalog.stage(change.run, [staged])
    version = staged.version
    line = RunItem(source=version.source, state=ItemState.UPDATED, version_id=version.id)
    await ingest.catalog.record_items(change.run.id, [line])
    change.tally.note([line])
    ingest.reached("stage")
    if ingest.settings.find_duplicates:
        await find_duplicates(ingest.catalog, ingest.blobs, change.run, ingest.clock())
        ingest.reached("find_duplicates")


def _touched(chunks: Sequence[Chunk], work: Sequence[ChunkWork], text: str) -> tuple[Chunk, ...]:
    places: list[Span] = [place for one in work if (place := one.passage.place_in(text)) is not None]
    return tuple(
        chunk.shown()
        for chunk in chunks
        if chunk.level.value in ("child", "excluded") and any(place.contains(chunk.span) for place in places)
    )
