"""From passages to what may be quoted: sentences, list items, table rows, each with its exact place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from kaijuan.answer.faq import Exchange, exchanges
from kaijuan.answer.settings import AnswerSettings
from kaijuan.core.documents import Block, BlockKind
from kaijuan.core.spans import Span, trim
from kaijuan.core.text.characters import EAST_ASIAN, WIDE_MARKS
from kaijuan.core.text.sentences import sentences
from kaijuan.retrieve.results import Passage

_BULLET = re.compile(r"[^\S\n]*(?:[-*+•·●○▪■□◆◦]|>)[^\S\n]+")
_LEAD_IN = re.compile(r"[:：][^\S\n]*\Z")
_RULE = re.compile(r"[|\s:+=-]+")
_CELL = re.compile(r"(?<!\\)\|")
_BROKEN_LINE = re.compile(rf"(?<=[{EAST_ASIAN}])[^\S\n]*\n\s*(?=[{EAST_ASIAN}])")
_SPREAD = re.compile(
    rf"(?<!\S)([{EAST_ASIAN}])[^\S\n]+(?=[{EAST_ASIAN}])"
    rf"|(?<=[{EAST_ASIAN}])[^\S\n]+(?=[{EAST_ASIAN}](?:\s|\Z)|[{WIDE_MARKS}])|(?<=[{WIDE_MARKS}])[^\S\n]+(?=[{EAST_ASIAN}])"
)
"""Blanks beside a mark or a character that stands alone: 合 同. Between words a blank parts them: 第一条 一线城市."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ANNOUNCED = frozenset({BlockKind.LIST, BlockKind.TABLE, BlockKind.CODE})
# Not inside a number: 1,497,216 and 12:30 are one word each.
_CLAUSE = re.compile(r"(?!(?<=\d)[,，:：]\s?\d)[，,、；;：:]\s*")
_JOINED = 200
"""Characters up to which what a Chinese semicolon parts is one sentence: 先断电；再重启 is one piece of advice."""
_FAQ_WHOLE = 200
"""Characters up to which the answer of a question-and-answer pair is quoted whole."""
_COLUMN = 60
"""Characters of the longest line of a table printed without rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Something that can be quoted whole. `quote` is exactly the version's text at `span`."""

    passage: int
    """Position of its passage in the search result."""
    span: Span
    kind: BlockKind
    quote: str
    context: str
    """Title, title path and table header: read with the unit, not quoted by it."""
    header: Span | None
    """Of a table row: where the header of its table stands."""
    header_quote: str
    found: bool
    """Whether it lies in a chunk that the search found, not only in the text around it."""
    section: tuple[str, ...] = ()
    """Headings above it."""
    block: int = 0
    """Where its block begins in the version's text."""
    asked: str = ""
    """Of an answer in a question-and-answer pair: the question."""


def units_of(passage: Passage, position: int, settings: AnswerSettings) -> list[Unit]:
    """Return the units of one passage in reading order; a list is offered whole and by its items."""
    units: list[Unit] = []
    before: _Part | None = None
    asked = ""
    for part in _parts(passage):
        if part.kind in _ANNOUNCED and units and _LEAD_IN.search(units[-1].quote):
            # A sentence that only announces a list or table says nothing without it.
            units.pop()
        if part.kind is BlockKind.PARAGRAPH and (pairs := exchanges(_text(passage, part.span), asked)):
            units.extend(_answers(passage, position, part, pairs, settings))
            asked = pairs[-1].question if not len(pairs[-1].answer) else ""
        else:
            spans = _spans(passage, part, before, settings)
            units.extend(_unit(passage, position, part, span, header) for span, header in spans if _says(passage, span))
            asked = ""
        before = part
    return units


def _answers(
    passage: Passage, position: int, part: _Part, pairs: Sequence[Exchange], settings: AnswerSettings
) -> Iterator[Unit]:
    """Yield the answers of question-and-answer pairs; the questions are read with them, and are no statements."""
    text = _text(passage, part.span)
    for pair in pairs:
        whole = len(pair.answer) <= _FAQ_WHOLE
        for inner in [Span(0, len(pair.answer))] if whole else _whole_sentences(pair.answer.of(text)):
            for span in _short(text, inner.shift(pair.answer.start), settings.longest_unit):
                place = span.shift(part.span.start)
                if _says(passage, place):
                    yield _unit(passage, position, part, place, None, pair.question)


