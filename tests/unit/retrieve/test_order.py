"""The last order of candidates: the reranker's word, its failures, languages, editions, diversity, the cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.core.ids import ChunkId, DocumentId
from kaijuan.errors import ModelError
from kaijuan.retrieve.pipeline import Retrieval, SearchRequest, search
from kaijuan.retrieve.ports import Reading, Verdict
from kaijuan.retrieve.results import SearchResult
from kaijuan.retrieve.routes.exact import program_names
from kaijuan.retrieve.settings import RetrieveSettings
from kaijuan.retrieve.texts import TextShelf
from kaijuan.retrieve.to_the_letter import held_to_the_letter
from kaijuan.testing.workshop import ROOT, Workshop

DOCUMENTS = {
    "a": "The pump runs at 3.5 bar.",
    "b": "The pump stops at 2 bar.",
    "c": "The pump is blue.",
    "zh1": "水泵在 3.5 bar 运行。",
    "zh2": "水泵是蓝色的。",
}


class Preferring:
    """Prefers texts with a word; fails or sleeps when told to."""

    name = "preferring"

    def __init__(
        self, word: str, *, error: bool = False, sleep: float = 0.0, evidence: float = 0.9, calibrated: bool = True
    ) -> None:
        self.word, self.error, self.sleep, self.evidence = word, error, sleep, evidence
        self.calibrated = calibrated
        self.seen: list[Reading] = []

    async def rerank(self, question: str, candidates: Sequence[Reading]) -> list[Verdict]:
        await asyncio.sleep(self.sleep)
        if self.error:
            raise ModelError("The service is down.")
        self.seen = list(candidates)
        liked = [float(self.word in candidate.text) for candidate in candidates]
        return [Verdict(score=one, evidence=self.evidence if one else 0.1, calibrated=self.calibrated) for one in liked]

    async def close(self) -> None:
        pass


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    await shop.add(DOCUMENTS)
    yield shop
    await shop.close()


async def found(
    shop: Workshop, text: str, reranker: Preferring | None = None, *, cut: bool = False, **settings: object
) -> SearchResult:
    kb = await shop.kb()
    context = Retrieval(
        catalog=shop.catalog,
        index=await shop.index(),
        embedder=shop.embedder,
        texts=TextShelf(shop.blobs),
        settings=RetrieveSettings.model_validate(settings),
        reranker=reranker,
        now=0.0,
    )
    request = SearchRequest(text=text, k=5, kb=kb, snapshot=kb.head, principals=frozenset({"all"}), cut=cut)
    return await search(context, request, trace_id="t")


def names(result: SearchResult) -> list[str]:
    return [passage.source.removeprefix(ROOT) for passage in result.passages]


async def test_what_the_reranker_likes_comes_first(shop: Workshop) -> None:
    result = await found(shop, "pump bar", Preferring("blue"))
    english = [name for name in names(result) if not name.startswith("zh")]
    assert english[0] == "c"
    report = result.trace.reranker
    assert report is not None
    assert (report.name, report.state) == ("preferring", "ok")
    first = next(passage for passage in result.passages if passage.source.endswith("/c"))
    assert (first.evidence, first.band) == (0.9, "evidence")


async def test_evidence_that_says_less_than_it_should_orders_but_is_neither_shown_nor_a_reason_to_leave_out(
    shop: Workshop,
) -> None:
    result = await found(
        shop, "pump bar", Preferring("blue", calibrated=False), cut=True, cut_evidence=0.5, cut_ratio=0.0
    )
    assert next(name for name in names(result) if not name.startswith("zh")) == "c"
    assert {(passage.evidence, passage.band) for passage in result.passages} == {(None, "")}
    assert not any("evidence" in one.fate for one in result.trace.candidates)


@pytest.mark.parametrize(
    ("reranker", "state"),
    [
        (Preferring("blue", error=True), "failed: model_failed"),
        (Preferring("blue", sleep=30.0), "timeout"),
    ],
)
async def test_the_fused_order_stands_where_the_reranker_fails(
    shop: Workshop, reranker: Preferring, state: str
) -> None:
    plain = await found(shop, "pump bar")
    result = await found(shop, "pump bar", reranker, rerank_seconds=0.05)
    assert names(result) == names(plain)
    assert result.trace.reranker is not None
    assert result.trace.reranker.state == state
    assert {passage.evidence for passage in result.passages} == {None}


async def test_each_language_is_ordered_by_itself(shop: Workshop) -> None:
    plain = await found(shop, "pump 3.5 bar")
    result = await found(shop, "pump 3.5 bar", Preferring("蓝"))
    places = [name.startswith("zh") for name in names(result)]
    assert places == [name.startswith("zh") for name in names(plain)]
    assert next(name for name in names(result) if name.startswith("zh")) == "zh2"


async def test_documents_in_another_language_have_a_list_of_their_own(shop: Workshop) -> None:
    apart = await found(shop, "pump")
    assert "dense_zh" in [report.name for report in apart.trace.routes]
    together = await found(shop, "pump", languages_apart=False)
    assert "dense_zh" not in [report.name for report in together.trace.routes]


async def test_weak_candidates_are_cut_with_the_number_that_decided(shop: Workshop) -> None:
    result = await found(shop, "pump", Preferring("blue"), cut=True, cut_evidence=0.5, cut_ratio=0, cut_relevance=0)
    assert names(result) == ["c"]
    fates = {candidate.fate for candidate in result.trace.candidates}
    assert "cut: evidence 0.100, below 0.5" in fates


async def test_only_the_first_few_are_looked_at(shop: Workshop) -> None:
    reranker = Preferring("blue")
    result = await found(shop, "pump", reranker, rerank_k=2)
    assert len(reranker.seen) == 2
    assert len(result.passages) == 5


async def test_the_reader_sees_nothing_of_what_is_closed_to_him(shop: Workshop) -> None:
    kb = await shop.kb()
    closed = await shop.catalog.version_of(kb.id, ROOT + "c", kb.head)
    assert closed is not None
    await shop.catalog.grant(kb.id, closed.document_id, "somebody else")
    await shop.catalog.revoke(kb.id, closed.document_id, "all")
    reranker = Preferring("blue")
    result = await found(shop, "pump", reranker)
    assert "c" not in names(result)
    assert not any("blue" in reading.text for reading in reranker.seen)


async def test_the_same_search_gives_the_same_result(shop: Workshop) -> None:
    first, second = [await found(shop, "水泵 pump 3.5 bar", Preferring("bar"), diversity=0.3) for _ in range(2)]
    assert first.passages == second.passages
    shown = [replace(candidate) for candidate in first.trace.candidates]
    assert shown == list(second.trace.candidates)


TWINS = ("getUserName", "getUserNames", "get_user_name", "get_user_names", "getUserV2", "get_user_v2", "useEffect")


def _twin_text(name: str, *, chinese: bool) -> str:
    return (
        f"接口 {name} 由平台组维护，失败时会重试三次。" if chinese else f"{name} is kept by the team and tried thrice."
    )


@pytest.mark.parametrize("preset", [None, Preferring("Names")], ids=["fused", "reranked"])
@pytest.mark.parametrize("asked", ["who looks after {} and how often is it tried", "同事问{}是谁在维护，会重试几次"])
async def test_a_name_in_programs_is_found_to_the_letter_among_its_twins_in_either_language(
    tmp_path: Path, asked: str, preset: Preferring | None
) -> None:
    shop = Workshop(tmp_path)
    await shop.add({name: _twin_text(name, chinese=place % 2 == 0) for place, name in enumerate(TWINS)})
    for name in TWINS:
        assert names(await found(shop, asked.format(name), preset))[0] == name
    await shop.close()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does getUserName return?", ("getUserName",)),
        ("为什么useEffects和get_user_v2会重复执行？", ("useEffects", "get_user_v2")),
        ("is os.path_sep the same as `chmod`", ("os.path_sep", "chmod")),
        ("MAX_RETRIES of the parseUTF8 step", ("MAX_RETRIES", "parseUTF8")),
        ("is iPhone15 better than macOS 14 in GB/T 7714-2015 or v2.3.1, a B2B case of ERR-9988?", ()),
        ("苹果手机怎么截图", ()),
    ],
)
def test_names_in_programs_are_told_from_codes_and_brands(question: str, expected: tuple[str, ...]) -> None:
    assert program_names(question) == expected


@given(
    name=st.from_regex(r"[a-z]{2,6}[A-Z][a-z]{2,6}", fullmatch=True),
    before=st.text("aZ9_ .(的", max_size=3),
    after=st.text("aZ9_ .)的", max_size=3),
)
def test_only_a_whole_word_holds_a_name_and_as_written_counts_more(name: str, before: str, after: str) -> None:
    def held(text: str) -> int:
        return held_to_the_letter([name], _reading(text))

    alone = before[-1:] not in tuple("aZ9_") and after[:1] not in tuple("aZ9_")
    assert held(before + name + after) == (2 if alone else 0)
    assert held(before + name.upper() + after) == (1 if alone else 0)


def _reading(text: str) -> Reading:
    return Reading(
        chunk_id=ChunkId("c"),
        document_id=DocumentId("d"),
        title="",
        title_path=(),
        text=text,
        language="en",
        routes={},
        fused=0.0,
    )
