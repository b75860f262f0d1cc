"""Questions that are asked of two models at once, for a share of all, and what both found."""

from __future__ import annotations

import asyncio
import builtins
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from kaijuan import telemetry
from kaijuan.core.ids import stable_id
from kaijuan.errors import KaijuanError
from kaijuan.index.model_spaces import ModelSpace, ModelTrial
from kaijuan.index.ports import Index
from kaijuan.index.rebuild import spec_of
from kaijuan.retrieve.agreement import overlap
from kaijuan.retrieve.pipeline import SearchRequest, search
from kaijuan.retrieve.results import SearchResult
from kaijuan.verbs.wiring import Wired, new_id

_TRIALS_KEPT = 1000


class Trying(Wired):
    """Searches, with the model that serves or with another."""

    async def _index_of(self, row: ModelSpace) -> Index:
        if row.space not in self._open_spaces:
            embedder = self._models.model_of(row).embedder
            self._open_spaces[row.space] = await self.indexes.open(spec_of(row.space, embedder), create=False)
        return self._open_spaces[row.space]

    async def _search_with(self, row: ModelSpace, request: SearchRequest, preset: str | None = None) -> SearchResult:
        """Search in the space of a model, whoever serves."""
        await self._index_of(row)
        self._served.setdefault(row.space, self._models.model_of(row))
        return await search(
            await self._retrieval(replace(request.kb, space=row.space), preset), request, trace_id=new_id()
        )

    async def _searched(self, request: SearchRequest, preset: str | None) -> SearchResult:
        """Search with the model that serves, or for its share with one that is tried."""
        row = await self._tried(request)
        if row is None:
            return await search(await self._retrieval(request.kb, preset), request, trace_id=new_id())
        if row.answers:
            try:
                found, spent = await timed(self._search_with(row, request, preset))
            except KaijuanError as error:
                telemetry.event("model.trial_failed", model=row.name, code=error.code)
                found, spent = await timed(self._search_serving(request, preset))
                await self._keep_trial(row, request, found, None, (spent, 0.0), error.message)
                return found
            settings = {**found.trace.settings, "model": row.name}
            found = replace(found, trace=replace(found.trace, settings=settings))
            self._beside(self._other_of(row, request, preset, found, spent))
            return found
        found, spent = await timed(self._search_serving(request, preset))
        self._beside(self._other_of(row, request, preset, found, spent))
        return found

    async def _search_serving(self, request: SearchRequest, preset: str | None) -> SearchResult:
        return await search(await self._retrieval(request.kb, preset), request, trace_id=new_id())

    async def _tried(self, request: SearchRequest) -> ModelSpace | None:
        """Return the model that is asked this question too."""
        for row in await self.catalog.spaces_of_models(request.kb.id):
            if not row.share or row.space == request.kb.space or not row.is_followed:
                continue
            place = int(stable_id("share", row.space, request.text)[:8], 16) / 2**32
            if place < row.share:
                return row
        return None

    async def _other_of(
        self, row: ModelSpace, request: SearchRequest, preset: str | None, given: SearchResult, spent: float
    ) -> None:
        """Ask the other of the two models, and keep what both found."""
        # Nobody waits for it and nobody asked for it: it must cost nothing at a language model.
        quiet = replace(request, chat=None, use_model=False)
        work = self._search_serving(quiet, preset) if row.answers else self._search_with(row, quiet, preset)
        try:
            other, took = await timed(work)
        except KaijuanError as error:
            await self._keep_trial(row, request, given, None, (spent, 0.0), error.message)
            return
        before, after = (other, given) if row.answers else (given, other)
        times = (took, spent) if row.answers else (spent, took)
        await self._keep_trial(row, request, before, after, times, "")

    async def _keep_trial(
        self,
        row: ModelSpace,
        request: SearchRequest,
        before: SearchResult,
        after: SearchResult | None,
        times: tuple[float, float],
        error: str,
    ) -> None:
        body: dict[str, object] = {
            "question": request.text,
            "k": request.k,
            "snapshot": request.snapshot,
            "before": _listed(before),
            "after": _listed(after) if after else [],
            "ms_before": times[0],
            "ms_after": times[1],
            "answered": row.answers and not error,
        }
        body |= (
            {"error": error} if after is None else {"overlap": round(overlap(chunk_ids(before), chunk_ids(after)), 4)}
        )
        trial = ModelTrial(id=new_id(), model=row.name, created_at=self._clock(), body=body)
        await self.catalog.save_trial(request.kb.id, trial, keep=_TRIALS_KEPT)

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Let work go on that nobody waits for but `close`."""
        task = asyncio.ensure_future(work)
        self._trials.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Future[None]) -> None:
        self._trials.discard(task)
        if not task.cancelled() and task.exception() is not None:
            telemetry.event("model.trial_failed", error=repr(task.exception()))


async def timed(work: Coroutine[Any, Any, SearchResult]) -> tuple[SearchResult, float]:
    """Return what a search found, and how many milliseconds it took."""
    started = time.perf_counter()
    found = await work
    return found, round(1000 * (time.perf_counter() - started), 3)


def chunk_ids(found: SearchResult) -> builtins.list[str]:
    """Return the chunks that were found, best first."""
    return [passage.chunk_id for passage in found.passages]


def _listed(found: SearchResult) -> builtins.list[dict[str, object]]:
    return [
        {"chunk_id": one.chunk_id, "source": one.source, "score": one.score, "relevance": one.relevance}
        for one in found.passages
    ]
