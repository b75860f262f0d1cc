"""Look once more before refusing: in the documents of other languages, which chance finds may have crowded out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from kaijuan.answer.pipeline import answer
from kaijuan.answer.results import Answer, Status
from kaijuan.answer.settings import AnswerSettings
from kaijuan.core.filters import Eq, Filter, Not
from kaijuan.core.text.language import language_of
from kaijuan.index.ports import Embedder
from kaijuan.retrieve.results import SearchResult

Find = Callable[[Sequence[Filter]], Awaitable[SearchResult]]
"""Searches one snapshot for the question under further filters; called again, it reads the same snapshot."""


async def answer_or_look_elsewhere(
    question: str, find: Find, embedder: Embedder, settings: AnswerSettings
) -> tuple[SearchResult, Answer]:
    """Return the answer and the search it rests on; the second search counts only when it gives sentences.

    Words and vectors favour the question's own language, so that a sentence in another may never reach the answer
    stage although it is the only one that says it.
    """
    result = await find([])
    given = await answer(question, result, embedder, settings)
    if given.status is not Status.REFUSED:
        return result, given
    elsewhere = await find([Not(Eq("language", language_of(question)))])
    found = await answer(question, elsewhere, embedder, settings, foreign_only=True)
    return (elsewhere, found) if found.sentences else (result, given)
