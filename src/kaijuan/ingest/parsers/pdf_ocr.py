"""Pages of a PDF without a usable text layer: drawn, and read by text recognition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pypdfium2 as pypdfium

from kaijuan.ingest.parsers.pdf_page import PageText
from kaijuan.ingest.parsers.recognised import Frame, runs_of
from kaijuan.ingest.recognising import PictureError, TimeUsedUpError

if TYPE_CHECKING:
    from kaijuan.ingest.ports import PageImage, Recogniser

_DOTS_AN_INCH = 200
_MOST_DOTS = 12_000_000
"""Of one page: A3 at 200 dots an inch has 7.7 million; larger pages are drawn coarser."""


class PageReader:
    """Reads the pages of one document that have no text layer, as long as there is time."""

    def __init__(self, recogniser: Recogniser | None) -> None:
        self._recogniser = recogniser
        self.frames: dict[int, Frame] = {}
        """By page number, for each page that was read so."""
        self.late: list[int] = []
        """Pages for which no time was left."""

    @property
    def is_on(self) -> bool:
        """Say whether there is anything to read with."""
        return self._recogniser is not None

    def read(self, page: Any, number: int, text: PageText) -> PageText:
        """Return what a page holds, recognised where its text layer is not usable.

        Runs and sizes are those of the upright frame. A page stays unread when there is no recogniser, no time, or
        when it cannot be drawn.
        """
        if not text.unread or self._recogniser is None:
            return text
        try:
            image, scale = drawn(page, text.width, text.height)
            lines = self._recogniser.recognise(image)
        except (pypdfium.PdfiumError, PictureError) as error:
            if isinstance(error, TimeUsedUpError):
                self.late.append(number)
            return text
        from kaijuan.ingest.parsers.scanned_rules import cut_at_rules, rules_of  # late, as above

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


def drawn(page: Any, width: float, height: float) -> tuple[PageImage, float]:
    """Return a page as an image, and points a dot. Raises PdfiumError when it cannot be drawn."""
    import numpy as np  # late: most files have a text layer

    scale = min(_DOTS_AN_INCH / 72, (_MOST_DOTS / max(width * height, 1.0)) ** 0.5)
    bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
    try:
        dots = bitmap.to_numpy()
        if dots.ndim == 2 or dots.shape[2] == 1:
            dots = np.repeat(dots.reshape(*dots.shape[:2], 1), 3, axis=2)
        # A copy: the bitmap's own memory goes with it.
        return np.array(dots[:, :, :3], np.uint8, order="C"), width / max(bitmap.width, 1)
    finally:
        bitmap.close()
