"""An answer that a model writes: context, reply, each sentence held against its sources, repairs, notes; as events.

The rules' own answer is made meanwhile. It decides whether there is anything to write about, and takes over when the
model fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

from kaijuan import telemetry
from kaijuan.answer import prompts
from kaijuan.answer.cite import Citations
from kaijuan.answer.context import Context, Label, assemble
from kaijuan.answer.draft import NOT_FOUND, Draft, Raw, denies
from kaijuan.answer.events import (
    AnswerEvent,
    CitationEvent,
    Phase,
    SentenceEvent,
    StatusEvent,
    TokenEvent,
)
from kaijuan.answer.grounding import Ground, Grounding
from kaijuan.answer.question import Question, parts_of, read_question
from kaijuan.answer.results import Answer, AnswerSentence, Status
from kaijuan.answer.screening import Screen
from kaijuan.answer.settings import AnswerSettings
from kaijuan.core.chat import ChatRequest, Effort, Finish, Message, Role, prompt, tokens
from kaijuan.core.chat_record import RecordedChat
from kaijuan.core.ids import VersionId
from kaijuan.errors import ModelError
from kaijuan.index.ports import Embedder
from kaijuan.retrieve.results import SearchResult

SPARE = 200
"""Tokens left free of the model's context: counts are estimates."""
MOST_SENTENCES = 60


Rules = Awaitable[tuple[SearchResult, Answer]]
"""The answer that the rules alone make, and the search it rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What the writing works with."""

    chat: RecordedChat
    embedder: Embedder
    settings: AnswerSettings
    labels: Mapping[VersionId, Label] = field(default_factory=dict)
    history: str = ""
    """What was said before in the conversation, for the model to understand the question by; no evidence."""


@dataclass(slots=True, kw_only=True)
class Written:
    """What has been written so far. `failure` is the error that ended it, if one did."""

    citations: Citations
    sentences: dict[int, tuple[str, AnswerSentence]] = field(default_factory=dict)
    """By their index: the blanks before each, and the sentence."""
    removed: dict[int, tuple[Raw, Ground]] = field(default_factory=dict)
    found_nothing: bool = False
    hopeless: bool = False
    """The rules say that the evidence cannot answer the question."""
    missing: str = ""
    cut: bool = False
    unknown: int = 0
    """Markers that named no document."""
    rules: Answer | None = None
    elsewhere: SearchResult | None = None
    """What the rules found their answer in, where it is not what the model was shown."""
    failure: ModelError | None = None

    @property
    def text(self) -> str:
        """The running text."""
        ordered = [self.sentences[at] for at in sorted(self.sentences)]
        return "".join(f"{before}{one.text}" for before, one in ordered).strip()


