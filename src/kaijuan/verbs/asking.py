"""Verbs that answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from kaijuan.answer.results import Answer
from kaijuan.answer.supplement import answer_or_look_elsewhere
from kaijuan.core import arguments
from kaijuan.core.arguments import Filters, Moment
from kaijuan.core.filters import Filter
from kaijuan.index.catalog import StoredTrace
from kaijuan.retrieve.results import SearchResult
from kaijuan.verbs.reading import Reading


class Asking(Reading):
    """Answers from the documents."""

    async def ask(
        self,
        question: str,
        *,
        k: int = 8,
        filters: Filters = (),
        as_of: Moment = None,
        preset: str | None = None,
        read_filters: bool = True,
    ) -> Answer:
        """Answer from the documents, every sentence cited, or refuse where they do not say."""
        wanted = arguments.filters(filters)
        snapshot = await self._snapshot(await self._kb(), as_of)

        async def find(more: Sequence[Filter]) -> SearchResult:
            return await self.search(
                question, k=k, filters=[*wanted, *more], as_of=snapshot, preset=preset, read_filters=read_filters
            )

        result, given = await answer_or_look_elsewhere(question, find, self.embedder, self.config.answer)
        await self._save_trace(result, given)
        return given

    async def _save_trace(self, result: SearchResult, given: Answer) -> None:
        kb = await self._kb()
        body: Mapping[str, object] = {**asdict(result.trace), "status": str(given.status), "answer": given.answer}
        trace = StoredTrace(id=result.trace.id, kb_id=kb.id, created_at=self._clock(), body=body)
        await self.catalog.save_trace(trace, keep=self.config.retrieve.traces_kept)
