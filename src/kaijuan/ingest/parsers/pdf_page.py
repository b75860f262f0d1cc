"""One PDF page through pypdfium2: glyphs with their places as shown, cut into runs; is the page readable at all."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from kaijuan.ingest.parsers.pdf_graphics import Graphics, Place, graphics_of
from kaijuan.ingest.parsers.pdf_lines import Run
from kaijuan.ingest.parsers.pdf_sight import parted_by_sight, without_watermarks

_BREAK_EM = 1.0
_BASELINE_EM = 0.45
_BOLD_WEIGHT = 600
_BOLD_NAMES = ("bold", "heavy", "black", "simhei", "heiti", "-hei", "黑体")
_FIXED_NAMES = ("mono", "courier", "consol", "menlo", "cmtt", "typewriter", "lmtt", "fixed", "nimbusmon", "andale")
_FEW_CHARACTERS = 25
_MANY_PATHS = 60
_SCAN_SHARE = 0.5
_QUARTER = math.pi / 2
_SLANT = math.radians(4)
_MOST_OUTSIDE = 4_000
_MAX_OBJECTS = 2000
_BAD_SHARE = 0.3


class Glyph(NamedTuple):
    """A character and its box as shown: origin top left, in points."""

    char: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """What one page holds."""

    width: float
    height: float
    runs: list[Run]
    unread: bool
    """The page shows something, but has no usable text layer."""
    graphics: Graphics = field(default_factory=Graphics)
    hidden: tuple[str, ...] = ()
    """Texts on the page that no reader sees."""


def read_page(page: Any) -> PageText:
    """Read one page. The caller closes it."""
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page.raw, box)
    turned = pdfium.FPDFPage_GetRotation(page.raw) % 4
    width, height = box.right - box.left, box.top - box.bottom
    if turned % 2:
        width, height = height, width
    text = page.get_textpage()
    try:
        place = placing(box, turned)
        outside: list[str] = []
        glyphs = list(_glyphs(text.raw, place, width, height, outside))
        runs = [_run(text.raw, part) for part in _cut(glyphs)]
    finally:
        text.close()
    visible = sum(1 for glyph in glyphs if not glyph.char.isspace())
    bad = sum(1 for glyph in glyphs if _is_bad(glyph.char))
    if bad > _BAD_SHARE * max(visible, 1):
        # A font without a usable character map: what comes out are not words.
        return PageText(width=width, height=height, runs=[], unread=True)
    unread = visible < _FEW_CHARACTERS and _shows_something(page, width * height, visible)
    graphics = graphics_of(page, place) if runs else Graphics()
    runs, hidden = parted_by_sight(runs, graphics, page)
    hidden += ["".join(outside)] if outside else []
    runs = without_watermarks(runs, graphics)
    return PageText(width=width, height=height, runs=runs, unread=unread, graphics=graphics, hidden=tuple(hidden))


def placing(box: Any, turned: int) -> Place:
    """Return the map from page space (origin bottom left) to the page as shown, turned by quarters clockwise."""
    left, bottom, right, top = box.left, box.bottom, box.right, box.top
    maps: tuple[Place, ...] = (
        lambda x0, y0, x1, y1: (x0 - left, top - y1, x1 - left, top - y0),
        lambda x0, y0, x1, y1: (y0 - bottom, x0 - left, y1 - bottom, x1 - left),
        lambda x0, y0, x1, y1: (right - x1, y0 - bottom, right - x0, y1 - bottom),
        lambda x0, y0, x1, y1: (top - y1, right - x1, top - y0, right - x0),
    )
    return maps[turned]


def _glyphs(text: Any, place: Place, width: float, height: float, outside: list[str]) -> Iterator[Glyph]:
    """Yield glyphs in content order; line ends and blanks that the library put in keep their place in the order.

    Characters that stand beside the page are put to `outside`.
    """
    rect = pdfium.FS_RECTF()
    by_reference = ctypes.byref(rect)
    code_of, box_of, size_of = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetLooseCharBox, pdfium.FPDFText_GetFontSize
    high = 0
    for index in range(pdfium.FPDFText_CountChars(text)):
        code = code_of(text, index)
        if 0xD800 <= code < 0xE000:  # characters above U+FFFF come as two halves
            if code < 0xDC00:
                high = code
                continue
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0xFFFD
        high = 0
        if code == 0 or code > 0x10FFFF or not box_of(text, index, by_reference):
            continue
        low, top = rect.bottom, rect.top
        x0, y0, x1, y1 = (
            place(rect.left, low, rect.right, top) if low <= top else place(rect.left, top, rect.right, low)
        )
        if not (-2 <= x0 + x1 <= 2 * width + 2 and -2 <= y0 + y1 <= 2 * height + 2):
            if len(outside) < _MOST_OUTSIDE:
                outside.append(chr(code))
            continue
        size = size_of(text, index)
        tall = max(y1 - y0, 0.0)
        if not 0.5 * size <= tall <= 2.5 * size:
            size = tall * 0.9  # the text matrix scales, not the font
        if x0 < 0 or y0 < 0 or x1 > width or y1 > height:
            x0, y0, x1, y1 = max(x0, 0.0), max(y0, 0.0), min(x1, width), min(y1, height)
        yield Glyph(chr(code), x0, y0, x1, y1, size, index)


def _cut(glyphs: list[Glyph]) -> Iterator[list[Glyph]]:
    """Cut the content order where a new line, cell or column begins."""
    part: list[Glyph] = []
    blank: Glyph | None = None
    vertical = False
    for glyph in glyphs:
        if glyph.char.isspace():
            blank = blank or glyph
            if glyph.char in "\r\n" and part:
                yield part
                part = []
        elif part and _is_repeat(part[-1], glyph):
            blank = None
        elif part and (_follows(part[-1], glyph, vertical=vertical) or (len(part) == 1 and _is_below(part[-1], glyph))):
            part += [glyph] if blank is None else [blank, glyph]
            blank = None
            vertical = _runs_upward_or_down(part) if len(part) <= 4 else vertical
        else:
            if part:
                yield part
            part, blank, vertical = [glyph], None, False
    if part:
        yield part


def _is_repeat(last: Glyph, glyph: Glyph) -> bool:
    """Say whether a glyph is drawn twice a hair apart, which makes bold without a bold font."""
    if glyph.char != last.char or (glyph.char == "f" and glyph[1:5] == last[1:5] and glyph.number == last.number + 1):
        return False  # the library gives the letters of a ligature (ff, ffi) one box
    near = 0.2 * max(last.x1 - last.x0, 0.1)
    return abs(glyph.x0 - last.x0) < near and abs(glyph.y0 - last.y0) < near


def _follows(last: Glyph, glyph: Glyph, *, vertical: bool) -> bool:
    em = max(last.size, glyph.size, 1.0)
    if vertical:
        return abs(glyph.x0 - last.x0) < _BASELINE_EM * em and abs(glyph.y0 - last.y0) < 2.5 * em
    level = abs((last.y0 + last.y1) - (glyph.y0 + glyph.y1)) < 2 * _BASELINE_EM * em
    return level and -3 * em < glyph.x0 - last.x1 < _BREAK_EM * em


def _is_below(last: Glyph, glyph: Glyph) -> bool:
    """Say whether the second glyph of a run makes it vertical text."""
    em = max(last.size, glyph.size, 1.0)
    return abs(glyph.x0 - last.x0) < 0.3 * em and -0.2 * em < max(glyph.y0 - last.y1, last.y0 - glyph.y1) < 0.5 * em


def _runs_upward_or_down(part: list[Glyph]) -> bool:
    solid = [glyph for glyph in part[:8] if not glyph.char.isspace()]
    if len(solid) < 2:
        return False
    return abs(solid[-1].y0 - solid[0].y0) > abs(solid[-1].x0 - solid[0].x0) + 0.5 * solid[0].size


def _run(text: Any, part: list[Glyph]) -> Run:
    solid = [glyph for glyph in part if not glyph.char.isspace()]
    steps = [after.x0 - before.x0 for before, after in pairwise(solid)]
    backward = sum(1 for step in steps if step < -0.5) > len(steps) * 0.3
    down = _runs_upward_or_down(part)
    sizes = sorted(glyph.size for glyph in solid)
    middle = solid[len(solid) // 2].number
    bold, fixed = _font(text, middle)
    angle = pdfium.FPDFText_GetCharAngle(text, middle) % _QUARTER
    slanted = _SLANT < angle < _QUARTER - _SLANT
    return Run(
        chars=[glyph.char for glyph in part],
        lefts=[glyph.x0 for glyph in part],
        rights=[glyph.x1 for glyph in part],
        x0=min(glyph.x0 for glyph in solid),
        y0=min(glyph.y0 for glyph in solid),
        x1=max(glyph.x1 for glyph in solid),
        y1=max(glyph.y1 for glyph in solid),
        size=sizes[len(sizes) // 2],
        bold=bold,
        upright=not (backward or down or slanted),
        downward=down and solid[-1].y0 > solid[0].y0,
        fixed=fixed,
        colour=_colour(text, middle),
        unseen=_is_unseen(text, middle),
        slanted=slanted,
    )


def _font(text: Any, index: int) -> tuple[bool, bool]:
    """Return whether a character's font is bold, and whether all its characters are equally wide."""
    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    length = pdfium.FPDFText_GetFontInfo(text, index, name, len(name), flags)
    font = name.raw[: max(min(length, len(name)) - 1, 0)].decode("utf-8", "replace").lower()
    bold = pdfium.FPDFText_GetFontWeight(text, index) >= _BOLD_WEIGHT or any(word in font for word in _BOLD_NAMES)
    return bold, any(word in font for word in _FIXED_NAMES)


