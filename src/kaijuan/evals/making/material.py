"""What questions are made from: the statements, sections and tables of each document, with their exact places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kaijuan.answer.faq import exchanges
from kaijuan.answer.units import cells, one_line
from kaijuan.core.documents import Block, BlockKind
from kaijuan.core.spans import Span, trim
from kaijuan.core.text.sentences import sentences
from kaijuan.evals.making.items import Evidence, Head

LONGEST_STATEMENT = 320
"""Characters of a sentence from which a question is made: longer ones say too much at once."""
LONGEST_SECTION = 1500
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE})
_RULE = re.compile(r"[|\s:+=-]+")
_NUMBERED = re.compile(
    r"\A\s*(?:第[一二三四五六七八九十百零\d]+[章节節篇编編部条條]\s*|[（(]?[一二三四五六七八九十百]+[)）、.．]\s*"
    r"|(?:Section|Chapter|Article|Part|Appendix)\s+[\dIVXA-Z]+[.:)]?\s+|[（(]?\d{1,3}(?:\.\d{1,3})*[)）、.．]?\s+)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence. `text` is it on one line; `evidence` is where it stands, to the letter."""

    evidence: Evidence
    text: str
    section: tuple[str, ...]
    lead: bool
    """Whether it is the first of its document."""
    place: int
    """Position of its block in the document: statements of one block are read together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What stands under one heading, up to the next."""

    heading: str
    evidence: Evidence
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a table below its header."""

    evidence: Evidence
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with a header. Every row has as many cells as the header."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    section: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """A question that the document itself asks, with the answer that it gives."""

    question: str
    answer: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything in one document that questions can be made from."""

    head: Head
    statements: tuple[Statement, ...]
    sections: tuple[Section, ...]
    tables: tuple[Table, ...]
    exchanges: tuple[Exchanged, ...]
    lower_words: frozenset[str] = frozenset()
    """Of an English document with headings: the words that it writes with small letters, and so are no names."""


def material_of(head: Head, text: str, blocks: Sequence[Block]) -> Material:
    """Return what one document offers; spans count in `text`."""
    reader = _Reader(head, text, blocks)
    pairs = tuple(reader.exchanges())
    return Material(
        head=head,
        statements=() if pairs else tuple(reader.statements()),
        sections=() if pairs else tuple(reader.sections()),
        tables=tuple(reader.tables()),
        exchanges=pairs,
        lower_words=_lower_words(text) if head.language == "en" and reader.has_headings else frozenset(),
    )


def bare_heading(heading: str) -> str:
    """Return a heading without its number: "3.1 Annual leave" is about annual leave."""
    return _NUMBERED.sub("", one_line(heading)).strip(" :：.。#")


def _lower_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"(?<![^\W_])[a-z]{2,}(?![^\W_])", text))


class _Reader:
    """Reads one document."""

    def __init__(self, head: Head, text: str, blocks: Sequence[Block]) -> None:
        self._head, self._text, self._blocks = head, text, blocks
        self.has_headings = any(block.kind is BlockKind.HEADING for block in blocks)

    def _evidence(self, span: Span) -> Evidence:
        return Evidence(document=self._head, span=span, quote=span.of(self._text))

    def statements(self) -> Iterator[Statement]:
        lead = True
        for place, block in enumerate(self._blocks):
            if block.kind not in _PROSE:
                continue
            for span in sentences(block.span.of(self._text)):
                evidence = self._evidence(span.shift(block.span.start))
                text = one_line(evidence.quote)
                if len(text) <= LONGEST_STATEMENT:
                    yield Statement(evidence=evidence, text=text, section=block.title_path, lead=lead, place=place)
                lead = False

    def sections(self) -> Iterator[Section]:
        for at, block in enumerate(self._blocks):
            if block.kind is not BlockKind.HEADING:
                continue
            body: list[Block] = []
            for below in self._blocks[at + 1 :]:
                if below.kind is BlockKind.HEADING:
                    break
                body.append(below)
            if not body:
                continue
            span = trim(self._text, Span(body[0].span.start, body[-1].span.end))
            if len(span) <= LONGEST_SECTION:
                evidence = self._evidence(span)
                yield Section(heading=block.span.of(self._text), evidence=evidence, text=evidence.quote)

    def tables(self) -> Iterator[Table]:
        for block in self._blocks:
            text = block.span.of(self._text)
            if block.kind is BlockKind.TABLE or text.count("|") >= 4:
                table = self._table(block, text)
                if table is not None:
                    yield table

    def _table(self, block: Block, text: str) -> Table | None:
        lines: list[Span] = []
        at = block.span.start
        for line in text.splitlines(keepends=True):
            lines.append(trim(self._text, Span(at, at + len(line))))
            at += len(line)
        lines = [line for line in lines if len(line)]
        if len(lines) < 3 or not _RULE.fullmatch(lines[1].of(self._text)) or "-" not in lines[1].of(self._text):
            return None
        header = tuple(cells(lines[0].of(self._text)))
        read = [Row(evidence=self._evidence(line), cells=tuple(cells(line.of(self._text)))) for line in lines[2:]]
        rows = tuple(row for row in read if len(row.cells) == len(header))
        return Table(header=header, rows=rows, section=block.title_path) if rows else None

    def exchanges(self) -> Iterator[Exchanged]:
        asked = ""
        for block in self._blocks:
            if block.kind is not BlockKind.PARAGRAPH:
                asked = ""
                continue
            text = block.span.of(self._text)
            pairs = exchanges(text, asked)
            for pair in pairs:
                if len(pair.answer):
                    evidence = self._evidence(pair.answer.shift(block.span.start))
                    yield Exchanged(question=pair.question, answer=one_line(evidence.quote), evidence=evidence)
            asked = pairs[-1].question if pairs and not len(pairs[-1].answer) else ""
