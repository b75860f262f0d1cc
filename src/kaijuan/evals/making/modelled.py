"""Questions that a language model writes about passages, and its own second look at them.

A question stays when its quotes are in the passage to the letter, and when the model, shown these passages alone,
answers it alike; an unanswerable one when, shown what the base's search finds for it, the model finds no answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from kaijuan.core.documents import Block, BlockKind
from kaijuan.core.ids import stable_id
from kaijuan.core.spans import Span, trim
from kaijuan.core.text.normalise import folded, normalise
from kaijuan.engine import Kaijuan
from kaijuan.evals.chat import Chat
from kaijuan.evals.making import prompts
from kaijuan.evals.making.documents import Placed
from kaijuan.evals.making.items import Draft, Evidence, Head, Kind
from kaijuan.evals.making.replies import Replies

if TYPE_CHECKING:
    from kaijuan.config import EvalSettings
    from kaijuan.evals.making.pipeline import Request

SHORTEST, LONGEST = 80, 1500
"""Characters of a passage that a model is shown."""
SPARE = 1.5
"""Questions asked for, for each that is wanted: some do not pass."""
SEARCHED = 5
"""Passages of the base that must not answer an unanswerable question."""
ALIKE = 0.5
"""Share of characters (F1) from which two answers are the same one."""
REPLY_TOKENS = 90
"""What a reply has, for the estimate; measured on a small model: 40 to 120."""
_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d{2})(?!\d)")
_HAN = re.compile(r"[\u3400-\u9fff]")


class _Written(BaseModel):
    """A question as the model writes it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    question: str = Field(min_length=1, max_length=500)
    answer: str = Field(default="", max_length=1000)
    quotes: list[str] = Field(default_factory=list, max_length=10)


class _Answered(BaseModel):
    """The model's second look."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    answerable: bool
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One question to be written, about one or two passages."""

    kind: Kind
    passages: tuple[Evidence, ...]

    @property
    def language(self) -> str:
        """Return the language of the passages, in which is asked."""
        return "zh" if self.passages[0].document.language == "zh" else "en"

    @property
    def prompt(self) -> str:
        """Return the request."""
        head = self.passages[0].document
        return prompts.writing(self.kind, self.language, head.title, [piece.quote for piece in self.passages])


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run will ask a model for, at most: each question is written once and looked at once more."""

    questions: int
    calls: int
    prompt_tokens: int
    completion_tokens: int

    def in_words(self) -> str:
        """Return it as a sentence."""
        return (
            f"about {self.calls} calls for {self.questions} question{'' if self.questions == 1 else 's'}, "
            f"{self.prompt_tokens:,} tokens in and "
            f"{self.completion_tokens:,} out."
        )


class ModelWriter:
    """Writes and filters drafts with a model. What it replied is kept beside the set, so that nothing is paid twice."""

    def __init__(self, settings: EvalSettings, request: Request, *, chat: Chat | None = None) -> None:
        self._chat = chat or Chat(settings)
        self._replies = Replies(self._chat, request.root)
        self._rejected: Counter[str] = Counter()
        self._planned: list[Task] | None = None

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._chat.model

    async def estimate(self, engine: Kaijuan, documents: Sequence[Placed], request: Request, snapshot: int) -> Estimate:
        """Say what `write` would cost; requests whose replies are known cost nothing."""
        tasks = await self._tasks(engine, documents, request, snapshot)
        texts = [task.prompt for task in tasks if not self._replies.holds(task.prompt)]
        written = sum(map(_tokens, texts))
        return Estimate(
            questions=len(texts),
            calls=2 * len(texts),
            prompt_tokens=2 * written,
            completion_tokens=2 * len(texts) * REPLY_TOKENS,
        )

    async def write(self, engine: Kaijuan, documents: Sequence[Placed], request: Request, snapshot: int) -> list[Draft]:
        """Return drafts that the model wrote and found good."""
        drafts: list[Draft] = []
        for task in await self._tasks(engine, documents, request, snapshot):
            draft = await self._written(task)
            if draft is None:
                continue
            fault = await self._fault(engine, task, draft, snapshot)
            if fault:
                self._rejected[fault] += 1
            else:
                drafts.append(draft)
        return drafts

    def used(self) -> Mapping[str, Any]:
        """Return calls and tokens, failures of the service, and why questions were turned down."""
        return {
            **dict(sorted(self._chat.used.items())),
            "failures": dict(sorted(self._chat.failures.items())),
            "turned_down": dict(sorted(self._rejected.items())),
        }

    async def close(self) -> None:
        """Close the connection."""
        await self._chat.close()

    async def _tasks(self, engine: Kaijuan, documents: Sequence[Placed], request: Request, snapshot: int) -> list[Task]:
        if self._planned is None:
            self._planned = await _plan(engine, documents, request, snapshot)
        return self._planned

    async def _written(self, task: Task) -> Draft | None:
        reply = await self._replies.ask(task.prompt, _Written, lambda fault: prompts.again(task.language, fault))
        if reply is None:
            return None
        evidence = _evidence(task, reply.quotes)
        if not evidence:
            self._rejected["quote_not_in_passage"] += 1
            return None
        question = " ".join(reply.question.split())
        year = _YEAR.search(question)
        return Draft(
            kind=task.kind,
            how="pair" if task.kind is Kind.MULTI else f"model/{task.kind}",
            language=task.language,
            question=question,
            answers=() if task.kind is Kind.UNANSWERABLE else (reply.answer.strip(),),
            evidence=evidence,
            as_of=year.group() if year and task.kind is Kind.TIME else "",
            prompt=prompts.fingerprint(),
        )

    async def _fault(self, engine: Kaijuan, task: Task, draft: Draft, snapshot: int) -> str:
        """Return why a question is turned down; "" where the second look agrees."""
        if task.kind is Kind.MULTI and len(draft.evidence) < 2:
            return "one_passage_is_enough"
        if task.kind is Kind.TIME and not _YEAR.search(draft.question):
            return "no_time_in_question"
        texts = [piece.quote for piece in task.passages]
        if task.kind is Kind.UNANSWERABLE:
            found = await engine.search(draft.question, k=SEARCHED, as_of=snapshot, cut=False)
            texts += [passage.text for passage in found.passages if passage.text not in texts]
        asked = prompts.answering(task.language, draft.question, texts)
        reply = await self._replies.ask(asked, _Answered, lambda fault: prompts.again(task.language, fault))
        if reply is None:
            return "not_looked_at"
        if task.kind is Kind.UNANSWERABLE:
            return "answerable_after_all" if reply.answerable else ""
        if not reply.answerable:
            return "not_answerable"
        return "" if _alike(reply.answer, draft.answers[0]) else "answers_differ"


async def _plan(engine: Kaijuan, documents: Sequence[Placed], request: Request, snapshot: int) -> list[Task]:
    """Return what is to be written, passages chosen by the seed, each document at most once a kind."""
    ordered = sorted(
        (each for each in documents if each.head.language in request.languages),
        key=lambda each: stable_id("asked", request.seed, each.head.id),
    )
    wanted = {kind: int(request.count * SPARE) for kind in request.kinds}
    tasks: list[Task] = []
    for document in ordered:
        if not any(wanted.values()):
            break
        view = await engine.show(document.version.id, as_of=snapshot)
        passages = list(_passages(document.head, view.text, view.blocks))
        for kind in request.kinds:
            chosen = _for_kind(kind, passages, request.seed) if wanted[kind] else ()
            if chosen:
                wanted[kind] -= 1
                tasks.append(Task(kind=kind, passages=chosen))
    return tasks


def _passages(head: Head, text: str, blocks: Sequence[Block]) -> Iterator[tuple[BlockKind, Evidence]]:
    """Yield paragraphs and lists put together up to a passage's length, and tables by themselves."""
    start = end = -1
    for block in blocks:
        if block.kind is BlockKind.TABLE and len(block.span) <= LONGEST:
            yield BlockKind.TABLE, _piece(head, text, block.span)
            continue
        if block.kind is BlockKind.HEADING:
            continue
        if start >= 0 and block.span.end - start > LONGEST:
            yield from _long_enough(head, text, Span(start, end))
            start = -1
        if start < 0:
            start = block.span.start
        end = block.span.end
    if start >= 0:
        yield from _long_enough(head, text, Span(start, end))


