"""Automatic numbers of Word paragraphs: they are not in the text, yet readers cite them (第三条, 2.1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LETTERS = 26
_DIGITS = "零一二三四五六七八九"
_FORMAL = "零壹贰叁肆伍陆柒捌玖"
_ROWS = (
    ("ideographtraditional", "甲乙丙丁戊己庚辛壬癸"),
    ("decimalenclosedcircle", "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"),
)
BULLET = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How one level of a list is numbered."""

    form: str
    pattern: str
    start: int
    legal: bool


class Numbering:
    """Counts list paragraphs in document order and gives each its label."""

    def __init__(self, root: Any | None) -> None:
        self._levels: dict[str, dict[int, Level]] = {}
        self._abstract: dict[str, str] = {}
        self._starts: dict[tuple[str, int], int] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()
        for node in root.findall(f"{W}abstractNum") if root is not None else ():
            self._levels[node.get(f"{W}abstractNumId", "")] = dict(map(_level, node.findall(f"{W}lvl")))
        for node in root.findall(f"{W}num") if root is not None else ():
            self._read_number(node)

    def _read_number(self, node: Any) -> None:
        number = node.get(f"{W}numId", "")
        self._abstract[number] = value_of(node.find(f"{W}abstractNumId"))
        for override in node.findall(f"{W}lvlOverride"):
            start = override.find(f"{W}startOverride")
            if start is not None:
                self._starts[number, _whole(override.get(f"{W}ilvl"))] = _whole(value_of(start), 1)

    def label(self, number: str, depth: int) -> str:
        """Return the label of the next paragraph of list `number` at `depth`: "-", "2.1", "第三条", or ""."""
        abstract = self._abstract.get(number)
        level = self._levels.get(abstract or "", {}).get(depth)
        if abstract is None or level is None:
            return ""
        counts = self._counts.setdefault(abstract, {})
        if (number, depth) in self._starts and (number, depth) not in self._begun:
            self._begun.add((number, depth))
            counts[depth] = self._starts[number, depth]
        else:
            counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [at for at in counts if at > depth]:
            del counts[deeper]
        if level.form == "bullet":
            return BULLET
        return re.sub(r"%([1-9])", lambda found: self._part(abstract, int(found[1]) - 1, level.legal), level.pattern)

    def _part(self, abstract: str, depth: int, legal: bool) -> str:
        level = self._levels[abstract].get(depth)
        if level is None:
            return ""
        count = self._counts[abstract].setdefault(depth, level.start)
        return written(count, "decimal" if legal else level.form)


def _level(node: Any) -> tuple[int, Level]:
    legal = node.find(f"{W}isLgl")
    return _whole(node.get(f"{W}ilvl")), Level(
        form=value_of(node.find(f"{W}numFmt")) or "decimal",
        pattern=value_of(node.find(f"{W}lvlText")),
        start=_whole(value_of(node.find(f"{W}start")), 1),
        legal=legal is not None and value_of(legal) not in {"0", "false"},
    )


def value_of(node: Any | None) -> str:
    """Return the `w:val` of an element, "" without one."""
    return "" if node is None else str(node.get(f"{W}val") or "")


def _whole(text: str | None, default: int = 0) -> int:
    try:
        return max(0, min(int(text or default), 1_000_000))
    except ValueError:
        return default


def written(count: int, form: str) -> str:
    """Return a number as Word writes it in `form`; unknown forms are decimal."""
    lowered = form.lower()
    if lowered.startswith(("chinese", "taiwanese", "japanese", "ideographdigital", "korean")):
        return _han(count, _FORMAL if "legal" in lowered else _DIGITS)
    row = "".join(signs for start, signs in _ROWS if lowered.startswith(start))
    if 0 < count <= len(row):
        return row[count - 1]
    return _FORMS.get(lowered, str)(count)


def _letters(count: int) -> str:
    if not 0 < count < 500:
        return str(count)
    return chr(ord("a") + (count - 1) % _LETTERS) * ((count - 1) // _LETTERS + 1)


def _roman(count: int) -> str:
    if not 0 < count < 4000:
        return str(count)
    out = ""
    for value, letters in (
        (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
        (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
    ):  # fmt: skip
        out += letters * (count // value)
        count %= value
    return out


def _han(count: int, digits: str) -> str:
    """Write 1 to 9999 in Han: 十一, 一百零五."""
    if not 0 < count < 10_000:
        return str(count)
    out = ""
    pending_zero = False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, count = divmod(count, unit)
        if digit:
            out += (digits[0] if pending_zero and out else "") + digits[digit] + name
            pending_zero = False
        else:
            pending_zero = bool(out)
    return out.removeprefix(digits[1]) if out.startswith(digits[1] + "十") else out


_FORMS: dict[str, Callable[[int], str]] = {
    "none": lambda _: "",
    "decimalzero": lambda count: f"{count:02d}",
    "lowerletter": _letters,
    "upperletter": lambda count: _letters(count).upper(),
    "lowerroman": _roman,
    "upperroman": lambda count: _roman(count).upper(),
}