def folded(quote: str) -> str:
    """Return a quote as one reads it: no bullet, no layout blanks; lines of lists and code are kept."""
    lines = (_closed(_without_bullet(line)) for line in quote.splitlines())
    return "\n".join(line for line in lines if line)


def one_line(quote: str) -> str:
    """Return a sentence as one line, where its line breaks are only layout."""
    return _closed(_BROKEN_LINE.sub("", _without_bullet(quote)))


def _closed(text: str) -> str:
    """Return one line with single blanks, without those that only spread characters out."""
    return _SPREAD.sub(r"\1", " ".join(text.split()))


def _without_bullet(text: str) -> str:
    """Return text without the bullet it begins with; a hyphen before a blank further on is part of it."""
    bullet = _BULLET.match(text)
    return text[bullet.end() :] if bullet else text


def cells(row: str) -> list[str]:
    """Return the cells of a table row written with pipes or tabs."""
    if "|" not in row:
        return [cell.strip() for cell in row.split("\t")]
    return [cell.replace("\\|", "|").strip() for cell in _CELL.split(row.strip().strip("|"))]


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of a block, or of neighbouring list blocks, that a passage shows."""

    kind: BlockKind
    span: Span
    title_path: tuple[str, ...]


def _parts(passage: Passage) -> Iterator[_Part]:
    held: _Part | None = None
    for block in passage.blocks or (_Part(BlockKind.PARAGRAPH, passage.span, passage.title_path),):
        shared = block.span.intersect(passage.span)
        if shared is None:
            continue
        part = _Part(block.kind, shared, block.title_path)
        if held and held.kind is BlockKind.LIST and part.kind is BlockKind.LIST:
            held = _Part(BlockKind.LIST, Span(held.span.start, part.span.end), held.title_path)
            continue
        if held:
            yield held
        held = part
    if held:
        yield held


def _spans(
    passage: Passage, part: _Part, before: _Part | None, settings: AnswerSettings
) -> Iterator[tuple[Span, Span | None]]:
    """Yield the spans to quote in one part, with the header for table rows. Spans count in the version's text."""
    if part.kind is BlockKind.HEADING:
        return
    if part.kind is BlockKind.TABLE:
        yield from _rows(passage, part, settings)
        return
    if part.kind in (BlockKind.CODE, BlockKind.FORMULA) and len(part.span) <= settings.longest_list:
        yield part.span, None
        return
    if part.kind is BlockKind.LIST:
        whole = _with_lead_in(passage, part, before)
        if len(whole) <= settings.longest_list:
            yield whole, None
    text = _text(passage, part.span)
    for sentence in _whole_sentences(text):
        for line in _lines(text, sentence):
            for span in _short(text, line, settings.longest_unit):
                yield span.shift(part.span.start), None


def _whole_sentences(text: str) -> list[Span]:
    """Return the sentences of `text`, with what semicolons part put together unless it is long."""
    joined: list[Span] = []
    for span in sentences(text):
        last = joined[-1] if joined else None
        if last and text[last.end - 1] in "；;" and span.end - last.start <= _JOINED:
            joined[-1] = Span(last.start, span.end)
        else:
            joined.append(span)
    return joined


def _lines(text: str, sentence: Span) -> list[Span]:
    """Return the lines of what is no sentence but a table without rules: several short lines of unequal length.

    Lines of running text are all about as long as the page is wide, but for the last.
    """
    lines: list[Span] = []
    at = sentence.start
    for line in sentence.of(text).splitlines(keepends=True):
        lines.append(trim(text, Span(at, at + len(line))))
        at += len(line)
    lines = [line for line in lines if len(line)]
    lengths = [len(line) for line in lines[:-1]]
    if len(lines) >= 3 and max(lengths) <= _COLUMN and min(lengths) < max(lengths) / 2:
        return lines
    return [sentence]


def _text(passage: Passage, span: Span) -> str:
    return passage.text[span.start - passage.span.start : span.end - passage.span.start]


