"""Printed lines of a PDF page: glyphs to runs, runs to lines with an edge for every character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kaijuan.ingest.parsers.joining import is_article, is_wide

SOFT_HYPHENS = frozenset("\x02\ufffe\u00ad")
"""How the library and PDF makers write a hyphen that only the line end made."""
_JOIN_EM = 1.0
"""Runs in one row closer than this many em are one stretch of text; farther apart they are columns or cells."""
ROW_GAP_EM = 2.0
"""A gap inside a printed line wider than this parts the cells of a table."""
CAPTION = re.compile(
    r"(?:figure|fig\.|table|图|圖|表)\s*[A-Z]?\d{1,3}(?:[.\-–]\d{1,3})*(?:[.:：]|$|\s(?!\s*(?-i:[a-z])))", re.I
)
"""How the caption of a figure or table begins."""
_RECOGNISED_EM = 0.6
"""The same for recognised runs: they are as long as a reader would make them, and columns are seldom far apart."""
_HAN_GAP_EM = 0.6
_FOLDED = ((0xFB00, 0xFB06), (0x2E80, 0x2FDF), (0xF900, 0xFAFF), (0xFF61, 0xFF9F))
"""Ligatures, radicals and compatibility forms that stand for ordinary characters and would not be found."""


@dataclass(slots=True)
class Run:
    """Glyphs that follow each other closely on one baseline. Coordinates as shown, origin top left, in points."""

    chars: list[str]
    lefts: list[float]
    rights: list[float]
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool
    upright: bool = True
    """False for text that runs up, down or leftwards: then only the box is known."""
    downward: bool = False
    fixed: bool = False
    """All characters are equally wide, as in code."""
    colour: int = 0
    """0xRRGGBB."""
    unseen: bool = False
    """Painted with nothing, which is what text recognition does with words over a scan."""
    slanted: bool = False
    """Runs neither along nor across the page."""
    confidence: float = 1.0
    """Of text recognition; 1 for text as the file gives it."""
    recognised: bool = False
    table: PrintedTable | None = None
    """A table stands in the place of its runs while the reading order is found."""

    @property
    def height(self) -> float:
        """Return the height of the box, in points."""
        return self.y1 - self.y0


@dataclass(slots=True)
class Line:
    """One printed line with what paragraph building needs to know."""

    text: str
    edges: tuple[float, ...]
    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool
    fixed: bool = False
    """All its characters are equally wide, as in code."""
    gap: float = 0.0
    """The widest gap between its parts, in em: a row of a table has wide ones."""
    left: float = 0.0
    """Left and right border of the column that the line stands in."""
    right: float = 0.0
    column: int = 0
    """Counts regions read one after the other on the page; lines of one region follow each other downwards."""
    outline: int = 0
    """Level of the bookmark that points to this line."""
    passage: bool = False
    """The line is one of many alike, so its size or weight does not make it a heading."""
    hyphen: bool = False
    """The line ends in a hyphen that is not part of the text."""
    confidence: float = 1.0
    table: PrintedTable | None = None
    """The line stands for a table; its text is that of the cells, one after the other."""
    ruled_off: bool = False
    """A short rule stands above it, as over footnotes."""
    figure: tuple[float, float, float, float] | None = None
    """The box of the figure in which the line is a label."""
    caption_of: tuple[float, float, float, float] | None = None
    """The box of the figure that the line is a caption of."""

    @property
    def height(self) -> float:
        """Return the height of the box, in points."""
        return self.y1 - self.y0


@dataclass(slots=True)
class PrintedCell:
    """A cell with the printed lines in it; rows and columns are counted from 0."""

    row: int
    column: int
    lines: list[Line]
    rows: int = 1
    columns: int = 1


@dataclass(slots=True)
class PrintedTable:
    """A table, or the part of one that stands on one page."""

    page: int
    borders: tuple[float, ...]
    """The x-coordinates of the columns' borders, one more than columns."""
    cells: list[PrintedCell]
    x0: float
    y0: float
    x1: float
    y1: float
    ruled: bool
    """Rules part its cells."""
    headers: int = 0
    """Rows above a rule that is known to stand below the header."""

    @property
    def rows(self) -> int:
        """Return how many rows it has."""
        return max((cell.row + cell.rows for cell in self.cells), default=0)

    def run(self) -> Run:
        """Return what stands in the place of its runs while the reading order is found."""
        return Run(
            chars=[f"\ufffc{self.page} {self.x0} {self.y0}"],
            lefts=[self.x0],
            rights=[self.x1],
            x0=self.x0,
            y0=self.y0,
            x1=self.x1,
            y1=self.y1,
            size=1.0,
            bold=False,
            table=self,
        )

    def line(self) -> Line:
        """Return the line that stands for it in the reading order."""
        every = [line for cell in self.cells for line in cell.lines]
        return Line(
            text=" ".join(line.text for line in every),
            edges=(),
            page=self.page,
            x0=self.x0,
            y0=self.y0,
            x1=self.x1,
            y1=self.y1,
            size=every[0].size,
            bold=False,
            confidence=sureness(every),
            table=self,
        )


