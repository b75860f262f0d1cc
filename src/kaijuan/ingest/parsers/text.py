"""Plain text: paragraphs by blank lines, clear headings, hard-wrapped lines put together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import EmptyDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.parsers.contents import contents_lines
from kaijuan.ingest.parsers.draft import Draft, stem
from kaijuan.ingest.parsers.headings import numbered_level
from kaijuan.ingest.parsers.item_headings import Style, heading_level, heading_styles, width
from kaijuan.ingest.parsers.joining import join_lines

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_LIST_LINE = re.compile(r"\s*(?:[-*•·●○■□▪–]\s|\(?\d{1,3}[.)、）]|[（(][一二三四五六七八九十\d]{1,3}[)）])")
_WRAP_LEAST, _WRAP_MOST = 40, 130
"""Columns (a Han character takes two) between which lines may have been wrapped by a program."""
_WRAP_SHARE = 0.72


class TextParser:
    """Parser of kind "text". Linear in the length, also without a single line end."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return paragraphs, lists and clearly numbered headings; a printed table of contents is left out."""
        decoded = decode(data)
        if not decoded.text.strip():
            raise EmptyDocumentError(f"{name} is empty.")
        draft = Draft()
        lines = decoded.text.split("\n")
        gone = contents_lines(lines)
        lines = ["" if at in gone else line for at, line in enumerate(lines)]
        pieces = list(paragraphs("\n".join(lines)))
        styles = heading_styles(lines)
        titles = []
        for paragraph, following in zip(pieces, [*pieces[1:], ""], strict=True):
            for part, level in _parts(paragraph, following, styles):
                titles.append(_add(draft, part, level))
        # A numbered item may head the text below it, but is no title of the whole.
        title = draft.first_top_heading or next(filter(None, titles), "") or stem(name)
        metadata = {"encoding": decoded.encoding}
        return draft.finish("text", name, title=title, metadata=metadata, warnings=decoded.warnings)


def paragraphs(text: str) -> Iterator[str]:
    """Yield the pieces between blank lines; every line when there is no blank line and lines are not wrapped."""
    pieces = [piece for piece in _PARAGRAPH_END.split(text) if piece.strip()]
    if len(pieces) == 1 and not is_wrapped(pieces[0].strip("\n").split("\n")):
        pieces = [line for line in pieces[0].split("\n") if line.strip()]
    yield from pieces


def _parts(paragraph: str, following: str, styles: frozenset[Style]) -> Iterator[tuple[list[str], int]]:
    """Yield the lines of a paragraph, parted where a numbered line heads what is below it, each with its level."""
    lines = paragraph.strip("\n").split("\n")
    if not styles or is_wrapped(lines):
        yield lines, 0
        return
    part: list[str] = []
    for line, below in zip(lines, [*lines[1:], following.strip("\n").partition("\n")[0]], strict=True):
        if level := heading_level(line, below, styles):
            if part:
                yield part, 0
            yield [line], level
            part = []
        else:
            part.append(line)
    if part:
        yield part, 0


def _add(draft: Draft, lines: list[str], level: int) -> str:
    """Add lines as what they are; return the first of them that is a heading by its numbering alone."""
    if level:
        draft.add(BlockKind.HEADING, lines[0], level=level)
        return ""
    title = ""
    while lines and (level := numbered_level(lines[0])) and (len(lines) == 1 or not is_wrapped(lines)):
        title = title or lines[0]
        draft.add(BlockKind.HEADING, lines.pop(0), level=level)
    if not lines:
        return title
    if len(lines) > 1 and all(_LIST_LINE.match(line) or line[:1].isspace() for line in lines):
        draft.add(BlockKind.LIST, "\n".join(line.rstrip() for line in lines))
    elif is_wrapped(lines):
        draft.add(BlockKind.PARAGRAPH, join_lines(lines))
    else:
        draft.add(BlockKind.PARAGRAPH, "\n".join(line.rstrip() for line in lines))
    return title


def is_wrapped(lines: list[str]) -> bool:
    """Say whether a program broke these lines: three or more, all but the last nearly as long as the longest."""
    if len(lines) < 3 or any(_LIST_LINE.match(line) for line in lines[1:]):
        return False
    longest = max(len(line) for line in lines)
    if longest > _WRAP_MOST:
        return False
    widths = [width(line.strip()) for line in lines]
    full = max(widths)
    return _WRAP_LEAST <= full <= _WRAP_MOST and all(width >= full * _WRAP_SHARE for width in widths[:-1])
