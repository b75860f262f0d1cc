"""Verbs that answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace

from kaijuan import telemetry
from kaijuan.answer.context import Label
from kaijuan.answer.events import AnswerEvent, DoneEvent
from kaijuan.answer.results import Answer
from kaijuan.answer.shaping import shaped
from kaijuan.answer.telling import Told, tell
from kaijuan.answer.writing import Writing
from kaijuan.core import arguments
from kaijuan.core.arguments import Day, Filters, Moment
from kaijuan.core.chat import NOTHING, ChatModel
from kaijuan.core.chat_record import ChatCall, RecordedChat
from kaijuan.core.filter_language import format_filter
from kaijuan.core.filters import Filter
from kaijuan.core.ids import VersionId
from kaijuan.core.reply_schemas import Schema, checked
from kaijuan.errors import StoreError, UsageError
from kaijuan.index.catalog import StoredTrace
from kaijuan.retrieve.results import SearchResult
from kaijuan.verbs.reading import Reading
from kaijuan.verbs.recalling import Asked, Recalling
from kaijuan.verbs.shapes import answer_shape

_DATES = ("effective_from", "date", "modified", "created")
"""Fields of a document's metadata that say of when it is, the surest first."""


class Asking(Reading, Recalling):
    """Answers from the documents."""

    async def ask(  # noqa: PLR0913 one argument an option
        self,
        question: str,
        *,
        k: int = 8,
        filters: Filters = (),
        as_of: Moment = None,
        preset: str | None = None,
        read_filters: bool = True,
        extractive: bool = False,
        at: Day = None,
        response_schema: Mapping[str, object] | None = None,
    ) -> Answer:
        """Answer from the documents, every sentence cited, or refuse where they do not say.

        A configured language model writes the answer, unless `extractive` wants the documents' own sentences. `at` is
        a day: what was not in force then, or replaced, is left out. `response_schema`, a JSON schema of an object,
        wants the answer in that form too (`structured`), which takes a model.
        """
        schema = self._wanted_form(response_schema, extractive)
        asked = Asked(
            question=question,
            k=k,
            filters=arguments.filters(filters),
            snapshot=await self._moment(as_of),
            preset=preset,
            read_filters=read_filters,
            extractive=extractive,
            at=day_of(at),
        )
        return await self._answered(asked, schema)

    async def ask_stream(  # noqa: PLR0913 one argument an option
        self,
        question: str,
        *,
        k: int = 8,
        filters: Filters = (),
        as_of: Moment = None,
        preset: str | None = None,
        read_filters: bool = True,
        extractive: bool = False,
        at: Day = None,
        response_schema: Mapping[str, object] | None = None,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield what happens while a question is answered (kaijuan.answer.events); the last event has the answer.

        Close it (`contextlib.aclosing`) to stop: nothing more is then asked of a model.
        """
        schema = self._wanted_form(response_schema, extractive)
        asked = Asked(
            question=question,
            k=k,
            filters=arguments.filters(filters),
            snapshot=await self._moment(as_of),
            preset=preset,
            read_filters=read_filters,
            extractive=extractive,
            at=day_of(at),
        )
        async with aclosing(self._events(asked)) as events:
            async for event in events:
                yield DoneEvent(await self._formed(event.answer, schema)) if isinstance(event, DoneEvent) else event

    def _wanted_form(self, given: Mapping[str, object] | None, extractive: bool) -> Schema | None:
        """Return the form an answer is wanted in, checked before anything is asked."""
        if given is None:
            return None
        if extractive or self.chat is None:
            why = "this question wants the documents' own sentences" if extractive else "none is configured"
            hint = "Leave out `extractive`." if extractive else "Configure one under [chat], or ask without a schema."
            raise UsageError(f"A language model puts answers into a form, and {why}.", hint=hint)
        return checked(given)

    async def _formed(self, given: Answer, schema: Schema | None) -> Answer:
        """Return the answer with its form. Not kept with the answer: the next who asks may want another."""
        if schema is None or self.chat is None:
            return given
        return await shaped(given, schema, RecordedChat(self.chat, budget=self.config.answer.token_budget))

    async def _moment(self, as_of: Moment) -> int:
        return await self._snapshot(await self._kb(), as_of)

    async def _answered(self, asked: Asked, schema: Schema | None) -> Answer:
        async with aclosing(self._events(asked)) as events:
            async for event in events:
                if isinstance(event, DoneEvent):
                    return await self._formed(event.answer, schema)
        raise AssertionError("the last event has the answer")

    async def _events(self, asked: Asked) -> AsyncGenerator[AnswerEvent, None]:
        told = Told()
        events = self._recalled(asked, lambda: self._fresh(asked, told), lambda answer: _lasts(answer, told))
        async with aclosing(events):
            async for event in events:
                if isinstance(event, DoneEvent):
                    telemetry.count(f"answers.{event.answer.status}")
                yield event

    async def _fresh(
        self, asked: Asked, told: Told, *, replay: ChatModel | None = None
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of an answer made now; with `replay` in the model's place, and without a trace."""

        settings = self.config.answer
        model = replay or self.chat
        chat = RecordedChat(model, budget=settings.token_budget) if model and not asked.extractive else None
        understanding = RecordedChat(model) if model and not asked.extractive else None

        async def find(more: Sequence[Filter], *, text: str = "", wide: bool = False) -> SearchResult:
            again = bool(more or text or wide)
            request = await self._request(
                text or asked.question,
                asked.k,
                [*asked.filters, *more],
                asked.snapshot,
                read_filters=asked.read_filters and not wide,
                # A second look has words of its own already.
                use_model=not (asked.extractive or again),
                at=asked.at or None,
            )
            return await self._searched(replace(request, chat=understanding), asked.preset)

        async def prepare(found: SearchResult) -> Writing:
            assert chat is not None
            labels = await self._labels(found)
            return Writing(chat=chat, embedder=self.embedder, settings=settings, labels=labels, history=asked.history)

        events = tell(asked.question, find, self.embedder, settings, prepare if chat else None, told)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, DoneEvent):
                    # What understanding asked of a model belongs to what the answer took.
                    spent = understanding.usage if understanding else NOTHING
                    event = DoneEvent(replace(event.answer, usage=spent + event.answer.usage))
                if isinstance(event, DoneEvent) and replay is None:
                    # Saved before the last event is out: who has it stops listening.
                    calls = [call for each in (understanding, chat) if each for call in each.calls]
                    await self._save_trace(asked, told, event.answer, calls)
                yield event

    async def _labels(self, found: SearchResult) -> dict[VersionId, Label]:
        """Return what the model is told of each document beside its title: which version it is, and of when."""
        versions = await self.catalog.versions_by_id({passage.version_id for passage in found.passages})
        return {
            id: Label(
                version=version.number,
                date=next((str(version.metadata[name])[:40] for name in _DATES if version.metadata.get(name)), ""),
            )
            for id, version in versions.items()
        }

    async def _save_trace(self, asked: Asked, told: Told, given: Answer, calls: Sequence[ChatCall]) -> None:
        if told.result is None:
            raise StoreError("An answer without a search has no trace.")
        kb = await self._kb()
        body: Mapping[str, object] = {
            **asdict(told.result.trace),
            "question": given.question,
            "asked": {**asdict(asked), "filters": [format_filter(one) for one in asked.filters]},
            "principals": sorted(self._principals),
            "status": str(given.status),
            "answer": given.answer,
            "result": answer_shape(given),
            "model": given.model,
            "fallback": given.fallback,
            "usage": asdict(given.usage),
            "calls": [asdict(call) for call in calls],
            "answer_ms": dict(given.timings_ms),
        }
        trace = StoredTrace(id=told.result.trace.id, kb_id=kb.id, created_at=self._clock(), body=body)
        await self.catalog.save_trace(trace, keep=self.config.retrieve.traces_kept)


def day_of(at: Day) -> str:
    """Return a day as text, "" for none."""
    day = arguments.day(at)
    return day.isoformat() if day else ""


def _lasts(answer: Answer, told: Told) -> bool:
    """Say whether an answer may be given again: nothing failed while it was made, and the serving model found it."""
    trace = told.result.trace if told.result else None
    routes = trace.routes if trace else ()
    tried = trace is not None and "model" in trace.settings
    return not answer.fallback and not tried and all(route.state == "ok" for route in routes)
