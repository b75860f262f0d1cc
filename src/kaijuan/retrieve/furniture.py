"""Whether a passage speaks to a question by what it says, or only by a paragraph that many documents share (B1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kaijuan.core.spans import Span, uncovered
from kaijuan.core.text.analyse import keys_of
from kaijuan.core.text.stopwords import CHINESE, ENGLISH

_LEAST_OWN = 0.5
"""Share of the question's terms in a passage that must stand outside such paragraphs."""
_SAYING_NOTHING = ENGLISH | CHINESE


def only_furniture(terms: Collection[str], span: Span, furniture: Sequence[Span], text: str) -> bool:
    """Say whether most of what the passage shares with the question stands in furniture.

    `terms` are the keys of the question, `span` and `furniture` count in `text`. A passage that shares nothing does not
    speak by its furniture either.
    """
    inside = [shared for each in furniture if (shared := span.intersect(each)) is not None]
    if not inside:
        return False
    common = set(terms).intersection(keys_of(span.of(text))[0]) - _SAYING_NOTHING
    own = common.intersection(key for part in uncovered(span, inside) for key in keys_of(part.of(text))[0])
    return len(own) < _LEAST_OWN * len(common)
