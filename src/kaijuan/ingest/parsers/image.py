"""Pictures as documents: scans, photographs of pages, screenshots. Every word has its place in the picture."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kaijuan.core.documents import BlockKind, ParsedDocument, Scalar
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError
from kaijuan.ingest.parsers.draft import Draft
from kaijuan.ingest.parsers.pdf_blocks import groups_of, hyphenated_words, written
from kaijuan.ingest.parsers.pdf_code import Typewriting
from kaijuan.ingest.parsers.pdf_furniture import without_furniture
from kaijuan.ingest.parsers.pdf_headings import Looks, printed_title
from kaijuan.ingest.parsers.pdf_lines import Line, LineMaker, sureness
from kaijuan.ingest.parsers.pdf_order import lines_in_order
from kaijuan.ingest.parsers.pictures import count_of, dots_of, open_picture
from kaijuan.ingest.parsers.recognised import Frame, as_shown, runs_of
from kaijuan.ingest.parsers.scanned_rules import cut_at_rules, rules_of
from kaijuan.ingest.recognising import PictureError, TimeUsedUpError

if TYPE_CHECKING:
    from PIL.Image import Image

    from kaijuan.ingest.ports import Recogniser

_POINTS_A_DOT = 72 / 200
"""While lines are put in order a picture counts as scanned at 200 dots an inch; its boxes are in dots."""
_MOST_PAGES = 5_000
_TAKEN = (36867, 306)
"""EXIF: when the picture was taken, when its file was changed."""


class ImageParser:
    """Parser of kind "image". A dot of the picture is a point of the page; a TIFF may have many pages."""

    def __init__(self) -> None:
        self.recogniser: Recogniser | None = None

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the words in a picture, block by block."""
        picture = open_picture(data, name)
        if self.recogniser is None:
            raise EmptyDocumentError(
                f"{name} is a picture, and text recognition is off.", hint="Set ingest.recogniser to onboard."
            )
        pages = _Pages(picture, name, self.recogniser)
        pages.read()
        heights = [frame.size[1] for frame in pages.frames.values()]
        kept = without_furniture(pages.lines, heights)
        every = [line for lines in kept for line in lines]
        looks, typewriting = Looks(), Typewriting()
        looks.see(every)
        typewriting.see(every)
        body = looks.body()
        words = hyphenated_words(every)
        draft = Draft()
        for group in groups_of(kept, body, typewriting):
            made = written(group, words)
            kind = BlockKind.PARAGRAPH if made.unmade else group.kind
            sure = sureness(group.lines)
            draft.add(kind, made.text, level=group.level, lines=made.lines, confidence=sure, table=made.table)
        if not every:
            raise EmptyDocumentError(f"{name} shows no words that can be recognised.")
        parsed = draft.finish(
            "image", name, title=printed_title(kept, body), metadata=_metadata(picture), warnings=pages.warnings()
        )
        sizes = tuple(frame.shown for frame in pages.frames.values())
        return replace(
            as_shown(parsed, pages.frames), pages=len(sizes), page_sizes=sizes, unread_pages=tuple(pages.unread)
        )


class _Pages:
    """The pages of a picture while they are read."""

    def __init__(self, picture: Image, name: str, recogniser: Recogniser) -> None:
        self._picture = picture
        self._name = name
        self._recogniser = recogniser
        self._maker = LineMaker()
        self._late = False
        self.lines: list[list[Line]] = []
        self.frames: dict[int, Frame] = {}
        self.unread: list[int] = []

    def read(self) -> None:
        """Read one page after the other; one that cannot be read is counted and named."""
        count = count_of(self._picture, self._name)
        if count > _MOST_PAGES:
            raise BrokenDocumentError(f"{self._name} has {count} pages.")
        for number in range(1, count + 1):
            try:
                self._read(number)
            except (BrokenDocumentError, PictureError) as error:
                if count == 1 and isinstance(error, BrokenDocumentError):
                    raise
                self._late = self._late or isinstance(error, TimeUsedUpError)
                self.unread.append(number)
                self.lines.append([])
                self.frames.setdefault(number, Frame(width=0.0, height=0.0))
        if len(self.unread) == count:
            raise BrokenDocumentError(f"None of the pages of {self._name} can be read.")

    def _read(self, number: int) -> None:
        dots = dots_of(self._picture, number, self._name)
        width, height = dots.width * _POINTS_A_DOT, dots.height * _POINTS_A_DOT
        self.frames[number] = Frame(width=width, height=height, unit=1 / _POINTS_A_DOT)
        found = self._recogniser.recognise(dots.image)
        runs, frame = runs_of(found, width=width, height=height, scale=_POINTS_A_DOT * dots.less)
        self.frames[number] = replace(frame, unit=1 / _POINTS_A_DOT)
        rules = rules_of(dots.image, runs, frame)
        self.lines.append(lines_in_order(cut_at_rules(runs, rules.standing), rules, number, self._maker))

    def warnings(self) -> list[str]:
        """Say which pages were not read."""
        if not self.unread:
            return []
        why = "no time was left, see ingest.recognise_seconds" if self._late else "they are damaged"
        return [f"Pages could not be read ({why}): {', '.join(map(str, self.unread))}."]


def _metadata(picture: Image) -> dict[str, Scalar | tuple[str, ...]]:
    try:
        notes: Any = picture.getexif()
        said = [str(notes.get(key) or notes.get_ifd(34665).get(key) or "") for key in _TAKEN]
    except (OSError, ValueError, SyntaxError, KeyError, TypeError):
        return {}  # damaged notes cost a date, not the words
    dates = [date for text in said if (date := re.match(r"(\d{4}):(\d{2}):(\d{2})\b", text))]
    return {"created": "-".join(dates[0].groups())} if dates else {}
