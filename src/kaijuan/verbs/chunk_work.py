"""Verbs of people who mend chunks by hand: split, merge, edit, exclude, ask, restore. Each is a published snapshot."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Sequence

from kaijuan import registry
from kaijuan.core import arguments
from kaijuan.core.arguments import Moment, Targets
from kaijuan.core.chunk_work import Wish, WorkKind
from kaijuan.core.documents import Version
from kaijuan.core.ids import ChunkId
from kaijuan.core.spans import Span
from kaijuan.errors import UsageError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.ingest.chunkers.policy import AUTO
from kaijuan.jobs import chunk_orders, contexts
from kaijuan.jobs.chunk_levels import Around, around
from kaijuan.jobs.chunk_orders import Footing, footing, restoring
from kaijuan.jobs.context_plan import ContextPlan, Material, planned
from kaijuan.jobs.contexts import WrittenContexts, Wrote
from kaijuan.jobs.rework import Orders, Worked, rework
from kaijuan.jobs.work_views import WorkView, work_views
from kaijuan.verbs.wiring import ProgressCallback, Wired

DEFAULT = "default"
"""The word for the strategy that the settings choose."""


class ChunkWorking(Wired):
    """Work on single chunks. It is tied to their words: it stays as long as the passage stands in the document.

    What is quoted is always the document's own text; work decides in which pieces and by which words it is found.
    `by` and `note` say who and why; both are kept.
    """

    async def split_chunk(
        self,
        chunk: str,
        at: Sequence[int | str],
        *,
        by: str = "",
        note: str = "",
        progress: ProgressCallback | None = None,
    ) -> Worked:
        """Search a chunk in parts: cut at these characters of its text, or before these words."""
        ground = await self._footing([chunk])
        return await self._rework(ground, [chunk_orders.split(ground, at)], by, note, progress)

    async def merge_chunks(
        self, chunks: Targets, *, by: str = "", note: str = "", progress: ProgressCallback | None = None
    ) -> Worked:
        """Search neighbouring chunks as one."""
        ground = await self._footing(arguments.targets(chunks))
        return await self._rework(ground, [chunk_orders.merge(ground)], by, note, progress)

    async def edit_chunk(
        self, chunk: str, text: str, *, by: str = "", note: str = "", progress: ProgressCallback | None = None
    ) -> Worked:
        """Let a chunk be found by another text. What is quoted stays the document's own."""
        ground = await self._footing([chunk])
        return await self._rework(ground, [chunk_orders.edit(ground, text)], by, note, progress)

    async def exclude_chunks(
        self, chunks: Targets, *, by: str = "", note: str = "", progress: ProgressCallback | None = None
    ) -> Worked:
        """Search chunks of one document no more."""
        ground = await self._footing(arguments.targets(chunks))
        return await self._rework(ground, chunk_orders.exclude(ground), by, note, progress)

    async def alias_chunk(
        self, chunk: str, questions: Targets, *, by: str = "", note: str = "", progress: ProgressCallback | None = None
    ) -> Worked:
        """Let a chunk be found by questions, too."""
        ground = await self._footing([chunk])
        wishes = chunk_orders.alias(ground, arguments.targets(questions))
        return await self._rework(ground, wishes, by, note, progress)

    async def cut_by(
        self, document: str, strategy: str, *, by: str = "", note: str = "", progress: ProgressCallback | None = None
    ) -> Worked:
        """Cut one document by another strategy than the settings choose; `default` leaves it to them again."""
        if strategy not in (AUTO, DEFAULT):
            registry.load("chunker", strategy)
        kb = await self._kb()
        version = await self._find(kb, document, kb.head)
        ground = Footing(version=version, text="", chunks=(), named=())
        work = await self.catalog.work(kb.id, kb.head, version.document_id)
        before = [one.id for one in work if one.kind is WorkKind.STRATEGY]
        if strategy == DEFAULT and not before:
            raise UsageError("The settings choose the strategy of this document already.")
        wish = Wish(kind=WorkKind.STRATEGY, span=Span(0, 0), said=strategy)
        return await self._rework(ground, [] if strategy == DEFAULT else [wish], by, note, progress, before)

    async def restore_chunks(
        self, words: Targets, *, by: str = "", note: str = "", progress: ProgressCallback | None = None
    ) -> Worked:
        """Undo what was done to chunks of one document, named by chunk, or by the beginning of the work's id."""
        kb = await self._kb()
        ground, ending = await restoring(self.catalog, self.blobs, kb, self._principals, arguments.targets(words))
        return await self._rework(ground, [], by, note, progress, ending)

    async def chunk_work(
        self, document: str | None = None, *, ended: bool = False, as_of: Moment = None
    ) -> builtins.list[WorkView]:
        """Return what was done to chunks and what became of it, oldest first; with `ended` also what was undone."""
        kb = await self._kb()
        snapshot = await self._snapshot(kb, as_of)
        version = await self._find(kb, document, snapshot) if document is not None else None
        return await work_views(
            self.catalog,
            kb,
            snapshot,
            self._principals,
            document=version.document_id if version else None,
            ended=ended,
        )

    async def around(self, chunk: str) -> Around:
        """Return what a chunk is made of and what it is part of: sentences, parent, sections, document."""
        return await around(self.catalog, self.blobs, await self._kb(), ChunkId(chunk), self._principals)

    async def plan_contexts(self, documents: Targets | None = None) -> ContextPlan:
        """Say what `write_contexts` would ask the language model, and what it would cost. Asks nobody."""
        kb = await self._kb()
        versions = await self._described(kb, documents)
        served = self.config.chat.small_model or self.config.chat
        return await planned(
            self._material(), versions, input_price=served.input_price, output_price=served.output_price
        )

    async def write_contexts(
        self,
        documents: Targets | None = None,
        *,
        wrote: Wrote | None = None,
        progress: ProgressCallback | None = None,
    ) -> WrittenContexts:
        """Let the language model say where each passage is from, of some documents or all, and publish that.

        Only passages without such a sentence are asked about. Stopped, it goes on next time where it was.
        """
        kb = await self._kb()
        versions = await self._described(kb, documents)
        material = self._material()
        assert self.chat is not None  # _material has looked
        await contexts.forget_gone(self.catalog, self.written)
        done = await contexts.write(self.chat, material, versions, wrote)
        plan = await planned(material, versions, input_price=0, output_price=0)
        if plan.stale:
            done.report = await contexts.publish(self._ingest(), kb, plan.stale, progress=progress)
        return done

    async def _described(self, kb: KnowledgeBase, documents: Targets | None) -> builtins.list[Version]:
        if self.config.chunk.contexts != "model":
            raise UsageError(
                "Contexts are not written by the model.", hint='Set contexts = "model" under [chunk], then run `add`.'
            )
        if documents is not None:
            return [await self._find(kb, word, kb.head) for word in arguments.targets(documents)]
        return await self._readable(kb, [version async for version in self._live(kb)])

    async def _live(self, kb: KnowledgeBase) -> AsyncIterator[Version]:
        after = ""
        while page := await self.catalog.versions(kb.id, kb.head, after=after):
            after = page[-1].source
            for version in page:
                yield version

    def _material(self) -> Material:
        if self.chat is None:
            raise UsageError("No language model is configured.", hint="Name one under [chat]: url, model, key.")
        return Material(catalog=self.catalog, blobs=self.blobs, shelf=self.written, info=self.chat.info)

    async def _footing(self, chunks: Sequence[str]) -> Footing:
        return await footing(self.catalog, self.blobs, await self._kb(), self._principals, chunks)

    async def _rework(
        self,
        ground: Footing,
        wishes: Sequence[Wish],
        by: str,
        note: str,
        progress: ProgressCallback | None,
        ending: Sequence[str] = (),
    ) -> Worked:
        orders = Orders(version=ground.version, text=ground.text, wishes=wishes, ending=ending, by=by, note=note)
        return await rework(self._ingest(), await self._kb(), orders, progress=progress)
