"""Verbs that only read: search, explain, list, show, chunks, snapshots, status."""

from __future__ import annotations

import builtins
from dataclasses import replace
from datetime import UTC, datetime

from kaijuan.core import arguments
from kaijuan.core.arguments import Day, Filters, Moment
from kaijuan.core.documents import Version
from kaijuan.core.ids import ChunkId
from kaijuan.core.snapshots import Snapshot
from kaijuan.jobs.chunk_report import ChunkReport, chunk_report
from kaijuan.jobs.views import ChunkView, DocumentView, Status, chunk_view, status_of, view_of
from kaijuan.jobs.work_views import work_views
from kaijuan.retrieve.editions import Chain, chains
from kaijuan.retrieve.explain import Explanation, explain
from kaijuan.retrieve.results import SearchResult
from kaijuan.verbs.model_trials import Trying
from kaijuan.verbs.wiring import new_id


class Reading(Trying):
    """Passages, documents and the state of the base."""

    async def search(  # noqa: PLR0913 one argument an option
        self,
        query: str,
        *,
        k: int = 5,
        filters: Filters = (),
        as_of: Moment = None,
        cut: bool = True,
        preset: str | None = None,
        read_filters: bool = True,
        use_model: bool = True,
        at: Day = None,
    ) -> SearchResult:
        """Return the best passages for a question, at most `k`.

        `as_of` is a snapshot number (int) or a time in seconds since 1970 (float); the head by default. `cut=False`
        keeps weak passages too, for measuring. `preset` is "fast", "balanced" or "thorough"; the configured one by
        default. `read_filters=False` takes no filter from the words of the question, `use_model=False` asks no language
        model for it in other words. `at` is a day: documents that were not in force then, or replaced, are left out.
        """
        request = await self._request(
            query, k, filters, as_of, cut=cut, read_filters=read_filters, use_model=use_model, at=at
        )
        return await self._searched(request, preset)

    async def explain(  # noqa: PLR0913 one argument an option
        self,
        question: str,
        *,
        contains: str | None = None,
        chunk: str | None = None,
        k: int = 8,
        filters: Filters = (),
        as_of: Moment = None,
        preset: str | None = None,
        read_filters: bool = True,
        at: Day = None,
    ) -> Explanation:
        """Say, stage by stage, why the passages that hold a text, or a chunk, were or were not used."""
        request = await self._request(question, k, filters, as_of, read_filters=read_filters, at=at)
        context = await self._retrieval(request.kb, preset)
        return await explain(context, request, contains=contains, chunk=chunk, trace_id=new_id())

    async def list(self, *, as_of: Moment = None) -> builtins.list[Version]:
        """Return the documents visible at a snapshot, by source."""
        kb = await self._kb()
        return await self._all_readable(kb, await self._snapshot(kb, as_of))

    async def editions(self, word: str | None = None, *, at: Day = None, as_of: Moment = None) -> builtins.list[Chain]:
        """Return the documents that replace each other or say when they are in force, and how each stands on a day.

        The day is today by default. With `word` (a source, id or file name) only the chain of that document.
        """
        kb = await self._kb()
        snapshot = await self._snapshot(kb, as_of)
        day = arguments.day(at) or datetime.fromtimestamp(self._clock(), UTC).date()
        found = chains(await self._all_readable(kb, snapshot), day)
        if word is None:
            return found
        meant = (await self._find(kb, word, snapshot)).document_id
        return [chain for chain in found if any(one.version.document_id == meant for one in chain.editions)]

    async def show(self, word: str, *, as_of: Moment = None) -> DocumentView:
        """Return one document with its text, blocks, chunks and history; `word` is a source, id or file name."""
        kb = await self._kb()
        version = await self._find(kb, word, await self._snapshot(kb, as_of))
        return await view_of(self.catalog, version, await self.texts.read(version.text_hash))

    async def chunk(self, id: str) -> ChunkView:
        """Return one chunk of any version that is kept, with its parent, children and neighbours."""
        return await chunk_view(self.catalog, self.blobs, await self._kb(), ChunkId(id), self._principals)

    async def chunk_report(self, *, as_of: Moment = None) -> ChunkReport:
        """Say how well the documents of a snapshot are cut: lengths, cut structures, duplicates, outliers, coverage."""
        kb = await self._kb()
        snapshot = await self._snapshot(kb, as_of)
        work = await work_views(self.catalog, kb, snapshot, self._principals)
        return await chunk_report(self.catalog, self.blobs, await self.list(as_of=snapshot), snapshot, work)

    async def snapshots(self) -> builtins.list[Snapshot]:
        """Return all snapshots that are kept, oldest first, with what each changed."""
        kb = await self._kb()
        changes = await self.catalog.snapshot_changes(kb.id)
        return [replace(one, changes=changes.get(one.number)) for one in await self.catalog.snapshots(kb.id)]

    async def status(self) -> Status:
        """Return the state of the knowledge base."""
        kb = await self._kb()
        return await status_of(self.catalog, kb, await self._index(kb), (await self._model(kb)).embedder)