class Writer:
    """Writes one answer. `events` yields what happens; `written` holds what came of it when they have ended."""

    def __init__(self, question: str, result: SearchResult, rules: Rules, writing: Writing) -> None:
        self._question, self._result, self._rules, self._writing = question, result, rules, writing
        self._passages = result.passages[: writing.settings.passages]
        self._screen = Screen()
        self._next = 0
        self.written = Written(citations=Citations(self._passages))
        self.context: Context | None = None

    async def events(self) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of writing. A model that fails ends them; what it wrote is then void."""
        writing, written = self._writing, self.written
        self.context = context = await asyncio.to_thread(self._assembled)
        if not context.blocks:
            await self._hear_rules()
            written.hopeless = True
            return
        grounding = Grounding(context, self._passages, writing.embedder, writing.settings)
        request = self._request(context)
        yield StatusEvent(Phase.WRITING)
        try:
            async with aclosing(self._reply(request, grounding)) as first:
                async for event in first:
                    yield event
            if written.removed and not written.hopeless and written.elsewhere is None:
                async with aclosing(self._repairs(request, grounding)) as more:
                    async for event in more:
                        yield event
        except ModelError as error:
            telemetry.count("answer.model_failed")
            telemetry.event("answer.model_failed", code=error.code)
            written.failure = error
        await self._hear_rules()

    async def _hear_rules(self) -> Answer:
        """Return the rules' answer, waited for once."""
        if self.written.rules is None:
            result, self.written.rules = await self._rules
            self.written.elsewhere = result if result is not self._result else None
        return self.written.rules

    def _assembled(self) -> Context:
        settings, info = self._writing.settings, self._writing.chat.info
        questions = self._questions()
        told = prompts.prompt("system", prompts.language(self._question), persona=settings.persona, fence="doc")
        fixed = tokens(told) + 2 * tokens(self._question) + tokens(self._writing.history) + SPARE
        room = max(info.context_tokens - info.reply_tokens - fixed, info.context_tokens // 8)
        budget = min(settings.context_tokens, room)
        return assemble(questions, self._passages, settings, budget=budget, labels=self._writing.labels)

    def _questions(self) -> list[Question]:
        return [read_question(part) for part in parts_of(self._question)]

    def _request(self, context: Context) -> ChatRequest:
        language = prompts.language(self._question)
        system = prompts.prompt("system", language, persona=self._writing.settings.persona, fence=context.fence)
        history = f"{self._writing.history}\n\n" if self._writing.history else ""
        asked = prompts.prompt(
            "ask", language, history=history, documents=context.text, question=" ".join(self._question.split())
        )
        return ChatRequest(messages=prompt(system, asked), purpose="write", effort=self._effort())

    def _effort(self) -> Effort:
        """One plain question about one thing is simple; several, or how to do something, are not."""
        questions = self._questions()
        return Effort.SMALL if len(questions) == 1 and not questions[0].how else Effort.LARGE

    async def _reply(self, request: ChatRequest, grounding: Grounding) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the first reply as it comes, once the rules have not refused."""
        written = self.written
        draft = Draft(self._known())
        whole = True
        async with aclosing(self._writing.chat.stream(request)) as pieces:
            async for piece in pieces:
                if piece.reply is not None:
                    whole = piece.reply.finish is not Finish.LENGTH
                    break
                if written.rules is None and self._refused(await self._hear_rules()):
                    written.hopeless = True
                    return
                if written.elsewhere is not None:
                    return
                taken = draft.take(piece.text)
                async for event in self._shown(taken.words, taken.sentences, grounding):
                    yield event
                if draft.found_nothing or self._next > MOST_SENTENCES:
                    break
        taken = draft.end(whole=whole)
        async for event in self._shown(taken.words, taken.sentences, grounding):
            yield event
        if last := self._screen.end():
            yield TokenEvent(last)
        written.found_nothing = draft.found_nothing or (not written.sentences and denies(draft.text))
        written.missing = "" if draft.missing == NOT_FOUND else draft.missing
        written.cut = not whole
        written.unknown += sum(draft.unknown.values())

    def _refused(self, rules: Answer) -> bool:
        """Say whether the rules are so sure that nothing answers the question that the model is not listened to."""
        if rules.status is Status.CLARIFY:
            return True
        return rules.status is Status.REFUSED and rules.confidence < self._writing.settings.model_from

    async def _shown(self, words: str, raws: list[Raw], grounding: Grounding) -> AsyncGenerator[AnswerEvent, None]:
        if shown := self._screen.take(words):
            yield TokenEvent(shown)
        for raw in raws:
            index, self._next = self._next, self._next + 1
            async for event in self._grounded(index, raw, grounding):
                yield event
            self._screen.next_sentence()

    async def _grounded(self, index: int, raw: Raw, grounding: Grounding) -> AsyncGenerator[AnswerEvent, None]:
        """Yield a sentence with what it rests on; one that nothing carries, or that has no end, is not kept."""
        ground = await grounding.ground(raw)
        if not ground.carried or not raw.whole:
            self.written.removed[index] = (raw, ground)
            yield SentenceEvent(index=index, sentence=_sentence(raw, (), ground), kept=False)
            return
        for event in self._cited(index, raw, ground):
            yield event

    def _cited(self, index: int, raw: Raw, ground: Ground) -> Iterator[AnswerEvent]:
        citations = self.written.citations
        before = len(citations.all)
        names = tuple(dict.fromkeys(citations.cite(place, span) for place, span in ground.places))
        sentence = _sentence(raw, names, ground)
        self.written.sentences[index] = (raw.before, sentence)
        self.written.removed.pop(index, None)
        yield from (CitationEvent(citation) for citation in citations.all[before:])
        yield SentenceEvent(index=index, sentence=sentence)

    async def _repairs(self, request: ChatRequest, grounding: Grounding) -> AsyncGenerator[AnswerEvent, None]:
        """Yield sentences written anew for those that nothing carried, in at most so many rounds as are allowed."""
        language = prompts.language(self._question)
        for _ in range(self._writing.settings.repairs):
            failed = {at: pair for at, pair in self.written.removed.items() if pair[0].whole}
            if not failed or self.written.found_nothing:
                return
            yield StatusEvent(Phase.REPAIRING)
            faults = "\n".join(f"- {_complaint(raw, ground)}" for raw, ground in failed.values())
            asked = prompts.prompt("repair", language, faults=faults)
            turns = (Message(Role.ASSISTANT, _as_written(self.written)), Message(Role.USER, asked))
            again = ChatRequest(messages=(*request.messages, *turns), purpose="repair", effort=request.effort)
            reply = await self._writing.chat.reply(again)
            draft = Draft(self._known())
            raws = [*draft.take(reply.text).sentences, *draft.end().sentences]
            self.written.unknown += sum(draft.unknown.values())
            async for event in self._mended(sorted(failed), raws, grounding):
                yield event

    async def _mended(
        self, places: list[int], raws: list[Raw], grounding: Grounding
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Put the new sentences in the places of the failed ones, as many as there are."""
        said = {sentence.text for _, sentence in self.written.sentences.values()}
        for index, raw in zip(places, raws, strict=False):
            old = self.written.removed[index][0]
            fresh = Raw(text=raw.text, numbers=raw.numbers, before=old.before)
            ground = await grounding.ground(fresh)
            if not ground.carried or fresh.text in said:
                continue
            for event in self._cited(index, fresh, ground):
                yield event

    def _known(self) -> list[int]:
        return [block.number for block in self.context.blocks] if self.context else []


def _sentence(raw: Raw, names: tuple[str, ...], ground: Ground) -> AnswerSentence:
    return AnswerSentence(text=raw.text, citations=names, support=ground.verdict.score, faults=ground.verdict.faults)


def _complaint(raw: Raw, ground: Ground) -> str:
    faults = "; ".join(f"{fault.detail} ≠ {fault.said}" for fault in ground.verdict.faults if fault.said)
    return f"{raw.text} ({faults})" if faults else raw.text


def _as_written(written: Written) -> str:
    kept = {at: one.text for at, (_, one) in written.sentences.items()}
    failed = {at: raw.text for at, (raw, _) in written.removed.items()}
    return "\n".join(text for _, text in sorted((kept | failed).items()))