def _colour(text: Any, index: int) -> int:
    """Return the colour of a character, 0xRRGGBB."""
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFText_GetFillColor(text, index, red, green, blue, alpha):
        return 0
    return red.value << 16 | green.value << 8 | blue.value


def _is_unseen(text: Any, index: int) -> bool:
    """Say whether a character is set to be painted with nothing, as text recognition lays words over a scan."""
    shown = pdfium.FPDFText_GetTextObject(text, index)
    return bool(pdfium.FPDFTextObj_GetTextRenderMode(shown) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE)


def _is_bad(char: str) -> bool:
    return char == "\ufffd" or "\ue000" <= char <= "\uf8ff" or char < "\x02" or "\x03" <= char < "\t"


def _shows_something(page: Any, area: float, visible: int) -> bool:
    """Say whether a page with hardly any text is a scan or a drawing rather than blank."""
    paths = 0
    for count, shown in enumerate(page.get_objects(max_depth=3)):
        if count > _MAX_OBJECTS:
            return True
        if shown.type == pdfium.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = shown.get_bounds()
            if not visible or abs((right - left) * (top - bottom)) > _SCAN_SHARE * area:
                return True
        elif shown.type in {pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_SHADING}:
            paths += 1
    return not visible and paths > _MANY_PATHS
