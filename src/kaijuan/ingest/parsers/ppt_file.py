"""Old PowerPoint files ([MS-PPT]): records, the newest state of each slide, and the texts on it."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from kaijuan.errors import BrokenDocumentError, EncryptedDocumentError

_CONTAINER = 0xF
_HEAD = struct.Struct("<HHI")
_DEEPEST = 40
_MOST_RECORDS = 2_000_000
_MOST_EDITS = 10_000
_ENCRYPTED = 0xF3D1C4DF
# Types of records ([MS-PPT] 2.13.24).
_DOCUMENT, _SLIDE, _NOTES, _NOTES_ATOM, _SLIDE_ATOM = 1000, 1006, 1008, 1009, 1007
_PERSIST, _EDIT, _DIRECTORY = 1011, 4085, 6002
_LIST_WITH_TEXT, _TEXT_HEADER, _CHARS, _BYTES, _STYLE, _REFERENCE = 4080, 3999, 4000, 4008, 4001, 3998
_PLACEHOLDER = 3011
_SHAPE, _TEXT_BOX, _CLIENT_DATA, _GROUP_SHAPE = 0xF004, 0xF00D, 0xF011, 0xF009
_FURNITURE = frozenset({5, 6, 7, 8, 9, 10})
"""Placeholders of the master: dates, numbers, footers and headers."""
_RUN_FIELDS = (
    (0x000F, 2), (0x0080, 2), (0x0010, 2), (0x0040, 2), (0x0020, 4), (0x0800, 2), (0x1000, 2), (0x2000, 2), (0x4000, 2),
    (0x0100, 2), (0x0400, 2), (0x8000, 2),
)  # fmt: skip
"""Fields of a run of paragraphs that are there when one of the mask's bits is set, with their sizes."""
_TAB_STOPS, _LATER_FIELDS = 0x100000, ((0x010000, 2), (0x0E0000, 2), (0x200000, 2))


@dataclass(frozen=True, slots=True)
class Record:
    """One record; `data` without its head."""

    kind: int
    instance: int
    data: memoryview
    container: bool


@dataclass(slots=True)
class Text:
    """One text: what sort it is (0 title, 1 body, 2 notes, 4 other, 5 and 6 centred), and its paragraphs."""

    sort: int
    text: str = ""
    levels: list[tuple[int, bool | None]] = field(default_factory=list)
    """For each paragraph its level and whether it has a bullet (None where it has what is usual)."""


@dataclass(slots=True)
class Slide:
    """A slide's texts in the order in which they were laid, and its notes."""

    texts: list[Text] = field(default_factory=list)
    notes: list[Text] = field(default_factory=list)


