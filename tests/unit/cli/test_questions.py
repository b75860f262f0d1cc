"""search, ask and explain: what reaches the engine, the JSON shapes, and what people see."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kaijuan.answer.results import Answer, Status
from kaijuan.core.filters import And, Eq
from kaijuan.core.spans import Span
from kaijuan.retrieve.results import RouteReport, RouteScore

Run = Callable[..., Any]


def test_search_prints_the_agreed_shape(kaijuan: Run) -> None:
    got = kaijuan("search", "q", "--json")
    assert got.code == 0
    assert got.err == ""
    assert list(got.document) == ["query", "snapshot", "passages", "understanding", "timings_ms"]
    assert got.document["understanding"]["filters"] == []
    (passage,) = got.document["passages"]
    text = "第一句。住宿费每晚上限为 600 元[red]不是标记[/red]。Third sentence :smile:."
    assert passage == {
        "rank": 1,
        "score": 0.032514,
        "document_id": "d" * 32,
        "version_id": "e" * 32,
        "chunk_id": "c" * 32,
        "source": "file:///data/%E6%89%8B%E5%86%8C.pdf",
        "path": "/data/手册.pdf",
        "title": "手册",
        "title_path": ["手册", "三、住宿标准"],
        "text": text,
        "span": [100, 100 + len(text)],
        "pages": [2],
        "boxes": [{"page": 2, "x0": 72.0, "y0": 100.12, "x1": 300.99, "y1": 118.0}],
        "routes": {"dense": {"rank": 2, "score": 0.871235}, "lexical": {"rank": 1, "score": 7.5}},
        "also": [],
        "evidence": None,
        "band": "",
        "validity": "",
    }
    assert got.document["timings_ms"] == {"total": 12.346}
    assert "住宿费" in got.out, "Chinese is written as itself, not as escapes"


def test_ask_prints_the_agreed_shape(kaijuan: Run) -> None:
    got = kaijuan("--json", "ask", "q")
    assert got.code == 0
    assert list(got.document) == [
        "question", "status", "answer", "sentences", "citations", "notes", "remarks", "missing_parts", "structured",
        "clarification",
        "rounds", "confidence", "cache", "snapshot", "model", "fallback", "usage", "trace_id", "timings_ms",
    ]  # fmt: skip
    assert got.document["status"] == "answered"
    assert got.document["sentences"] == [
        {"text": "住宿费每晚上限为 600 元", "citations": ["1"], "support": None, "faults": []}
    ]
    (citation,) = got.document["citations"]
    assert list(citation) == [
        "id", "ref", "document_id", "version_id", "chunk_id", "block_id", "source", "path", "title", "title_path",
        "pages", "boxes", "span", "quote", "content_hash",
    ]  # fmt: skip
    assert (citation["path"], citation["title"]) == ("/data/手册.pdf", "手册")
    assert citation["span"] == [104, 118]
    assert len(citation["quote"]) == citation["span"][1] - citation["span"][0]


def test_explain_prints_every_stage(kaijuan: Run) -> None:
    got = kaijuan("explain", "q", "--contains", "600", "--json")
    (target,) = got.document["targets"]
    assert [(stage["stage"], stage["passed"]) for stage in target["stages"]] == [("filter", True), ("cut", False)]
    assert target["verdict"] == "not used: cut: relevance 0.1"
    assert target["span"][0] == 100
    assert [route["state"] for route in got.document["routes"]] == ["ok", "timeout"]


def test_options_reach_the_engine(kaijuan: Run, base: Any, tmp_path: Path) -> None:
    words = ["--home", str(tmp_path), "--kb", "hr", "search", "住宿", "-k", "7", "--filter", "kind = pdf"]
    assert kaijuan(*words, "--filter", "pages = 2 and title = a", "--as-of", "4").code == 0
    assert base.opened == (tmp_path, "hr", None)
    filters = (Eq("kind", "pdf"), And((Eq("pages", 2), Eq("title", "a"))))
    given = {"k": 7, "filters": filters, "as_of": 4, "at": None, "preset": None, "read_filters": True}
    assert base.calls == [("search", ("住宿",), given)]
    assert kaijuan(*words, "--no-filters", "--preset", "fast").code == 0
    assert base.calls[-1][2] | {"preset": "fast", "read_filters": False} == base.calls[-1][2]


def test_home_and_kb_come_from_the_environment_and_have_defaults(
    kaijuan: Run, base: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kaijuan("ask", "q")
    assert base.opened == (Path("~/.kaijuan").expanduser(), "default", None)
    monkeypatch.setenv("KAIJUAN_HOME", str(tmp_path))
    monkeypatch.setenv("KAIJUAN_KB", "ops")
    kaijuan("ask", "q")
    assert base.opened == (tmp_path, "ops", None)


def test_people_see_passages_with_place_and_hit_and_no_markup_is_read(kaijuan: Run) -> None:
    got = kaijuan("search", "q")
    assert got.code == 0
    assert "手册 › 三、住宿标准  p.2" in got.out
    assert "/data/手册.pdf" in got.out
    assert "600 元[red]不是标记[/red]。Third sentence :smile:." in got.out
    assert "2nd by meaning, 1st by words" in got.out
    assert "The lexical route gave nothing: timeout." in got.out


def test_people_see_what_the_reranker_says_and_when_it_says_nothing(kaijuan: Run, base: Any) -> None:
    found = base.replies["search"]
    passages = tuple(replace(passage, evidence=0.714, band="evidence") for passage in found.passages)
    late = RouteReport(name="http", state="timeout", found=0, milliseconds=3000.0)
    base.replies["search"] = replace(found, passages=passages, trace=replace(found.trace, reranker=late))
    got = kaijuan("search", "q")
    assert "evidence: strong (71%), 2nd by meaning, 1st by words" in got.out
    assert "The reranker http gave nothing: timeout. The order is that of the routes." in " ".join(got.out.split())


def test_who_asks_in_chinese_reads_how_good_a_passage_is_in_chinese(kaijuan: Run, base: Any) -> None:
    found = base.replies["search"]
    weak = replace(found.passages[0], evidence=0.02, band="weak", routes={"dense_zh": RouteScore(1, 0.7)})
    base.replies["search"] = replace(found, query="酒店上限是多少？", passages=(weak,))
    got = kaijuan("search", "酒店上限是多少？")
    assert "证据：弱（2%），按意思第 1" in got.out


def test_people_see_where_the_same_words_stand_too(kaijuan: Run, base: Any) -> None:
    result = base.replies["search"]
    also = tuple(f"file:///data/%E6%89%8B%E5%86%8C-{number}.pdf" for number in range(5))
    base.replies["search"] = replace(result, passages=(replace(result.passages[0], also=also),))
    shown = kaijuan("search", "q").out
    assert [f"also in /data/手册-{number}.pdf" in shown for number in range(5)] == [True, True, True, False, False]
    assert "and in 2 more" in shown


def test_the_hit_is_marked_on_a_terminal(kaijuan: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;33m住宿费\x1b[0m每晚上限为 \x1b[1;33m600\x1b[0m 元" in kaijuan("search", "q").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;33m" not in kaijuan("search", "q").out


def test_people_see_numbered_sentences_and_quotes(kaijuan: Run) -> None:
    got = kaijuan("ask", "q")
    assert "住宿费每晚上限为 600 元 [1]\n" in got.out
    assert "[1] 手册 › 三、住宿标准  p.2-3" in got.out
    assert "“住宿费每晚上限为 600 元”" in got.out
    assert "Note: an older version says 450" in got.out


def test_a_refusal_is_an_answer_and_good(kaijuan: Run, base: Any) -> None:
    base.replies["ask"] = Answer(question="q", status=Status.REFUSED, answer="资料里没有说。", snapshot=3, trace_id="t")
    got = kaijuan("ask", "q")
    assert got.code == 0
    assert "资料里没有说。" in got.out
    assert "Sources" not in got.out


def test_people_see_why_a_passage_was_dropped(kaijuan: Run) -> None:
    got = kaijuan("explain", "q", "--chunk", "c" * 32)
    assert "✓  filter" in got.out
    assert "✗  cut" in got.out
    assert "not used: cut: relevance 0.1" in got.out


@pytest.mark.parametrize("words", [[], ["--contains", "a", "--chunk", "b"]])
def test_explain_needs_exactly_one_target(kaijuan: Run, base: Any, words: list[str]) -> None:
    got = kaijuan("explain", "q", *words)
    assert got.code == 2
    assert base.calls == []


def test_a_narrow_screen_loses_no_text(kaijuan: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    shown = "".join(kaijuan("search", "q").out.split())
    assert "住宿费每晚上限为600元[red]不是标记[/red]。" in shown


def test_the_labels_are_in_the_language_of_the_question(kaijuan: Run, base: Any) -> None:
    english = kaijuan("ask", "q").out
    assert "Answered from snapshot 3, in the documents' own words, in 0.0 s." in english
    assert "Sources" in english
    base.replies["ask"] = replace(base.replies["ask"], question="住宿费上限是多少？")
    chinese = kaijuan("ask", "q").out
    assert "来源" in chinese
    assert "第2-3页" in chinese
    assert "说明：an older version" in chinese
    assert "已回答，快照 3，文档原句，用时 0.0 秒。" in chinese
    assert not {"Sources", "Note", "Answered"} & set(re.findall(r"\w+", chinese))


def _found(base: Any, found: int, snapshot: int = 3, passages: tuple[Any, ...] = ()) -> None:
    result = base.replies["search"]
    routes = tuple(replace(route, state="ok", found=found) for route in result.trace.routes)
    trace = replace(result.trace, routes=routes)
    base.replies["search"] = replace(result, snapshot=snapshot, passages=passages, trace=trace)


def test_a_filter_that_leaves_nothing_is_told_from_nothing_near(kaijuan: Run, base: Any) -> None:
    _found(base, 0)
    assert "The filter leaves no document to search." in kaijuan("search", "q", "--filter", "kind = pdf").out
    assert "The filter" not in kaijuan("search", "q").out
    refusal = Answer(question="q", status=Status.REFUSED, answer="No.", snapshot=3, trace_id="t")
    base.replies["ask"] = refusal
    assert "The filter leaves no document to search." in kaijuan("ask", "q", "--filter", "kind = pdf").out
    _found(base, 5)
    assert "Nothing found among the documents that the filter leaves" in kaijuan("search", "q", "--filter", "a = 1").out


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_time_before_the_first_snapshot_is_said_to_be_one(kaijuan: Run, base: Any, command: str) -> None:
    _found(base, 0, snapshot=0)
    base.replies["ask"] = Answer(question="q", status=Status.REFUSED, answer="No.", snapshot=0, trace_id="t")
    shown = kaijuan(command, "q", "--as-of", "2001-01-01").out
    assert re.search(r"Nothing was published by then: the first snapshot is 1, of 2025-02-\d\d", shown)
    assert kaijuan(command, "q", "--as-of", "2001-01-01", "--json").document["snapshot"] == 0


def _long(base: Any) -> list[str]:
    lines = [f"Line {number} about nothing much." for number in range(60)]
    lines[40] = "The torque of the bolt is 18 Nm."
    text = "\n".join(lines)
    one = replace(base.replies["search"].passages[0], text=text, span=Span(0, len(text)), hits=(Span(0, len(text)),))
    trace = replace(base.replies["search"].trace, terms=("torqu", "bolt"))
    base.replies["search"] = replace(base.replies["search"], passages=(one,), trace=trace)
    return lines


def test_a_long_passage_is_shown_around_the_words_asked_for(kaijuan: Run, base: Any) -> None:
    lines = _long(base)
    shown = [line.strip() for line in kaijuan("search", "q").out.splitlines()]
    assert sum(line in lines for line in shown) == 8
    assert "The torque of the bolt is 18 Nm." in shown
    assert shown.count("…") == 2
    whole = [line.strip() for line in kaijuan("search", "q", "--full").out.splitlines()]
    assert [line for line in whole if line in lines] == lines


def test_only_the_best_match_is_explained_step_by_step(kaijuan: Run, base: Any) -> None:
    one = base.replies["explain"]
    base.replies["explain"] = replace(one, targets=one.targets * 3)
    shown = kaijuan("explain", "q", "--contains", "600").out
    assert (shown.count("✗  cut"), shown.count("not used: cut: relevance 0.1")) == (1, 3)
    assert kaijuan("explain", "q", "--contains", "600", "--full").out.count("✗  cut") == 3
