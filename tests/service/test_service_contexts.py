"""Sentences about passages over HTTP: their cost first, never more than was agreed, and by whom."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.serving import Served, config_of, in_process

from kaijuan.core.chat import ChatRequest
from kaijuan.core.identity import Role
from kaijuan.testing.chat import ScriptedChat

TEXTS = {
    "手册.md": "# 手册\n\n" + "\n\n".join(f"## 第{at}部分\n\n电压为{at}伏，须保持干燥。" for at in range(1, 5)),
    "handbook.md": "# Handbook\n\n"
    + "\n\n".join(f"## Part {at}\n\nIt takes {at} volts, kept dry." for at in range(1, 5)),
}


def sentences(request: ChatRequest) -> str:
    shown = request.messages[-1].text.partition("<passages>")[2]
    return json.dumps({"contexts": [f"Quintessa {at}" for at in re.findall(r"^\[(\d+)\] ", shown, re.MULTILINE)]})


@pytest.fixture
def chat() -> ScriptedChat:
    return ScriptedChat(sentences)


@pytest.fixture
async def served(tmp_path: Path, chat: ScriptedChat) -> AsyncIterator[Served]:
    sizes = {"child_tokens": 24, "max_tokens": 96, "parent_tokens": 96, "summaries": False}
    chunk = {**sizes, "strategy": "structural", "contexts": "model"}
    config = config_of(chunk=chunk, chat={"input_price": 2.0, "output_price": 4.0})
    async with in_process(tmp_path / "home", config, chat) as made:
        await made.upload("default", TEXTS)
        await made.user("olga", role=Role.OWNER)
        await made.user("ed")
        await made.user("rita")
        await made.of("default").grant("ed", role=Role.EDITOR)
        await made.of("default").grant("rita")
        yield made


async def test_the_cost_is_told_and_nothing_beyond_it_is_asked(served: Served, chat: ScriptedChat) -> None:
    plan = (await served.get("/kbs/default/contexts", user="ed")).json()
    assert plan["passages"] >= 8
    assert plan["requests"] >= 2
    assert plan["cost"] > 0
    fewer = {"requests": plan["requests"] - 1}
    refused = await served.post("/kbs/default/contexts", fewer, user="olga")
    assert refused.status_code in {400, 422}
    assert chat.asked == []
    done = await served.post("/kbs/default/contexts", {"requests": plan["requests"]}, user="olga")
    assert done.status_code == 200, done.text
    assert (done.json()["written"], done.json()["failed"]) == (plan["passages"], 0)
    assert len(chat.asked) == plan["requests"]
    again = (await served.get("/kbs/default/contexts", user="ed")).json()
    assert (again["passages"], again["requests"], again["cost"]) == (0, 0, 0)


async def test_sentences_are_shown_beside_their_passages(served: Served) -> None:
    one = {"requests": 99, "documents": ["handbook.md"]}
    done = await served.post("/kbs/default/contexts", one, user="olga")
    assert done.json()["updated"] == 1
    for name, written in (("handbook.md", True), ("手册.md", False)):
        (version,) = [
            v for v in await served.of("default").list() if v.title == name.partition(".")[0] or name in v.source
        ]
        chunks = (await served.get(f"/kbs/default/versions/{version.id}/chunks", user="rita")).json()["chunks"]
        assert {("Quintessa" in each["context"]) for each in chunks if each["level"] == "child"} == {written}


async def test_only_who_runs_the_base_spends_its_money(served: Served, chat: ScriptedChat) -> None:
    assert (await served.get("/kbs/default/contexts", user="rita")).status_code == 403
    for user in ("rita", "ed"):
        assert (await served.post("/kbs/default/contexts", {"requests": 99}, user=user)).status_code == 403
    assert chat.asked == []
