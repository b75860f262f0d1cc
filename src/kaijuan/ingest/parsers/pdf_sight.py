"""What of a page's text a reader sees: hidden words are told from shown ones, watermarks from words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pypdfium2 as pypdfium

from kaijuan.ingest.parsers.pdf_graphics import Box, Graphics
from kaijuan.ingest.parsers.pdf_lines import Run

_WHITE = 0xFFFFFF
_LEAST_CONTRAST = 24
"""Of 255, between text and ground, in the channel that differs most."""
_LEAST_DRAWN_CONTRAST = 20
_MOST_AREAS = 3_000
_SMALLEST = 1.0
_MOST_DOTS = 4_000_000
_DOTS_A_POINT = 2.0
_LONGEST = 2_000
_MOST_PASSAGES = 50
_FAINT = 110
"""Contrast below which large text may be a watermark."""
_LARGE = 24.0
_LARGER = 1.8
_LEAST_UNDER = 2


def parted_by_sight(runs: Sequence[Run], graphics: Graphics, page: Any) -> tuple[list[Run], list[str]]:
    """Return the runs that a reader of the page sees, and the texts of those that none sees.

    Words painted with nothing over a picture are the text layer of a scan and count as seen; so are those of a page
    on which nothing else stands, but then they are named as hidden too.
    """
    unseen = [run for run in runs if _is_hidden(run, graphics)]
    grounds = _Grounds(graphics)
    pale = [run for run in runs if not run.unseen and grounds.may_hide(run) and _has_no_contrast(run, graphics)]
    if pale:
        unseen += _without_drawn(pale, page)
    if not unseen:
        return list(runs), []
    gone = {id(run) for run in unseen}
    seen = [run for run in runs if id(run) not in gone]
    texts = list(_passages([run for run in runs if id(run) in gone]))
    if not seen and all(run.unseen for run in unseen):
        return list(runs), texts
    return seen, texts


class _Grounds:
    """Says by colour alone which runs may not stand out: nearly all text is dark, and no ground is."""

    def __init__(self, graphics: Graphics) -> None:
        self._colours = {_WHITE, *(colour for _, colour in graphics.areas)}
        self._known: dict[int, bool] = {}

    def may_hide(self, run: Run) -> bool:
        known = self._known.get(run.colour)
        if known is None:
            known = any(_contrast(run.colour, ground) < _LEAST_CONTRAST for ground in self._colours)
            self._known[run.colour] = known
        return known and not _is_tiny(run)


def _is_tiny(run: Run) -> bool:
    return min(run.size, max(run.x1 - run.x0, run.height)) < _SMALLEST


def _is_hidden(run: Run, graphics: Graphics) -> bool:
    if run.unseen:
        return not any(_holds(box, run) for box in graphics.pictures)
    return _is_tiny(run)


def _has_no_contrast(run: Run, graphics: Graphics) -> bool:
    """Say whether a run has the colour of the ground under it; over pictures and patterns that cannot be told."""
    if len(graphics.areas) > _MOST_AREAS:
        return True  # too many to look through for every word: the drawn page decides
    if _contrast(run.colour, _ground(run, graphics)) >= _LEAST_CONTRAST:
        return False
    return not any(_holds(box, run) for box in (*graphics.pictures, *graphics.drawn))


def _ground(run: Run, graphics: Graphics) -> int:
    return next((colour for box, colour in reversed(graphics.areas) if _holds(box, run)), _WHITE)


def _contrast(a: int, b: int) -> int:
    return max(abs((a >> shift & 255) - (b >> shift & 255)) for shift in (0, 8, 16))


def _holds(box: Box, run: Run) -> bool:
    x, y = (run.x0 + run.x1) / 2, (run.y0 + run.y1) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _without_drawn(runs: Sequence[Run], page: Any) -> list[Run]:
    """Return the runs that cannot be seen when the page is drawn: that alone is certain."""
    try:
        width, height = page.get_size()
        scale = min(_DOTS_A_POINT, (_MOST_DOTS / max(width * height, 1.0)) ** 0.5)
        bitmap = page.render(scale=scale, grayscale=True)
    except (pypdfium.PdfiumError, ValueError):
        return []
    dots = bytes(bitmap.buffer)
    try:
        return [run for run in runs if not _shows(dots, bitmap, run, scale)]
    finally:
        bitmap.close()


def _shows(dots: bytes, bitmap: Any, run: Run, scale: float) -> bool:
    left, right = max(int(run.x0 * scale), 0), min(int(run.x1 * scale) + 1, bitmap.width)
    top, bottom = max(int(run.y0 * scale), 0), min(int(run.y1 * scale) + 1, bitmap.height)
    stride, wide = bitmap.stride, bitmap.n_channels
    rows = [dots[y * stride + left * wide : y * stride + right * wide] for y in range(top, bottom)]
    rows = [row for row in rows if row]
    if not rows:
        return False
    return max(map(max, rows)) - min(map(min, rows)) >= _LEAST_DRAWN_CONTRAST


def _passages(runs: Sequence[Run]) -> Iterator[str]:
    """Yield hidden runs put together, not longer than a page of text each."""
    words: list[str] = []
    length = count = 0
    for run in runs:
        text = "".join(run.chars).strip()
        if words and length + len(text) > _LONGEST:
            yield " ".join(words)
            words, length = [], 0
            count += 1
            if count >= _MOST_PASSAGES:
                return
        words.append(text[:_LONGEST])
        length += len(words[-1]) + 1
    if words:
        yield " ".join(words)


def without_watermarks(runs: Sequence[Run], graphics: Graphics) -> list[Run]:
    """Return the runs without large pale ones that lie across others, or aslant over the page."""
    if not runs:
        return []
    sizes = sorted(run.size for run in runs for _ in run.chars[:50])
    usual = sizes[len(sizes) // 2]
    whole = list(_with_whole_slanted(runs))
    return [run for run in whole if not _is_watermark(run, whole, usual, graphics)]


def _with_whole_slanted(runs: Sequence[Run]) -> Iterator[Run]:
    """Yield the runs with those that climb or fall put together: each of their characters stands on its own height."""
    whole: Run | None = None
    for run in runs:
        if whole is not None and run.slanted and _follows(whole, run):
            whole = replace(
                whole,
                chars=whole.chars + run.chars,
                lefts=whole.lefts + run.lefts,
                rights=whole.rights + run.rights,
                x0=min(whole.x0, run.x0),
                y0=min(whole.y0, run.y0),
                x1=max(whole.x1, run.x1),
                y1=max(whole.y1, run.y1),
            )
            continue
        if whole is not None:
            yield whole
        whole = run if run.slanted else None
        if not run.slanted:
            yield run
    if whole is not None:
        yield whole


def _follows(whole: Run, run: Run) -> bool:
    gap = 2 * max(whole.size, run.size)
    return (
        whole.x0 - gap < run.x1
        and run.x0 < whole.x1 + gap
        and whole.y0 - gap < run.y1
        and run.y0 < whole.y1 + gap
        and whole.colour == run.colour
    )


def _is_watermark(run: Run, runs: Sequence[Run], usual: float, graphics: Graphics) -> bool:
    large = run.size >= _LARGE and run.size > _LARGER * usual
    if not large and not run.slanted:
        return False
    pale = _contrast(run.colour, _ground(run, graphics)) < _FAINT
    if run.slanted:
        return pale or large
    return pale and sum(1 for other in runs if other is not run and _overlap(run, other)) >= _LEAST_UNDER


def _overlap(a: Run, b: Run) -> bool:
    return a.x0 < b.x1 and b.x0 < a.x1 and a.y0 + a.height / 4 < b.y1 and b.y0 < a.y1 - a.height / 4
