"""Old Word documents (doc): headings, paragraphs, lists, tables, notes. Numbers that Word itself counts are lost."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.ingest.parsers.doc_file import Shape, WordFile
from kaijuan.ingest.parsers.draft import Draft, Origin
from kaijuan.ingest.parsers.headings import numbered_level
from kaijuan.ingest.parsers.ole_properties import properties_of
from kaijuan.ingest.parsers.pipes import Cell, table_of

_BREAK = re.compile(r"[\r\x07\x0c]")
_FIELD = re.compile(r"\x13[^\x13\x14\x15]*(?:\x14([^\x13\x14\x15]*))?\x15")
_MOST_FIELDS = 20
"""How deep fields lie in each other."""
_SIGNS = str.maketrans({"\x0b": "\n", "\x1e": "-", "\xa0": " ", "\x1f": None, "\t": " "})
_UNSEEN = re.compile(r"[\x00-\x09\x0c\x0e-\x1d]")
_BLANKS = re.compile(r"[^\S\n\u3000]+")
_LONG_ITEM = 120


class DocParser:
    """Parser of kind "doc"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the document's blocks, each with the number of its paragraph; summary properties become metadata."""
        file = WordFile(data, name)
        writer = _Writer(file)
        writer.write(file.body)
        for span in (file.footnotes, file.endnotes):
            writer.notes(span)
        writer.write(file.boxes)
        metadata = properties_of(data)
        title = writer.title or str(metadata.pop("title", ""))
        metadata.pop("title", None)
        return writer.draft.finish("doc", name, title=title, metadata=metadata, warnings=writer.warnings)


class _Writer:
    def __init__(self, file: WordFile) -> None:
        self.draft = Draft()
        self.title = ""
        self.warnings: list[str] = []
        self._file = file
        self._number = 0
        self._items: list[str] = []
        self._items_from = 0
        self._rows: list[list[Cell]] = []
        self._row: list[Cell] = []
        self._cell: list[str] = []
        self._rows_from = 0

    def write(self, span: tuple[int, int]) -> None:
        for text, mark, shape in self._paragraphs(span):
            self._number += 1
            if shape.in_table or mark == "\x07":
                self._end_items()
                self._in_table(text, mark, shape)
            else:
                self._end_table()
                self._place(text, shape)
        self._end_table()
        self._end_items()

    def notes(self, span: tuple[int, int]) -> None:
        lines = [text for text, _, _ in self._paragraphs(span) if text]
        for line in lines:
            self.draft.add(BlockKind.FOOTNOTE, line, origin=Origin(place="notes"))

    def _paragraphs(self, span: tuple[int, int]) -> Iterator[tuple[str, str, Shape]]:
        """Yield the words of each paragraph, the character that ends it, and its shape."""
        text = self._file.text(span)
        start = 0
        for end in (*(found.start() for found in _BREAK.finditer(text)), len(text)):
            if end < len(text) or text[start:end].strip():
                mark = text[end : end + 1]
                yield _shown(text[start:end]), mark, self._file.shape_at(span[0] + min(end, len(text) - 1))
            start = end + 1

    def _place(self, text: str, shape: Shape) -> None:
        if not text:
            return
        origin = Origin(place=f"para {self._number}")
        if shape.listed and not shape.level and len(text) <= _LONG_ITEM:
            self._items_from = self._items_from or self._number
            self._items.append("  " * shape.depth + f"- {text}".replace("\n", "\n  "))
            return
        self._end_items()
        if shape.listed and not self.warnings:
            self.warnings.append("Numbers that Word counts by itself are not kept in this old format.")
        level = shape.level or (1 if shape.title else 0 if shape.listed else numbered_level(text))
        if shape.title:
            self.title = self.title or text
        kind = BlockKind.HEADING if level else BlockKind.CAPTION if shape.caption else BlockKind.PARAGRAPH
        self.draft.add(kind, " ".join(text.split("\n")) if level else text, level=level, origin=origin)

    def _end_items(self) -> None:
        if self._items:
            origin = Origin(place=f"para {self._items_from}")
            self.draft.add(BlockKind.LIST, "\n".join(self._items), origin=origin)
            self._items = []
            self._items_from = 0

    def _in_table(self, text: str, mark: str, shape: Shape) -> None:
        self._rows_from = self._rows_from or self._number
        if shape.row_end:
            self._end_row()
            return
        self._cell.append(text)
        if mark == "\x07":
            self._row.append(Cell("\n".join(filter(None, self._cell))))
            self._cell = []

    def _end_row(self) -> None:
        if self._row:
            self._rows.append(self._row)
            self._row = []

    def _end_table(self) -> None:
        if self._cell:
            self._row.append(Cell("\n".join(filter(None, self._cell))))
            self._cell = []
        self._end_row()
        if self._rows:
            origin = Origin(place=f"table after para {self._rows_from - 1}")
            self.draft.add_table(table_of(self._rows), origin=origin)
            self._rows = []
            self._rows_from = 0


def _shown(text: str) -> str:
    """Return text with the results of fields in their place, and without marks of pictures and notes."""
    for _ in range(_MOST_FIELDS):
        text, count = _FIELD.subn(lambda found: found[1] or "", text)
        if not count:
            break
    text = _UNSEEN.sub("", text.translate(_SIGNS))
    return "\n".join(_BLANKS.sub(" ", line).strip() for line in text.split("\n")).strip()
