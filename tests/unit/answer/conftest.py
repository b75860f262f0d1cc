"""Small search results made by hand, for the tests of answering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kaijuan.core.documents import BlockKind, PageBox, TextLine
from kaijuan.core.ids import ChunkId, DocumentId, VersionId
from kaijuan.core.spans import Span
from kaijuan.retrieve.results import Passage, RouteScore, SearchResult, Trace
from kaijuan.testing.contracts.chunker import blocks_of

MakePassage = Callable[..., Passage]
MakeResult = Callable[..., SearchResult]


def _passage(title: str, *parts: tuple[BlockKind, str], rank: int = 1, start: int = 0) -> Passage:
    """Return a passage that begins at character `start` of its version; each block is one printed line."""
    text, made = blocks_of(*parts)
    blocks = []
    for block in made:
        span = block.span.shift(start)
        box = PageBox(page=1 + block.ordinal, x0=10, y0=20, x1=10 + len(span), y1=30)
        edges = tuple(10.0 + at for at in range(len(span) + 1))
        line = TextLine(span=span, box=box, edges=edges)
        blocks.append(replace(block, span=span, lines=(line,), pages=(box.page,)))
    whole = Span(start, start + len(text))
    return Passage(
        rank=rank,
        score=1.0 / rank,
        relevance=0.9,
        document_id=DocumentId(f"{rank:032x}"),
        version_id=VersionId(f"{rank + 256:032x}"),
        chunk_id=ChunkId(f"{rank + 512:032x}"),
        source=f"file:///{rank}.md",
        title=title,
        title_path=(),
        text=text,
        span=whole,
        hits=(whole,),
        pages=(1,),
        boxes=(),
        blocks=tuple(blocks),
        content_hash=f"{rank:064x}",
        routes={"dense": RouteScore(rank, 0.9)},
    )


def _result(question: str, *passages: Passage) -> SearchResult:
    trace = Trace(
        id="trace-1",
        query=question,
        normalised=question,
        terms=(),
        snapshot=7,
        routes=(),
        candidates=(),
        settings={},
        timings_ms={},
    )
    return SearchResult(query=question, snapshot=7, passages=passages, trace=trace)


@pytest.fixture
def passage() -> MakePassage:
    return _passage


@pytest.fixture
def result() -> MakeResult:
    return _result
