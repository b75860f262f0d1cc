"""What a document looks like: a statute, questions with answers, a table, slides, code, or prose."""

from __future__ import annotations

from collections.abc import Sequence

from kaijuan.core.documents import Block, BlockKind, ParsedBlock
from kaijuan.ingest.chunkers.articles import articles
from kaijuan.ingest.chunkers.pairs import pairs
from kaijuan.ingest.settings import Shape

_BY_KIND: dict[str, Shape] = {
    "code": "code",
    "csv": "table",
    "ods": "table",
    "odp": "slides",
    "ppt": "slides",
    "pptx": "slides",
    "xls": "table",
    "xlsx": "table",
}
_FEWEST_ARTICLES = 5
_FEWEST_PAIRS = 3
_MOST = 0.6
"""Share of the characters that has to stand in articles, pairs, tables or code."""
_SEEN = 200_000
"""Characters looked at: a document that begins as a statute is one."""


def shape_of(kind: str, text: str, blocks: Sequence[Block | ParsedBlock]) -> Shape:
    """Return the shape of a document. Linear in the part looked at."""
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    seen = [block for block in blocks if block.span.start < _SEEN]
    whole = sum(len(block.span) for block in seen)
    for wanted, shape in ((BlockKind.TABLE, "table"), (BlockKind.CODE, "code")):
        if sum(len(block.span) for block in seen if block.kind is wanted) > _MOST * whole:
            return "table" if shape == "table" else "code"
    if _is_statute(text, seen, whole):
        return "statute"
    return "faq" if _is_faq(text, seen, whole) else "prose"


def _is_statute(text: str, blocks: Sequence[Block | ParsedBlock], whole: int) -> bool:
    found = articles(text, blocks)
    inside = sum(len(article.span) for article in found)
    return len(found) >= _FEWEST_ARTICLES and inside > _MOST * whole


def _is_faq(text: str, blocks: Sequence[Block | ParsedBlock], whole: int) -> bool:
    found = pairs(text, blocks)
    return len(found) >= _FEWEST_PAIRS and sum(len(pair.span) for pair in found) > _MOST * whole
