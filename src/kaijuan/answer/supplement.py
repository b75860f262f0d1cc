"""Look once more before refusing, each time in another way, at most twice, within a time budget (spec H2)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from kaijuan import telemetry
from kaijuan.answer.pipeline import answer
from kaijuan.answer.results import Answer, Round, Status, Strategy
from kaijuan.answer.settings import AnswerSettings
from kaijuan.core.filters import Eq, Filter, Not
from kaijuan.core.text.language import language_of
from kaijuan.index.ports import Embedder
from kaijuan.retrieve.results import Passage, SearchResult

MOST_ROUNDS = 2


class Find(Protocol):
    """Searches one snapshot for the question under further filters; called again, it reads the same snapshot."""

    def __call__(self, more: Sequence[Filter], *, text: str = "", wide: bool = False) -> Awaitable[SearchResult]:
        """Search; `text` stands in the question's place, `wide` passes over filters that were read from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looking:
    question: str
    find: Find
    embedder: Embedder
    settings: AnswerSettings


async def answer_or_look_elsewhere(
    question: str, find: Find, embedder: Embedder, settings: AnswerSettings
) -> tuple[SearchResult, Answer]:
    """Return the answer and the search it rests on, with the further rounds that were made.

    A round counts only where it gives what was missing: it never takes away from the answer before it.
    """
    looking = _Looking(question=question, find=find, embedder=embedder, settings=settings)
    result = await find([])
    given = await answer(question, result, embedder, settings)
    end = time.monotonic() + settings.supplement_seconds
    rounds: list[Round] = []
    for strategy in _strategies(given, result)[:MOST_ROUNDS]:
        left = end - time.monotonic()
        if left <= 0 or given.status not in (Status.REFUSED, Status.PARTIAL):
            break
        start = time.monotonic()
        found = await _tried(looking, strategy, result, given, left)
        helped = found is not None and _says_more(found[1], given)
        spent = round((time.monotonic() - start) * 1000, 3)
        rounds.append(Round(strategy=strategy, helped=helped, milliseconds=spent))
        if found is not None and helped:
            result, given = found
    return result, replace(given, rounds=tuple(rounds)) if rounds else given


def _strategies(given: Answer, result: SearchResult) -> list[Strategy]:
    """Return how else to look, the most promising first."""
    if given.status is Status.PARTIAL:
        return [Strategy.PARTS] if given.missing_parts else []
    if given.status is not Status.REFUSED:
        return []
    ways = [Strategy.PARTS] if len(given.missing_parts) > 1 else []
    understood = result.trace.understanding
    if understood.filters and not understood.relaxed:
        ways.append(Strategy.WITHOUT_READ_FILTERS)
    # Words and vectors favour the question's own language, so that a sentence in another may never reach the answer
    # stage although it is the only one that says it.
    return [*ways, Strategy.OTHER_LANGUAGES]


async def _tried(
    looking: _Looking, strategy: Strategy, result: SearchResult, given: Answer, seconds: float
) -> tuple[SearchResult, Answer] | None:
    """Return what a strategy brings; None where the time ran out, which leaves the answer as it was."""
    try:
        async with asyncio.timeout(seconds):
            match strategy:
                case Strategy.PARTS:
                    return await _by_parts(looking, result, given.missing_parts)
                case Strategy.WITHOUT_READ_FILTERS:
                    wider = await looking.find([], wide=True)
                    return wider, await answer(looking.question, wider, looking.embedder, looking.settings)
                case Strategy.OTHER_LANGUAGES:
                    elsewhere = await looking.find([Not(Eq("language", language_of(looking.question)))])
                    told = await answer(
                        looking.question, elsewhere, looking.embedder, looking.settings, foreign_only=True
                    )
                    return elsewhere, told
    except TimeoutError:
        telemetry.count("answer.round_out_of_time")
        return None


async def _by_parts(looking: _Looking, result: SearchResult, parts: Sequence[str]) -> tuple[SearchResult, Answer]:
    """Search for each missing part by itself, and answer from all that was found."""
    passages = list(result.passages[: looking.settings.passages])
    for part in parts:
        found = await looking.find([], text=part)
        passages += [passage for passage in found.passages[: looking.settings.passages] if _is_new(passage, passages)]
    together = replace(
        result, passages=tuple(replace(passage, rank=rank) for rank, passage in enumerate(passages, start=1))
    )
    settings = looking.settings.model_copy(update={"passages": max(1, len(passages))})
    return together, await answer(looking.question, together, looking.embedder, settings)


def _is_new(passage: Passage, others: Sequence[Passage]) -> bool:
    return not any(passage.version_id == one.version_id and one.span.contains(passage.span) for one in others)


def _says_more(found: Answer, before: Answer) -> bool:
    return bool(found.sentences) and (not before.sentences or len(found.missing_parts) < len(before.missing_parts))
