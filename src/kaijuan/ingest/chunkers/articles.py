"""The articles of a statute or contract, and what they refer to: 编/章/节/条, Part/Chapter/Article/Section/Clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kaijuan.core.documents import Block, BlockKind, ParsedBlock
from kaijuan.core.spans import Span

_NUMBER = r"[零〇一二三四五六七八九十百千两\d]{1,9}"
_BEFORE = r"^[^\S\n]*+(?:[#*>]++[^\S\n]*+)*+"
# 第三条之二 is an article of its own, while a line that begins with 第三条第二款 speaks of article three. After a blank
# anything may follow: 第四条 第三条第二款所称…
_CHINESE = re.compile(
    rf"{_BEFORE}(?P<name>第{_NUMBER}(?P<unit>分编|[编編篇章节節条條])(?:之[一二三四五六七八九十\d]{{1,3}})?)"
    r"(?!第|规定|規定|所|的|中|至|到|之|[、，,和与與及或])",
    re.MULTILINE,
)
_ENGLISH = re.compile(
    rf"{_BEFORE}(?P<name>(?P<unit>PART|CHAPTER|TITLE|ARTICLE|SECTION|CLAUSE|Part|Chapter|Title|Article|Section|Clause|Sec\.|§)"
    r"[^\S\n]*(?:[IVXLCDM]{1,7}\b|\d{1,4}[A-Za-z]?(?:[.-]\d{1,4}[A-Za-z]?)*))"
    r"(?![^\S\n]*(?:[,)(;]|(?:of|and|or|to|above|below|applies|apply|shall|is|are|was|hereof|thereof)\b))",
    re.MULTILINE,
)
_REFERENCE = re.compile(
    rf"第{_NUMBER}条(?:之[一二三四五六七八九十\d]{{1,3}})?(?:第{_NUMBER}款)?(?:第[（(]?{_NUMBER}[)）]?项)?(?:第{_NUMBER}目)?"
    r"|\b(?:Article|Section|Clause|Sec\.|§)[^\S\n]*(?:[IVXLCDM]{1,7}\b|\d{1,4}[A-Za-z]?(?:[.-]\d{1,4})*)(?:\([a-zA-Z0-9]{1,4}\))*"
)
_RANKS = ("编編篇", "分编", "章", "节節", "条條")
_ENGLISH_RANKS = {"part": 0, "title": 0, "chapter": 2, "article": 4, "section": 5, "sec.": 5, "§": 5, "clause": 6}
_ARTICLE = 4
_LONGEST_TITLE = 60
_LOOKED_IN = frozenset({BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One article with the headings directly before it. `above` are the parts it stands in, outermost first."""

    name: str
    span: Span
    above: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    at: int
    rank: int
    name: str
    title: str
    path: tuple[str, ...]


def articles(text: str, blocks: Sequence[Block | ParsedBlock]) -> list[Article]:
    """Return the articles in order, each up to the next. What is before the first belongs to none.

    The lowest of Article, Section and Clause that the document numbers its text by is what counts as an article: where
    articles are divided into sections, the sections are.
    """
    marks = list(_marks(text, blocks))
    lowest = _unit(marks)
    found: list[Article] = []
    above: list[_Mark] = []
    start = -1
    for mark in marks:
        if mark.rank > lowest:
            continue  # a finer division of an article is text of it
        if mark.rank < lowest:
            # The parts of a table of contents follow each other without an article: only the last ones lead it.
            start = mark.at if start < 0 or not above or mark.rank <= above[-1].rank else start
            above = [*(one for one in above if one.rank < mark.rank), mark]
            continue
        begin = mark.at if start < 0 else start
        if found:
            found[-1] = replace(found[-1], span=Span(found[-1].span.start, begin))
        end = blocks[-1].span.end
        found.append(Article(name=mark.name, span=Span(begin, end), above=_above(mark, above)))
        start = -1
    return found


def _above(mark: _Mark, above: Sequence[_Mark]) -> tuple[str, ...]:
    titles = [one.title for one in above]
    others = (title for title in mark.path if mark.name not in title)
    return (*(one for one in others if not any(one in title or title in one for title in titles)), *titles)


def references(text: str, own: str = "") -> list[str]:
    """Return the articles that a text refers to, each once, as written; not the article `own` itself."""
    found = dict.fromkeys(" ".join(match.group().split()) for match in _REFERENCE.finditer(text))
    return [name for name in found if name != own]


def _unit(marks: Sequence[_Mark]) -> int:
    counts = {rank: sum(mark.rank == rank for mark in marks) for rank in range(_ARTICLE, _ARTICLE + 3)}
    return max(counts, key=lambda rank: (counts[rank], rank)) if any(counts.values()) else -1


def _marks(text: str, blocks: Sequence[Block | ParsedBlock]) -> Iterator[_Mark]:
    for block in blocks:
        if block.kind not in _LOOKED_IN:
            continue
        span = block.span
        found = sorted(
            (match for kind in (_CHINESE, _ENGLISH) for match in kind.finditer(span.of(text))),
            key=lambda match: match.start(),
        )
        for match in found:
            start = match.start() + span.start
            line_end = text.find("\n", start, span.end)
            line = text[match.start("name") + span.start : span.end if line_end < 0 else line_end]
            rank = _rank(match["unit"])
            title = " ".join(line.replace("*", " ").split()) if len(line) <= _LONGEST_TITLE else match["name"]
            yield _Mark(at=start, rank=rank, name=match["name"], title=title, path=block.title_path)


def _rank(unit: str) -> int:
    if unit.lower() in _ENGLISH_RANKS:
        return _ENGLISH_RANKS[unit.lower()]
    return next(rank for rank, units in enumerate(_RANKS) if unit == units or (len(unit) == 1 and unit in units))
