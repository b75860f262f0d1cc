"""A language model's other words for a question: asked where it pays, checked, searched beside, never in the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.unit.retrieve.understood import RECORDS, base

from kaijuan import Kaijuan, telemetry
from kaijuan.cli.understood import lines
from kaijuan.core.chat import ChatRequest
from kaijuan.errors import KaijuanError, ModelUnreachableError
from kaijuan.retrieve.results import SearchResult
from kaijuan.retrieve.understanding.anchors import anchors, lost
from kaijuan.retrieve.understanding.asking import PURPOSE, Asker
from kaijuan.retrieve.understanding.forms import PartForm
from kaijuan.retrieve.understanding.kinds import kinds_of
from kaijuan.retrieve.understanding.parts import arranged
from kaijuan.retrieve.understanding.rewording import rewrites
from kaijuan.retrieve.understanding.router import Plan, plan
from kaijuan.retrieve.understanding.settings import UnderstandSettings
from kaijuan.retrieve.understanding.standalone import completed
from kaijuan.retrieve.understanding.words import sentences
from kaijuan.testing.chat import ScriptedChat

ALWAYS: Mapping[str, Any] = {"model": "always", "model_seconds": 20.0}


def step_of(request: ChatRequest) -> str:
    """Return which step a request is of, by the keys that its prompt asks for."""
    text = request.messages[0].text
    if '"questions"' in text:
        return "rewrite"
    if '"passage"' in text:
        return "hyde"
    if "<passages>" in text:
        return "fill"
    if '"parts"' in text:
        return "parts"
    return "step-back"


def saying(**said: Any) -> Callable[[ChatRequest], str | KaijuanError]:
    """Return a script: what is said to each step; nothing useful to the others."""

    def say(request: ChatRequest) -> str | KaijuanError:
        given = said.get(
            step_of(request).replace("-", "_"), {"question": "", "passage": "", "questions": [], "parts": []}
        )
        if isinstance(given, KaijuanError):
            return given
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)

    return say


def with_model(engine: Kaijuan, script: Callable[[ChatRequest], str | KaijuanError]) -> ScriptedChat:
    chat = ScriptedChat(script)
    engine.chat = chat
    return chat


def ids(result: SearchResult) -> list[str]:
    return [passage.source.rpartition("#")[2] for passage in result.passages]


def states(result: SearchResult) -> dict[str, str]:
    return {step.name: step.state for step in result.trace.understanding.steps}


async def test_other_words_find_what_the_questions_own_do_not(tmp_path: Path) -> None:
    async with base(tmp_path, understanding=ALWAYS) as engine:
        question = "钱什么时候退给我们员工"
        with_model(engine, saying(rewrite={"questions": ["报销款何时返还员工", "员工报销流程多久付款"]}))
        before = await engine.search(question, use_model=False, cut=False)
        after = await engine.search(question, cut=False)
        kinds = [(one.kind, one.text) for one in after.trace.understanding.variants]
        assert kinds == [("rewrite", "报销款何时返还员工"), ("rewrite", "员工报销流程多久付款")]
        assert {route.name for route in after.trace.routes} - {route.name for route in before.trace.routes} == {
            "rewrite_1",
            "rewrite_2",
        }
        assert ids(after)[0] == "expense"
        assert {one.chunk_id for one in before.trace.candidates} <= {one.chunk_id for one in after.trace.candidates}
        assert after.trace.understanding.usage.calls > 0


async def test_what_changes_anything_exact_is_not_searched_but_counted(tmp_path: Path) -> None:
    async with base(tmp_path, understanding=ALWAYS) as engine:
        question = "2024 年不含发票的住宿上限 600 元吗"
        bad = [
            "2023 年不含发票的住宿上限 600 元吗",
            "2024 年含发票的住宿上限 600 元吗",
            "2024 年不含发票的住宿上限",
            "Is the hotel limit of 2024 600 without invoice",
            question,
        ]
        good = "2024 年没有发票时住宿标准是不是 600 元（不含发票）"
        with_model(engine, saying(rewrite={"questions": [*bad, good]}))
        result = await engine.search(question)
        (report,) = [one for one in result.trace.understanding.steps if one.name == "rewrite"]
        assert (report.said, report.dropped) == ((good,), len(bad))


async def test_a_passage_that_might_answer_makes_nothing_up(tmp_path: Path) -> None:
    async with base(tmp_path, understanding=ALWAYS) as engine:
        question = "差旅住宿标准是多少"
        said = "公司规定了差旅住宿标准。一线城市每晚 850 元。超出部分由员工承担。"
        with_model(engine, saying(hyde={"passage": said}))
        (variant,) = (await engine.search(question)).trace.understanding.variants
        assert variant.text == f"{question}\n公司规定了差旅住宿标准。 超出部分由员工承担。"


async def test_a_more_general_question_keeps_what_is_exact(tmp_path: Path) -> None:
    async with base(tmp_path, understanding=ALWAYS) as engine:
        with_model(engine, saying(step_back={"question": "差旅住宿有哪些规定"}))
        (variant,) = (await engine.search("2024年3月5日住宿 650 元能报销吗")).trace.understanding.variants
        assert variant.kind == "step-back"
        assert variant.text.startswith("差旅住宿有哪些规定")
        assert lost(anchors("2024年3月5日住宿 650 元能报销吗"), variant.text) == ()


async def test_a_comparison_is_taken_apart_and_each_part_is_found(tmp_path: Path) -> None:
    said = {"parts": [{"question": "SLA 规定的可用性", "after": []}, "KPI 多久一次"]}
    async with base(tmp_path) as engine:
        with_model(engine, saying(parts=said))
        result = await engine.search("SLA 和 KPI 有什么区别", k=4)
        assert [one.text for one in result.trace.understanding.variants] == ["SLA 规定的可用性", "KPI 多久一次"]
        assert set(ids(result)[:2]) == {"sla", "kpi"}
        assert result.trace.understanding.routing == "asked: several things are asked"


async def test_a_part_gets_the_answer_of_the_one_before(tmp_path: Path) -> None:
    parts = {
        "parts": [
            {"question": "哪个部门的制度规定了报销流程", "after": []},
            {"question": "#1 的住宿标准", "after": [1]},
        ]
    }
    async with base(tmp_path) as engine:
        chat = with_model(engine, saying(parts=parts, fill={"question": "财务部的住宿标准"}))
        result = await engine.search("规定了报销流程的部门，以及它的住宿标准")
        assert [(one.text, one.after) for one in result.trace.understanding.variants] == [
            ("哪个部门的制度规定了报销流程", ()),
            ("财务部的住宿标准", (1,)),
        ]
        (shown,) = [request.messages[0].text for request in chat.asked if step_of(request) == "fill"]
        assert "报销流程：填单" in shown


async def test_no_part_is_answered_from_what_the_reader_may_not_see(tmp_path: Path) -> None:
    parts = {"parts": [{"question": "报销流程是什么", "after": []}, {"question": "#1 的住宿标准", "after": [1]}]}
    async with base(tmp_path) as engine:
        kb = await engine.catalog.kb("default", "default")
        for version in await engine.list():
            if version.source.endswith(("#expense", "#invoice")):
                await engine.catalog.grant(kb.id, version.document_id, "board")
        chat = with_model(engine, saying(parts=parts, fill={"question": ""}))
        await engine.search("报销流程以及它的住宿标准")
        assert not any("填单" in message.text for request in chat.asked for message in request.messages)


@pytest.mark.parametrize(
    "said",
    [
        {"parts": [{"question": "SLA 规定的可用性"}]},
        {"parts": [{"question": "SLA 的 99.5% 可用性"}, {"question": "KPI 的周期"}]},
        {"parts": [{"question": "可用性"}, {"question": "周期"}]},
    ],
    ids=["one part", "a number made up", "names lost"],
)
async def test_parts_that_say_something_else_are_not_searched(tmp_path: Path, said: object) -> None:
    async with base(tmp_path) as engine:
        with_model(engine, saying(parts=said))
        result = await engine.search("SLA 和 KPI 有什么区别")
        assert result.trace.understanding.variants == ()


@pytest.mark.parametrize(
    ("said", "state", "counter"),
    [
        ("I would rather not.", "failed: model_reply_unusable", "chat.form_unreadable"),
        (ModelUnreachableError("nobody there"), "failed: model_unreachable", "understand.dropped.rewrite"),
    ],
    ids=["unreadable", "unreachable"],
)
async def test_a_model_that_fails_changes_nothing_and_is_counted(
    tmp_path: Path, said: str | KaijuanError, state: str, counter: str
) -> None:
    async with base(tmp_path, understanding=ALWAYS) as engine:
        with_model(engine, lambda _: said)
        counted = telemetry.counters().get(counter, 0)
        result = await engine.search("报销流程是什么")
        without = await engine.search("报销流程是什么", use_model=False)
        assert result.passages == without.passages
        assert states(result)["rewrite"] == state
        assert telemetry.counters()[counter] > counted


async def test_a_malformed_reply_is_repaired_once(tmp_path: Path) -> None:
    replies = {"first": True}

    def script(request: ChatRequest) -> str:
        if step_of(request) != "rewrite":
            return "{}"
        if replies.pop("first", False):
            return '{"questions": "报销步骤有哪些"}'
        return '好的：```json\n{"questions": ["报销步骤有哪些"]}\n```'

    async with base(tmp_path, understanding={**ALWAYS, "hyde": False, "step_back": False}) as engine:
        chat = with_model(engine, script)
        result = await engine.search("报销流程是什么")
        assert [one.text for one in result.trace.understanding.variants] == ["报销步骤有哪些"]
        assert len(chat.asked) == 2
        assert "questions" in chat.asked[1].messages[-1].text


async def test_a_slow_model_is_given_up(tmp_path: Path) -> None:
    async with base(tmp_path, understanding={**ALWAYS, "model_seconds": 0.05}) as engine:
        engine.chat = ScriptedChat(["{}"], pause=3600)
        result = await engine.search("报销流程是什么")
        assert states(result)["rewrite"] == "timeout"
        assert ids(result)[0] == "expense"


async def test_the_same_question_is_paid_for_once(tmp_path: Path) -> None:
    async with base(tmp_path, understanding=ALWAYS) as engine:
        chat = with_model(engine, saying(rewrite={"questions": ["报销步骤有哪些"]}))
        first = await engine.search("报销流程是什么")
        asked = len(chat.asked)
        again = await engine.search("报销流程是什么")
        assert len(chat.asked) == asked
        assert (again.passages, again.trace.candidates) == (first.passages, first.trace.candidates)
        assert again.trace.understanding.usage.calls == 0


async def test_why_not_speaks_of_other_words_too(tmp_path: Path) -> None:
    async with base(tmp_path, understanding=ALWAYS) as engine:
        with_model(engine, saying(rewrite={"questions": ["报销步骤有哪些"]}))
        explained = await engine.explain("报销流程是什么", contains="报销流程")
        assert "rewrite_1" in {stage.stage for stage in explained.targets[0].stages}


async def test_what_readers_are_told(tmp_path: Path) -> None:
    async with base(tmp_path, understanding=ALWAYS) as engine:
        with_model(engine, saying(rewrite={"questions": ["报销步骤有哪些"]}))
        understanding = (await engine.search("报销流程是什么")).trace.understanding
        assert understanding.routing == "asked: always"
        assert list(sentences(understanding, "报销流程是什么", "zh")) == ["同时按这些说法查找：“报销步骤有哪些”。"]
        engine.chat = None
        assert (await engine.search("报销流程是什么")).trace.understanding.routing == ""
        assert len(RECORDS) == len(await engine.list())


@pytest.mark.parametrize(
    ("question", "best", "asks"),
    [
        ("报销流程是什么", 0.9, set()),
        ("报销流程是什么", None, set()),
        ("报销要多久", 0.1, {"rewrites", "hyde"}),
        ("2024 年的报销要多久", 0.1, {"rewrites", "hyde", "step_back"}),
        ("如何报销", 0.1, {"rewrites", "hyde", "step_back"}),
        ("A 型和 B 型有什么区别", 0.9, {"parts"}),
        ("When was it published and who wrote it?", 0.9, {"parts"}),
        ("制度的制定部门的负责人的电话", 0.9, {"parts"}),
        ("ERR-9988", 0.1, set()),
        ("你好", 0.1, set()),
        ("write me a poem", 0.0, set()),
    ],
)
def test_the_router(question: str, best: float | None, asks: set[str]) -> None:
    found = plan(question, kinds_of(question), anchors(question), best, UnderstandSettings())
    assert {name for name in ("rewrites", "hyde", "step_back", "parts") if getattr(found, name)} == asks
    assert found.asks is bool(asks)
    assert isinstance(found, Plan)
    assert found.why


def test_dependencies_are_bounded() -> None:
    chain = [PartForm(question="a"), PartForm(question="b of #1"), PartForm(question="c of #2")]
    assert [part.question for part in arranged(chain, most=4, depth=3)] == ["a", "b of #1", "c of #2"]
    assert [part.question for part in arranged(chain, most=4, depth=2)] == ["a", "b of #1"]
    assert [part.question for part in arranged(chain, most=1, depth=3)] == ["a"]
    loop = [
        PartForm(question="a of #2"),
        PartForm(question="b of #1"),
        PartForm(question="c"),
        PartForm(question="d of #3"),
    ]
    assert [(part.question, part.after) for part in arranged(loop, most=4, depth=2)] == [("c", ()), ("d of #1", (1,))]


async def test_rewrites_are_never_more_than_wanted() -> None:
    chat = ScriptedChat(
        [json.dumps({"questions": [f"报销流程的说法{word}" for word in "甲乙丙丁戊"]}, ensure_ascii=False)]
    )
    found, dropped = await rewrites(Asker(chat=chat, seconds=5), "报销流程", 3)
    assert (len(found), dropped) == (3, 0)


@pytest.mark.parametrize(
    ("question", "before", "said", "kept"),
    [
        ("那需要多久？", ["上海的落户条件是什么？"], "上海落户需要多久？", True),
        ("What does it cost?", ["Where can I park in 2024?"], "What does parking cost in 2024?", True),
        ("What does it cost?", ["Where can I park?"], "What does parking cost in 2024?", False),
        ("不支持的有哪些？", ["哪些商品支持退货？"], "支持退货的商品有哪些？", False),
        ("Will it spread?", ["What is a biopsy?"], "What are the kinds of biopsies?", False),
        ("多久？", ["上海的落户条件是什么？"], "How long does it take in Shanghai?", False),
    ],
)
async def test_a_follow_up_is_completed_from_what_was_said(
    question: str, before: list[str], said: str, kept: bool
) -> None:
    chat = ScriptedChat([json.dumps({"question": said}, ensure_ascii=False)])
    found, dropped = await completed(Asker(chat=chat, seconds=5), question, before)
    assert (found, dropped) == (([said], 0) if kept else ([], 1))


async def test_what_a_model_was_asked_about_a_question_is_in_the_trace_of_its_answer(tmp_path: Path) -> None:
    async with base(tmp_path, understanding=ALWAYS) as engine:
        rewrite = {"questions": ["报销步骤有哪些", "2031 年的报销步骤"]}

        def say(request: ChatRequest) -> str | KaijuanError:
            return "NOT_FOUND" if request.purpose != PURPOSE else saying(rewrite=rewrite)(request)

        with_model(engine, say)
        given = await engine.ask("报销流程是什么")
        trace = await engine.trace(given.trace_id)
        calls = trace.body["calls"]
        assert isinstance(calls, list)
        asked = [call for call in calls if call["purpose"] == PURPOSE]
        assert any("报销步骤有哪些" in call["text"] for call in asked)
        assert given.usage.calls == len(calls)
        shown = list(lines(trace.body["understanding"]))  # type: ignore[arg-type] # a mapping, as it is stored
        assert "other words: asked: always" in shown
        assert "  rewrite: 报销步骤有哪些" in shown
        assert "step rewrite: ok, 1 unusable" in shown
        assert (await engine.replay_trace(given.trace_id)).same


async def test_an_extractive_answer_asks_no_model_at_all(tmp_path: Path) -> None:
    async with base(tmp_path, understanding=ALWAYS) as engine:
        chat = with_model(engine, saying(rewrite={"questions": ["报销步骤有哪些"]}))
        await engine.ask("报销流程是什么", extractive=True)
        assert chat.asked == []
