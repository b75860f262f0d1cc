"""Sentences that a language model writes about passages: their cost, their keeping, and what they are for."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.chat import ChatRequest, tokens_of
from kaijuan.core.documents import ChunkLevel
from kaijuan.errors import ModelRefusedError, ModelTimeoutError, UsageError
from kaijuan.testing.chat import Said, ScriptedChat
from kaijuan.testing.embedders import HashEmbedder

TEXT = "\n\n".join(
    ["# Q7 handbook"]
    + [
        f"## Part {number}\n\nIt takes {number} volts and must not get wet, says rule {number}."
        for number in range(1, 9)
    ]
)
COUNT = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


def sentences(request: ChatRequest) -> str:
    """Say of each passage that it is about Quintessa, a word that no document has."""
    shown = request.messages[-1].text.partition("<passages>")[2]
    parts = re.findall(r"Part (\d+)", shown)
    return json.dumps({"contexts": [f"Quintessa gateway, part {part}" for part in parts]})


def base(
    home: Path, chat: ScriptedChat | None, strategy: str = "structural", contexts: str = "model", index: str = "memory"
) -> Kaijuan:
    sizes = {"child_tokens": 24, "max_tokens": 96, "parent_tokens": 96, "child_overlap": 0.0, "summaries": False}
    config = Config.model_validate(
        {
            "stores": {"index": index},
            "chunk": {**sizes, "strategy": strategy, "contexts": contexts},
            "chat": {"input_price": 2.0, "output_price": 4.0},
        }
    )
    return Kaijuan(home, config=config, embedder=HashEmbedder(), chat=chat)


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "handbook.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def rewrite(document: Path, text: str) -> None:
    document.write_text(text, encoding="utf-8")


async def said(engine: Kaijuan) -> list[str]:
    view = await engine.show("handbook.md")
    return [chunk.context for chunk in view.chunks if chunk.level is ChunkLevel.CHILD]


async def test_the_cost_is_known_before_anybody_is_asked(tmp_path: Path, document: Path) -> None:
    chat = ScriptedChat(sentences)
    async with base(tmp_path / "home", chat) as engine:
        await engine.add(str(document))
        plan = await engine.plan_contexts()
        assert (plan.documents, plan.passages, plan.known, plan.requests) == (1, 8, 0, 2)
        assert plan.cost == pytest.approx((2 * plan.prompt_tokens + 4 * plan.completion_tokens) / 1e6)
        assert chat.asked == [], "adding and planning ask nobody"
        await engine.write_contexts()
        assert len(chat.asked) == plan.requests
        assert sum(tokens_of(request.messages) for request in chat.asked) == plan.prompt_tokens


async def test_passages_are_found_by_what_was_written_and_quoted_as_they_are(tmp_path: Path, document: Path) -> None:
    chat = ScriptedChat(sentences)
    async with base(tmp_path / "home", chat) as engine:
        await engine.add(str(document))
        by_rules = await said(engine)
        assert all("Q7 handbook" in one for one in by_rules)
        done = await engine.write_contexts()
        assert (done.written, done.failed) == (8, 0)
        assert done.report is not None
        assert done.report.snapshot == 2
        assert await said(engine) == [f"Quintessa gateway, part {number}" for number in range(1, 9)]
        passage = (await engine.search("Quintessa part 3")).passages[0]
        assert "3 volts" in passage.text
        assert "Quintessa" not in passage.text
        again = await engine.write_contexts()
        assert (again.written, again.report, len(chat.asked)) == (0, None, 2)
        report = await engine.add(str(document))
        assert (report.unchanged, report.updated) == (1, 0)


async def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path, document: Path) -> None:
    def refuses_later(request: ChatRequest) -> Said:
        first = "Part 1\n" in request.messages[-1].text.partition("<passages>")[2]
        return sentences(request) if first else ModelRefusedError("The key has expired.")

    async with base(tmp_path / "home", ScriptedChat(refuses_later), index="edge") as engine:
        await engine.add(str(document))
        with pytest.raises(ModelRefusedError):
            await engine.write_contexts()
        plan = await engine.plan_contexts()
        assert (plan.known, plan.passages, plan.requests) == (6, 2, 1)
    chat = ScriptedChat(sentences)
    async with base(tmp_path / "home", chat, index="edge") as engine:
        done = await engine.write_contexts()
        assert (done.written, len(chat.asked)) == (2, 1)
        assert all(one.startswith("Quintessa") for one in await said(engine))


async def test_only_new_passages_are_asked_about(tmp_path: Path, document: Path) -> None:
    chat = ScriptedChat(sentences)
    async with base(tmp_path / "home", chat) as engine:
        await engine.add(str(document))
        await engine.write_contexts()
        rewrite(document, TEXT.replace("5 volts", "55 volts") + "\n\n## Part 9\n\nNew.")
        await engine.add(str(document))
        kept = await said(engine)
        assert sum(one.startswith("Quintessa") for one in kept) == 7
        assert (await engine.plan_contexts()).passages == 2


async def test_another_strategy_and_back_pays_nothing(tmp_path: Path, document: Path) -> None:
    chat = ScriptedChat(sentences)
    async with base(tmp_path / "home", chat, index="edge") as engine:
        await engine.add(str(document))
        await engine.write_contexts()
        before = await said(engine)
    async with base(tmp_path / "home", None, "fixed", index="edge") as engine:
        await engine.add(str(document))
        assert await said(engine) != before
    async with base(tmp_path / "home", None, index="edge") as engine:
        await engine.add(str(document))
        assert await said(engine) == before
    assert len(chat.asked) == 2


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (lambda _: "nonsense", "not one sentence for each"),
        (lambda _: '{"contexts": ["one too few"]}', "not one sentence for each"),
        (lambda _: ModelTimeoutError("It took too long."), "too long"),
    ],
    ids=["unreadable", "too-few", "late"],
)
async def test_what_fails_is_counted_and_found_by_rules(
    tmp_path: Path, document: Path, reply: Callable[[ChatRequest], Said], why: str
) -> None:
    async with base(tmp_path / "home", ScriptedChat(reply)) as engine:
        await engine.add(str(document))
        done = await engine.write_contexts()
        assert (done.written, done.failed, done.report) == (0, 8, None)
        assert why in done.why
        assert all("Q7 handbook" in one for one in await said(engine))
        assert (await engine.plan_contexts()).passages == 8, "the next run asks again"


async def test_a_purge_takes_what_was_written_with_it(tmp_path: Path, document: Path) -> None:
    async with base(tmp_path / "home", ScriptedChat(sentences)) as engine:
        await engine.add(str(document))
        await engine.write_contexts()
        kept = tmp_path / "home" / "cache" / "written.db"
        with sqlite3.connect(kept) as file:
            assert file.execute("SELECT count(*) FROM written").fetchone() == (8,)
        await engine.purge("handbook.md")
    assert b"Quintessa" not in kept.read_bytes()


async def test_without_a_model_or_the_setting_it_says_what_to_do(tmp_path: Path, document: Path) -> None:
    async with base(tmp_path / "home", None) as engine:
        await engine.add(str(document))
        with pytest.raises(UsageError, match="No language model"):
            await engine.plan_contexts()
    async with base(tmp_path / "home", ScriptedChat(sentences), contexts="rules") as engine:
        with pytest.raises(UsageError, match="not written by the model"):
            await engine.write_contexts()


async def test_of_a_long_document_the_part_around_is_read(tmp_path: Path) -> None:
    long = tmp_path / "long.md"
    long.write_text(TEXT + "\n\n" + "\n\n".join(f"## Part {n}\n\n{'Words go on. ' * 60}" for n in range(10, 60)))
    chat = ScriptedChat(sentences, context_tokens=2048)
    async with base(tmp_path / "home", chat) as engine:
        await engine.add(str(long))
        await engine.write_contexts()
    assert len(chat.asked) > 10
    for request in chat.asked:
        assert tokens_of(request.messages) + (request.max_tokens or 0) <= 2048
        assert "# Q7 handbook" in request.messages[-1].text or "Q7 handbook" in request.messages[-1].text


async def test_the_model_may_cut_a_document_too(tmp_path: Path) -> None:
    def judged(request: ChatRequest) -> str:
        shown = re.findall(r"^\[(\d+)\] (.*)$", request.messages[-1].text, re.MULTILINE)
        return json.dumps({"begins": [int(number) for number, words in shown if words.startswith("Now")]})

    path = tmp_path / "talk.txt"
    path.write_text(
        "Cats sleep all day long. They hunt mice at night. They purr when content. Now to taxes, which are due in "
        "April. The form asks for income. Late payments cost interest."
    )
    chat = ScriptedChat(judged)
    async with base(tmp_path / "home", chat, "judged", "off") as engine:
        report = await engine.add(str(path))
        assert report.added == 1
        view = await engine.show("talk.txt")
        cut = [chunk.span.of(view.text) for chunk in view.chunks if chunk.level is ChunkLevel.CHILD]
        assert [one.split()[0] for one in cut] == ["Cats", "Now"]
    async with base(tmp_path / "other", None, "judged", "off") as engine:
        with pytest.raises(UsageError, match="needs a language model"):
            await engine.add(str(path))


async def test_a_copy_of_the_home_pays_for_nothing_again(tmp_path: Path, document: Path) -> None:
    async with base(tmp_path / "home", ScriptedChat(sentences), index="edge") as engine:
        await engine.add(str(document))
        await engine.write_contexts()
        await engine.back_up(tmp_path / "copy")
    silent = ScriptedChat(sentences)
    async with base(tmp_path / "again", silent, index="edge") as engine:
        await engine.restore(tmp_path / "copy")
        assert all("Quintessa" in one for one in await said(engine))
        rewrite(document, TEXT.replace("rule 8", "rule 88"))
        await engine.add(str(document))
        assert [("Quintessa" in one) for one in await said(engine)] == [True] * 7 + [False]
        assert (await engine.plan_contexts()).passages == 1
        assert silent.asked == []


async def test_what_no_snapshot_has_is_forgotten_with_it(tmp_path: Path, document: Path) -> None:
    async with base(tmp_path / "home", ScriptedChat(sentences)) as engine:
        await engine.add(str(document))
        await engine.write_contexts()
        removed = await engine.remove_and_prove("handbook.md")
        (told,) = [one for one in removed.proof.remains if one.where.startswith("cache/written.db")]
        assert "purged" in told.until
        await engine.gc()
        assert list(engine.written.owners()), "an earlier snapshot still has the document"
        await engine.purge("handbook.md")
        assert list(engine.written.owners()) == []
