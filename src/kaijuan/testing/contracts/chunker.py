"""What every chunker must hold. Inherit `ChunkerContract`, give `make` and `limit`, and the tests run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest

from kaijuan.core.documents import Block, BlockKind, ChunkLevel
from kaijuan.core.ids import BlockId
from kaijuan.core.spans import Span, uncovered
from kaijuan.ingest.ports import ChunkDraft, Chunker, NeedsJudge, NeedsSimilarity, Tokenizer

_TOKEN = re.compile(r"[a-zA-Z0-9]{1,6}|[^\sa-zA-Z0-9]")


class PieceTokenizer:
    """A double of a subword tokenizer: six letters or digits, or one other character, make a token."""

    def token_spans(self, text: str) -> Sequence[Span]:
        """Return the spans of the tokens in order."""
        return [Span(*match.span()) for match in _TOKEN.finditer(text)]


def word_overlap(texts: Sequence[str], apart: int) -> list[float]:
    """A double of the likeness by vectors: the share of characters that two texts have in common."""
    letters = [set(text) for text in texts]
    return [len(one & other) / max(1, len(one | other)) for one, other in zip(letters, letters[apart:], strict=False)]


def every_third(parts: Sequence[str]) -> list[int]:
    """A double of a model's judgement: something new begins at every third text."""
    return list(range(3, len(parts), 3))


def ready(chunker: Chunker) -> Chunker:
    """Return the chunker, given the doubles where it needs the likeness of texts or a judgement."""
    if isinstance(chunker, NeedsJudge):
        chunker.judge = every_third
    if isinstance(chunker, NeedsSimilarity):
        chunker.similarity = word_overlap
    return chunker


def blocks_of(*parts: tuple[BlockKind, str], gap: str = "\n\n") -> tuple[str, list[Block]]:
    """Join texts to a document and return it with its blocks. A HEADING is of level 1, or 2 when it starts "##"."""
    text, path = "", list[str]()
    blocks: list[Block] = []
    for ordinal, (kind, content) in enumerate(parts):
        text += gap if text else ""
        level = (2 if content.startswith("##") else 1) if kind is BlockKind.HEADING else 0
        path = path[: level - 1] if level else path
        span = Span(len(text), len(text) + len(content))
        name = BlockId(f"{ordinal:032x}")
        blocks.append(Block(id=name, ordinal=ordinal, kind=kind, span=span, level=level, title_path=tuple(path)))
        path = [*path, content.lstrip("# ")] if level else path
        text += content
    return text, blocks


def check_drafts(
    text: str,
    blocks: Sequence[Block],
    drafts: Sequence[ChunkDraft],
    tokenizer: Tokenizer,
    limit: int,
    *,
    parents_overlap: bool = False,
) -> None:
    """Assert everything the port promises about `drafts`."""
    places = [(draft.level, draft.span) for draft in drafts]
    assert len(set(places)) == len(places), "two chunks of one level with one span"
    children = [draft for draft in drafts if draft.level is ChunkLevel.CHILD]
    for draft in drafts:
        content = draft.span.of(text)
        assert content, "an empty chunk"
        assert content == content.strip(), "white space at the ends of a chunk"
    for child in children:
        assert child.parent is not None
        parent = drafts[child.parent]
        assert parent.level is ChunkLevel.PARENT
        assert parent.span.contains(child.span)
        assert child.tokens <= limit
        assert len(tokenizer.token_spans(child.span.of(text))) <= limit
    assert all(draft.parent is None for draft in drafts if draft.level is ChunkLevel.PARENT)
    for block in blocks:
        for gap in uncovered(block.span, [child.span for child in children]):
            assert not gap.of(text).strip(), f"lost: {gap.of(text)!r}"
    assert all(a.span.start < b.span.start and a.span.end <= b.span.end for a, b in pairwise(children))
    parents = [draft.span for draft in drafts if draft.level is ChunkLevel.PARENT]
    assert all(a.start <= b.start and a.end <= b.end for a, b in pairwise(parents)), "parents out of order"
    assert parents_overlap or all(a.end <= b.start for a, b in pairwise(parents)), "parents overlap"
    assert {child.parent for child in children} == {
        at for at, draft in enumerate(drafts) if draft.level is ChunkLevel.PARENT
    }, "a parent without children"


UNBROKEN = "开卷有益学而时习之温故知新不亦说乎有朋自远方来" * 364
BILINGUAL = ("本条款适用于所有部门。This clause applies to every department, without exception; see ERR-9988. " * 80)[
    :6000
]
WIDE_ROW = "| " + " | ".join(f"单元格内容 cell {n}" for n in range(600)) + " |"


class ChunkerContract:
    """Behaviour shared by all chunkers."""

    limit: int
    parents_overlap = False
    """Whether one passage may stand in several parents (windows around sentences)."""

    def make(self) -> Chunker:
        """Return the chunker under test; no child of it may have more than `limit` tokens."""
        raise NotImplementedError

    def test_nothing_gives_nothing(self) -> None:
        assert self.make().chunk("", [], PieceTokenizer()) == []
        text, blocks = blocks_of((BlockKind.PARAGRAPH, "  \n "))
        assert self.make().chunk(text, blocks, PieceTokenizer()) == []

    def test_a_short_document_is_one_parent_and_one_child(self) -> None:
        text, blocks = blocks_of((BlockKind.HEADING, "请假"), (BlockKind.PARAGRAPH, "年假为十天。"))
        drafts = self.make().chunk(text, blocks, PieceTokenizer())
        assert [draft.level for draft in drafts] == [ChunkLevel.PARENT, ChunkLevel.CHILD]
        check_drafts(text, blocks, drafts, PieceTokenizer(), self.limit, parents_overlap=self.parents_overlap)

    @pytest.mark.parametrize(
        ("kind", "content"),
        [
            (BlockKind.PARAGRAPH, UNBROKEN[:8000]),
            (BlockKind.PARAGRAPH, BILINGUAL),
            (BlockKind.TABLE, WIDE_ROW[:10_000]),
            (BlockKind.CODE, "x = 1\n" * 4000),
            (BlockKind.LIST, "\n".join(f"- 第{n}项 item {n}" for n in range(900))),
            (BlockKind.FORMULA, "a+b=" * 2000),
            (BlockKind.HEADING, "很长的标题" * 600),
            (BlockKind.PARAGRAPH, "👩‍👩‍👧‍👦🇨🇳é" * 900),
        ],
        ids=["unbroken", "bilingual", "wide-row", "code", "list", "formula", "long-heading", "clusters"],
    )
    def test_nothing_is_lost_and_nothing_is_too_long(self, kind: BlockKind, content: str) -> None:
        text, blocks = blocks_of((BlockKind.PARAGRAPH, "前言。"), (kind, content), (BlockKind.PARAGRAPH, "The end."))
        drafts = self.make().chunk(text, blocks, PieceTokenizer())
        check_drafts(text, blocks, drafts, PieceTokenizer(), self.limit, parents_overlap=self.parents_overlap)

    def test_the_same_input_gives_the_same_output(self) -> None:
        text, blocks = blocks_of((BlockKind.HEADING, "A"), (BlockKind.PARAGRAPH, BILINGUAL))
        assert self.make().chunk(text, blocks, PieceTokenizer()) == self.make().chunk(text, blocks, PieceTokenizer())
        assert self.make().fingerprint == self.make().fingerprint
