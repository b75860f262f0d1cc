"""Old Word files ([MS-DOC]): the text from its pieces, and what each paragraph is."""

from __future__ import annotations

import io
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from kaijuan.errors import BrokenDocumentError, EncryptedDocumentError

_MAGIC = 0xA5EC
_ENCRYPTED, _TABLE_ONE = 0x0100, 0x0200
_COUNTS = 0x4C
"""Where the numbers of characters of the parts stand: text, footnotes, headers, -, comments, endnotes, text boxes."""
_STYLES, _PAGES, _PIECES = 0xA2, 0x102, 0x1A2
_COMPRESSED = 0x40000000
_FKP = 512
_MOST_PIECES = 1_000_000
# Properties of paragraphs ([MS-DOC] 2.6.2).
_IN_TABLE, _ROW_END, _OUTLINE, _LIST, _LIST_LEVEL = 0x2416, 0x2417, 0x2640, 0x460B, 0x260A
_SIZES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
"""Bytes of an operand by the top three bits of its property; 6 says its own size."""
_TABLE_DEFINITION = 0xD608
_HEADINGS = range(1, 10)
_TITLE_STYLE, _CAPTION_STYLE = 62, 34


@dataclass(frozen=True, slots=True)
class Shape:
    """What a paragraph is."""

    level: int = 0
    in_table: bool = False
    row_end: bool = False
    listed: bool = False
    depth: int = 0
    caption: bool = False
    title: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    """First character position."""
    end: int
    offset: int
    """Place of its bytes in the stream."""
    wide: bool


