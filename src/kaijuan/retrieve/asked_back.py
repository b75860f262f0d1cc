"""Whether the asker must say more: looked at when the passages are there, since they tell whether it matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kaijuan.retrieve.results import Passage
from kaijuan.retrieve.understanding.asking_back import Spoken, ask_back, may_rival
from kaijuan.retrieve.understanding.results import Understanding

if TYPE_CHECKING:
    from kaijuan.retrieve.pipeline import Retrieval, SearchRequest

_LOOKED_AT = 6


async def asked_back(
    context: Retrieval, request: SearchRequest, understanding: Understanding, passages: Sequence[Passage]
) -> Understanding:
    """Return what is understood, with the question to the asker where one must be asked."""
    if not context.understanding.clarify:
        return understanding
    first = passages[:_LOOKED_AT]
    spoken = [_spoken(passage) for passage in first]
    if may_rival(spoken):
        versions = await context.catalog.versions_by_id({passage.version_id for passage in first})
        spoken = [
            replace(one, metadata=versions[passage.version_id].metadata if passage.version_id in versions else {})
            for one, passage in zip(spoken, first, strict=True)
        ]
    found = ask_back(request.text, understanding.expansions, spoken)
    return understanding if found is None else replace(understanding, clarification=found)


def _spoken(passage: Passage) -> Spoken:
    """Return the piece of a passage that was found, which says less than all that a reader is given."""
    best = passage.hits[0] if passage.hits else passage.span
    start = best.start - passage.span.start
    return Spoken(
        text=passage.text[start : start + len(best)],
        score=passage.relevance,
        document_id=passage.document_id,
        source=passage.source,
        title=passage.title,
        holds=not passage.validity,
    )
