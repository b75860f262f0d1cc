"""Further searches before a refusal: which, how many, for how long, and what they may not take away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kaijuan.answer.results import Answer, Status, Strategy
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.supplement import answer_or_look_elsewhere
from kaijuan.core.documents import BlockKind
from kaijuan.core.filters import Filter
from kaijuan.retrieve.results import Passage, SearchResult
from kaijuan.retrieve.understanding.results import ReadFilter, Understanding
from kaijuan.testing.embedders import HashEmbedder

MakePassage = Callable[..., Passage]
MakeResult = Callable[..., SearchResult]
P = BlockKind.PARAGRAPH
LEAVE, PAY = "年假每年有几天？", "工资每月几日发放？"


@dataclass
class Base:
    """Answers searches from a table: by text, by whether filters were passed over, by filters."""

    first: SearchResult
    by_text: dict[str, SearchResult] = field(default_factory=dict)
    wider: SearchResult | None = None
    elsewhere: SearchResult | None = None
    asked: list[str] = field(default_factory=list)
    wait: asyncio.Event | None = None

    async def find(self, more: Sequence[Filter], *, text: str = "", wide: bool = False) -> SearchResult:
        kind = text or ("wide" if wide else "elsewhere" if more else "first")
        self.asked.append(kind)
        if kind != "first" and self.wait is not None:
            await self.wait.wait()
        if text:
            return self.by_text.get(text, replace(self.first, passages=()))
        found = self.wider if wide else self.elsewhere if more else self.first
        return found if found is not None else replace(self.first, passages=())


async def _ask(base: Base, question: str, **settings: object) -> tuple[SearchResult, Answer]:
    wanted = AnswerSettings.model_validate({"supplement_seconds": 60, **settings})
    return await answer_or_look_elsewhere(question, base.find, HashEmbedder(), wanted)


def _leave(passage: MakePassage) -> Passage:
    return passage("员工手册", (P, "年假为每年十天。未休完的年假可以顺延至次年三月底。"))


def _pay(passage: MakePassage) -> Passage:
    return passage("薪酬办法", (P, "工资每月 10 日发放。遇节假日提前发放。"), rank=2)


async def test_a_full_answer_takes_no_further_search(passage: MakePassage, result: MakeResult) -> None:
    base = Base(first=result(LEAVE, _leave(passage)))
    _, given = await _ask(base, LEAVE)
    assert given.status is Status.ANSWERED
    assert given.rounds == ()
    assert base.asked == ["first"]


async def test_a_missing_part_is_searched_by_itself(passage: MakePassage, result: MakeResult) -> None:
    question = LEAVE + PAY
    base = Base(first=result(question, _leave(passage)), by_text={PAY: result(PAY, _pay(passage))})
    found, given = await _ask(base, question)
    assert base.asked == ["first", PAY]
    assert given.status is Status.ANSWERED
    assert "十天" in given.answer
    assert "10 日" in given.answer
    assert [(one.strategy, one.helped) for one in given.rounds] == [(Strategy.PARTS, True)]
    assert [one.rank for one in found.passages] == [1, 2]


async def test_a_round_that_brings_nothing_takes_nothing_away(passage: MakePassage, result: MakeResult) -> None:
    question = LEAVE + PAY
    base = Base(first=result(question, _leave(passage)))
    found, given = await _ask(base, question)
    assert found is base.first
    assert given.status is Status.PARTIAL
    assert given.missing_parts == (PAY,)
    assert "十天" in given.answer
    assert [(one.strategy, one.helped) for one in given.rounds] == [(Strategy.PARTS, False)]


async def test_filters_that_were_read_are_passed_over(passage: MakePassage, result: MakeResult) -> None:
    first = result(LEAVE, _pay(passage))
    understood = Understanding(filters=(ReadFilter(field="kind", text='kind = "pdf"', said="年假"),))
    first = replace(first, trace=replace(first.trace, understanding=understood))
    base = Base(first=first, wider=result(LEAVE, _leave(passage)))
    _, given = await _ask(base, LEAVE)
    assert base.asked == ["first", "wide"]
    assert given.status is Status.ANSWERED
    assert given.rounds[0].strategy is Strategy.WITHOUT_READ_FILTERS


async def test_there_are_never_more_than_two_rounds_and_no_strategy_twice(
    passage: MakePassage, result: MakeResult
) -> None:
    question = "火星基地的人口是多少？月球基地的面积是多少？"
    first = result(question, _pay(passage))
    understood = Understanding(filters=(ReadFilter(field="kind", text='kind = "pdf"', said="火星"),))
    base = Base(first=replace(first, trace=replace(first.trace, understanding=understood)))
    _, given = await _ask(base, question)
    assert given.status is Status.REFUSED
    assert [one.strategy for one in given.rounds] == [Strategy.PARTS, Strategy.WITHOUT_READ_FILTERS]


async def test_a_search_over_the_budget_leaves_the_refusal(passage: MakePassage, result: MakeResult) -> None:
    base = Base(first=result(LEAVE, _pay(passage)), elsewhere=result(LEAVE, _leave(passage)), wait=asyncio.Event())
    _, given = await _ask(base, LEAVE, supplement_seconds=0.05)
    assert given.status is Status.REFUSED
    assert [one.helped for one in given.rounds] == [False]


async def test_without_a_budget_there_is_one_search(passage: MakePassage, result: MakeResult) -> None:
    base = Base(first=result(LEAVE, _pay(passage)))
    _, given = await _ask(base, LEAVE, supplement_seconds=0)
    assert given.status is Status.REFUSED
    assert base.asked == ["first"]
