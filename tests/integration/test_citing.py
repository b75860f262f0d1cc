"""Citations opened again: the very words, what is left of the place where they are not, and for whom."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.config import Config, StoreSettings
from kaijuan.core.citations import Citation, Reference
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.testing.embedders import HashEmbedder
from kaijuan.verbs.citing import Match, Standing
from kaijuan.verbs.wiring import viewed

QUESTION = "差旅补助每天多少元？"
TEXT = "# 差旅\n\n本办法适用于全体员工。差旅补助每天 100 元。住宿费另行规定。\n\n其他事项由行政部解释。\n"


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "travel.md").write_text(TEXT, encoding="utf-8")
    config = Config(stores=StoreSettings(index="memory"))
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as engine:
        await engine.add([str(papers)])
        yield engine


async def _cited(base: Kaijuan) -> Citation:
    answer = await base.ask(QUESTION)
    return next(citation for citation in answer.citations if "100" in citation.quote)


async def test_the_very_words_with_what_stands_around_them(base: Kaijuan) -> None:
    cited = await _cited(base)
    opened = await base.cite(cited.ref)
    assert opened.match is Match.EXACT
    assert opened.citation.quote == cited.quote == "差旅补助每天 100 元。"
    assert opened.before.endswith("本办法适用于全体员工。")
    assert opened.after.startswith("住宿费另行规定。")
    assert opened.citation.title_path == cited.title_path
    assert opened.citation.content_hash == cited.content_hash
    assert opened.standing is Standing.CURRENT


async def test_words_at_another_place_are_found_and_said_to_have_moved(base: Kaijuan) -> None:
    cited = await _cited(base)
    astray = Reference.of(cited.version_id, cited.span.shift(3), cited.quote)
    opened = await base.cite(str(astray), quote="差旅补助每天 １００ 元。")
    assert opened.match is Match.MOVED
    assert opened.citation.span == cited.span
    assert opened.citation.quote == cited.quote


async def test_words_that_are_not_there_lead_to_their_paragraph(base: Kaijuan) -> None:
    cited = await _cited(base)
    astray = Reference.of(cited.version_id, cited.span.shift(3), cited.quote)
    opened = await base.cite(str(astray))
    assert opened.match is Match.BLOCK
    assert opened.citation.quote == "本办法适用于全体员工。差旅补助每天 100 元。住宿费另行规定。"


async def test_a_place_beyond_the_text_leads_to_the_nearest_paragraph(base: Kaijuan) -> None:
    cited = await _cited(base)
    opened = await base.cite(str(Reference(cited.version_id, Span(90_000, 90_010), "")))
    assert opened.match is Match.BLOCK
    assert opened.citation.quote == "其他事项由行政部解释。"


async def test_where_the_text_is_lost_the_place_is_still_told(base: Kaijuan, tmp_path: Path) -> None:
    cited = await _cited(base)
    version = await base.version(cited.version_id)
    for path in (tmp_path / "home" / "blobs").rglob(f"{version.text_hash}*"):
        path.unlink()
    config = Config(stores=StoreSettings(index="memory"))
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as again:
        opened = await again.cite(cited.ref)
    assert opened.match is Match.PAGE
    assert opened.citation.quote == ""
    assert opened.citation.source == cited.source


async def test_an_older_version_opens_and_is_called_older(base: Kaijuan, tmp_path: Path) -> None:
    cited = await _cited(base)
    (tmp_path / "papers" / "travel.md").write_text(TEXT.replace("100", "120"), encoding="utf-8")
    await base.add([str(tmp_path / "papers")])
    opened = await base.cite(cited.ref)
    assert opened.match is Match.EXACT
    assert "100" in opened.citation.quote
    assert (opened.standing, opened.number, opened.newest) == (Standing.OLDER, 1, 2)


async def test_a_removed_document_is_said_to_be_removed(base: Kaijuan) -> None:
    cited = await _cited(base)
    await base.remove(cited.source)
    opened = await base.cite(cited.ref)
    assert opened.standing is Standing.REMOVED
    assert opened.newest == 0


async def test_whoever_may_no_longer_read_the_document_gets_nothing(base: Kaijuan) -> None:
    cited = await _cited(base)
    await base.grant("group:staff")
    await base.grant("group:board", on="travel.md")
    board, staff = viewed(base, principals={"group:board", "group:staff"}), viewed(base, principals={"group:staff"})
    assert (await board.cite(cited.ref)).match is Match.EXACT
    with pytest.raises(NotFoundError):
        await staff.cite(cited.ref)


@pytest.mark.parametrize("text", ["", "1", "nonsense", "0" * 32, f"{'0' * 32}-9-3", f"{'0' * 32}-1-2-zz"])
async def test_what_is_no_reference_is_an_error(base: Kaijuan, text: str) -> None:
    with pytest.raises(UsageError):
        await base.cite(text)


async def test_a_version_that_never_was_is_not_found(base: Kaijuan) -> None:
    with pytest.raises(NotFoundError):
        await base.cite(f"{'0' * 32}-1-2")
