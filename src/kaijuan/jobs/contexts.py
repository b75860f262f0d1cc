"""Sentences that say where a passage is from, written by a language model (spec C4): asked for, kept one by one, then
published together as a snapshot. A run that was stopped goes on where it was; nothing is paid twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from kaijuan import telemetry
from kaijuan.core.chat import NOTHING, ChatModel, Usage
from kaijuan.core.chat_forms import fill
from kaijuan.core.documents import Version
from kaijuan.core.ids import DocumentId
from kaijuan.errors import ModelError, ModelRefusedError
from kaijuan.index.catalog import Catalog, ItemState, KnowledgeBase, RunItem
from kaijuan.ingest.ports import WrittenShelf
from kaijuan.jobs.change import Tell
from kaijuan.jobs.context_plan import Batch, Material, batches
from kaijuan.jobs.report import RunReport, Tally
from kaijuan.jobs.rework import cut_again
from kaijuan.jobs.run import Ingest

_AT_ONCE = 8
"""Requests under way; the model's own limit may be lower."""
_LONGEST = 400
"""Characters of a sentence that are kept."""
_IN_A_ROW = 5
"""Requests that fail one after another before the rest is left alone."""
Wrote = Callable[[int, int], None]
"""Told how many passages are done, and how many of them without a sentence."""


class Contexts(BaseModel):
    """The reply."""

    model_config = ConfigDict(extra="ignore")
    contexts: list[str]


@dataclass(slots=True, kw_only=True)
class WrittenContexts:
    """What writing sentences came to. What failed is asked for again by the next run."""

    written: int = 0
    failed: int = 0
    why: str = ""
    """What the last failure was."""
    usage: Usage = field(default=NOTHING)
    report: RunReport | None = None
    """The run that published them; None where there was nothing to publish."""


async def write(
    chat: ChatModel, material: Material, versions: Sequence[Version], wrote: Wrote | None = None
) -> WrittenContexts:
    """Ask for every missing sentence; each reply is on the shelf before the next is waited for.

    ModelRefusedError when the service says no for good. Other failures are counted; several in a row end the asking.
    """
    done = WrittenContexts()
    row = 0
    async for batch, found in _replies(chat, batches(material, versions)):
        if isinstance(found, ModelRefusedError):
            raise found
        if isinstance(found, ModelError):
            done.failed += len(batch.keys)
            done.why = str(found)
            row += 1
            if row == _IN_A_ROW:
                break
        else:
            row = 0
            said, usage = found
            done.usage += usage
            material.shelf.keep(batch.version.document_id, said)
            done.written += len(said)
            done.failed += len(batch.keys) - len(said)
            if len(said) < len(batch.keys):
                done.why = "a reply had not one sentence for each passage"
        if wrote is not None:
            wrote(done.written + done.failed, done.failed)
    telemetry.count("contexts.written", done.written)
    return done


_Found = tuple[dict[str, str], Usage] | ModelError


async def _replies(chat: ChatModel, asked: AsyncIterator[Batch]) -> AsyncIterator[tuple[Batch, _Found]]:
    """Yield replies as they come, some requests always under way."""
    waiting: dict[asyncio.Task[_Found], Batch] = {}
    try:
        async for batch in asked:
            waiting[asyncio.create_task(_asked(chat, batch))] = batch
            if len(waiting) >= _AT_ONCE:
                for pair in await _first(waiting):
                    yield pair
        while waiting:
            for pair in await _first(waiting):
                yield pair
    finally:
        for task in waiting:
            task.cancel()
        if waiting:
            await asyncio.wait(waiting)


async def _first(waiting: dict[asyncio.Task[_Found], Batch]) -> list[tuple[Batch, _Found]]:
    ready, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    # What was written comes first: a failure beside it may be the end.
    return sorted(
        ((waiting.pop(task), task.result()) for task in ready), key=lambda pair: isinstance(pair[1], ModelError)
    )


async def _asked(chat: ChatModel, batch: Batch) -> _Found:
    try:
        filled = await fill(chat, batch.request, Contexts)
    except ModelError as error:
        return error
    said = [" ".join(one.split())[:_LONGEST] for one in filled.form.contexts] if filled.form else []
    if len(said) != len(batch.keys):
        # Which sentence belongs to which passage cannot be told any more.
        return {}, filled.usage
    return {key: one for key, one in zip(batch.keys, said, strict=True) if one}, filled.usage


async def forget_gone(catalog: Catalog, shelf: WrittenShelf) -> int:
    """Drop what is kept of documents that no base of the home has any more; return how many texts."""
    gone = [owner for owner in shelf.owners() if not await catalog.history(DocumentId(owner))]
    return shelf.forget(gone)


async def publish(
    ingest: Ingest, kb: KnowledgeBase, versions: Sequence[Version], *, progress: Tell | None = None
) -> RunReport:
    """Publish documents with what the shelf holds about them; one that changed meanwhile has its next turn later."""
    tally = Tally()
    async with ingest.changing(kb, "contexts", tally, progress) as change:
        catalog = ingest.catalog
        ground = await ingest.ground(kb.id, change.head, await catalog.work(kb.id, change.head))
        for version in versions:
            standing = (await catalog.standing([version.document_id], ground.head))[version.document_id]
            if standing.live is None or standing.live.id != version.id:
                continue
            staged = await cut_again(ground, version, standing)
            await catalog.stage(change.run, [staged])
            line = RunItem(source=version.source, state=ItemState.UPDATED, version_id=staged.version.id)
            await catalog.record_items(change.run.id, [line])
            tally.note([line])
    return change.report
