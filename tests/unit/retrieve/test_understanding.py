"""What a question means in a base: other words for its words, slips, filters, all of it shown and removable."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.retrieve.understood import RECORDS, base

from kaijuan import Kaijuan
from kaijuan.retrieve.results import SearchResult
from kaijuan.retrieve.understanding.kinds import QuestionKind, kinds_of
from kaijuan.retrieve.understanding.words import sentences


def ids(result: SearchResult) -> list[str]:
    return [passage.source.rpartition("#")[2] for passage in result.passages]


def beside(result: SearchResult) -> list[tuple[str, str]]:
    return [(one.words, one.by) for one in result.trace.understanding.expansions]


def read(result: SearchResult) -> list[str]:
    return [one.text for one in result.trace.understanding.filters]


async def test_a_synonym_of_the_glossary_finds_and_is_shown(tmp_path: Path) -> None:
    async with base(tmp_path) as engine:
        await engine.add_term("报销", ["费用返还", "claims"], by="li", note="财务用语")
        for question in ("费用返还要多久", "how do claims work"):
            result = await engine.search(question)
            assert ("报销", "glossary") in beside(result)
            assert ids(result)[0] in {"expense", "invoice"}
            (expansion, *_) = result.trace.understanding.expansions
            assert expansion.source == "li"
            assert expansion.span.of(question) in {"费用返还", "claims"}
        await engine.remove_term("报销")
        assert beside(await engine.search("费用返还要多久")) == []


async def test_the_words_of_the_question_stay(tmp_path: Path) -> None:
    async with base(tmp_path) as engine:
        before = await engine.search("报销流程")
        await engine.add_term("报销", ["返还"])
        after = await engine.search("报销流程")
        assert set(before.trace.terms) < set(after.trace.terms)
        assert ids(before)[0] == ids(after)[0] == "expense"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("SLA 的可用性是多少", "服务级别协议"),
        ("服務級別協議規定了什麼", "SLA"),
        ("What is our kpi?", "Key Performance Indicator"),
        ("key performance indicator of a team", "KPI"),
    ],
)
async def test_what_a_document_explains_is_searched_too(tmp_path: Path, question: str, words: str) -> None:
    async with base(tmp_path) as engine:
        result = await engine.search(question)
        assert (words, "abbreviation") in beside(result)
        assert ids(result)[0] in {"sla", "kpi"}


async def test_an_abbreviation_of_a_secret_document_is_nobodys(tmp_path: Path) -> None:
    async with base(tmp_path) as engine:
        kb = await engine.catalog.kb("default", "default")
        secret = next(version for version in await engine.list() if version.source.endswith("#sla"))
        await engine.catalog.grant(kb.id, secret.document_id, "board")
        assert beside(await engine.search("SLA 的可用性是多少")) == []
        async with Kaijuan(
            tmp_path / "home", config=engine.config, embedder=engine.embedder, principals={"all"}
        ) as another:
            assert secret.source not in {version.source for version in await another.list()}


@pytest.mark.parametrize(
    ("question", "words", "first"),
    [
        ("报消流程是什么", "报销", "expense"),
        ("发飘遗失怎么办", "发票", "invoice"),
        ("reimbursemnet deadline", "reimbursement", "refund"),
        ("When do I get my reimbursment?", None, "refund"),
        ("baoxiao 流程", "报销", "expense"),
    ],
)
async def test_a_slip_is_searched_with_what_was_meant(
    tmp_path: Path, question: str, words: str | None, first: str
) -> None:
    async with base(tmp_path) as engine:
        result = await engine.search(question)
        assert beside(result) == ([(words, "spelling")] if words else [])
        assert ids(result)[0] == first
        said = "\n".join(sentences(result.trace.understanding, question, "zh"))
        assert (words or "") in said


@pytest.mark.parametrize(
    "question",
    [
        "报销流程",
        "“报消”流程",
        "ERR-9988 报销",
        "iPhone reimburse",
        "火星上的报销",
        "reimburse IBMX",
        "《发飘说明》",
        "99.8% reimbursement",
    ],
)
async def test_what_is_no_slip_stays(tmp_path: Path, question: str) -> None:
    async with base(tmp_path) as engine:
        assert [one for one in beside(await engine.search(question)) if one[1] == "spelling"] == []


async def test_a_word_of_one_passage_is_not_proposed(tmp_path: Path) -> None:
    async with base(tmp_path) as engine:
        assert beside(await engine.search("custoners")) == []


@pytest.mark.parametrize(
    ("question", "filters", "first"),
    [
        ("2022年度的住宿标准是多少", ["year = 2022"], "travel-2022"),
        ("2023年以来人事部发布的住宿规定", ["year in (2023, 2024)", 'department = "人事部"'], "travel-2024"),
        ("2.0版的住宿标准", ['version = "2.0"'], "travel-2024"),
        ("财务部的报销制度怎么走", ['department = "财务部"'], "expense"),
        ("What do the Human Resources rules say about days?", ['department = "Human Resources"'], "holiday"),
        ("hotel limit in 2024", ["year = 2024"], "travel-2024"),
    ],
)
async def test_filters_are_read(tmp_path: Path, question: str, filters: list[str], first: str) -> None:
    async with base(tmp_path) as engine:
        result = await engine.search(question)
        assert read(result) == filters
        assert ids(result)[0] == first
        assert filters[0] in "\n".join(sentences(result.trace.understanding, question, "en"))
        without = await engine.search(question, read_filters=False)
        assert read(without) == []
        assert len(without.passages) >= len(result.passages)


async def test_the_newest_edition_is_meant_by_newest(tmp_path: Path) -> None:
    async with base(tmp_path) as engine:
        for question in ("最新的差旅住宿标准", "latest 差旅 住宿标准"):
            result = await engine.search(question)
            assert "travel-2022" not in ids(result)
            assert ids(result)[0] == "travel-2024"


@pytest.mark.parametrize(
    "question",
    [
        "怎么联系人事部",
        "2099年度的住宿标准",
        "销售部发布的制度",
        "500 元够吗",
        "version of events",
        "如何导出 PDF",
        "最新鲜的水果",
    ],
)
async def test_nothing_is_invented(tmp_path: Path, question: str) -> None:
    async with base(tmp_path) as engine:
        assert read(await engine.search(question)) == []


async def test_a_filter_that_leaves_nothing_is_taken_back_and_said(tmp_path: Path) -> None:
    async with base(tmp_path, retrieve={"cut_relevance": 0.0}) as engine:
        question = "2022年度的住宿标准"
        result = await engine.search(question, filters='department = "财务部"')
        assert result.trace.understanding.relaxed
        assert ids(result) == ["expense"]
        assert "因此查找了全部文档" in "\n".join(sentences(result.trace.understanding, question, "zh"))


async def test_what_the_caller_filters_by_is_not_read_over(tmp_path: Path) -> None:
    async with base(tmp_path) as engine:
        result = await engine.search("2022年度的住宿标准", filters="year = 2024")
        assert (read(result), ids(result)) == ([], ["travel-2024"])


async def test_filters_tell_nothing_of_documents_that_others_read(tmp_path: Path) -> None:
    async with base(tmp_path) as engine:
        kb = await engine.catalog.kb("default", "default")
        secret = next(version for version in await engine.list() if version.source.endswith("#expense"))
        assert read(await engine.search("财务部的报销制度")) == ['department = "财务部"']
        await engine.catalog.grant(kb.id, secret.document_id, "board")
        assert read(await engine.search("财务部的报销制度")) == []


async def test_the_same_question_and_snapshot_give_the_same_result(tmp_path: Path) -> None:
    questions = ["2023年以来人事部发布的住宿规定", "报消流程", "SLA 的可用性", "latest travel policy", "reimbursemnet"]
    async with base(tmp_path) as engine:
        for question in questions:
            first = await engine.search(question, k=8)
            for _ in range(3):
                again = await engine.search(question, k=8)
                assert again.passages == first.passages
                assert again.trace.terms == first.trace.terms
                assert again.trace.candidates == first.trace.candidates
                assert again.trace.understanding.expansions == first.trace.understanding.expansions
                assert again.trace.understanding.filters == first.trace.understanding.filters
    async with Kaijuan(tmp_path / "home", config=engine.config, embedder=type(engine.embedder)()) as other:
        assert len(await other.list()) == len(RECORDS)


async def test_steps_that_are_off_do_nothing(tmp_path: Path) -> None:
    off = dict.fromkeys(("glossary", "abbreviations", "spelling", "filters"), False)
    async with base(tmp_path, understanding=off) as engine:
        result = await engine.search("2022年度 SLA 报消")
        understanding = result.trace.understanding
        assert {step.state for step in understanding.steps} == {"off"}
        assert (understanding.expansions, understanding.filters) == ((), ())


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("住宿标准是多少", QuestionKind.LOOKUP),
        ("怎么报销", QuestionKind.HOW_TO),
        ("How do I claim expenses?", QuestionKind.HOW_TO),
        ("A 和 B 有什么区别", QuestionKind.COMPARE),
        ("difference between A and B", QuestionKind.COMPARE),
        ("公司一共有哪些假期", QuestionKind.AGGREGATE),
        ("How many offices are there?", QuestionKind.AGGREGATE),
        ("什么是服务级别协议", QuestionKind.DEFINITION),
        ("What is an SLA?", QuestionKind.DEFINITION),
        ("你好！", QuestionKind.CHIT_CHAT),
        ("thank you", QuestionKind.CHIT_CHAT),
        ("今天北京天气怎么样", QuestionKind.OUT_OF_SCOPE),
        ("write me a poem", QuestionKind.OUT_OF_SCOPE),
    ],
)
def test_kinds(question: str, kind: QuestionKind) -> None:
    assert kinds_of(question)[0] is kind
    assert kinds_of(question)[-1] is QuestionKind.LOOKUP
