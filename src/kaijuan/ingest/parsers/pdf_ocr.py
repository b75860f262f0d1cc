"""Pages of a PDF without a usable text layer: drawn, and read by text recognition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pypdfium2 as pypdfium

from kaijuan.ingest.parsers.figure_words import FigureReader
from kaijuan.ingest.parsers.pdf_doubts import Doubts, words_inside
from kaijuan.ingest.parsers.pdf_graphics import Box, Graphics
from kaijuan.ingest.parsers.pdf_lines import Line, LineMaker, Run
from kaijuan.ingest.parsers.pdf_order import lines_in_order
from kaijuan.ingest.parsers.pdf_page import PageText
from kaijuan.ingest.parsers.recognised import Frame, runs_of
from kaijuan.ingest.recognising import PictureError, TimeUsedUpError

if TYPE_CHECKING:
    from kaijuan.ingest.ports import PageImage, Recogniser

_DOTS_AN_INCH = 200
_MOST_DOTS = 12_000_000
"""Of one page: A3 at 200 dots an inch has 7.7 million; larger pages are drawn coarser."""
_LEAST_WIDTH, _LEAST_HEIGHT = 60.0, 30.0
_LEAST_SHARE, _MOST_SHARE = 0.015, 0.9
"""Pictures so large, in points and as shares of the page, are looked at for words."""
_LEAST_LETTERS = 4
_MARGIN = 6.0


class PageReader:
    """Reads pages of one document without a usable text layer, and pictures on the others, while there is time."""

    def __init__(self, recogniser: Recogniser | None) -> None:
        self._recogniser = recogniser
        self._doubts = Doubts()
        self._figures = FigureReader(recogniser)
        self._read_figures: dict[int, list[tuple[Box, list[Run]]]] = {}
        self.frames: dict[int, Frame] = {}
        """By page number, for each page that was read so."""
        self.late: list[int] = []
        """Pages for which no time was left."""

    @property
    def is_on(self) -> bool:
        """Say whether there is anything to read with."""
        return self._recogniser is not None

    def read(self, page: Any, number: int, text: PageText) -> PageText:
        """Return what a page holds, recognised where its text layer is missing or does not say what it shows.

        Runs and sizes are those of the upright frame. A page stays unread when there is no recogniser, no time, or
        when it cannot be drawn.
        """
        if self._recogniser is None:
            return text
        doubtful = not text.unread and self._doubts.about(text)
        if not text.unread and not doubtful:
            self._look_at_pictures(page, number, text)
            return text
        try:
            image, scale = drawn(page, text.width, text.height)
            lines = self._recogniser.recognise(image)
        except (pypdfium.PdfiumError, PictureError) as error:
            if isinstance(error, TimeUsedUpError) and not doubtful:
                self.late.append(number)
            return text
        if doubtful and self._doubts.agree(text, lines):
            return text
        from kaijuan.ingest.parsers.scanned_rules import cut_at_rules, rules_of  # late, as in `drawn`

        runs, frame = runs_of(lines, width=text.width, height=text.height, scale=scale)
        rules = rules_of(image, runs, frame)
        self.frames[number] = frame
        width, height = frame.size
        runs = cut_at_rules(runs, rules.standing)
        return replace(text, width=width, height=height, runs=runs, unread=False, graphics=rules)

    def size(self, number: int, width: float, height: float) -> tuple[float, float]:
        """Return the size of a page as shown, from that of its upright frame."""
        frame = self.frames.get(number)
        return (frame.width, frame.height) if frame is not None else (width, height)

    def _look_at_pictures(self, page: Any, number: int, text: PageText) -> None:
        """Recognise words in the pictures of a page, where no text of its layer stands."""
        area = text.width * text.height
        for box in text.graphics.pictures:
            across, down = box[2] - box[0], box[3] - box[1]
            large = across >= _LEAST_WIDTH and down >= _LEAST_HEIGHT and across * down >= _LEAST_SHARE * area
            if not large or across * down > _MOST_SHARE * area or words_inside(text.runs, box):
                continue
            try:
                image, scale = drawn(page, text.width, text.height, box)
            except (pypdfium.PdfiumError, ValueError):
                continue
            lines = self._figures.lines(image) if self._figures.is_new(image) else []
            runs, frame = runs_of(lines, width=across, height=down, scale=scale)
            if frame.turn == 0 and sum(len(run.chars) for run in runs) >= _LEAST_LETTERS:
                moved = [_moved(run, max(box[0], 0.0), max(box[1], 0.0)) for run in runs]
                self._read_figures.setdefault(number, []).append((box, moved))

    def with_figures(self, number: int, lines: list[Line], maker: LineMaker) -> list[Line]:
        """Return the lines of a page with those in its pictures, each picture behind what stands above it."""
        for box, runs in self._read_figures.pop(number, []):
            inner = lines_in_order(runs, Graphics(), number, maker)
            caption = next(
                (line for line in lines if line.caption_of is not None and _meet(line.caption_of, box)), None
            )
            above = [
                at
                for at, line in enumerate(lines)
                if line.y1 <= box[1] + _MARGIN and line.x0 < box[2] and line.x1 > box[0]
            ]
            place = lines.index(caption) if caption is not None else (above[-1] + 1 if above else 0)
            for line in inner:
                line.figure = box if caption is None else caption.caption_of
            lines = [*lines[:place], *inner, *lines[place:]]
        return lines

    def warnings(self) -> Iterator[str]:
        """Say which pictures were not looked at."""
        yield from self._figures.warnings()


def _moved(run: Run, x: float, y: float) -> Run:
    return replace(
        run,
        lefts=[left + x for left in run.lefts],
        rights=[right + x for right in run.rights],
        x0=run.x0 + x,
        y0=run.y0 + y,
        x1=run.x1 + x,
        y1=run.y1 + y,
    )


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def drawn(page: Any, width: float, height: float, box: Box | None = None) -> tuple[PageImage, float]:
    """Return a page, or a box of it (as shown, in points), as an image, and points a dot.

    Raises PdfiumError when it cannot be drawn.
    """
    import numpy as np  # late: most files have a text layer

    left, top, right, bottom = box or (0.0, 0.0, width, height)
    left, top, right, bottom = max(left, 0.0), max(top, 0.0), min(right, width), min(bottom, height)
    scale = min(_DOTS_AN_INCH / 72, (_MOST_DOTS / max((right - left) * (bottom - top), 1.0)) ** 0.5)
    cut = (left, height - bottom, width - right, top)
    bitmap = page.render(scale=scale, crop=cut, rev_byteorder=True, prefer_bgrx=False)
    try:
        dots = bitmap.to_numpy()
        if dots.ndim == 2 or dots.shape[2] == 1:
            dots = np.repeat(dots.reshape(*dots.shape[:2], 1), 3, axis=2)
        # A copy: the bitmap's own memory goes with it.
        return np.array(dots[:, :, :3], np.uint8, order="C"), (right - left) / max(bitmap.width, 1)
    finally:
        bitmap.close()
