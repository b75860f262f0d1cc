"""Words in the pictures of one document: each picture once, within a number and a time, photographs left silent."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kaijuan.core.documents import BlockKind
from kaijuan.errors import BrokenDocumentError, DocumentError
from kaijuan.ingest.recognising import PictureError

if TYPE_CHECKING:
    from kaijuan.ingest.parsers.draft import Draft, Origin
    from kaijuan.ingest.parsers.opc import Package
    from kaijuan.ingest.ports import PageImage, RecognisedLine, Recogniser

_MOST_PICTURES = 200
_MOST_SECONDS = 180.0
_MOST_BYTES = 50 * 2**20
_LEAST_SIDE = 24
_LEAST_DOTS = 2_000
"""Smaller pictures are bullets and lines."""
_LEAST_CONFIDENCE = 0.6
_LEAST_LETTERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a picture says, line by line, and how sure that is."""

    text: str = ""
    confidence: float = 1.0


SILENT = Words()


class FigureReader:
    """Reads the pictures of one document. A picture that comes again, as a logo does on each slide, is silent then."""

    def __init__(self, recogniser: Recogniser | None) -> None:
        self._recogniser = recogniser
        self._seen: set[bytes] = set()
        self._seconds = 0.0
        self._left_out = 0

    @property
    def is_on(self) -> bool:
        """Say whether there is anything to read with."""
        return self._recogniser is not None

    def read(self, data: bytes) -> Words:
        """Return the words in a picture of a package; what is no picture that can be opened is silent."""
        if self._recogniser is None or not data or len(data) > _MOST_BYTES or not self._is_new(data):
            return SILENT
        from kaijuan.ingest.parsers.pictures import dots_of, open_picture  # late: most documents have no pictures

        try:
            dots = dots_of(open_picture(data, "picture"), 1, "picture").image
        except DocumentError:
            return SILENT
        return _words(self.lines(dots), dots)

    def lines(self, dots: PageImage) -> list[RecognisedLine]:
        """Return the lines in a picture that are worth keeping, none when there is no time left."""
        height, width = dots.shape[:2]
        if self._recogniser is None or min(height, width) < _LEAST_SIDE or height * width < _LEAST_DOTS:
            return []
        if self._seconds >= _MOST_SECONDS or len(self._seen) > _MOST_PICTURES:
            self._left_out += 1
            return []
        start = time.monotonic()
        try:
            found = self._recogniser.recognise(dots)
        except PictureError:
            self._left_out += 1
            return []
        finally:
            self._seconds += time.monotonic() - start
        return [line for line in found if line.confidence >= _LEAST_CONFIDENCE and _is_word(line.text)]

    def is_new(self, dots: PageImage) -> bool:
        """Say whether a drawn picture is seen for the first time, and remember it."""
        return self._is_new(dots.tobytes())

    def _is_new(self, data: bytes) -> bool:
        key = hashlib.blake2b(data, digest_size=16).digest()
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def warnings(self) -> Iterator[str]:
        """Say how many pictures were not read."""
        if self._left_out:
            count = "1 picture was" if self._left_out == 1 else f"{self._left_out} pictures were"
            yield f"{count} not looked at for words: too many, or too slow to read."


class PackagePictures(FigureReader):
    """Reads the pictures of an Office package or a book by the names of their parts."""

    def __init__(self, recogniser: Recogniser | None, package: Package) -> None:
        super().__init__(recogniser)
        self._package = package

    def write(self, draft: Draft, said: str, part: str, origin: Origin) -> None:
        """Append a figure: what its author says of it, and the words in it; nothing where there is neither.

        The part is named at the end of its place, so that the picture can be fetched again from the file.
        """
        words = self._words(part)
        text = "\n".join(filter(None, (said, words.text if words.text != said else "")))
        place = ", ".join(filter(None, (origin.place, part)))
        draft.add(BlockKind.FIGURE, text, origin=replace(origin, place=place), confidence=words.confidence)

    def _words(self, part: str) -> Words:
        if not self.is_on or not part or part not in self._package or self._package.size(part) > _MOST_BYTES:
            return SILENT
        try:
            return self.read(self._package.read(part))
        except BrokenDocumentError:
            return SILENT  # a damaged picture is no reason to lose the text


def _is_word(text: str) -> bool:
    return sum(1 for char in text if char.isalnum()) >= _LEAST_LETTERS


def _words(lines: list[RecognisedLine], dots: PageImage) -> Words:
    """Put the lines of a picture in order."""
    from kaijuan.ingest.parsers.pdf_graphics import Graphics  # late: most documents have no pictures
    from kaijuan.ingest.parsers.pdf_lines import LineMaker
    from kaijuan.ingest.parsers.pdf_order import lines_in_order
    from kaijuan.ingest.parsers.recognised import runs_of

    scale = 72 / 200
    height, width = (side * scale for side in dots.shape[:2])
    runs, _ = runs_of(lines, width=width, height=height, scale=scale)
    printed = lines_in_order(runs, Graphics(), 1, LineMaker())
    total = sum(len(line.text) for line in lines)
    return Words(
        text="\n".join(line.text for line in printed),
        confidence=sum(len(line.text) * line.confidence for line in lines) / total if total else 1.0,
    )
