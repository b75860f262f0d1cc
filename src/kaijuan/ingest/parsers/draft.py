"""The canonical text while it grows: blocks are appended, spans and title paths come out right by construction."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from kaijuan.core.documents import BlockKind, Metadata, ParsedBlock, ParsedDocument, Table, TextLine
from kaijuan.core.packed_lines import packed
from kaijuan.core.spans import Span
from kaijuan.errors import EmptyDocumentError
from kaijuan.ingest.parsers.joining import close_up
from kaijuan.ingest.parsers.pipes import PipeTable

SEPARATOR = "\n\n"
_TITLE_LIMIT = 200
_PLACE_LIMIT = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a block stands in its file (see `Block.place`), and what it is written in."""

    place: str = ""
    pages: tuple[int, ...] = ()
    syntax: str = ""


NOWHERE = Origin()


class Draft:
    """Collects blocks in reading order. Blocks are separated by a blank line and never empty."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[ParsedBlock] = []
        self._above: list[tuple[int, str]] = []
        self.first_heading = ""
        self.first_top_heading = ""

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        lines: Sequence[TextLine] = (),
        confidence: float = 1.0,
        origin: Origin = NOWHERE,
        table: Table | None = None,
    ) -> None:
        """Append one block; white space around it is dropped and nothing is added when nothing is left.

        `lines` and `table` count from the start of `text`, which then must have no white space around it.
        """
        text = text.strip("\n").rstrip() if kind is BlockKind.CODE else text.strip()
        if not text.strip():
            return
        if kind is BlockKind.HEADING and not lines:
            text = close_up(" ".join(text.split()))
        start = self._length + (len(SEPARATOR) if self._parts else 0)
        path = self._path_for(level, text)
        span = Span(start, start + len(text))
        self._blocks.append(
            ParsedBlock(
                kind=kind,
                span=span,
                level=level,
                title_path=path,
                lines=packed(lines, start),
                confidence=confidence,
                pages=origin.pages,
                place=origin.place[:_PLACE_LIMIT],
                syntax=origin.syntax,
                table=table.shift(start) if table is not None else None,
            )
        )
        self._parts.append(text)
        self._length = span.end

    def leave_headings(self) -> None:
        """Begin a part (a slide) to which the headings before it do not belong."""
        self._above.clear()

    def add_table(self, made: PipeTable | None, *, origin: Origin = NOWHERE) -> None:
        """Append a table with its cells; nothing when there is none."""
        if made is not None:
            self.add(BlockKind.TABLE, made.text, table=made.table, origin=origin)

    def _path_for(self, level: int, text: str) -> tuple[str, ...]:
        if not level:
            return tuple(title for _, title in self._above)
        while self._above and self._above[-1][0] >= level:
            self._above.pop()
        path = tuple(title for _, title in self._above)
        title = " ".join(text.split())[:_TITLE_LIMIT]
        self._above.append((level, title))
        self.first_heading = self.first_heading or title
        if level == 1:
            self.first_top_heading = self.first_top_heading or title
        return path

    def finish(
        self,
        kind: str,
        name: str,
        *,
        title: str = "",
        metadata: Metadata | None = None,
        warnings: Iterable[str] = (),
        pages: int = 0,
    ) -> ParsedDocument:
        """Return the document; its title is the one given, else the first heading, else the file name.

        Raises EmptyDocumentError when there is no block.
        """
        if not self._blocks:
            raise EmptyDocumentError(f"{name} holds no text.")
        text = SEPARATOR.join(self._parts)
        self._parts = [text]  # what it is made of is as long as itself
        title = " ".join(title.split()) or self.first_top_heading or self.first_heading or stem(name)
        return ParsedDocument(
            text=text,
            blocks=tuple(_below_title(block, title) for block in self._blocks),
            kind=kind,
            pages=pages,
            title=title[:_TITLE_LIMIT],
            metadata=metadata or {},
            warnings=tuple(warnings),
        )


def _below_title(block: ParsedBlock, title: str) -> ParsedBlock:
    """Leave the document's title out of a title path: it is kept once, with the document."""
    if block.title_path and block.title_path[0] == title[:_TITLE_LIMIT]:
        return replace(block, title_path=block.title_path[1:])
    return block


def stem(name: str) -> str:
    """Return a file name without folders and ending, in composed Unicode, on one line."""
    last = PurePath(name.replace("\n", " ")).name or name
    base = last.rpartition(".")[0] or last
    return unicodedata.normalize("NFC", base).strip() or last
