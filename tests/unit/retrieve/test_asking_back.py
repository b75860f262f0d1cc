"""A question back with choices: only where the documents answer each otherwise, and the choice then answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.retrieve.understood import base

from kaijuan.answer.results import Status
from kaijuan.retrieve.understanding.results import Clarification
from kaijuan.retrieve.understanding.words import sentences

LIMITS: Sequence[Mapping[str, Any]] = (
    {
        "_id": "bj",
        "title": "北京差旅办法",
        "text": "员工出差的住宿标准为每晚上限 600 元，凭发票报销。",
        "region": "北京",
    },
    {
        "_id": "sh",
        "title": "上海差旅办法",
        "text": "员工出差的住宿标准为每晚上限 650 元，凭发票报销。",
        "region": "上海",
    },
    {
        "_id": "en-a",
        "title": "X200",
        "text": "The warranty of the printer lasts 24 months from purchase.",
        "model": "X200",
    },
    {
        "_id": "en-b",
        "title": "X300",
        "text": "The warranty of the printer lasts 36 months from purchase.",
        "model": "X300",
    },
    {"_id": "sla-1", "title": "服务", "text": "服务级别协议（SLA）规定可用性。服务级别协议每年更新。"},
    {"_id": "sla-2", "title": "软件", "text": "软件许可授权（SLA）规定用户数。软件许可授权不可转让。"},
    {"_id": "same-a", "title": "手册甲", "text": "午餐补贴每天 30 元，随工资发放。", "region": "北京"},
    {"_id": "same-b", "title": "手册乙", "text": "午餐补贴每天 30 元，随工资发放。", "region": "上海"},
    {"_id": "tea", "title": "Tea", "text": "Tea is bought monthly."},
    {"_id": "rent", "title": "Rent", "text": "Rent is paid monthly."},
    {"_id": "old", "title": "假期规定", "text": "工龄满十年的员工年假为 10 天。", "year": 2020},
)


async def asked(folder: Path, question: str, **settings: Any) -> Clarification | None:
    async with base(folder, LIMITS, retrieve={"fold_duplicates": False}, **settings) as engine:
        return (await engine.search(question)).trace.understanding.clarification


@pytest.mark.parametrize(
    ("question", "back", "choices"),
    [
        ("员工出差的住宿标准是多少", "您问的是哪个地区？", {"北京", "上海"}),
        ("How long is the warranty of the printer?", "Which model is it about?", {"X200", "X300"}),
        ("SLA 规定什么", "“SLA”指的是哪一个？", {"服务级别协议", "软件许可授权"}),
        ("它规定什么", "“它”指的是哪一项？", {"服务", "软件"}),
        ("When is it monthly?", "What does “it” stand for?", {"Tea", "Rent"}),
    ],
)
async def test_what_is_missing_is_asked_for(tmp_path: Path, question: str, back: str, choices: set[str]) -> None:
    found = await asked(tmp_path, question)
    assert found is not None
    assert found.question == back
    assert choices <= set(found.choices)
    assert found.needed


@pytest.mark.parametrize(
    "question",
    [
        "上海员工出差的住宿标准是多少",
        "Warranty of the X300 printer",
        "服务级别协议每年更新吗",
        "午餐补贴每天多少元",
        "工龄满十年的员工年假多少天",
        "Is it possible to return the printer?",
    ],
)
async def test_what_is_said_is_not_asked_for(tmp_path: Path, question: str) -> None:
    assert await asked(tmp_path, question) is None


async def test_it_can_be_switched_off(tmp_path: Path) -> None:
    assert await asked(tmp_path, "员工出差的住宿标准是多少", understanding={"clarify": False}) is None


async def test_an_answer_asks_back_and_the_choice_is_answered(tmp_path: Path) -> None:
    async with base(tmp_path, LIMITS) as engine:
        back = await engine.converse("员工出差的住宿标准是多少")
        assert back.status is Status.CLARIFY
        assert back.sentences == ()
        assert back.clarification is not None
        assert back.answer.splitlines()[0] == "您问的是哪个地区？"
        for choice in ("上海", str(back.clarification.choices.index("上海") + 1)):
            given = await engine.converse(choice)
            assert given.question == "员工出差的住宿标准是多少（上海）"
            assert given.status is not Status.CLARIFY
            assert "650" in given.answer
            assert "600" not in given.answer
            await engine.converse("员工出差的住宿标准是多少")
        said = "\n".join(sentences((await engine.search("员工出差的住宿标准是多少")).trace.understanding, "？", "zh"))
        assert "您问的是哪个地区？" in said


async def test_choices_of_documents_that_are_withdrawn_are_not_shown_again(tmp_path: Path) -> None:
    async with base(tmp_path, LIMITS) as engine:
        await engine.converse("员工出差的住宿标准是多少")
        kb = await engine.catalog.kb("default", "default")
        secret = next(version for version in await engine.list() if version.source.endswith("#sh"))
        await engine.catalog.grant(kb.id, secret.document_id, "board")
        (turn,) = (await engine.conversation("default")).turns
        assert turn.withheld
        assert "上海" not in str(turn)
        alone = await engine.ask("员工出差的住宿标准是多少")
        assert alone.status is not Status.CLARIFY
