"""Codes, versions, paths and the like: one spelling for the whole, and the parts one may ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST_WHOLE = 128
"""Characters in a whole identifier. Longer ones (encoded data) are indexed by their parts only."""
MOST_LEADS = 6
"""Pieces of a code whose leading parts are indexed."""

_POINT = r"(?<=\d)\.(?=\d)"
_BREAKS = re.compile(r"[/\\@:#?&=%]+")
_PIECES = re.compile(rf"(?:(?!{_POINT})[-_./\\@:#?&=%+*×·'’,])+")
_JOINTS = re.compile(r"[-_./:*×·]+")
_RUNS = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")
_TIMES = re.compile(r"(?<=\d)[×*](?=\d)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_VERSION = re.compile(r"v\.?(?=\d+(?:\.\d+)+)")
_LOOSE = re.compile(r"(?<=[^\W\d_])[-_·'’]+(?=\w)|(?<=\d)[-_·'’]+(?=[^\W\d_])")
_SUFFIX = re.compile(r"(?<=[^\W\d_])/(?=[^\W\d_](?![^\W\d_]))")
_REPEATED = re.compile(r"([-_])\1+")
_PLAIN_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_PLAIN_DATE = re.compile(r"\d{4}([-/.])\d{1,2}\1\d{1,2}")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)+")


def canonical(whole: str) -> str:
    """Return the one spelling: ERR-9988 = err_9988 = err9988, M8×1.25 = m8x1.25, v2.3.1 = 2.3.1, GB/T = gbt.

    Joints between digits stay, so that 1-23 and 12-3 differ. Expects normalised text without blanks.
    """
    spelt = _SUFFIX.sub("", _TIMES.sub("x", _THOUSANDS.sub("", whole)))
    spelt = _VERSION.sub("", spelt, count=1) if spelt.startswith("v") else spelt
    return _REPEATED.sub(r"\1", _LOOSE.sub("", spelt)).strip("-_")


def is_code(whole: str) -> bool:
    """Say whether a token is a code: it has a digit, and something besides digits."""
    return any(map(str.isdigit, whole)) and not whole.isdigit()


def is_number(whole: str) -> bool:
    """Say whether a token is an ordinary number, perhaps with thousands commas and a decimal point."""
    return _PLAIN_NUMBER.fullmatch(whole) is not None


def is_date(whole: str) -> bool:
    """Say whether a token is a date in digits, which has a term of its own."""
    return _PLAIN_DATE.fullmatch(whole) is not None


def is_hyphenated(whole: str) -> bool:
    """Say whether a token is words of letters joined by hyphens or apostrophes."""
    return _HYPHENATED.fullmatch(whole) is not None


def leads(whole: str) -> Iterator[str]:
    """Yield the leading parts of a code, each in its one spelling: GB/T 7714 of GB/T 7714-2015, 2.3 of v2.3.1."""
    joints = list(_JOINTS.finditer(whole))
    if not 2 <= len(joints) + 1 <= MOST_LEADS:
        return
    decimal = whole.count(".") == 1 and not whole.startswith("v")
    for joint in joints:
        lead = whole[: joint.start()]
        if is_code(lead) and not (decimal and joint.group() == "."):
            yield canonical(lead)


def segments(whole: str) -> Iterator[tuple[str, int]]:
    """Yield the file, domain and other joined names within a path or address, and where each begins."""
    if not _BREAKS.search(whole):
        return
    for piece, at in _between(_BREAKS, whole):
        if _JOINTS.search(piece):
            yield piece, at


def pieces(whole: str) -> Iterator[tuple[str, int]]:
    """Yield the words and numbers between the joints, and where each begins."""
    return _between(_PIECES, whole)


def runs(piece: str) -> Iterator[tuple[str, int]]:
    """Yield the letters and digits of a mixed piece apart (err9988 -> err, 9988), and where each begins."""
    for run in _RUNS.finditer(piece):
        if len(run.group()) < len(piece):
            yield run.group(), run.start()


def _between(gaps: re.Pattern[str], whole: str) -> Iterator[tuple[str, int]]:
    start = 0
    for gap in gaps.finditer(whole):
        if gap.start() > start:
            yield whole[start : gap.start()], start
        start = gap.end()
    if start < len(whole):
        yield whole[start:], start
