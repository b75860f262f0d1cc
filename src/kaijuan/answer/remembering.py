"""Answers given before: under which key one may be given again, and to whom (spec I8).

A key holds everything that an answer depends on: tenant and base, who may read what and under which access rules, the
snapshot, the models, the prompts, the settings, the day, and the question. What is not in the key cannot change the
answer; so there is nothing to invalidate, only keys that nobody asks for any more.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kaijuan import telemetry
from kaijuan.answer.question import read_question
from kaijuan.answer.results import Answer
from kaijuan.core.ids import stable_id
from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.core.text.normalise import folded
from kaijuan.index.ports import Vector


class AnswerCacheSettings(BaseModel):
    """Answers kept to be given again while nothing they rest on has changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    """Whether answers are kept at all. Evaluation never reads or writes them."""
    mb: int = Field(default=64, ge=1)
    """Most disk, in MiB; the oldest go first."""
    hours: float = Field(default=24.0, gt=0, le=8760)
    """How long an answer is kept."""
    similar: float = Field(default=0.94, ge=0, le=1)
    """Cosine from which a question with the same telling words in the same order counts as the same question; 1 takes
    only questions that are letter for letter the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """All that an answer depends on besides the question."""

    kb: str
    generation: str
    """Snapshot at head and policy version: answers of earlier ones are of no use and are dropped."""
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One stored answer with its question."""

    question: str
    text: str
    """The answer as JSON."""
    vector: Vector | None = None


class AnswerStore(Protocol):
    """Where answers lie. No method raises for what is wrong with the store: it is a saving, never a need."""

    async def exact(self, scope: Scope, key: str, *, now: float) -> Kept | None:
        """Return the answer kept under a key, if it is not too old. Drops what other generations of the base left."""

    async def like(self, scope: Scope, words: str, *, now: float) -> Sequence[Kept]:
        """Return the answers of a scope whose questions have these telling words."""

    async def keep(self, scope: Scope, key: str, words: str, kept: Kept, *, now: float) -> None:
        """Store an answer, and drop the oldest where there is too much."""

    async def forget(self, kb: str) -> int:
        """Drop every answer of a base; return how many there were."""

    async def close(self) -> None:
        """Release what is open."""


def scope_of(kb: str, generation: str, parts: Mapping[str, object]) -> Scope:
    """Return a scope; `parts` are the things an answer depends on, by name, each of which says itself as text."""
    flat = [piece for name in sorted(parts) for piece in (name, str(parts[name]))]
    return Scope(kb=kb, generation=generation, digest=stable_id("answers", kb, generation, *flat))


def key_of(scope: Scope, question: str) -> str:
    """Return the key of a question in a scope. Blanks at its ends do not count, everything else does."""
    return stable_id("answer", scope.digest, question.strip())


def words_of(question: str) -> str:
    """Return what two questions must share to be the same: telling words, numbers and codes, in their order.

    Politeness and function words are left out; whoever asks for another number, name or year asks something else.
    A denial counts as a word, and so does what kind of value is asked for.
    """
    read = read_question(question)
    kinds = {TermKind.WORD, TermKind.CODE, TermKind.NUMBER, TermKind.DATE}
    terms = [term.text for term in analyse(question) if term.kind in kinds and term.text in read.weights]
    denied = len(_DENIES.findall(folded(question)))
    wanted = f"{read.wants.kind}{read.wants.unit}" if read.wants else ""
    shape = f"{read.language}|{read.how}|{wanted}|{denied}"
    return stable_id("words", shape, *dict.fromkeys(terms)) if terms else ""


_DENIES = re.compile(r"不|没|未|无|非|禁止|\b(?:not|no|never|without|cannot)\b|n't")
_ANSWERS = TypeAdapter(Answer)
Compute = Callable[[], Awaitable[Answer]]
EmbedQuestion = Callable[[], Awaitable[Vector]]


class Remembered:
    """Answers by key, with requests under way merged. One for all views of a home; keys keep readers apart."""

    def __init__(self, store: AnswerStore, settings: AnswerCacheSettings, clock: Callable[[], float]) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._under_way: dict[str, asyncio.Future[Answer]] = {}

    async def found(self, scope: Scope, question: str, embed: EmbedQuestion) -> Answer | None:
        """Return the answer kept for a question, or for one that asks the same, with `cache` saying which."""
        now = self._clock()
        kept = await self._store.exact(scope, key_of(scope, question), now=now)
        if kept is not None and (answer := _read(kept.text)) is not None:
            telemetry.count("answer.cache_hit")
            return replace(answer, cache="hit")
        words = words_of(question) if self._settings.similar < 1 else ""
        others = await self._store.like(scope, words, now=now) if words else ()
        if not others:
            return None
        vector = await embed()
        best = max(others, key=lambda one: _cosine(one.vector, vector))
        if _cosine(best.vector, vector) < self._settings.similar or (answer := _read(best.text)) is None:
            return None
        telemetry.count("answer.cache_similar")
        return replace(answer, cache="similar", question=question)

    async def keep(self, scope: Scope, answer: Answer, embed: EmbedQuestion) -> None:
        """Keep an answer for its question."""
        words = words_of(answer.question) if self._settings.similar < 1 else ""
        vector = await embed() if words else None
        text = _ANSWERS.dump_json(answer).decode()
        kept = Kept(question=answer.question, text=text, vector=vector)
        await self._store.keep(scope, key_of(scope, answer.question), words, kept, now=self._clock())

    def leader(self, key: str) -> asyncio.Future[Answer] | None:
        """Return the future of the request for this key that is under way, or None and become it."""
        waiting = self._under_way.get(key)
        if waiting is None:
            self._under_way[key] = asyncio.get_running_loop().create_future()
        return waiting

    def settle(self, key: str, answer: Answer | None) -> None:
        """End a request under way: those who wait get its answer, or None's error, and then ask for themselves."""
        future = self._under_way.pop(key, None)
        if future is None or future.done():
            return
        if answer is None:
            future.cancel()
        else:
            future.set_result(answer)

    async def forget(self, kb: str) -> int:
        """Drop every answer of a base."""
        return await self._store.forget(kb)

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()


def _read(text: str) -> Answer | None:
    try:
        return _ANSWERS.validate_json(text)
    except ValidationError:
        telemetry.event("answer_cache.unreadable")  # of an older version of the program
        return None


def _cosine(one: Vector | None, other: Vector) -> float:
    return float(one @ other) if one is not None and one.shape == other.shape else 0.0
