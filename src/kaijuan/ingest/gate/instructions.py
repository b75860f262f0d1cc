"""Text that speaks to a language model and not to a reader: "ignore previous instructions" and its kin.

Rules are narrow where ordinary documents speak alike (manuals, exams, letters). In text that people do not see, rules
that would be too wide elsewhere count too: nobody hides an everyday imperative.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.core.reviews import Finding
from kaijuan.ingest.gate.chinese import HIDDEN as CHINESE_HIDDEN
from kaijuan.ingest.gate.chinese import RULES as CHINESE
from kaijuan.ingest.gate.english import HIDDEN as ENGLISH_HIDDEN
from kaijuan.ingest.gate.english import RULES as ENGLISH
from kaijuan.ingest.gate.matter import Matter, excerpt, folded, visible
from kaijuan.ingest.gate.rules import matches

_MOST = 5
"""Findings kept of one document: a person looks at the document, not at a list."""
_HAN = re.compile("[一-鿿]")


def found_in(text: str, *, hidden: bool = False) -> Iterator[tuple[str, int, int]]:
    """Yield what is said, start and end of each instruction in a folded text."""
    rules = [*ENGLISH, *(ENGLISH_HIDDEN if hidden else ())]
    if _HAN.search(text):
        rules += [*CHINESE, *(CHINESE_HIDDEN if hidden else ())]
    for rule, match in matches(rules, text):
        yield rule.said, match.start(), match.end()


def instructions(matter: Matter) -> Iterator[Finding]:
    """Find them in the text, with invisible characters taken out if need be, and in title and metadata."""
    count = 0
    for said, start, end in found_in(matter.folded):
        yield matter.finding("instructions", said, start, end)
        count += 1
        if count == _MOST:
            return
    if not count and (bare := visible(matter.folded)) != matter.folded:
        for said, start, end in found_in(bare):
            shown = excerpt(bare, start, end)
            yield Finding(detector="instructions", said=f"{said}, broken up by invisible characters", excerpt=shown)
            return
    for about in matter.about():
        for said, start, end in found_in(folded(about)):
            shown = excerpt(about, start, end)
            yield Finding(detector="instructions", said=said, excerpt=shown, place="title or metadata")
            return
