"""The reviewer's desk: which reviews a word means, among those that a reader may see."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kaijuan.core.ids import document_id
from kaijuan.core.reviews import Review, ReviewState
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog import Catalog, KnowledgeBase

_SHORTEST_ID = 4
_DECIDABLE = (ReviewState.PENDING, ReviewState.APPROVED, ReviewState.REJECTED)


async def on_desk(
    catalog: Catalog, kb: KnowledgeBase, principals: Collection[str], states: Collection[ReviewState]
) -> list[Review]:
    """Return the reviews in these states whose document a reader may read, oldest first."""
    found = await catalog.reviews(kb.id, states)
    ids = {review.id: document_id(kb.id, review.source) for review in found}
    readers = await catalog.principals_of(kb.id, set(ids.values()))
    return [review for review in found if not readers[ids[review.id]].isdisjoint(principals)]


async def picked(
    catalog: Catalog, kb: KnowledgeBase, principals: Collection[str], words: Sequence[str]
) -> list[Review]:
    """Return the reviews that words mean: an id, its beginning (four characters or more), or a source.

    A source means what waits of it, and where nothing waits its newest review. NotFoundError for none, UsageError
    for several.
    """
    reviews = await on_desk(catalog, kb, principals, list(ReviewState))
    found: dict[str, Review] = {}
    for word in words:
        review = _meant(reviews, word)
        found[review.id] = review
    return list(found.values())


def _meant(reviews: Sequence[Review], word: str) -> Review:
    if len(word) >= _SHORTEST_ID and (begun := [review for review in reviews if review.id.startswith(word)]):
        if len(begun) > 1:
            raise UsageError(f"{word!r} could be {len(begun)} reviews.", hint="Give more of the id.")
        return begun[0]
    ofs = [review for review in reviews if review.source == word or review.source.endswith((f"/{word}", f"#{word}"))]
    waiting = [review for review in ofs if review.state is ReviewState.PENDING]
    decidable = waiting or [review for review in ofs if review.state in _DECIDABLE]
    if len({review.source for review in decidable}) > 1:
        raise UsageError(f"{word!r} could be several documents.", hint="Give the id that `kaijuan review list` shows.")
    if not decidable:
        raise NotFoundError(f"There is no review {word!r}.", hint="`kaijuan review list` shows what waits.")
    return decidable[-1]
