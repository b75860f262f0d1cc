"""Editions: which document replaces which, which holds on a day, and what a search on a day leaves out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from kaijuan.config import Config
from kaijuan.core.documents import Version
from kaijuan.core.filters import Not
from kaijuan.engine import Kaijuan
from kaijuan.errors import UsageError
from kaijuan.retrieve.editions import Chain
from kaijuan.testing.embedders import HashEmbedder

TRAVEL = {
    "差旅费管理办法（2019年）.md": ("2019-01-01", "", "住宿费上限为三百元。"),
    "差旅费管理办法（2022年）.md": ("2022-07-01", "", "住宿费上限为四百元。"),
    "差旅费管理办法（2025年）.md": ("2025-01-01", "", "住宿费上限为五百元。"),
}


def _paper(title: str, body: str, **said: str) -> str:
    lines = [f"title: {title}", *(f"{name}: {value}" for name, value in said.items() if value)]
    return "\n".join(["---", *lines, "---", "", f"# {title}", "", body, ""])


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, (start, end, body) in TRAVEL.items():
        paper = _paper(name[:-3], body, effective_from=start, effective_to=end)
        (docs / name).write_text(paper, encoding="utf-8")
    papers = {
        "leave-old.md": _paper("Annual leave", "Leave is 20 days.", version="1.0"),
        "time-off.md": _paper("Time off", "Leave is 25 days.", effective_from="2024-03-01", supersedes="leave-old"),
        "pilot.md": _paper(
            "Home office pilot", "Two days a week.", effective_from="2021-01-01", effective_to="2021-12-31"
        ),
        "canteen.md": _paper("Canteen", "Lunch is at noon. Leave trays at the counter."),
    }
    for name, text in papers.items():
        (docs / name).write_text(text, encoding="utf-8")
    async with Kaijuan(tmp_path / "home", config=Config(), embedder=HashEmbedder()) as engine:
        await engine.add([str(docs)])
        yield engine


def _names(chains: list[Chain]) -> list[list[str]]:
    return [[one.version.title for one in chain.editions] for chain in chains]


async def test_chains_are_by_title_and_by_what_documents_say_they_supersede(engine: Kaijuan) -> None:
    chains = await engine.editions(at="2026-01-01")
    assert sorted(_names(chains)) == sorted(
        [[name[:-3] for name in TRAVEL], ["Annual leave", "Time off"], ["Home office pilot"]]
    )
    (leave,) = [chain for chain in chains if chain.editions[0].version.title == "Annual leave"]
    old, new = leave.editions
    assert (old.superseded_by, new.supersedes) == ((new.version.document_id,), (old.version.document_id,))
    assert (old.label, new.effective_from) == ("1.0", "2024-03-01")


@pytest.mark.parametrize(
    ("day", "travel", "leave", "pilot"),
    [
        ("2018-12-31", [], ["Annual leave"], []),
        ("2019-01-01", ["差旅费管理办法（2019年）"], ["Annual leave"], []),
        ("2022-06-30", ["差旅费管理办法（2019年）"], ["Annual leave"], []),
        ("2022-07-01", ["差旅费管理办法（2022年）"], ["Annual leave"], []),
        ("2021-12-31", ["差旅费管理办法（2019年）"], ["Annual leave"], ["Home office pilot"]),
        ("2024-03-01", ["差旅费管理办法（2022年）"], ["Time off"], []),
        ("2030-01-01", ["差旅费管理办法（2025年）"], ["Time off"], []),
    ],
)
async def test_what_is_current_depends_on_the_day(
    engine: Kaijuan, day: str, travel: list[str], leave: list[str], pilot: list[str]
) -> None:
    for word, wanted in (("差旅费管理办法（2022年）.md", travel), ("time-off.md", leave), ("pilot.md", pilot)):
        (chain,) = await engine.editions(word, at=day)
        assert [one.version.title for one in chain.current] == wanted


@pytest.mark.parametrize(
    ("question", "day", "said"),
    [
        ("住宿费上限", "2020-05-01", "三百元"),
        ("住宿费上限", "2023-05-01", "四百元"),
        ("住宿费上限", "2025-05-01", "五百元"),
        ("how many days of leave", "2023-01-01", "20 days"),
        ("how many days of leave", "2025-01-01", "25 days"),
    ],
)
async def test_a_search_on_a_day_finds_what_held_then_and_nothing_else(
    engine: Kaijuan, question: str, day: str, said: str
) -> None:
    found = await engine.search(question, k=20, cut=False, at=day)
    texts = "\n".join(passage.text for passage in found.passages)
    assert said in texts
    others = {"三百元", "四百元", "五百元"} if "元" in said else {"20 days", "25 days"}
    assert not any(other in texts for other in others - {said})
    assert "Lunch is at noon" in texts, "what says nothing of the kind holds on any day"


async def test_an_answer_of_one_day_is_not_given_for_another(engine: Kaijuan) -> None:
    for day, said in (("2020-05-01", "三百元"), ("2023-05-01", "四百元"), ("2020-05-01", "三百元")):
        answer = await engine.ask("住宿费上限是多少？", at=date.fromisoformat(day))
        assert said in answer.answer
        if answer.cache == "miss":
            again = await engine.replay_trace((await engine.traces(limit=1))[0].id)
            assert said in again.answer.answer
    assert answer.cache == "hit"


async def test_what_one_may_not_read_replaces_nothing_and_is_not_named(engine: Kaijuan) -> None:
    kb = await engine.catalog.kb("default", "default")
    (newest,) = [one for one in await engine.list() if one.title.endswith("（2025年）")]
    await engine.catalog.grant(kb.id, newest.document_id, "user:boss")
    engine._principals = frozenset({"all", "user:li"})
    (chain,) = await engine.editions("差旅费管理办法（2022年）.md", at="2026-01-01")
    assert len(chain.editions) == 2
    assert [one.version.title for one in chain.current] == ["差旅费管理办法（2022年）"]


async def test_what_did_not_hold_on_a_day_is_worked_out_once(engine: Kaijuan, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []
    whole = engine.catalog.versions

    async def versions(*of: Any, **more: Any) -> list[Version]:
        reads.append(1)
        return await whole(*of, **more)

    monkeypatch.setattr(engine.catalog, "versions", versions)
    first = (await engine._request("leave", 5, (), None, at="2023-01-01")).filters
    once = len(reads)
    assert once > 0
    for question in ("lunch", "住宿费"):
        assert (await engine._request(question, 5, (), None, at="2023-01-01")).filters == first
    assert len(reads) == once
    assert (await engine._request("leave", 5, (), None, at="2026-01-01")).filters != first
    assert len(reads) == 2 * once


async def test_it_is_worked_out_anew_for_others_and_after_changes(engine: Kaijuan, tmp_path: Path) -> None:
    async def held(day: str) -> set[str]:
        passages = (await engine.search("住宿费上限", at=day)).passages
        return {passage.title for passage in passages if passage.title.startswith("差旅费")}

    assert await held("2025-06-01") == {"差旅费管理办法（2025年）"}
    (newest,) = [one for one in await engine.list() if one.title.endswith("（2025年）")]
    kb = await engine.catalog.kb("default", "default")
    await engine.catalog.grant(kb.id, newest.document_id, "user:boss")
    assert await held("2025-06-01") == {"差旅费管理办法（2022年）"}, "the 2025 edition is closed to this caller"
    await engine.catalog.inherit(kb.id, newest.document_id)
    paper = _paper("差旅费管理办法（2025年修订）", "住宿费上限为六百元。", effective_from="2025-05-01")
    (tmp_path / "docs" / "r.md").write_text(paper, encoding="utf-8")
    await engine.add([str(tmp_path / "docs")])
    assert await held("2025-06-01") == {"差旅费管理办法（2025年修订）"}


async def test_a_day_that_is_none_is_refused(engine: Kaijuan) -> None:
    with pytest.raises(UsageError, match="not a day"):
        await engine.search("leave", at="yesterday")
    request = await engine._request("leave", 5, (), None, at="2023-01-01")
    assert any(isinstance(one, Not) for one in request.filters)