def _says(passage: Passage, span: Span) -> bool:
    """Say whether a span has anything but marks."""
    return any(map(str.isalnum, _text(passage, span)))


def _with_lead_in(passage: Passage, part: _Part, before: _Part | None) -> Span:
    """Return the list from the sentence that announces it, if one does."""
    if before is None or before.kind is not BlockKind.PARAGRAPH:
        return part.span
    text = _text(passage, before.span)
    if not _LEAD_IN.search(text.rstrip()):
        return part.span
    last = _whole_sentences(text)[-1]
    return Span(before.span.start + last.start, part.span.end)


def _rows(passage: Passage, part: _Part, settings: AnswerSettings) -> Iterator[tuple[Span, Span | None]]:
    at = part.span.start
    header: Span | None = None
    first = True
    for line in _text(passage, part.span).splitlines(keepends=True):
        span = Span(at, at + len(line))
        at = span.end
        if not line.strip() or _RULE.fullmatch(line):
            # The rule below the first row says that it is a header.
            continue
        row = _bare(passage, span)
        if first and _is_header(passage, part, span):
            header = row
        else:
            for short in _short(_text(passage, row), Span(0, len(row)), settings.longest_unit):
                yield short.shift(row.start), header
        first = False


def _is_header(passage: Passage, part: _Part, row: Span) -> bool:
    rest = passage.text[row.end - passage.span.start : part.span.end - passage.span.start].lstrip("\n")
    line = rest.partition("\n")[0]
    return bool(line.strip()) and _RULE.fullmatch(line) is not None and "-" in line


def _bare(passage: Passage, span: Span) -> Span:
    """Return a line's span without white space and edge pipes."""
    text = _text(passage, span)
    start, end = 0, len(text)
    while start < end and (text[start].isspace() or text[start] == "|"):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] == "|"):
        end -= 1
    return Span(span.start + start, span.start + end)


def _short(text: str, span: Span, limit: int) -> Iterator[Span]:
    """Cut an overlong sentence at the last clause or blank before the limit, else at the limit."""
    bullet = _BULLET.match(text, span.start, span.end)
    at = bullet.end() if bullet else span.start
    while span.end - at > limit:
        cut = _cut(text, at, at + limit)
        piece = trim(text, Span(at, cut))
        if len(piece):
            yield piece
        at = cut
    piece = trim(text, Span(at, span.end))
    if len(piece):
        yield piece


def _cut(text: str, start: int, end: int) -> int:
    floor = start + (end - start) // 2
    clauses = [match.end() for match in _CLAUSE.finditer(text, floor, end)]
    if clauses:
        return clauses[-1]
    blank = max(text.rfind(" ", floor, end), text.rfind("\n", floor, end))
    if blank >= 0:
        return blank + 1
    for at in range(end, floor, -1):
        if not (text[at - 1].isalnum() and text[at].isalnum() and text[at].isascii()):
            return at
    return end


def _unit(passage: Passage, position: int, part: _Part, span: Span, header: Span | None, asked: str = "") -> Unit:
    headings = part.title_path or passage.title_path
    names = dict.fromkeys(name for name in (passage.title, *headings, edition_of(passage)) if name)
    header_quote = _text(passage, header) if header else ""
    return Unit(
        passage=position,
        span=span,
        kind=part.kind,
        quote=_text(passage, span),
        context=" › ".join([*names, *([header_quote] if header_quote else [])]),
        header=header,
        header_quote=header_quote,
        found=any(hit.intersect(span) is not None for hit in passage.hits),
        section=headings,
        block=part.span.start,
        asked=asked,
    )


def edition_of(passage: Passage) -> str:
    """Return the year in the name of a document's file, where its title has none: that is where many write it."""
    if "#" in passage.source or _YEAR.search(passage.title):  # a record's id is no name of an edition
        return ""
    years = _YEAR.findall(file_name(passage))
    return years[-1] if years else ""


def file_name(document: Passage) -> str:
    """Return the last part of a document's address, as people write it."""
    return unquote(re.split(r"[/#]", document.source.rstrip("/#"))[-1])


def blocks_at(blocks: Sequence[Block], position: int) -> Block | None:
    """Return the block that holds a character position."""
    return next((block for block in blocks if block.span.start <= position < block.span.end), None)
