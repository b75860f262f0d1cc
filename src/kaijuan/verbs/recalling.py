"""Answers given before, for requests in which nothing has changed since; requests under way are merged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from kaijuan.answer.events import AnswerEvent, DoneEvent
from kaijuan.answer.remembering import Remembered, Scope, key_of, scope_of
from kaijuan.answer.results import Answer
from kaijuan.answer.telling import events_of
from kaijuan.core.filters import Filter
from kaijuan.core.ids import stable_id
from kaijuan.core.shipped import fingerprint
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.ports import Vector
from kaijuan.verbs.wiring import Wired

_NO_ANSWERS = frozenset({"cli", "server", "evals", "samples", "testing", "frameworks"})
"""Rooms that no answer depends on."""
Fresh = Callable[[], AsyncGenerator[AnswerEvent, None]]
"""Makes an answer anew."""
Lasting = Callable[[Answer], bool]
"""Says whether an answer may be given again: not one for which a route or model had failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with how it is to be answered. `history` is what a model is told of the conversation before it."""

    question: str
    k: int = 8
    filters: tuple[Filter, ...] = ()
    snapshot: int
    preset: str | None = None
    read_filters: bool = True
    extractive: bool = False
    history: str = ""
    at: str = ""
    """The day asked about, as 2025-03-01; "" for today, or what the question names."""


class Recalling(Wired):
    """What was answered before."""

    async def _recalled(self, asked: Asked, fresh: Fresh, lasting: Lasting) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of an answer: one kept, one under way for the same request, or a fresh one."""
        answers = self.answers
        if answers is None or not asked.question.strip():
            async with aclosing(fresh()) as events:
                async for event in events:
                    yield event
            return
        started = time.perf_counter()
        scope = await self._scope(asked)
        key = key_of(scope, asked.question)
        found = await answers.found(scope, asked.question, lambda: self._question_vector(asked))
        leading = False
        if found is None:
            under_way = answers.leader(key)
            leading = under_way is None
            found = None if under_way is None else await _shared(under_way)
        if found is not None:
            spent = round(1000 * (time.perf_counter() - started), 3)
            for event in events_of(replace(found, timings_ms={"total": spent})):
                yield event
            return
        made = self._made(asked, fresh, lasting, answers, scope, key if leading else "")
        async with aclosing(made) as events:
            async for event in events:
                yield event

    async def _made(
        self, asked: Asked, fresh: Fresh, lasting: Lasting, answers: Remembered, scope: Scope, key: str
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of a fresh answer, keep it, and give it to those who wait for the same."""
        try:
            async with aclosing(fresh()) as events:
                async for event in events:
                    if not isinstance(event, DoneEvent):
                        yield event
                        continue
                    given = replace(event.answer, cache="miss")
                    if lasting(given):
                        await answers.keep(scope, given, lambda: self._question_vector(asked))
                    if key:
                        answers.settle(key, given)
                    yield DoneEvent(given)
        finally:
            if key:
                # Stopped or failed: whoever waits makes the answer for himself.
                answers.settle(key, None)

    async def _question_vector(self, asked: Asked) -> Vector:
        return await self.embedder.embed_query(asked.question)

    async def _scope(self, asked: Asked) -> Scope:
        """Return everything that an answer depends on: who asks, what may be read, what is read, and by what means."""
        kb = await self._kb()
        config = self.config
        model = "" if asked.extractive or self.chat is None else self.chat.info.fingerprint
        parts: dict[str, object] = {
            "tenant": self.tenant,
            "access": stable_id("access", *sorted(self._principals)),
            "snapshot": asked.snapshot,
            "space": kb.space,
            "embedder": self.embedder.info.fingerprint,
            "model": model,
            "settings": _settings(config.answer, config.retrieve, config.understanding, config.routes, config.reranker),
            "asked": [asked.k, [asdict(one) for one in asked.filters], asked.preset, asked.read_filters, asked.at],
            "filters": [type(one).__name__ for one in asked.filters],
            "history": asked.history,
            "glossary": await self._wording(kb),
            # What is in force depends on the day.
            "day": datetime.fromtimestamp(self._clock(), UTC).date(),
            # Code, fitted coefficients and prompts: they decide too, and change under one version number.
            "program": await asyncio.to_thread(fingerprint, _NO_ANSWERS),
        }
        return scope_of(kb.id, f"{kb.head}:{kb.policy_version}", parts)

    async def _wording(self, kb: KnowledgeBase) -> str:
        terms = await self.catalog.glossary(kb.id)
        return stable_id("glossary", *(f"{term!r}" for term in terms))


def _settings(*sections: object) -> str:
    return stable_id("settings", *(f"{section!r}" for section in sections))


async def _shared(under_way: asyncio.Future[Answer]) -> Answer | None:
    """Return the answer that another request brings, or None if it does not."""
    await asyncio.wait([under_way])
    return None if under_way.cancelled() else replace(under_way.result(), cache="shared")
