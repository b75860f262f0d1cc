"""Follow-up questions made to stand by themselves, by rule, in both languages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kaijuan.answer.conversation.followup import instead_of, leans, standalone
from kaijuan.index.ports import Vectors
from kaijuan.testing.embedders import HashEmbedder

KINDS = (
    ("北京", "上海"),
    ("一线城市", "二线城市"),
    ("Kestrel", "Falcon"),
    ("budget", "deadline"),
    ("five years", "ten years"),
    ("ERR-9988", "ERR-9981"),
)


class KindEmbedder(HashEmbedder):
    """Vectors of words of one kind are near each other."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = await super().embed_passages(texts)
        for row, text in zip(rows, texts, strict=True):
            words = text.removeprefix("the ").removeprefix("after ")
            kind = next((at for at, kind in enumerate(KINDS) if words in kind), None)
            if kind is not None:
                row *= 0.3
                row[kind] += 1.0
                row /= np.linalg.norm(row)
        return rows


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("上海的住宿标准是多少？", "那北京呢？", "北京的住宿标准是多少？"),
        ("一线城市的住宿标准是多少？", "二线城市呢", "二线城市的住宿标准是多少？"),
        ("ERR-9988 怎么处理？", "ERR-9981 呢？", "ERR-9981 怎么处理？"),
        ("What is the budget of project Kestrel?", "What about Falcon?", "What is the budget of project Falcon?"),
        ("What is the budget of project Kestrel?", "And the deadline?", "What is the deadline of project Kestrel?"),
        ("What happens after five years?", "and after ten years?", "What happens after ten years?"),
    ],
)
async def test_something_else_takes_the_place(before: str, question: str, expected: str) -> None:
    found = await standalone(question, ["an older question?", before], KindEmbedder())
    assert (found.text, found.how) == (expected, "instead")


@pytest.mark.parametrize(
    ("before", "question", "words"),
    [
        ("产品 Q7 的保修期多久？", "它多少钱？", ["Q7", "保修"]),
        ("ERR-9988 怎么处理？", "为什么？", ["ERR-9988"]),
        ("What is the budget of project Kestrel?", "When does it end?", ["budget", "Kestrel"]),
        ("Who approves travel expenses?", "How long does that take?", ["travel", "expenses"]),
    ],
)
async def test_what_leans_gets_the_topic(before: str, question: str, words: list[str]) -> None:
    found = await standalone(question, [before], HashEmbedder())
    assert found.how == "topic"
    assert found.text.endswith(question)
    assert all(word in found.text for word in words)


@pytest.mark.parametrize(
    "question",
    [
        "公司成立于哪一年？",
        "差旅管理办法对住宿费的规定是什么？",
        "Is there parking at the office?",
        "What is the ERR-9988 code?",
        "Who founded the company and in which year was that registered under its present name, " + "x" * 200,
    ],
)
async def test_what_stands_by_itself_is_left_alone(question: str) -> None:
    found = await standalone(question, ["产品保修期多久？"], HashEmbedder())
    assert (found.text, found.how) == (question, "")


async def test_the_first_question_is_left_alone() -> None:
    assert (await standalone("那北京呢？", [], HashEmbedder())).text == "那北京呢？"


def test_nothing_takes_the_place_of_nothing() -> None:
    assert instead_of("这个呢？") == ""
    assert instead_of("what about it?") == ""
    assert instead_of("北京的住宿标准是多少？") == ""
    assert leans("这个呢？")


@pytest.mark.parametrize(
    "question",
    [
        "How long are full backups kept?",
        "谁审批周末加班？",
        "那年休假要提前几天申请？",
        "When are full backups deleted?",
    ],
)
def test_a_whole_question_that_begins_like_a_follow_up_stands_by_itself(question: str) -> None:
    assert not leans(question)


@pytest.mark.parametrize("question", ["How long?", "谁审批？", "那要提前几天？", "那个什么时候生效？", "Why is it so?"])
def test_a_bare_question_leans(question: str) -> None:
    assert leans(question)
