"""Text that the file holds and people do not see: held when it gives instructions, told when it is prose at all."""

from __future__ import annotations

from collections.abc import Iterator

from kaijuan.core.reviews import MOST_EXCERPT, Finding
from kaijuan.ingest.gate.instructions import found_in
from kaijuan.ingest.gate.matter import Matter, excerpt, folded, visible

_LEAST_PROSE = 40
"""Characters from which a hidden text may be a passage and not a label, a number or a spacer."""


def hidden_instructions(matter: Matter) -> Iterator[Finding]:
    """Find instructions in hidden texts; the first of each document is enough."""
    for text in matter.parsed.hidden:
        plain = visible(folded(text))
        # A hidden text that the parser reads as text too is looked at with the rules for hidden ones all the same.
        for said, start, end in found_in(plain, hidden=True):
            yield Finding(detector="hidden_instructions", said=said, excerpt=excerpt(plain, start, end))
            return


def hidden_text(matter: Matter) -> Iterator[Finding]:
    """Tell of hidden prose, whatever it says."""
    prose = [text for text in matter.parsed.hidden if len(text.strip()) >= _LEAST_PROSE]
    if prose:
        shown = excerpt(prose[0], 0, MOST_EXCERPT // 2)
        yield Finding(detector="hidden_text", said="text that people do not see", excerpt=shown, count=len(prose))