def _long_enough(head: Head, text: str, span: Span) -> Iterator[tuple[BlockKind, Evidence]]:
    cut = trim(text, Span(span.start, min(span.end, span.start + LONGEST)))
    if len(cut) >= SHORTEST:
        yield BlockKind.PARAGRAPH, _piece(head, text, cut)


def _piece(head: Head, text: str, span: Span) -> Evidence:
    return Evidence(document=head, span=span, quote=span.of(text))


def _for_kind(kind: Kind, passages: Sequence[tuple[BlockKind, Evidence]], seed: int) -> tuple[Evidence, ...]:
    """Return the passages of one document that a question of a kind is written about; () where it has none."""
    tables = [piece for sort, piece in passages if sort is BlockKind.TABLE]
    prose = [piece for sort, piece in passages if sort is not BlockKind.TABLE]
    if kind is Kind.TIME:
        prose = [piece for piece in prose if _YEAR.search(piece.quote)]
    fitting = tables if kind is Kind.TABLE else prose
    ordered = sorted(fitting, key=lambda piece: stable_id("passage", seed, str(kind), piece.quote))
    if kind is Kind.MULTI:
        return tuple(sorted(ordered[:2], key=lambda piece: piece.span)) if len(ordered) >= 2 else ()
    return tuple(ordered[:1])


def _evidence(task: Task, quotes: Sequence[str]) -> tuple[Evidence, ...]:
    """Return where the quotes stand in the passages, folded alike; those that stand nowhere are left out."""
    found: dict[tuple[str, Span], Evidence] = {}
    for quote in quotes:
        for passage in task.passages:
            span = _place(passage.quote, quote)
            if span is not None:
                place = span.shift(passage.span.start)
                piece = Evidence(document=passage.document, span=place, quote=span.of(passage.quote))
                found.setdefault((passage.document.id, place), piece)
                break
    return tuple(sorted(found.values(), key=lambda piece: (piece.document.id, piece.span)))


def _place(text: str, quote: str) -> Span | None:
    wanted = folded(quote).strip()
    matched, offsets = normalise(text)
    at = matched.find(wanted) if len(wanted) >= 4 else -1
    return offsets.back(Span(at, at + len(wanted))) if at >= 0 else None


def _alike(one: str, other: str) -> bool:
    """Say whether two answers are the same one: one holds the other, or they share most characters or words."""
    left, right = folded(one).strip(" .。"), folded(other).strip(" .。")
    if not left or not right:
        return False
    if left in right or right in left:
        return True
    first, second = _pieces(left), _pieces(right)
    shared = sum((first & second).values())
    return 2 * shared / (sum(first.values()) + sum(second.values())) >= ALIKE


def _pieces(text: str) -> Counter[str]:
    return Counter(text.replace(" ", "") if _HAN.search(text) else text.split())


def _tokens(text: str) -> int:
    """Return about how many tokens a text has: a Han character is most of one, four other characters are one."""
    han = len(_HAN.findall(text))
    return int(han * 0.7 + (len(text) - han) / 4) + 1
