"""Laws of answers, over random passages and questions."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.answer.pipeline import answer
from kaijuan.answer.results import Answer, Status
from kaijuan.answer.settings import AnswerSettings
from kaijuan.core.documents import BlockKind
from kaijuan.core.ids import ChunkId, DocumentId, VersionId
from kaijuan.core.spans import Span
from kaijuan.retrieve.results import Passage, RouteScore, SearchResult, Trace
from kaijuan.testing.contracts.chunker import blocks_of
from kaijuan.testing.embedders import HashEmbedder

words = st.sampled_from(
    [
        "年假",
        "十天",
        "。",
        "，",
        "：",
        "？",
        " ",
        "\n",
        "\n- ",
        "| ",
        "the rule ",
        "is 10. ",
        "ERR-9988 ",
        "ERR-9981 ",
        "\t",
    ]
)
content = st.lists(words, min_size=1, max_size=40).map("".join).filter(lambda text: bool(text.strip()))
parts = st.lists(st.tuples(st.sampled_from(BlockKind), content), min_size=1, max_size=6)
questions = st.sampled_from(
    ["年假有几天？", "What is rule ERR-9988?", "ERR-9981 和 ERR-9988？", "年假？规则？", "量子？", "它是什么？"]
)


def _passage(rank: int, made: list[tuple[BlockKind, str]], start: int) -> tuple[Passage, str]:
    """Return a passage and its version's whole text, in which it begins at `start`."""
    text, blocks = blocks_of(*made)
    moved = tuple(
        type(block)(
            id=block.id, ordinal=block.ordinal, kind=block.kind, span=block.span.shift(start), level=block.level
        )
        for block in blocks
    )
    span = Span(start, start + len(text))
    passage = Passage(
        rank=rank,
        score=1.0,
        relevance=0.5,
        document_id=DocumentId(f"d{rank}"),
        version_id=VersionId(f"v{rank}"),
        chunk_id=ChunkId(f"c{rank}"),
        source="file:///x",
        title=f"T{rank}",
        title_path=(),
        text=text,
        span=span,
        hits=(span,),
        pages=(),
        boxes=(),
        blocks=moved,
        content_hash="",
        routes={"lexical": RouteScore(rank, 1.0)},
    )
    return passage, "#" * start + text


def _check(given: Answer, texts: dict[str, str]) -> None:
    known = {cited.id: cited for cited in given.citations}
    assert len(known) == len(given.citations)
    for cited in given.citations:
        assert cited.quote == cited.span.of(texts[cited.version_id])
        assert cited.quote.strip()
    used = [name for sentence in given.sentences for name in sentence.citations]
    assert all(sentence.citations and sentence.text.strip() for sentence in given.sentences)
    assert set(used) == set(known)
    if given.status in (Status.REFUSED, Status.CLARIFY):
        assert not given.sentences
        assert not given.citations
    else:
        assert given.sentences
    assert given.answer.strip()


@given(made=st.lists(parts, max_size=3), question=questions, low=st.sampled_from([None, 0.0]), start=st.integers(0, 9))
@settings(max_examples=80, deadline=None)
def test_every_sentence_is_cited_and_every_quote_is_exact(
    made: list[list[tuple[BlockKind, str]]], question: str, low: float | None, start: int
) -> None:
    pairs = [_passage(rank, parts, start) for rank, parts in enumerate(made, start=1)]
    trace = Trace(
        id="t", query="", normalised="", terms=(), snapshot=1, routes=(), candidates=(), settings={}, timings_ms={}
    )
    found = SearchResult(query=question, snapshot=1, passages=tuple(one for one, _ in pairs), trace=trace)
    limits = AnswerSettings(refuse_below=low)
    texts = {str(one.version_id): text for one, text in pairs}
    one = asyncio.run(answer(question, found, HashEmbedder(), limits))
    _check(one, texts)
    two = asyncio.run(answer(question, found, HashEmbedder(), limits))
    assert (one.answer, one.citations, one.status) == (two.answer, two.citations, two.status)
