"""Verbs of conversations: converse, and look at, pin to, delete what was said."""

from __future__ import annotations

import builtins
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace

from kaijuan.answer import prompts
from kaijuan.answer.conversation.choosing import chosen
from kaijuan.answer.conversation.completing import complete
from kaijuan.answer.conversation.followup import Standalone
from kaijuan.answer.conversation.window import LATEST, digest, history
from kaijuan.answer.events import AnswerEvent, DoneEvent, QuestionEvent
from kaijuan.answer.results import Answer
from kaijuan.core import arguments
from kaijuan.core.arguments import Day, Filters, Moment
from kaijuan.core.chat import NOTHING, Usage
from kaijuan.core.conversations import Conversation, Turn
from kaijuan.core.ids import DocumentId, stable_id
from kaijuan.errors import UsageError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.retrieve.understanding.asking import Asker
from kaijuan.verbs.asking import Asking, day_of
from kaijuan.verbs.recalling import Asked

MOST_FACTS = 20
LONGEST_FACT = 300
LONGEST_NAME = 100
HISTORY_SHARE = 5
"""A fifth of the tokens for passages goes to what was said before."""
_SUMMED_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation with its turns. Turns whose documents may no longer be read are blank (`withheld`)."""

    conversation: Conversation
    turns: tuple[Turn, ...]


class Conversing(Asking):
    """Questions that go on from each other, kept by name for one reader."""

    async def converse(  # noqa: PLR0913 one argument an option
        self,
        text: str,
        *,
        session: str = "default",
        k: int = 8,
        filters: Filters = (),
        as_of: Moment = None,
        preset: str | None = None,
        extractive: bool = False,
        at: Day = None,
    ) -> Answer:
        """Answer the next question of a conversation, which is begun if there is none of that name.

        What the question leaves unsaid is taken from those before; `question` of the answer is what was searched for.
        """
        events = self.converse_stream(
            text, session=session, k=k, filters=filters, as_of=as_of, preset=preset, extractive=extractive, at=at
        )
        async with aclosing(events):
            async for event in events:
                if isinstance(event, DoneEvent):
                    return event.answer
        raise AssertionError("the last event has the answer")

    async def converse_stream(  # noqa: PLR0913 one argument an option
        self,
        text: str,
        *,
        session: str = "default",
        k: int = 8,
        filters: Filters = (),
        as_of: Moment = None,
        preset: str | None = None,
        extractive: bool = False,
        at: Day = None,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield what happens while the next question of a conversation is answered; the turn is kept at its end."""
        kb = await self._kb()
        name = _checked_name(session)
        if not text.strip():
            raise UsageError("The question is empty.", hint="Write what you want to know.")
        talk = await self.catalog.converse(kb.id, self._owner, name, now=self._clock())
        turns = await self._shown_turns(kb, talk, None)
        talk = await self._summed(kb, talk, turns)
        picked = chosen(text, turns)
        asked, spent = (
            (picked, NOTHING)
            if picked
            else await self._standalone(
                text, [turn.standalone for turn in turns if not turn.withheld], ask_model=not extractive
            )
        )
        if asked.how:
            yield QuestionEvent(asked.text)
        language = prompts.language(text)
        told = history(talk, turns, text, language, budget=self.config.answer.context_tokens // HISTORY_SHARE)
        request = Asked(
            question=asked.text,
            k=k,
            filters=arguments.filters(filters),
            snapshot=await self._moment(as_of),
            preset=preset,
            extractive=extractive,
            history=told,
            at=day_of(at),
        )
        async with aclosing(self._events(request)) as events:
            async for event in events:
                if isinstance(event, DoneEvent):
                    event = DoneEvent(replace(event.answer, usage=spent + event.answer.usage))
                    await self.catalog.add_turn(talk.id, _turn(self._clock(), text, event.answer))
                yield event

    async def _standalone(self, text: str, before: Sequence[str], *, ask_model: bool) -> tuple[Standalone, Usage]:
        settings = self.config.understanding
        wanted = ask_model and self.chat is not None and settings.standalone and settings.model != "off"
        asker = None
        if wanted and self.chat is not None:
            asker = Asker(chat=self.chat, seconds=settings.model_seconds, wordings=self._wordings)
        found, _ = await complete(text, before, self.embedder, asker)
        return found, asker.usage if asker else NOTHING

    async def conversations(self) -> builtins.list[Conversation]:
        """Return the caller's conversations, the latest used first. Summaries are left to `conversation`."""
        kb = await self._kb()
        found = await self.catalog.conversations(kb.id, self._owner)
        return [replace(talk, summary="", summary_documents=()) for talk in found]

    async def conversation(self, name: str) -> Talk:
        """Return one of the caller's conversations by name or id, with what may be shown of its turns."""
        kb = await self._kb()
        talk = await self.catalog.conversation(kb.id, self._owner, name)
        turns = await self._shown_turns(kb, talk, None)
        return Talk(conversation=await self._with_summary(kb, talk), turns=tuple(turns))

    async def forget_conversation(self, name: str) -> None:
        """Delete one of the caller's conversations with all its turns."""
        kb = await self._kb()
        await self.catalog.forget(kb.id, self._owner, name)

    async def pin_fact(self, name: str, fact: str) -> Conversation:
        """Pin something that holds for a conversation ("I work in Shanghai"); it is never evidence."""
        kb = await self._kb()
        said = " ".join(fact.split())
        if not said or len(said) > LONGEST_FACT:
            raise UsageError(f"A fact has 1 to {LONGEST_FACT} characters.")
        talk = await self.catalog.converse(kb.id, self._owner, _checked_name(name), now=self._clock())
        if said not in talk.facts:
            if len(talk.facts) >= MOST_FACTS:
                raise UsageError(f"A conversation has at most {MOST_FACTS} pinned facts.", hint="Unpin one first.")
            await self.catalog.pin(talk.id, [*talk.facts, said])
        return await self.catalog.conversation(kb.id, self._owner, talk.id)

    async def unpin_fact(self, name: str, fact: str) -> Conversation:
        """Take a pinned fact away; `fact` is its words or its number, counted from 1."""
        kb = await self._kb()
        talk = await self.catalog.conversation(kb.id, self._owner, name)
        said = " ".join(fact.split())
        by_number = said.isascii() and said.isdigit() and 1 <= int(said) <= len(talk.facts)
        gone = talk.facts[int(said) - 1] if by_number and said not in talk.facts else said
        if gone not in talk.facts:
            raise UsageError(f"There is no pinned fact {said!r}.", hint="`kaijuan chat --show` lists them.")
        await self.catalog.pin(talk.id, [each for each in talk.facts if each != gone])
        return await self.catalog.conversation(kb.id, self._owner, talk.id)

    @property
    def _owner(self) -> str:
        """Return whose conversations these are: a user's own, or those of all who hold exactly these rights."""
        users = sorted(one for one in self._principals if one.startswith("user:"))
        return users[0] if len(users) == 1 else stable_id("owner", *sorted(self._principals))

    async def _shown_turns(self, kb: KnowledgeBase, talk: Conversation, last: int | None) -> builtins.list[Turn]:
        """Return the turns, blank where a document that they cite may no longer be read."""
        turns = await self.catalog.turns(talk.id, last=last)
        readable = await self._readable_documents(kb, {id for turn in turns for id in turn.documents})
        return [turn if readable.issuperset(turn.documents) else _blank(turn) for turn in turns]

    async def _readable_documents(self, kb: KnowledgeBase, documents: set[DocumentId]) -> set[DocumentId]:
        if not documents:
            return set()
        readers = await self.catalog.principals_of(kb.id, documents)
        return {id for id in documents if readers.get(id, frozenset()) & self._principals}

    async def _with_summary(self, kb: KnowledgeBase, talk: Conversation) -> Conversation:
        readable = await self._readable_documents(kb, set(talk.summary_documents))
        return talk if readable.issuperset(talk.summary_documents) else replace(talk, summary="", summed=0)

    async def _summed(self, kb: KnowledgeBase, talk: Conversation, turns: Sequence[Turn]) -> Conversation:
        """Return the conversation with a summary of the turns that are no longer told as they were."""
        known = await self._with_summary(kb, talk)
        older = [turn for turn in turns[:-LATEST] if turn.number > known.summed]
        lost = known.summed == 0 and talk.summed > 0
        if not older or (len(older) < _SUMMED_AT_ONCE and not lost):
            return known
        summary = digest(known.summary, older)
        documents = dict.fromkeys((*(known.summary_documents if known.summary else ()), *_documents(older)))
        upto = max(older[-1].number, talk.summed)
        await self.catalog.summarise(talk.id, summary, upto, list(documents))
        return replace(known, summary=summary, summed=upto, summary_documents=tuple(documents))


def _documents(turns: Sequence[Turn]) -> builtins.list[DocumentId]:
    return [id for turn in turns if not turn.withheld for id in turn.documents]


def _turn(now: float, question: str, answer: Answer) -> Turn:
    offering = answer.clarification.documents if answer.clarification else ()
    documents = tuple(dict.fromkeys((*(citation.document_id for citation in answer.citations), *offering)))
    return Turn(
        number=0,
        at=now,
        question=question,
        standalone=answer.question,
        status=str(answer.status),
        answer=answer.answer,
        documents=documents,
        titles=tuple(dict.fromkeys(citation.title for citation in answer.citations)),
        trace_id=answer.trace_id,
        body={
            "sentences": [asdict(sentence) for sentence in answer.sentences],
            "citations": [asdict(citation) for citation in answer.citations],
            "notes": list(answer.notes),
            "clarification": asdict(answer.clarification) if answer.clarification else None,
            "model": answer.model,
            "snapshot": answer.snapshot,
        },
    )


def _blank(turn: Turn) -> Turn:
    return replace(turn, standalone="", answer="", documents=(), titles=(), body={}, withheld=True)


def _checked_name(name: str) -> str:
    said = " ".join(name.split())
    if not said or len(said) > LONGEST_NAME:
        raise UsageError(f"A conversation's name has 1 to {LONGEST_NAME} characters.")
    return said