def slides_of(data: bytes, name: str) -> list[Slide]:
    """Return the slides of a presentation in order. Raises BrokenDocumentError, or EncryptedDocumentError."""
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            current = container.openstream("Current User").read()
            stream = container.openstream("PowerPoint Document").read()
            if struct.unpack_from("<I", current, 12)[0] == _ENCRYPTED or container.exists("EncryptedSummary"):
                raise EncryptedDocumentError(f"{name} is protected with a password.")
        return _Presentation(stream, struct.unpack_from("<I", current, 16)[0]).slides()
    except (OSError, struct.error, IndexError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BrokenDocumentError(f"{name} is a damaged presentation: {error}.") from error


def records(data: memoryview) -> Iterator[Record]:
    """Yield the records side by side in some bytes; what breaks off ends them."""
    at = 0
    for _ in range(_MOST_RECORDS):
        if at + _HEAD.size > len(data):
            return
        version, kind, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield Record(kind, version >> 4, data[at : at + size], version & 0xF == _CONTAINER)
        at += size


def _all(data: memoryview, depth: int = 0) -> Iterator[Record]:
    if depth < _DEEPEST:
        for record in records(data):
            yield record
            if record.container:
                yield from _all(record.data, depth + 1)


class _Presentation:
    def __init__(self, stream: bytes, edit: int) -> None:
        self._stream = memoryview(stream)
        self._places: dict[int, int] = {}
        self._document = 0
        seen: set[int] = set()
        # Every saving appends an edit that points to the one before it; the newest place of an object counts.
        while edit and edit not in seen and len(seen) < _MOST_EDITS:
            seen.add(edit)
            record = self._at(edit)
            if record.kind != _EDIT:
                raise ValueError("its last edit cannot be found")
            before, directory, document = struct.unpack_from("<III", record.data, 8)
            self._document = self._document or document
            self._read_directory(directory)
            edit = before

    def _at(self, place: int) -> Record:
        record = next(records(self._stream[place:]), None)
        if record is None:
            raise ValueError("a record lies behind its end")
        return record

    def _read_directory(self, place: int) -> None:
        data = self._at(place).data
        at = 0
        while at + 4 <= len(data):
            head = struct.unpack_from("<I", data, at)[0]
            first, count = head & 0xFFFFF, head >> 20
            for number in range(count):
                self._places.setdefault(first + number, struct.unpack_from("<I", data, at + 4 + 4 * number)[0])
            at += 4 + 4 * count

    def slides(self) -> list[Slide]:
        document = self._at(self._places[self._document])
        if document.kind != _DOCUMENT:
            raise ValueError("it has no document")
        lists = {record.instance: record for record in records(document.data) if record.kind == _LIST_WITH_TEXT}
        notes = dict(self._notes(lists[2])) if 2 in lists else {}
        slides = []
        for reference, id, texts in _listed(lists[0]) if 0 in lists else ():
            slide = Slide(notes=notes.get(id, []))
            if reference in self._places:
                slide.texts = self._texts(self._at(self._places[reference]), texts)
            slides.append(slide)
        return slides

    def _notes(self, record: Record) -> Iterator[tuple[int, list[Text]]]:
        for reference, _, texts in _listed(record):
            if reference not in self._places:
                continue
            page = self._at(self._places[reference])
            slide = next(
                (struct.unpack_from("<I", at.data)[0] for at in records(page.data) if at.kind == _NOTES_ATOM), 0
            )
            yield slide, [text for text in self._texts(page, texts) if text.sort == 2]

    def _texts(self, page: Record, outline: list[Text]) -> list[Text]:
        """Return the texts of a page's shapes; those of placeholders may be kept in the outline."""
        found: list[Text] = []
        used: set[int] = set()
        for shape in (record for record in _all(page.data) if record.kind == _SHAPE):
            inner = list(_all(shape.data))
            place = next((at.data[4] for at in inner if at.kind == _PLACEHOLDER and len(at.data) > 4), 0)
            for box in (record for record in inner if record.kind == _TEXT_BOX):
                at = next((record for record in records(box.data) if record.kind == _REFERENCE), None)
                number = struct.unpack_from("<I", at.data)[0] if at else -1
                used.add(number)
                own = _read_texts(box.data) if number < 0 else outline[number : number + 1]
                found.extend(own if place not in _FURNITURE else ())
        return found + [text for number, text in enumerate(outline) if number not in used]


def _listed(record: Record) -> Iterator[tuple[int, int, list[Text]]]:
    """Yield for each page of a list its reference, its id, and its texts in the outline."""
    reference, id, start = -1, 0, 0
    at = 0
    data = record.data
    for inner in records(data):
        if inner.kind == _PERSIST:
            if reference >= 0:
                yield reference, id, _read_texts(data[start:at])
            reference = struct.unpack_from("<I", inner.data, 0)[0]
            id = struct.unpack_from("<I", inner.data, 12)[0]
            start = at + _HEAD.size + len(inner.data)
        at += _HEAD.size + len(inner.data)
    if reference >= 0:
        yield reference, id, _read_texts(data[start:])


def _read_texts(data: memoryview) -> list[Text]:
    texts: list[Text] = []
    for record in records(data):
        if record.kind == _TEXT_HEADER:
            texts.append(Text(struct.unpack_from("<I", record.data)[0]))
        elif record.kind in {_CHARS, _BYTES} and texts:
            codec = "utf-16-le" if record.kind == _CHARS else "latin-1"
            texts[-1].text = bytes(record.data).decode(codec, "replace")
        elif record.kind == _STYLE and texts:
            texts[-1].levels = list(_levels(record.data, texts[-1].text))
    return texts


def _levels(data: memoryview, text: str) -> Iterator[tuple[int, bool | None]]:
    """Yield level and bullet of each paragraph, from runs that count characters."""
    at, position = 0, 0
    ends = [place for place, char in enumerate(text + "\r") if char == "\r"]
    paragraph = 0
    while position <= len(text) and at + 10 <= len(data):
        count, level, mask = struct.unpack_from("<IHI", data, at)
        at += 10
        flags = struct.unpack_from("<H", data, at)[0] if mask & 0xF and at + 2 <= len(data) else None
        for bits, size in _RUN_FIELDS:
            at += size if mask & bits else 0
        if mask & _TAB_STOPS and at + 2 <= len(data):
            at += 2 + 4 * struct.unpack_from("<H", data, at)[0]
        for bits, size in _LATER_FIELDS:
            at += size if mask & bits else 0
        position += max(count, 1)
        while paragraph < len(ends) and ends[paragraph] < position:
            yield min(level, 8), bool(flags & 1) if flags is not None and mask & 1 else None
            paragraph += 1
