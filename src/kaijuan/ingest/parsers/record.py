"""One record of a corpus file: its text is kept to the letter, so that spans also hold in the record itself."""

from __future__ import annotations

import re

from kaijuan.core.documents import BlockKind, ParsedBlock, ParsedDocument
from kaijuan.core.spans import Span, trim
from kaijuan.errors import EmptyDocumentError
from kaijuan.ingest.encoding import normal_newlines
from kaijuan.ingest.parsers.text import is_wrapped

_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_LINE_END = re.compile(r"\n")


class RecordParser:
    """Parser of kind "record". Paragraphs only: the title comes from the source, and nothing is guessed."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the record's paragraphs; the canonical text is the record's own, line ends made `\\n`."""
        text = normal_newlines(data.decode("utf-8", "replace")).replace("\x00", "")
        whole = trim(text, Span(0, len(text)))
        if whole.start == whole.end:
            raise EmptyDocumentError(f"{name} holds no text.")
        spans = _pieces(text, whole, _BLANK_LINES)
        if len(spans) == 1 and not is_wrapped(whole.of(text).split("\n")):
            spans = _pieces(text, whole, _LINE_END)
        blocks = tuple(ParsedBlock(kind=BlockKind.PARAGRAPH, span=span) for span in spans)
        return ParsedDocument(text=text, blocks=blocks, kind="record", title=name)


def _pieces(text: str, whole: Span, border: re.Pattern[str]) -> list[Span]:
    spans: list[Span] = []
    at = whole.start
    for found in border.finditer(text, whole.start, whole.end):
        spans.append(trim(text, Span(at, found.start())))
        at = found.end()
    spans.append(trim(text, Span(at, whole.end)))
    return [span for span in spans if span.start < span.end]