class WordFile:
    """An old Word file: `text` of the body, notes and text boxes, and the shape of each paragraph."""

    def __init__(self, data: bytes, name: str) -> None:
        import olefile

        try:
            with olefile.OleFileIO(io.BytesIO(data)) as container:
                self._main = container.openstream("WordDocument").read()
                flags = struct.unpack_from("<H", self._main, 0x0A)[0]
                table = "1Table" if flags & _TABLE_ONE else "0Table"
                if flags & _ENCRYPTED:
                    raise EncryptedDocumentError(f"{name} is protected with a password.")
                self._table = container.openstream(table).read() if container.exists(table) else b""
            if struct.unpack_from("<H", self._main, 0)[0] != _MAGIC or not self._table:
                raise BrokenDocumentError(f"{name} is older than Word 97, or no Word document.")
            counts = struct.unpack_from("<8I", self._main, _COUNTS)
            self._pieces = list(self._read_pieces())
            self._styles = self._read_styles()
            self._runs = self._read_runs()
        except (OSError, struct.error, IndexError, ValueError, TypeError, AttributeError) as error:
            raise BrokenDocumentError(f"{name} is a damaged Word document: {error}.") from error
        body, notes, headers, macros, remarks, endnotes, boxes, _ = counts
        self.body = (0, body)
        self.footnotes = (body, body + notes)
        start = body + notes + headers + macros + remarks
        self.endnotes = (start, start + endnotes)
        self.boxes = (start + endnotes, start + endnotes + boxes)

    def _slice(self, place: int) -> bytes:
        """Return the part of the table stream that the head of the file names at `place`."""
        start, size = struct.unpack_from("<II", self._main, place)
        return self._table[start : start + size] if size else b""

    def _read_pieces(self) -> Iterator[_Piece]:
        data = self._slice(_PIECES)
        at = 0
        while at < len(data) and data[at] == 1:  # properties that pieces share
            at += 3 + struct.unpack_from("<H", data, at + 1)[0]
        if at >= len(data) or data[at] != 2:
            raise ValueError("it has no table of pieces")
        size = struct.unpack_from("<I", data, at + 1)[0]
        plc = data[at + 5 : at + 5 + size]
        count = min((len(plc) - 4) // 12, _MOST_PIECES)
        starts = struct.unpack_from(f"<{count + 1}I", plc, 0)
        for number in range(count):
            offset = struct.unpack_from("<I", plc, 4 * (count + 1) + 8 * number + 2)[0]
            wide = not offset & _COMPRESSED
            offset &= ~_COMPRESSED
            yield _Piece(starts[number], starts[number + 1], offset if wide else offset // 2, wide)

    def text(self, span: tuple[int, int]) -> str:
        """Return characters by their positions."""
        parts = []
        for piece in self._pieces:
            start, end = max(piece.start, span[0]), min(piece.end, span[1])
            if start < end:
                size = 2 if piece.wide else 1
                at = piece.offset + (start - piece.start) * size
                data = self._main[at : at + (end - start) * size]
                parts.append(data.decode("utf-16-le" if piece.wide else "cp1252", "replace"))
        return "".join(parts)

    def shape_at(self, position: int) -> Shape:
        """Return the shape of the paragraph that ends with the character at a position."""
        at = bisect_right(self._pieces, position, key=lambda piece: piece.start) - 1
        if at < 0 or position >= self._pieces[at].end:
            return Shape()
        piece = self._pieces[at]
        place = piece.offset + (position - piece.start) * (2 if piece.wide else 1)
        run = bisect_right(self._runs[0], place) - 1
        return self._runs[1][run] if run >= 0 else Shape()

    def _read_styles(self) -> list[int]:
        """Return by number which of the built-in styles each style is."""
        data = self._slice(_STYLES)
        if len(data) < 6:
            return []
        head, count, base = struct.unpack_from("<HHH", data, 0)
        at = 2 + head
        found = []
        for _ in range(count):
            if at + 2 > len(data):
                break
            size = struct.unpack_from("<H", data, at)[0]
            found.append(struct.unpack_from("<H", data, at + 2)[0] & 0x0FFF if size >= min(base, 2) and size else 0)
            at += 2 + size + (size & 1)
        return found

    def _read_runs(self) -> tuple[list[int], list[Shape]]:
        """Return where runs of paragraphs begin in the stream, in order, and their shapes."""
        plc = self._slice(_PAGES)
        count = max(0, (len(plc) - 4) // 8)
        found: dict[int, Shape] = {}
        for number in struct.unpack_from(f"<{count}I", plc, 4 * (count + 1)) if count else ():
            page = self._main[(number & 0x3FFFFF) * _FKP : (number & 0x3FFFFF) * _FKP + _FKP]
            if len(page) < _FKP:
                continue
            runs = page[-1]
            places = struct.unpack_from(f"<{runs + 1}I", page, 0)
            for at in range(runs):
                offset = page[4 * (runs + 1) + 13 * at] * 2
                found[places[at]] = self._shape(page, offset) if offset else Shape()
            found.setdefault(places[runs], Shape())
        ordered = sorted(found)
        return ordered, [found[place] for place in ordered]

    def _shape(self, page: bytes, offset: int) -> Shape:
        size = page[offset] * 2 - 1 if page[offset] else page[offset + 1] * 2
        start = offset + (1 if page[offset] else 2)
        data = page[start : start + size]
        if len(data) < 2:
            return Shape()
        style = struct.unpack_from("<H", data, 0)[0]
        built_in = self._styles[style] if style < len(self._styles) else 0
        values = dict(_properties(data[2:]))
        level = built_in if built_in in _HEADINGS else 0
        outline = values.get(_OUTLINE, 9)
        return Shape(
            level=outline + 1 if outline < 9 else level,
            in_table=bool(values.get(_IN_TABLE)),
            row_end=bool(values.get(_ROW_END)),
            listed=values.get(_LIST, 0) not in {0, 0xF801},
            depth=min(values.get(_LIST_LEVEL, 0), 8),
            caption=built_in == _CAPTION_STYLE,
            title=built_in == _TITLE_STYLE,
        )


def _properties(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield properties and their values, as far as they are small numbers."""
    at = 0
    while at + 2 <= len(data):
        name = struct.unpack_from("<H", data, at)[0]
        at += 2
        size = _SIZES.get(name >> 13)
        if size is None:
            if at >= len(data):
                return
            # Of a table's definition the size is in two bytes.
            long = name == _TABLE_DEFINITION and at + 2 <= len(data)
            size = struct.unpack_from("<H", data, at)[0] + 1 if long else data[at] + 1
        yield name, int.from_bytes(data[at : at + min(size, 4)], "little")
        at += size
