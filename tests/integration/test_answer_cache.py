"""Answers given again: to whom, for how long, and when never."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.answer.remembering import AnswerCacheSettings, Kept, Remembered, Scope, key_of
from kaijuan.answer.results import Answer
from kaijuan.config import Config, StoreSettings
from kaijuan.core import shipped
from kaijuan.index.ports import Vector
from kaijuan.stores.answers.sqlite import SqliteAnswers
from kaijuan.testing.embedders import HashEmbedder
from kaijuan.verbs import recalling
from kaijuan.verbs.wiring import viewed

QUESTION = "差旅补助每天多少元？"


def _config(**cache: object) -> Config:
    kept = AnswerCacheSettings.model_validate(cache)
    return Config(stores=StoreSettings(index="memory"), answer_cache=kept)


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "travel.md").write_text("# 差旅\n\n差旅补助每天 100 元。\n", encoding="utf-8")
    (papers / "secret.md").write_text("# 机密\n\n机密项目的差旅补助每天 999 元。\n", encoding="utf-8")
    # The cosines of the test's embedder are lower than those of a real model.
    async with Kaijuan(tmp_path / "home", config=_config(similar=0.9), embedder=HashEmbedder()) as engine:
        await engine.add([str(papers)])
        yield engine


async def _ask(engine: Kaijuan, question: str = QUESTION, **options: object) -> Answer:
    return await engine.ask(question, **options)  # type: ignore[arg-type] # options of the tests


async def test_the_same_question_is_answered_again_from_what_was_kept(base: Kaijuan) -> None:
    first, second = await _ask(base), await _ask(base)
    assert (first.cache, second.cache) == ("miss", "hit")
    assert second.answer == first.answer
    assert second.citations == first.citations
    assert second.trace_id == first.trace_id


async def test_a_politer_question_with_the_same_words_is_the_same(base: Kaijuan) -> None:
    await _ask(base)
    polite = await _ask(base, "请问差旅补助每天多少元？")
    assert polite.cache == "similar"
    assert polite.question == "请问差旅补助每天多少元？"


@pytest.mark.parametrize("other", ["差旅补助每月多少元？", "差旅补助每天不是多少元？", "每天差旅补助多少人？"])
async def test_other_words_numbers_or_denials_are_another_question(base: Kaijuan, other: str) -> None:
    await _ask(base)
    assert (await _ask(base, other)).cache == "miss"


async def test_other_options_are_another_request(base: Kaijuan) -> None:
    await _ask(base)
    assert (await _ask(base, k=3)).cache == "miss"
    assert (await _ask(base, filters=['kind = "markdown"'])).cache == "miss"
    assert (await _ask(base, read_filters=False)).cache == "miss"


async def test_users_with_different_rights_never_share(base: Kaijuan) -> None:
    """Whoever may read the secret document is answered from it; nobody else ever gets that answer."""
    await base.grant("group:staff")
    await base.grant("group:board", on="secret.md")
    board = viewed(base, principals={"group:board", "group:staff"})
    staff = viewed(base, principals={"group:staff"})
    question = "机密项目的差旅补助每天多少元？"
    told = await _ask(board, question)
    assert "999" in told.answer
    assert (await _ask(board, question)).cache == "hit"
    other = await _ask(staff, question)
    assert other.cache == "miss"
    assert "999" not in f"{other}"
    assert "999" not in f"{await _ask(staff, question)}"


async def test_a_revocation_makes_what_is_kept_unusable_at_once(base: Kaijuan) -> None:
    kb = await base.catalog.kb("default", "default")
    [secret] = await base.catalog.find(kb.id, kb.head, "secret.md")
    await base.catalog.grant(kb.id, secret.document_id, "all")
    question = "机密项目的差旅补助每天多少元？"
    assert "999" in (await _ask(base, question)).answer
    await base.catalog.revoke(kb.id, secret.document_id, "all")
    again = await _ask(base, question)
    assert again.cache == "miss"
    assert "999" not in f"{again}"


async def test_a_new_snapshot_is_answered_anew_and_the_old_words_leave_the_file(base: Kaijuan, tmp_path: Path) -> None:
    before = await _ask(base)
    assert "100" in before.answer
    (tmp_path / "papers" / "travel.md").write_text("# 差旅\n\n差旅补助每天 120 元。\n", encoding="utf-8")
    await base.add([str(tmp_path / "papers")])
    after = await _ask(base)
    assert after.cache == "miss"
    assert "120" in after.answer
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home" / "cache").glob("answers.db"))
    assert "每天 100 元".encode() not in kept


async def test_an_earlier_snapshot_is_another_request(base: Kaijuan, tmp_path: Path) -> None:
    await _ask(base)
    (tmp_path / "papers" / "more.md").write_text("# 更多\n\n其他内容。\n", encoding="utf-8")
    await base.add([str(tmp_path / "papers")])
    assert (await _ask(base)).cache == "miss"
    assert (await _ask(base, as_of=1)).cache == "miss"
    assert (await _ask(base, as_of=1)).cache == "hit"


async def test_the_glossary_is_part_of_the_request(base: Kaijuan) -> None:
    await _ask(base)
    await base.add_term("差旅", ["出差"])
    assert (await _ask(base)).cache == "miss"


async def test_requests_under_way_are_merged(base: Kaijuan) -> None:
    given = await asyncio.gather(*(_ask(base) for _ in range(8)))
    assert sorted({one.cache for one in given}) == ["miss", "shared"]
    assert [one.cache for one in given].count("miss") == 1
    assert len({one.answer for one in given}) == 1


async def test_a_stopped_request_leaves_nobody_waiting(base: Kaijuan) -> None:
    first = asyncio.create_task(_ask(base))
    second = asyncio.create_task(_ask(base))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first.cancel()
    given = await asyncio.wait_for(second, timeout=30)
    assert "100" in given.answer
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_nothing_is_kept_where_the_settings_want_nothing(tmp_path: Path) -> None:
    (tmp_path / "travel.md").write_text("差旅补助每天 100 元。\n", encoding="utf-8")
    off = _config(enabled=False)
    async with Kaijuan(tmp_path / "home", config=off, embedder=HashEmbedder()) as engine:
        await engine.add([str(tmp_path / "travel.md")])
        assert [(await _ask(engine)).cache for _ in range(2)] == ["", ""]
    assert not (tmp_path / "home" / "cache" / "answers.db").exists()


async def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    path.write_bytes(b"no database" * 100)
    store = SqliteAnswers(path, max_bytes=2**20, seconds=60.0)
    scope = Scope(kb="kb", generation="1:1", digest="d")
    assert await store.exact(scope, "key", now=0.0) is None
    await store.keep(scope, "key", "", Kept(question="q", text="{}"), now=0.0)
    found = await store.exact(scope, "key", now=0.0)
    await store.close()
    assert found is not None
    assert found.text == "{}"
    assert (tmp_path / "answers.db.damaged").exists()


async def test_old_answers_and_those_beyond_the_limit_go(tmp_path: Path) -> None:
    store = SqliteAnswers(tmp_path / "answers.db", max_bytes=200_000, seconds=60.0)
    scope = Scope(kb="kb", generation="1:1", digest="d")
    for number in range(40):
        await store.keep(scope, f"key{number}", "", Kept(question="q", text="x" * 10_000), now=float(number))
    assert await store.exact(scope, "key0", now=40.0) is None
    assert await store.exact(scope, "key39", now=40.0) is not None
    assert await store.exact(scope, "key39", now=100.0) is None
    assert await store.forget("kb") == 0
    await store.close()


async def test_an_answer_of_an_older_program_is_made_anew(tmp_path: Path) -> None:
    store = SqliteAnswers(tmp_path / "answers.db", max_bytes=2**20, seconds=60.0)
    scope = Scope(kb="kb", generation="1:1", digest="d")
    await store.keep(scope, key_of(scope, "q"), "", Kept(question="q", text='{"other": 1}'), now=0.0)
    answers = Remembered(store, AnswerCacheSettings(), lambda: 0.0)

    async def embed() -> Vector:
        raise AssertionError("nothing is to be embedded")

    assert await answers.found(scope, "q", embed) is None
    await answers.close()


@pytest.mark.parametrize("file", ["answer/sufficiency.json", "answer/prompts/ask.zh.md", "answer/pipeline.py"])
async def test_another_fit_prompt_or_code_of_the_same_version_answers_anew(
    base: Kaijuan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """What a later build of the package ships decides its answers; the version number alone does not tell."""
    await _ask(base)
    package = tmp_path / "package"
    shutil.copytree(Path(shipped.__file__).parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(recalling, "fingerprint", partial(shipped.fingerprint_of, package))
    await _ask(base)
    assert (await _ask(base)).cache == "hit"
    (package / file).write_text("changed", encoding="utf-8")
    assert (await _ask(base)).cache == "miss"
