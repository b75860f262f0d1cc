"""Suggestions while somebody types: of what the reader may see, those that begin so first."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.retrieve.understood import base

from kaijuan.errors import UsageError
from kaijuan.retrieve.suggest import Suggestion, SuggestionKind, suggestions
from kaijuan.verbs.wiring import viewed

TITLE, HEADING, QUESTION = SuggestionKind.TITLE, SuggestionKind.HEADING, SuggestionKind.QUESTION


def known(*texts: tuple[str, SuggestionKind]) -> list[Suggestion]:
    return [Suggestion(text=text, kind=kind) for text, kind in texts]


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("差旅", ["差旅怎么报", "差旅办法", "国内差旅办法"]),
        ("TRAVEL", ["Travel policy", "International travel"]),
        ("rave", []),
        ("  ", []),
    ],
)
def test_what_begins_so_comes_first(prefix: str, found: list[str]) -> None:
    texts = known(
        ("国内差旅办法", TITLE),
        ("差旅办法", TITLE),
        ("差旅办法", HEADING),
        ("差旅怎么报", QUESTION),
        ("International travel", HEADING),
        ("Travel policy", TITLE),
    )
    assert [one.text for one in suggestions(prefix, texts, 10)] == found
    assert [one.text for one in suggestions(prefix, reversed(texts), 10)] == found
    assert [one.text for one in suggestions(prefix, texts, 1)] == found[:1]


async def test_titles_and_questions_that_were_answered(tmp_path: Path) -> None:
    async with base(tmp_path) as engine:
        await engine.ask("报销流程是什么")
        await engine.ask("报销火星税要多久")
        found = [(one.text, one.kind) for one in await engine.suggest("报销")]
        assert ("报销流程是什么", QUESTION) in found
        assert "差旅管理办法（2024版）" in [one.text for one in await engine.suggest("差旅")]
        with pytest.raises(UsageError):
            await engine.suggest("报销", k=0)


async def test_nothing_of_what_others_read_or_asked(tmp_path: Path) -> None:
    async with base(tmp_path) as engine:
        kb = await engine.catalog.kb("default", "default")
        secret = next(version for version in await engine.list() if version.source.endswith("#travel-2024"))
        board = viewed(engine, principals={"all", "board"})
        await engine.catalog.grant(kb.id, secret.document_id, "board")
        await board.ask("差旅管理的住宿标准是多少")
        assert "差旅管理办法（2024版）" not in [one.text for one in await engine.suggest("差旅")]
        assert [one.text for one in await engine.suggest("差旅") if one.kind is QUESTION] == []
        assert "差旅管理办法（2024版）" in [one.text for one in await board.suggest("差旅")]
