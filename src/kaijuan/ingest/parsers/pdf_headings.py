"""Which lines of a PDF are headings, and how deep: the outline first, then size, weight and numbering."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kaijuan.ingest.parsers.headings import numbered_level
from kaijuan.ingest.parsers.pdf_lines import CAPTION, ROW_GAP_EM, Line

_LONGEST = 90
_LARGER = 1.12
_MUCH_LARGER = 1.35
"""A line that fills its column is more likely the first of a paragraph than a heading, unless it is this large."""
_BOLD_LEAST = 0.95
_FULL_SHARE = 0.9
_SENTENCE_END = "。；;，,、！!"
_LEADERS = re.compile(r"\.{4,}|…{2,}|(?:… ){2,}|(?:\. ){4,}|·{4,}")
_NUMBERED = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,3}){0,4}\.?|[A-Z]\.|[IVX]{1,5}\.|第.{1,8}[编篇章节部]|[一二三四五六七八九十]{1,3}[、.])\s*\S"
)
_MOST_LEVELS = 6
_TITLE_NUMBER = re.compile(
    r"^(?:第.{1,8}?[编篇章节部]|chapter \d+|appendix [A-Z]|[\dA-Z]{1,2}(?:\.\d{1,3})*\.?(?=\s))[\s:：.]*", re.I
)
_TITLE_LINES = 3
_RICH_OUTLINE = 8
_PASSAGE_LINES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What the running text of the document looks like."""

    size: float
    bold: bool
    levels: Mapping[float, int]
    """Heading level by rounded size, larger is higher."""
    outlined: bool = False
    """The document's own outline is rich enough to be trusted alone."""


class Bookmarks:
    """The outline of a document: by page, titles as the bookmarks write them and their levels.

    Bookmarks often lack the number that is printed (or have one that is not), and a printed title may take up to
    three lines.
    """

    def __init__(self, outlines: Mapping[int, Mapping[str, int]]) -> None:
        self._outlines = outlines

    def mark(self, lines: Sequence[Line]) -> int:
        """Mark the lines of one page that bookmarks point to; return how many bookmarks did."""
        outline = self._outlines.get(lines[0].page) if lines else None
        if not outline:
            return 0
        wanted = {_key(title): level for title, level in outline.items()}
        return sum(1 for at in range(len(lines)) if wanted and _match(lines[at : at + _TITLE_LINES], wanted))

    def are_enough(self, found: int, pages: int) -> bool:
        """Say whether so many bookmarks that were found, on so many pages with words, can be trusted alone."""
        entries = sum(map(len, self._outlines.values()))
        return found >= max(_RICH_OUTLINE, pages / 4) and found * 2 >= entries


def _match(lines: Sequence[Line], wanted: dict[str, int]) -> int:
    """Mark the first one, two or three lines when they are a wanted title, which is then no longer wanted."""
    text = ""
    for place, line in enumerate(lines):
        text = f"{text} {line.text}"
        if len(text) > 2 * _LONGEST or _LEADERS.search(text):
            return 0
        if line.table is None and (level := wanted.pop(_key(text), 0)):
            for titled in lines[: place + 1]:
                titled.outline = level
            return level
    return 0


def _key(title: str) -> str:
    """Return a title for comparing: without number, white space and case."""
    squashed = re.sub(r"[\s\u00ad\x00-\x1f]+", " ", title).strip()
    bare = _TITLE_NUMBER.sub("", squashed) or squashed
    return re.sub(r"\s+", "", bare).lower().rstrip(":：")


