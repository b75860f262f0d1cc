"""Side routes add and never take; a route that fails again and again is left out, named, and tried again later."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.unit.retrieve.understood import RECORDS, base

from kaijuan.core.filters import EVERYTHING, Filter
from kaijuan.core.ids import ChunkId
from kaijuan.errors import ModelError
from kaijuan.index.ports import Hit
from kaijuan.retrieve.fuse import Fused
from kaijuan.retrieve.gather import Plan, Rules, gather
from kaijuan.retrieve.ports import Query
from kaijuan.retrieve.routes.breakers import Breakers
from kaijuan.retrieve.routes.exact import identifiers
from kaijuan.retrieve.routes.feedback import feedback_terms
from kaijuan.retrieve.routes.joining import with_side_routes

QUERY = Query(text="q", normalised="q", terms=("q",), weights={1: 1.0})
A, B, C = (ChunkId(letter * 32) for letter in "abc")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Route:
    def __init__(self, name: str, *, fails: bool = False) -> None:
        self.name = name
        self.fails = fails
        self.asked: list[int] = []

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        self.asked.append(k)
        if self.fails:
            raise ModelError("no model")
        return [Hit(A, 1.0)]


async def test_a_route_that_fails_in_a_row_is_left_out_and_tried_again() -> None:
    clock = Clock()
    rules = Rules(breakers=Breakers(clock=clock), failures=2, pause=10)
    dense, lexical = Route("dense", fails=True), Route("lexical")
    states = []
    for _ in range(4):
        found = await gather([dense, lexical], QUERY, 5, EVERYTHING, seconds=5, rules=rules)
        states.append(found[0].report.state)
    assert states == ["failed: model_failed"] * 2 + ["left out: failed 2 times in a row"] * 2
    assert len(dense.asked) == 2
    clock.now = 11
    dense.fails = False
    assert (await gather([dense, lexical], QUERY, 5, EVERYTHING, seconds=5, rules=rules))[0].report.state == "ok"
    dense.fails = True
    assert (await gather([dense, lexical], QUERY, 5, EVERYTHING, seconds=5, rules=rules))[0].report.state != "ok"
    assert len(dense.asked) == 4


async def test_the_last_route_is_never_left_out() -> None:
    rules = Rules(breakers=Breakers(clock=Clock()), failures=1, pause=10)
    for _ in range(3):
        with pytest.raises(ModelError):
            await gather([Route("dense", fails=True)], QUERY, 5, EVERYTHING, seconds=5, rules=rules)


async def test_each_route_is_asked_for_its_own_number() -> None:
    dense, lexical = Route("dense"), Route("lexical")
    await gather([dense, lexical], QUERY, 5, EVERYTHING, seconds=5, rules=Rules(plans={"lexical": Plan(k=7)}))
    assert (dense.asked, lexical.asked) == ([5], [7])


async def test_a_silent_side_route_does_not_hide_that_all_others_failed() -> None:
    class Silent(Route):
        async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
            return []

    with pytest.raises(ModelError):
        await gather([Route("dense", fails=True), Silent("exact")], QUERY, 5, EVERYTHING, seconds=5)


def test_side_routes_add_their_share() -> None:
    fused = [Fused(id=A, score=0.8, routes={}), Fused(id=B, score=0.6, routes={})]
    joined = with_side_routes(fused, {"exact": [Hit(B, 4.0), Hit(C, 2.0)], "faq": []}, {"exact": 0.5, "faq": 1.0})
    assert [(item.id, round(item.score, 6)) for item in joined] == [(B, 1.0), (A, 0.8), (C, 0.2)]
    assert joined[0].routes["exact"].rank == 1
    assert with_side_routes(fused, {}, {}) == fused


def test_of_equals_what_holds_the_identifier_comes_first() -> None:
    fused = [Fused(id=A, score=1.0, routes={}), Fused(id=B, score=0.0, routes={})]
    joined = with_side_routes(fused, {"exact": [Hit(B, 4.0)], "faq": [Hit(C, 1.0)]}, {"exact": 1.0, "faq": 1.0})
    assert [(item.id, item.score) for item in joined] == [(B, 1.0), (A, 1.0), (C, 1.0)]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("请问 ERR-9988 怎么处理", {"#err9988"}),
        ("What changed in v2.3.1 of the firmware?", {"#2.3.1"}),
        ("GB/T 7714-2015 的要求", {"#gbt7714-2015"}),
        ("M8×1.25 螺栓", {"#m8x1.25"}),
        ("my colleague noticed M3×0.5 on the panel", {"#m3x0.5"}),
        ("does Windows 11 support it", {"#windows11"}),
        ("the colleague noticed XXL-JOB on the panel", {"#xxljob"}),
        ("显示屏上出现了 XXL-JOB，先看什么", {"#xxljob"}),
        ("XXL-JOB", {"#xxljob"}),
        ("what does MAX_RETRIES do", {"#maxretries"}),
        ("WHAT IS THE STATE-OF-MIND REPORT", set()),
        ("an e-mail about a T-shirt over TCP/IP", set()),
        ("3.5kg 的包裹 8:30 到", set()),
        ("2024年有多少人", set()),
        ("since 2023-05-01 in season 8", set()),
        ("怎么报销", set()),
    ],
)
def test_identifiers_of_a_question(text: str, codes: set[str]) -> None:
    assert {key for key in identifiers(text) if key.startswith("#")} == codes


async def test_a_name_without_digits_is_found_to_the_letter_across_languages(tmp_path: Path) -> None:
    names = ("XXL-JOB", "XXL-JOBS", "XXM-JOB")
    records = [{"_id": name, "text": f"调度组件 {name} 的处理说明由现场工程师保存。"} for name in names]
    records.append({"_id": "plan", "text": "The colleague on duty noticed which plan covers dental care."})
    async with base(tmp_path, records) as engine:
        for name in names:
            result = await engine.search(f"the colleague on duty noticed {name} on the panel, which document is it?")
            assert result.passages[0].source.endswith(f"#{name}")
            assert result.passages[0].routes["exact"].rank == 1


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("What does getUserName return?", {"=getusername"}),
        ("useEffect怎么清理副作用", {"useeffect"}),
        ("请问retry_backoff默认是多少", {"#retrybackoff"}),
        ("pd.read_csv 的参数有哪些", {"#pd.readcsv"}),
        ("NullPointerException 是什么原因", {"=nullpointerexception"}),
        ("how do I run `chmod` safely", {"chmod"}),
        ("what does DataFrame() take", {"=dataframe"}),
        ("ERR-9988 in parseURL", {"#err9988", "parseurl"}),
        ("iPhone 和 macOS 的区别", set()),
        ("is McDonald's JavaScript on GitHub or YouTube?", set()),
        ("the board (of directors) met", set()),
        ("a well_ known _fact", set()),
    ],
)
def test_names_in_programs_need_no_digit(text: str, terms: set[str]) -> None:
    assert {key for key in identifiers(text) if key[0] != "<"} == terms


async def test_names_in_programs_are_found_to_the_letter_across_languages(tmp_path: Path) -> None:
    names = ("getUserName", "getUserNames", "getUsername2", "retry_backoff", "retry_backoffs", "useEffect", "useAffect")
    records = [{"_id": name, "text": f"函数 {name} 的处理说明由现场工程师保存。"} for name in names]
    records.append({"_id": "plan", "text": "The colleague on duty noticed which plan covers dental care."})
    async with base(tmp_path, records) as engine:
        for name in names:
            for question in (
                f"the colleague on duty noticed {name} on the panel, why?",
                f"值班同事看到{name}，怎么办？",
            ):
                result = await engine.search(question)
                assert result.passages[0].source.endswith(f"#{name}"), question
                assert "exact" in result.passages[0].routes


async def test_side_routes_that_are_on_bring_and_show_what_they_found(tmp_path: Path) -> None:
    records = [{**one, "keywords": ["贴票", "单据"]} if one["_id"] == "expense" else one for one in RECORDS]
    on = dict.fromkeys(("document", "tags", "faq"), True)
    async with base(tmp_path, records, routes=on) as engine:
        result = await engine.search("费用报销制度里单据怎么算")
        reports = {report.name: (report.state, report.found) for report in result.trace.routes}
        assert reports["document"] == ("ok", 1)
        assert reports["tags"] == ("ok", 1)
        assert reports["faq"] == ("ok", 0)
        assert {report.name for report in (await engine.search("住宿")).trace.routes}.isdisjoint({"tags"})
        tagged = await engine.search("单据的提交")
        assert tagged.passages[0].source.endswith("#expense")


async def test_words_of_tags_and_descriptions_are_searched(tmp_path: Path) -> None:
    records = [
        *RECORDS,
        {"_id": "tagged", "text": "空。", "keywords": ["碳排放"], "description": "Greenhouse accounting"},
    ]
    async with base(tmp_path, records) as engine:
        for question in ("碳排放", "greenhouse accounts"):
            assert (await engine.search(question)).passages[0].source.endswith("#tagged")


class Graph:
    """A route of another room over this base: brings what it is told to, fails, or never comes back."""

    name = "graph"

    def __init__(self, brings: list[Hit], *, fails: bool = False, hangs: bool = False) -> None:
        self.brings, self.fails, self.hangs = brings, fails, hangs

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails:
            raise ModelError("the graph is gone")
        return self.brings


async def test_a_graph_brings_what_words_do_not_find(tmp_path: Path) -> None:
    async with base(tmp_path, routes={"graph_weight": 2.0}) as engine:
        holiday = next(one for one in (await engine.search("paid leave", cut=False)).trace.candidates)
        engine.side_routes = [Graph([Hit(holiday.chunk_id, 1.0)])]
        result = await engine.search("报销流程")
        assert result.passages[0].chunk_id == holiday.chunk_id
        assert "graph" in result.passages[0].routes


async def test_no_route_brings_what_the_reader_may_not_see(tmp_path: Path) -> None:
    async with base(tmp_path, routes={"graph_weight": 2.0}) as engine:
        (holiday, *_) = (await engine.search("paid leave", cut=False)).trace.candidates
        kb = await engine.catalog.kb("default", "default")
        secret = next(version for version in await engine.list() if version.source.endswith("#holiday"))
        await engine.catalog.grant(kb.id, secret.document_id, "board")
        engine.side_routes = [Graph([Hit(holiday.chunk_id, 1.0)])]
        result = await engine.search("报销流程")
        assert holiday.chunk_id not in {one.chunk_id for one in result.trace.candidates}
        assert {report.name: report.found for report in result.trace.routes}["graph"] == 0


@pytest.mark.parametrize(
    ("graph", "state"), [(Graph([], fails=True), "failed: model_failed"), (Graph([], hangs=True), "timeout")]
)
async def test_a_dropped_route_shows_in_the_trace_and_costs_nothing_else(
    tmp_path: Path, graph: Graph, state: str
) -> None:
    async with base(tmp_path, routes={"graph_seconds": 0.05}) as engine:
        without = await engine.search("报销流程")
        engine.side_routes = [graph]
        result = await engine.search("报销流程")
        assert {report.name: report.state for report in result.trace.routes}["graph"] == state
        assert result.passages == without.passages


async def test_feedback_finds_by_the_words_of_the_first_chunks(tmp_path: Path) -> None:
    records = [
        {"_id": "a", "text": "碳排放核算：工厂每年提交温室气体报告。"},
        {"_id": "b", "text": "碳排放配额：温室气体报告核查后发放。"},
        {"_id": "c", "text": "温室气体报告的模板在这里下载。"},
        *RECORDS,
    ]
    for on in (False, True):
        folder = tmp_path / str(on)
        folder.mkdir()
        async with base(folder, records, routes={"feedback": on, "feedback_chunks": 2}) as engine:
            result = await engine.search("碳排放", k=20, cut=False)
            found = {one.source.rpartition("#")[2] for one in result.passages if "lexical" in one.routes}
            assert ("c" in found) is on
            assert ("温室气体" in result.trace.terms or "温室" in result.trace.terms) is on


def test_feedback_takes_what_several_chunks_say() -> None:
    query = Query(text="q", normalised="q", terms=("碳",), weights={1: 2.0})
    terms = feedback_terms(query, ["温室 气体 报告 甲方", "温室 气体 核查"], most=2, share=0.5)
    assert sum(terms.values()) == pytest.approx(1.0)
    assert "甲方" not in terms
    assert feedback_terms(query, [], most=5, share=0.5) == {}
