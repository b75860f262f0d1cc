"""Why a passage was not used: every stage that can drop it is named, with the number that decided."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from kaijuan.core.filters import Eq, Filter
from kaijuan.retrieve.explain import ChunkExplanation, explain
from kaijuan.retrieve.pipeline import Retrieval, SearchRequest
from kaijuan.retrieve.ports import Reading, Verdict
from kaijuan.retrieve.settings import RetrieveSettings
from kaijuan.retrieve.texts import TextShelf
from kaijuan.testing.workshop import Workshop

DOCUMENTS = {
    "a": "The pump runs at 3.5 bar.",
    "b": "The pump stops at 2 bar.",
    "c": "The pump is blue.",
    "d": "Lunch is served at noon.",
}


class Grading:
    """Gives texts with a word more evidence than others."""

    name = "grading"

    async def rerank(self, question: str, candidates: Sequence[Reading]) -> list[Verdict]:
        chances = [0.9 if "blue" in candidate.text else 0.05 for candidate in candidates]
        return [Verdict(score=chance, evidence=chance) for chance in chances]

    async def close(self) -> None:
        pass


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    await shop.add(DOCUMENTS)
    yield shop
    await shop.close()


async def why(
    shop: Workshop,
    words: str,
    *,
    k: int = 5,
    filters: tuple[Filter, ...] = (),
    graded: bool = False,
    **settings: object,
) -> ChunkExplanation:
    """Explain the passage that holds some words to somebody who asked about the pump."""
    kb = await shop.kb()
    context = Retrieval(
        catalog=shop.catalog,
        index=await shop.index(),
        embedder=shop.embedder,
        texts=TextShelf(shop.blobs),
        settings=RetrieveSettings.model_validate(settings),
        reranker=Grading() if graded else None,
        now=0.0,
    )
    everybody = frozenset({"all"})
    request = SearchRequest(
        text="pump bar", k=k, kb=kb, snapshot=kb.head, principals=everybody, filters=filters, cut=graded or k < 5
    )
    explanation = await explain(context, request, contains=words, chunk=None, trace_id="t")
    return explanation.targets[0]


async def test_a_passage_that_is_used_says_where_it_stands(shop: Workshop) -> None:
    found = await why(shop, "3.5 bar", cut_ratio=0, cut_relevance=0)
    assert re.fullmatch(r"used: passage [12]", found.verdict)
    assert "order" in [stage.stage for stage in found.stages]


async def test_the_filter_is_named(shop: Workshop) -> None:
    found = await why(shop, "3.5 bar", filters=(Eq("source", "nowhere"),))
    assert found.verdict.startswith("not used: filter: the filters given do not admit")


async def test_the_relevance_that_was_too_low_is_told(shop: Workshop) -> None:
    found = await why(shop, "noon", k=4, cut_relevance=0.9)
    assert re.search(r"not used: (cut: relevance [\d.]+; cut: .*below|gather: )", found.verdict)


async def test_the_evidence_that_was_too_little_is_told(shop: Workshop) -> None:
    found = await why(shop, "2 bar", graded=True, cut_evidence=0.5, cut_ratio=0, cut_relevance=0)
    assert "cut: evidence 0.050, below 0.5" in found.verdict
    (order,) = (stage.detail for stage in found.stages if stage.stage == "order")
    assert "evidence 0.050" in order


async def test_better_passages_are_counted_and_its_place_told(shop: Workshop) -> None:
    found = await why(shop, "2 bar", k=1, graded=True, cut_ratio=0, cut_relevance=0)
    assert re.search(r"not used: passages: 1 better passages filled .* it stood at [2-4]", found.verdict)


async def test_what_was_beyond_those_looked_at_is_told(shop: Workshop) -> None:
    found = await why(shop, "noon", graded=True, rerank_k=1, cut_ratio=0, cut_relevance=0)
    (order,) = (stage.detail for stage in found.stages if stage.stage == "order")
    assert order == "beyond the first 1 by fused score: left where it was"