class Looks:
    """Counts in which sizes and weights a document is set."""

    def __init__(self) -> None:
        self._sizes: Counter[float] = Counter()
        self._titles: set[float] = set()
        self._bold = 0
        self._total = 0

    def see(self, lines: Iterable[Line]) -> None:
        """Count more lines."""
        for line in lines:
            count = len(line.text)
            self._sizes[_rounded(line.size)] += count
            self._bold += count if line.bold else 0
            self._total += count
            if count <= _LONGEST:
                self._titles.add(_rounded(line.size))

    def body(self, *, outlined: bool = False) -> Body:
        """Return the size and weight in which most characters are set, and a level for each larger size."""
        size = max(self._sizes, key=lambda key: (self._sizes[key], -key)) if self._sizes else 10.0
        larger = sorted((key for key in self._titles if key >= size * _LARGER), reverse=True)
        levels = {key: min(place + 1, 4) for place, key in enumerate(_merged(larger))}
        return Body(size=size, bold=self._bold * 2 > self._total, levels=levels, outlined=outlined)


def _merged(sizes: Sequence[float]) -> list[float]:
    """Keep one of sizes that differ by less than half a point."""
    kept: list[float] = []
    for size in sizes:
        if not kept or kept[-1] - size >= 0.75:
            kept.append(size)
    return kept


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def heading_level(line: Line, body: Body) -> int:
    """Return the heading level of a line, 0 for text."""
    text = line.text
    if line.table is not None:
        return 0
    if line.outline:
        return min(line.outline, _MOST_LEVELS)
    if not _may_be_title(text) or CAPTION.match(text) or line.figure is not None:
        return 0
    if body.outlined or line.passage or not line.edges or text[-1] in _SENTENCE_END or line.gap > ROW_GAP_EM:
        return 0
    return _level_by_looks(line, body)


def _is_centred(line: Line) -> bool:
    before, after = line.x0 - line.left, line.right - line.x1
    return before > line.size and abs(before - after) < line.size


def _may_be_title(text: str) -> bool:
    return 1 < len(text) <= _LONGEST and not _LEADERS.search(text) and any(char.isalpha() for char in text)


def _level_by_looks(line: Line, body: Body) -> int:
    text = line.text
    numbered = numbered_level(text)
    is_short = line.x1 - line.left < _FULL_SHARE * (line.right - line.left) or _is_centred(line)
    if line.size >= body.size * (_LARGER if is_short or numbered else _MUCH_LARGER):
        return numbered or _level_of_size(line, body)
    stands_out = line.bold and not body.bold and line.size >= body.size * _BOLD_LEAST
    if stands_out and is_short and (numbered or _looks_like_title(text)):
        return numbered or min(len(set(body.levels.values())) + 1, 5)
    if numbered and is_short and line.size >= body.size * _BOLD_LEAST and text.startswith("第"):
        return numbered
    return 0


def mark_passages(lines: Sequence[Line]) -> None:
    """Mark lines in a run of four and more of one size: a preface in large print is no stack of headings."""
    run: list[Line] = []
    for line in lines:
        if run and (line.column != run[-1].column or abs(line.size - run[-1].size) > 0.3 or line.bold != run[-1].bold):
            _mark(run)
            run = []
        run.append(line)
    _mark(run)


def _mark(run: Sequence[Line]) -> None:
    if len(run) >= _PASSAGE_LINES and sum(len(line.text) for line in run) > _PASSAGE_LINES * 15:
        for line in run:
            line.passage = True


def _level_of_size(line: Line, body: Body) -> int:
    near = [level for size, level in body.levels.items() if line.size >= size - 0.75]
    return min(near) if near else max(body.levels.values(), default=1)


def _looks_like_title(text: str) -> bool:
    """Say whether bold text of body size heads something: numbered, or a few words without a sentence's end."""
    return bool(_NUMBERED.match(text)) or (text[-1] not in ".:：?？" and len(text) <= 60 and not text[0].islower())


def printed_title(pages: Iterable[Sequence[Line]], body: Body) -> str:
    """Return what is set largest on the first page with text, when it is clearly larger than the running text."""
    first = next((lines for lines in pages if lines), [])
    upright = [line for line in first if line.edges and any(char.isalpha() for char in line.text)]
    size = max((line.size for line in upright), default=0.0)
    if size < body.size * _MUCH_LARGER:
        return ""
    title = [line.text for line in upright if line.size >= size - 0.5]
    return " ".join(title) if len(title) <= _TITLE_LINES and sum(map(len, title)) <= 2 * _LONGEST else ""
