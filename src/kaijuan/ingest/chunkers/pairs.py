"""Questions with their answers, as they stand in lists of frequent questions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kaijuan.core.documents import Block, BlockKind, ParsedBlock
from kaijuan.core.spans import Span

_ASKS = re.compile(
    r"^[^\S\n]*+(?:[#*]++[^\S\n]*+)*+(?:问题?|問題?|Q(?:uestion)?)[^\S\n]*+\d{0,3}[^\S\n]*+[:：.、)）]",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWERS = re.compile(
    r"^[^\S\n]*+(?:[#*]++[^\S\n]*+)*+(?:答案?|回答|A(?:nswer)?)[^\S\n]*+\d{0,3}[^\S\n]*+[:：.、]", re.I | re.M
)
_QUESTION = re.compile(r"[?？][\s*]*\Z")
_LONGEST_QUESTION = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A question and what stands under it, up to the next question."""

    question: str
    span: Span
    path: tuple[str, ...]


def pairs(text: str, blocks: Sequence[Block | ParsedBlock]) -> list[Pair]:
    """Return the pairs in order. Markers (问：, Q:) count before headings that ask, those before short lines."""
    for places in (_marked, _headings, _lines):
        starts = list(places(text, blocks))
        if len(starts) > 1:
            return _pairs(text, blocks, starts)
    return []


@dataclass(frozen=True, slots=True)
class _Start:
    at: int
    end: int
    path: tuple[str, ...]


def _pairs(text: str, blocks: Sequence[Block | ParsedBlock], starts: Sequence[_Start]) -> list[Pair]:
    ends = [start.at for start in starts[1:]] + [blocks[-1].span.end]
    closing = _closing(blocks, {start.at for start in starts})
    made = []
    for start, end in zip(starts, ends, strict=True):
        # A heading that asks nothing ends the answer before it.
        after = bisect_right(closing, start.at)
        stop = min(end, closing[after]) if after < len(closing) else end
        made.append(Pair(question=text[start.at : start.end].strip(), span=Span(start.at, stop), path=start.path))
    return made


def _closing(blocks: Sequence[Block | ParsedBlock], starts: set[int]) -> list[int]:
    return [block.span.start for block in blocks if block.kind is BlockKind.HEADING and block.span.start not in starts]


def _marked(text: str, blocks: Sequence[Block | ParsedBlock]) -> Iterator[_Start]:
    answered = False
    found: list[_Start] = []
    for block in blocks:
        if block.kind in (BlockKind.TABLE, BlockKind.CODE):
            continue
        said = block.span.of(text)
        answered = answered or bool(_ANSWERS.search(said))
        for match in _ASKS.finditer(said):
            start = match.start() + block.span.start
            line = text.find("\n", start, block.span.end)
            found.append(_Start(start, block.span.end if line < 0 else line, block.title_path))
    # "Q1." alone heads the quarters of a report.
    yield from found if answered else ()


def _headings(text: str, blocks: Sequence[Block | ParsedBlock]) -> Iterator[_Start]:
    for block in blocks:
        if block.kind is BlockKind.HEADING and _QUESTION.search(block.span.of(text)):
            yield _Start(block.span.start, block.span.end, block.title_path)


def _lines(text: str, blocks: Sequence[Block | ParsedBlock]) -> Iterator[_Start]:
    for block in blocks:
        if block.kind is not BlockKind.PARAGRAPH:
            continue
        line = text.find("\n", block.span.start, block.span.end)
        end = block.span.end if line < 0 else line
        if end - block.span.start <= _LONGEST_QUESTION and _QUESTION.search(text[block.span.start : end]):
            yield _Start(block.span.start, end, block.title_path)
