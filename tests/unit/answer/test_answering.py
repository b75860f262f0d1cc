"""Passages to answers: what is said, what is refused, what is only partly answered, and what is cited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import pytest

from kaijuan.answer.pipeline import answer
from kaijuan.answer.results import Answer, Status
from kaijuan.answer.settings import AnswerSettings
from kaijuan.core.documents import BlockKind
from kaijuan.errors import UsageError
from kaijuan.index.ports import Vectors
from kaijuan.retrieve.results import Passage, SearchResult
from kaijuan.testing.embedders import HashEmbedder

MakePassage = Callable[..., Passage]
MakeResult = Callable[..., SearchResult]
Ask = Callable[..., Awaitable[Answer]]
P, H, T, L = BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.TABLE, BlockKind.LIST


@pytest.fixture
def handbook(passage: MakePassage) -> tuple[Passage, ...]:
    return (
        passage(
            "员工手册",
            (H, "# 休假"),
            (P, "员工入职满一年后可以休假。年假为每年十天。未休完的年假可以顺延至次年三月底。"),
            (P, "申请年假须提交："),
            (L, "- 申请表\n- 主管批准"),
            (T, "| 级别 | 年假 |\n| --- | --- |\n| 经理 | 15 天 |\n| 员工 | 10 天 |"),
            start=40,
        ),
        passage(
            "Error codes",
            (P, "ERR-9988 means that the disk is full. ERR-9989 means that the network is down."),
            rank=2,
        ),
    )


@pytest.fixture
def ask(handbook: tuple[Passage, ...], result: MakeResult) -> Ask:
    async def asked(question: str, **settings: object) -> Answer:
        return await answer(
            question, result(question, *handbook), HashEmbedder(), AnswerSettings.model_validate(settings)
        )

    return asked


async def test_the_sentence_with_the_value_is_quoted(ask: Ask) -> None:
    given = await ask("年假每年有几天？")
    assert given.status is Status.ANSWERED
    assert "年假为每年十天。" in given.answer
    assert given.snapshot == 7
    assert given.trace_id == "trace-1"
    assert given.model == "extractive"


async def test_a_citation_leads_to_the_very_characters(ask: Ask, handbook: tuple[Passage, ...]) -> None:
    given = await ask("年假每年有几天？", sentences=1, keep_ratio=1)
    [cited] = given.citations
    home = handbook[0]
    assert cited.quote == "年假为每年十天。"
    assert cited.version_id == home.version_id
    assert cited.title_path == ("休假",)
    block = home.blocks[1]
    assert cited.block_id == block.id
    assert cited.pages == (2,)
    [box] = cited.boxes
    assert box.x0 == 10 + cited.span.start - block.span.start
    assert box.x1 - box.x0 == len(cited.quote)


async def test_a_list_comes_with_its_lead_in(ask: Ask) -> None:
    given = await ask("申请年假须提交什么？", sentences=1)
    assert given.answer == "申请年假须提交：\n申请表\n主管批准"


async def test_a_row_is_read_with_its_header_and_cites_both(ask: Ask) -> None:
    given = await ask("经理的年假是多少天？", sentences=1)
    assert given.answer == "级别：经理；年假：15 天"
    assert [cited.quote for cited in given.citations] == ["经理 | 15 天", "级别 | 年假"]


async def test_the_right_code_is_told_from_its_neighbour(ask: Ask) -> None:
    given = await ask("What does ERR-9988 mean?", sentences=1)
    assert given.answer == "ERR-9988 means that the disk is full."


async def test_a_missing_code_is_refused_and_named(ask: Ask) -> None:
    given = await ask("What does ERR-9981 mean?")
    assert given.status is Status.REFUSED
    assert given.answer == "The knowledge base does not say."
    assert any("ERR-9981" in note for note in given.notes)
    assert any("Error codes" in note for note in given.notes)
    assert not given.sentences
    assert not given.citations


async def test_one_code_of_two_is_a_partial_answer(ask: Ask) -> None:
    given = await ask("What do ERR-9988 and ERR-9981 mean?", refuse_below=0)
    assert given.status is Status.PARTIAL
    assert "disk is full" in given.answer
    assert any("ERR-9981" in note for note in given.notes)


async def test_two_codes_are_both_answered(ask: Ask) -> None:
    given = await ask("What do ERR-9988 and ERR-9989 mean?", refuse_below=0)
    assert given.status is Status.ANSWERED
    assert "disk is full" in given.answer
    assert "network is down" in given.answer


async def test_one_question_of_two_is_a_partial_answer(ask: Ask) -> None:
    given = await ask("年假每年有几天？量子计算机的发明人是谁？")
    assert given.status is Status.PARTIAL
    assert "十天" in given.answer
    assert any("量子计算机" in note for note in given.notes)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("量子计算机的发明人是谁？", "知识库中没有找到能回答这个问题的内容。"),
        ("量子計算機的發明人是誰？", "知識庫中沒有找到能回答這個問題的內容。"),
        ("Who invented the quantum computer?", "The knowledge base does not say."),
    ],
)
async def test_refusals_are_in_the_language_of_the_question(ask: Ask, question: str, text: str) -> None:
    given = await ask(question)
    assert given.status is Status.REFUSED
    assert given.answer == text
    assert not given.sentences


async def test_nothing_found_is_refused(result: MakeResult) -> None:
    given = await answer("年假有几天？", result("年假有几天？"), HashEmbedder(), AnswerSettings())
    assert given.status is Status.REFUSED
    assert given.answer == "知识库中没有与这个问题相关的内容。"


async def test_a_question_about_nothing_is_asked_back(ask: Ask) -> None:
    assert (await ask("这是什么？")).status is Status.CLARIFY
    assert (await ask("what is it?")).answer.startswith("Please be more specific")


@pytest.mark.parametrize("question", ["", "  \n"])
async def test_an_empty_question_is_an_error(ask: Ask, question: str) -> None:
    with pytest.raises(UsageError):
        await ask(question)


async def test_the_same_sentence_in_two_documents_is_said_once_and_cited_twice(
    passage: MakePassage, result: MakeResult
) -> None:
    twins = [passage(f"手册{n}", (P, "年假为每年十天。"), rank=n) for n in (1, 2)]
    given = await answer("年假每年有几天？", result("", *twins), HashEmbedder(), AnswerSettings())
    [sentence] = given.sentences
    assert {cited.version_id for cited in given.citations} == {twin.version_id for twin in twins}
    assert sentence.citations == ("1", "2")


async def test_sentences_are_in_reading_order(passage: MakePassage, result: MakeResult) -> None:
    text = "首先登录报销系统。然后在报销系统填写金额。最后在报销系统提交。"
    given = await answer(
        "报销系统怎样提交？",
        result("", passage("", (P, text))),
        HashEmbedder(),
        AnswerSettings(keep_ratio=0, refuse_below=0),
    )
    spans = [cited.span for cited in given.citations]
    assert spans == sorted(spans)
    assert given.answer == text


async def test_all_sentences_are_embedded_in_one_call(handbook: tuple[Passage, ...], result: MakeResult) -> None:
    class Counting(HashEmbedder):
        calls = 0

        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            self.calls += 1
            assert len(texts) <= 3
            return await super().embed_passages(texts)

    embedder = Counting()
    await answer("年假有几天？工资何时发？", result("", *handbook), embedder, AnswerSettings(candidates=3))
    assert embedder.calls == 1


async def test_texts_over_the_models_limit_are_scored_by_their_beginning(
    passage: MakePassage, result: MakeResult
) -> None:
    long = passage("", (P, "年假为每年十天，" + "字" * 300 + "。"))
    given = await answer(
        "年假每年有几天？", result("", long), HashEmbedder(max_tokens=64), AnswerSettings(refuse_below=0)
    )
    assert given.citations[0].quote == long.text


async def test_another_language_answers_where_it_comes_first(passage: MakePassage, result: MakeResult) -> None:
    class Bilingual(HashEmbedder):
        """Holds "probation" and 试用期 to be one word, and all else as before."""

        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            return await super().embed_passages(["试用期多长" if "robation" in text else text for text in texts])

    passages = (
        passage("", (P, "员工出差多长时间须提前申请。员工休假须提前申请。")),
        passage("", (P, "Probation lasts three months. Badges are worn."), rank=2),
    )
    given = await answer(
        "员工试用期多长", result("", *passages), Bilingual(), AnswerSettings(refuse_below=0, sentences=1)
    )
    assert given.answer == "Probation lasts three months."
