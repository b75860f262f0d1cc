"""Which documents a question names, and what follows from it for the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from kaijuan.answer.extract import read_units
from kaijuan.answer.named import is_beside, named
from kaijuan.answer.pipeline import answer
from kaijuan.answer.question import read_question
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.units import units_of
from kaijuan.core.documents import BlockKind
from kaijuan.retrieve.results import Passage, SearchResult
from kaijuan.testing.embedders import HashEmbedder

MakePassage = Callable[..., Passage]
MakeResult = Callable[..., SearchResult]
P = BlockKind.PARAGRAPH


@pytest.fixture
def rules(passage: MakePassage) -> list[Passage]:
    texts = {
        "松涛制药行政规定（2020 年版）": "全量备份须保留 30 天。",
        "松涛制药行政规定（2023 年版）": "数据库的全量备份须保留 365 天。",
        "明德物流管理办法": "全量备份保留 90 天。本办法自 2020 年 3 月 1 日起施行。",
    }
    return [passage(title, (P, text), rank=rank) for rank, (title, text) in enumerate(texts.items(), start=1)]


def _shares(question: str, passages: Sequence[Passage]) -> list[float]:
    reads = read_units([unit for at, one in enumerate(passages) for unit in units_of(one, at, AnswerSettings())])
    shares = named(read_question(question), reads, passages)
    return [shares[one.document_id] for one in passages]


def test_a_name_in_titles_sets_their_documents_apart(rules: list[Passage]) -> None:
    old, new, other = _shares("松涛制药的规定：全量备份保留多少天？", rules)
    assert old == new > other == 0


def test_of_those_named_a_year_sets_one_apart_although_others_speak_of_it(rules: list[Passage]) -> None:
    old, new, other = _shares("松涛制药 2020 年的规定里，全量备份保留多少天？", rules)
    assert old > new > other


def test_a_question_that_names_nothing_favours_nobody(rules: list[Passage]) -> None:
    assert _shares("全量备份保留多少天？", rules) == [0, 0, 0]


def test_what_a_text_says_is_no_name(passage: MakePassage) -> None:
    made = [
        passage("备份办法", (P, "数据每天备份。")),
        passage("机房须知", (P, "机房的备份每周检查。"), rank=2),
    ]
    assert _shares("备份每周检查吗？", made) == [0, 0]


def test_the_document_named_less_is_beside(rules: list[Passage]) -> None:
    old, new, _ = (one.document_id for one in rules)
    assert is_beside({old: 0.2, new: 0.1}, old, new)
    assert not is_beside({old: 0.1, new: 0.1}, old, new)


async def _answered(question: str, passages: Sequence[Passage], result: MakeResult) -> tuple[str, tuple[str, ...]]:
    given = await answer(question, result(question, *passages), HashEmbedder(), AnswerSettings(refuse_below=0))
    return given.answer, given.notes


async def test_another_firm_in_the_same_words_is_neither_quoted_nor_a_contradiction(
    rules: list[Passage], result: MakeResult
) -> None:
    text, notes = await _answered("松涛制药的规定：全量备份保留多少天？", rules, result)
    assert "365" in text
    assert "90" not in f"{text}{notes}"
    assert any("30 天" in note for note in notes)


async def test_the_edition_of_the_year_asked_for_is_quoted(rules: list[Passage], result: MakeResult) -> None:
    text, _ = await _answered("松涛制药 2020 年的规定里，全量备份保留多少天？", rules, result)
    assert "30 天" in text
    assert "365" not in text


async def test_the_edition_asked_for_holds_though_the_newer_one_fits_the_words_better(
    passage: MakePassage, result: MakeResult
) -> None:
    new = passage("松涛制药行政规定（2023 年版）", (P, "全量备份保留 365 天，多少天都按此。"))
    old = passage("松涛制药行政规定（2020 年版）", (P, "数据库全量备份须保留 30 天。"), rank=2)
    text, _ = await _answered("2020 年规定的全量备份保留多少天？", [new, old], result)
    assert "30 天" in text
    assert "365" not in text