def sureness(lines: Iterable[Line]) -> float:
    """Return how sure the text of some lines is, from 0 to 1: the mean over their characters."""
    counted = [(len(line.text), line.confidence) for line in lines]
    return sum(count * confidence for count, confidence in counted) / max(sum(count for count, _ in counted), 1)


def same_row(a: Run, b: Run) -> bool:
    """Say whether two runs stand beside each other: they share half the height of the lower one."""
    shared = min(a.y1, b.y1) - max(a.y0, b.y0)
    return shared >= 0.5 * min(a.height, b.height)


def rows_of(runs: Iterable[Run]) -> list[list[Run]]:
    """Group runs into rows from top to bottom, each from left to right."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: ((run.y0 + run.y1) / 2, run.x0)):
        # Only the last rows can match: runs come by their middle height.
        for row in reversed(rows[-3:]):
            if same_row(row[0], run):
                row.append(run)
                break
        else:
            rows.append([run])
    for row in rows:
        row.sort(key=lambda run: run.x0)
    return rows


def join_near(runs: Sequence[Run]) -> list[Run]:
    """Put together runs that a PDF maker cut although no reader would: words drawn one by one."""
    joined: list[Run] = []
    for row in rows_of(run for run in runs if run.upright):
        for run in row:
            last = joined[-1] if joined else None
            if last is not None and run is not row[0] and _is_near(last, run):
                _extend(last, run)
            else:
                joined.append(run)
    return joined + [run for run in runs if not run.upright]


def _is_near(last: Run, run: Run) -> bool:
    far = _RECOGNISED_EM if run.recognised else _JOIN_EM
    return -_JOIN_EM * last.size <= run.x0 - last.x1 < far * min(last.size, run.size)


def _extend(run: Run, more: Run) -> None:
    gap = more.x0 - run.x1
    if gap > 0.15 * run.size and not run.chars[-1].isspace():
        run.chars.append(" ")
        run.lefts.append(run.x1)
        run.rights.append(more.x0)
    run.chars += more.chars
    run.lefts += more.lefts
    run.rights += more.rights
    longer = len(more.chars) > len(run.chars) - len(more.chars)
    run.size, run.bold = (more.size, more.bold) if longer else (run.size, run.bold)
    run.confidence = min(run.confidence, more.confidence)
    run.x0, run.x1 = min(run.x0, more.x0), max(run.x1, more.x1)
    run.y0, run.y1 = min(run.y0, more.y0), max(run.y1, more.y1)


class LineMaker:
    """Makes lines of one document; equal coordinates become one object, which keeps long documents small."""

    def __init__(self) -> None:
        self._shared: dict[float, float] = {}

    def number(self, value: float) -> float:
        """Round to a tenth of a point (35 micrometres), one object for equal numbers."""
        rounded = round(value, 1)
        return self._shared.setdefault(rounded, rounded)

    def line(self, row: Sequence[Run], page: int) -> Line | None:
        """Return the line of a row, None when it has no visible character."""
        chars: list[str] = []
        lefts: list[float] = []
        end = 0.0
        for run in row:
            if chars:
                chars.append(" ")
                lefts.append(end)
            _append(run, chars, lefts)
            end = run.x1
        hyphen = _clean(chars, lefts)
        if not chars:
            return None
        main = max(row, key=lambda run: len(run.chars))
        least, most = min(run.x0 for run in row), max(run.x1 for run in row)
        # Runs end where the page does, glyphs of a bad file may stand beyond.
        within = [min(max(left, least), most) for left in (*lefts, end)]
        edges = self._edges(within) if all(run.upright for run in row) else ()
        return Line(
            text="".join(chars),
            edges=edges,
            page=page,
            x0=self.number(least),
            y0=self.number(min(run.y0 for run in row)),
            x1=self.number(most),
            y1=self.number(max(run.y1 for run in row)),
            size=main.size,
            bold=main.bold,
            fixed=all(run.fixed for run in row),
            gap=max((after.x0 - run.x1) / max(main.size, 1.0) for run, after in pairwise(row)) if len(row) > 1 else 0.0,
            hyphen=hyphen,
            confidence=min(run.confidence for run in row),
        )

    def _edges(self, lefts: Sequence[float]) -> tuple[float, ...]:
        edges = []
        shared = self._shared
        highest = lefts[0]
        for left in lefts:
            if left > highest:  # kerning moves glyphs over each other; edges must not go back
                highest = left
            rounded = round(highest, 1)
            edges.append(shared.setdefault(rounded, rounded))
        return tuple(edges)


def _append(run: Run, chars: list[str], lefts: list[float]) -> None:
    for place, char in enumerate(run.chars):
        if "!" <= char <= "~" or "\u4e00" <= char <= "\u9fff":  # nearly all there is
            chars.append(char)
            lefts.append(run.lefts[place])
            continue
        if char.isspace():
            if _is_layout_blank(run, place):
                continue
            char = " "
        left, right = run.lefts[place], run.rights[place]
        folded = _fold(char)
        for part, single in enumerate(folded):
            chars.append(single)
            lefts.append(left + (right - left) * part / len(folded))


def _is_layout_blank(run: Run, place: int) -> bool:
    """Say whether a blank between two Han only comes from justification (or there is nothing around it)."""
    before = next((at for at in range(place - 1, -1, -1) if not run.chars[at].isspace()), -1)
    after = next((at for at in range(place + 1, len(run.chars)) if not run.chars[at].isspace()), -1)
    if before < 0 or after < 0 or before != place - 1:
        return True  # at an end, or one blank of several: the first stands for all
    if not (is_wide(run.chars[before]) and is_wide(run.chars[after])):
        return False
    if is_article("".join(run.chars[: before + 1]).strip()):
        return False
    return run.lefts[after] - run.rights[before] < _HAN_GAP_EM * run.size


def _fold(char: str) -> str:
    code = ord(char)
    if code < 0x2E80:
        return char
    if any(first <= code <= last for first, last in _FOLDED):
        return unicodedata.normalize("NFKC", char) or char
    return char


def _clean(chars: list[str], lefts: list[float]) -> bool:
    """Drop blanks at the ends, closed-up spread titles and a soft hyphen; say whether there was such a hyphen."""
    while chars and chars[-1].isspace():
        chars.pop()
        lefts.pop()
    hyphen = len(chars) > 1 and chars[-1] in SOFT_HYPHENS
    if hyphen:
        chars.pop()
        lefts.pop()
    for at in [at for at, char in enumerate(chars) if char in SOFT_HYPHENS][::-1]:
        chars[at] = "-"
    if _is_spread(chars):
        for at in range(len(chars) - 1, -1, -1):
            if chars[at] == " ":
                del chars[at], lefts[at]
    return hyphen


def _is_spread(chars: Sequence[str]) -> bool:
    """Say whether a line is one word of two to four Han pulled apart for looks (目    录)."""
    words = "".join(chars).split(" ")
    return 2 <= len(words) <= 4 and all(len(word) == 1 and is_wide(word) for word in words)
