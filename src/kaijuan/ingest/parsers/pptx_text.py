"""Text of slides: paragraphs, and the numbers of those that are items of a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kaijuan.ingest.parsers.docx_numbering import written
from kaijuan.ingest.parsers.omml import latex
from kaijuan.ingest.parsers.opc import Element, child, children, local, number_of, value_of

_BLANKS = re.compile(r"[^\S\n\u3000]+")
_NUMBERED = (
    ("alphaLc", "lowerletter"),
    ("alphaUc", "upperletter"),
    ("romanLc", "lowerroman"),
    ("romanUc", "upperroman"),
    ("circleNum", "decimalEnclosedCircle"),
    ("ea1Chs", "chineseCounting"),
    ("ea1Cht", "chineseCounting"),
    ("ea1Jpn", "chineseCounting"),
)
BULLET = "-"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph with its level (from 0) and its own formatting."""

    text: str
    level: int
    properties: Element | None
    is_formula: bool = False


def paragraphs_of(body: Element | None) -> Iterator[Paragraph]:
    """Yield the paragraphs of a text body, empty ones too."""
    for node in children(body, "p"):
        properties = child(node, "pPr")
        level = max(0, min(number_of(value_of(properties, "lvl")), 8))
        parts: list[str] = []
        kinds: set[str] = set()
        _read(node, parts, kinds)
        lines = (_BLANKS.sub(" ", line).strip() for line in "".join(parts).split("\n"))
        yield Paragraph("\n".join(filter(None, lines)), level, properties, kinds == {"formula"})


def _read(node: Element, parts: list[str], kinds: set[str]) -> None:
    for at in node:
        name = local(at)
        if name == "t":
            parts.append(at.text or "")
            kinds |= {"text"} if (at.text or "").strip() else set()
        elif name == "br":
            parts.append("\n")
        elif name in {"oMath", "oMathPara"}:
            parts.append(f"${latex(at)}$")
            kinds.add("formula")
        elif name in {"r", "fld", "m", "AlternateContent", "Choice"}:
            _read(at, parts, kinds)


@dataclass(slots=True)
class Counter:
    """Counts the items of one shape."""

    counts: dict[int, tuple[str, int]] = field(default_factory=dict)

    def marker(self, bullet: Element | None, level: int) -> str:
        """Return what is printed before an item, "" when the paragraph is none."""
        for deeper in [at for at in self.counts if at > level]:
            del self.counts[deeper]
        if bullet is None or local(bullet) == "buNone":
            self.counts.pop(level, None)
            return ""
        if local(bullet) != "buAutoNum":
            return BULLET
        kind = value_of(bullet, "type", "arabicPeriod")
        before, count = self.counts.get(level, ("", 0))
        count = count + 1 if before == kind else number_of(value_of(bullet, "startAt"), 1)
        self.counts[level] = (kind, count)
        form = next((form for start, form in _NUMBERED if kind.startswith(start)), "decimal")
        number = written(count, form)
        if kind.endswith("ParenBoth"):
            return f"({number})"
        return number + (")" if kind.endswith("ParenR") else "" if kind.endswith(("Plain", "Circle")) else ".")
