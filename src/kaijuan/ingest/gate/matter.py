"""What detectors look at: a document's text as people read it, and beside it folded for comparing, place by place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from kaijuan.core.documents import Metadata, ParsedBlock, ParsedDocument
from kaijuan.core.reviews import MOST_EXCERPT, Finding
from kaijuan.core.text.characters import INVISIBLE
from kaijuan.core.text.simplified import SIMPLIFIED

_UNSEEN = re.compile(f"[{INVISIBLE}]")
_FOLDED = {point: chr(point - 0xFEE0) for point in range(0xFF01, 0xFF5F)}
_FOLDED |= {ord(old): new for old, new in SIMPLIFIED.items()}
_FOLDED |= {0x3000: " ", 0xA0: " ", 0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'}
_LOWER = {point: chr(point + 32) for point in range(ord("A"), ord("Z") + 1)}
_AROUND = 60
"""Characters of context on either side of what was found."""


def folded(text: str) -> str:
    """Return the text in lower case, one width and simplified characters; every character keeps its position."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters become two in lower case
        lower = text.translate(_LOWER)
    return lower if lower.isascii() else lower.translate(_FOLDED)


def visible(text: str) -> str:
    """Return the text without characters that nobody sees, which serve to hide words from a reader like this."""
    return text if text.isascii() else _UNSEEN.sub("", text)


@dataclass(frozen=True)
class Matter:
    """One document before the gate."""

    parsed: ParsedDocument
    source: str = ""
    title: str = ""
    """As the source tells it; of a record only."""
    metadata: Metadata | None = None

    @property
    def text(self) -> str:
        """The canonical text."""
        return self.parsed.text

    @cached_property
    def folded(self) -> str:
        """The text folded for comparing, position by position the same."""
        return folded(self.text)

    def about(self) -> Iterator[str]:
        """Yield what is said about the document beside its text: titles and values of its metadata."""
        yield from {self.parsed.title, self.title}
        for value in {**self.parsed.metadata, **(self.metadata or {})}.values():
            if isinstance(value, str):
                yield value
            elif isinstance(value, tuple):
                yield from value

    def finding(self, detector: str, said: str, start: int, end: int, *, count: int = 1, shown: str = "") -> Finding:
        """Return a finding at characters `start` to `end`, with the words around it, or with `shown` in their place."""
        block = self._block_at(start)
        pages = (block.lines[0].box.page,) if block and block.lines else block.pages if block else ()
        return Finding(
            detector=detector,
            said=said,
            excerpt=shown or excerpt(self.text, start, end),
            place=block.place if block else "",
            page=pages[0] if pages else 0,
            count=count,
        )

    def _block_at(self, position: int) -> ParsedBlock | None:
        blocks = self.parsed.blocks
        at = bisect_right(blocks, position, key=lambda block: block.span.start) - 1
        return blocks[at] if 0 <= at < len(blocks) else None


def excerpt(text: str, start: int, end: int) -> str:
    """Return the words around a place on one line, bounded."""
    left, right = max(0, start - _AROUND), min(len(text), end + _AROUND)
    words = " ".join(text[left:right].split())
    words = words if len(words) <= MOST_EXCERPT else words[: MOST_EXCERPT - 1] + "…"
    return ("…" if left else "") + words + ("…" if right < len(text) and not words.endswith("…") else "")
