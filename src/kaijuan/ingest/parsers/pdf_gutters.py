"""Gutters: the strips of white that part the columns of a table without rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from statistics import median

from kaijuan.ingest.parsers.pdf_lines import Run
from kaijuan.ingest.parsers.pdf_rows import is_amount, is_number

_LEAST_ROWS = 3
_LEAST_GUTTER_EM = 0.5
_NARROW_GUTTER_EM = 0.2
_AMOUNTS_SHARE = 0.85
_WIDEST = 20_000
_CROSSING_SHARE = 0.12
_MARKS = re.compile(r"[$¥￥€£%)）(（†‡*]+")
_BEFORE = frozenset("$¥￥€£")
_BEHIND = re.compile(r"[%)）†‡*]+")
_YEAR = re.compile(r"(?:19|20)\d\d[年度]*")


Row = list[Run]
"""Runs beside each other."""


@dataclass(frozen=True, slots=True)
class Word:
    """Characters without a blank between them, and where they stand."""

    text: str
    x0: float
    x1: float


def gutters_of(rows: Sequence[Row]) -> list[float]:
    """Return the middles of the strips that hardly a row crosses, with cells on both sides.

    Words are looked at one by one: amounts often stand closer to each other than runs are told apart by. Signs of
    currency and percent lie in the white before or behind their amount; the gutter leaves them with it.
    """
    several = [words for row in rows if len(row) > 1 and (words := [word for run in row for word in words_of(run)])]
    if not several:
        return []
    whole = several
    # Headers stand over several columns: where there are rows of amounts, these alone tell the columns.
    counted = [row for row in several if any(is_counted(word.text) for word in row)]
    several = counted if len(counted) >= _LEAST_ROWS else several
    em = median(run.size for row in rows for run in row)
    left = min(word.x0 for row in several for word in row)
    right = max(word.x1 for row in several for word in row)
    width = int(right - left) + 1
    if not 2 <= width <= _WIDEST:
        return []
    words = [word for row in several for word in row]
    plain = _cover([word for word in words if not _MARKS.fullmatch(word.text)], left, width)
    every = _cover([word for row in whole for word in row], left, width)
    before = _cover([word for word in words if word.text in _BEFORE], left, width)
    behind = _cover([word for word in words if _BEHIND.fullmatch(word.text)], left, width)
    allowed = int(_CROSSING_SHARE * len(several)) if len(several) > _LEAST_ROWS + 2 else 0
    found = []
    for free, part in groupby(range(width), key=lambda at: plain[at] <= allowed):
        strip = list(part)
        if not free or strip[0] == 0 or strip[-1] == width - 1:
            continue
        gap = len(_white(strip, plain)) / em
        middle = left + (strip[0] + strip[-1] + 1) / 2
        if gap >= _LEAST_GUTTER_EM or (gap >= _NARROW_GUTTER_EM and _between_amounts(several, middle)):
            white = _white(_between_marks(strip, behind, before), every)
            found.append(left + white[0] + len(white) / 2)
    return found


def _between_amounts(rows: Sequence[Sequence[Word]], x: float) -> bool:
    """Say whether amounts stand on both sides in nearly all rows: a narrow gutter is enough between them."""
    pairs = [
        (max(before, key=lambda word: word.x1).text, min(after, key=lambda word: word.x0).text)
        for row in rows
        if (before := [word for word in row if word.x1 <= x]) and (after := [word for word in row if word.x0 >= x])
    ]
    alike = sum(1 for before, after in pairs if is_amount(before) and is_amount(after))
    return len(pairs) > _LEAST_ROWS and alike >= _AMOUNTS_SHARE * len(pairs)


def is_counted(text: str) -> bool:
    """Say whether a word is an amount, and not only a dash or a year."""
    return is_number(text) and any(char.isdigit() for char in text) and not _YEAR.fullmatch(text.strip(","))


def _white(strip: Sequence[int], cover: Sequence[int]) -> list[int]:
    """Return the widest part of a strip where it is crossed least."""
    lowest = min(cover[at] for at in strip)
    return max((list(same) for low, same in groupby(strip, key=lambda at: cover[at] == lowest) if low), key=len)


def _between_marks(strip: Sequence[int], behind: Sequence[int], before: Sequence[int]) -> Sequence[int]:
    """Return the part of a strip behind the signs that follow amounts and before those that stand before amounts."""
    start = max((at + 1 for at in strip if behind[at]), default=strip[0])
    end = min((at for at in strip if before[at]), default=strip[-1] + 1)
    return range(start, end) if start < end else strip


def _cover(words: Sequence[Word], left: float, width: int) -> list[int]:
    """Return how many words stand over each point of the width."""
    steps = [0] * (width + 2)
    for word in words:
        steps[min(max(int(word.x0 - left), 0), width)] += 1
        steps[min(max(int(word.x1 - left + 0.999), 0), width)] -= 1
    return list(accumulate(steps[:width]))


def words_of(run: Run) -> Iterator[Word]:
    """Yield the words of a run."""
    start = None
    for at, char in enumerate((*run.chars, " ")):
        if not char.isspace():
            start = at if start is None else start
        elif start is not None:
            yield Word("".join(run.chars[start:at]), run.lefts[start], run.rights[at - 1])
            start = None
