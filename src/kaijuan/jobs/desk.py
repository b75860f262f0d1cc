"""Where people decide: which reviews and which pairs of documents a word means, among those that they may see."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from kaijuan.core.boilerplate import Boilerplate, BoilerplateRuling, Place
from kaijuan.core.documents import Version
from kaijuan.core.duplicates import Duplicate, Ruling
from kaijuan.core.ids import VersionId
from kaijuan.core.reviews import Review, ReviewState
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.ports import BlobStore

_SHORTEST_ID = 4
_DECIDABLE = (ReviewState.PENDING, ReviewState.APPROVED, ReviewState.REJECTED)


async def on_desk(
    catalog: Catalog, kb: KnowledgeBase, principals: Collection[str], states: Collection[ReviewState]
) -> list[Review]:
    """Return the reviews in these states whose document a reader may read, oldest first."""
    found = await catalog.reviews(kb.id, states)
    # By source: what was never stored has no document that a folder's readers could be told from.
    readers = await catalog.readers_of(kb.id, {review.source for review in found})
    return [review for review in found if not readers[review.source].isdisjoint(principals)]


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
    # Addresses are percent-encoded; people write file names as they see them.
    names = {word, quote(word, errors="surrogateescape")}
    endings = tuple(f"{mark}{name}" for name in names for mark in "/#")
    ofs = [review for review in reviews if review.source in names or review.source.endswith(endings)]
    waiting = [review for review in ofs if review.state is ReviewState.PENDING]
    decidable = waiting or [review for review in ofs if review.state in _DECIDABLE]
    if len({review.source for review in decidable}) > 1:
        raise UsageError(f"{word!r} could be several documents.", hint="Give the id that `kaijuan review list` shows.")
    if not decidable:
        raise NotFoundError(f"There is no review {word!r}.", hint="`kaijuan review list` shows what waits.")
    return decidable[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDuplicate:
    """A decision about two documents, with their sources."""

    pair: Duplicate
    source: str
    other: str


async def seen_duplicates(catalog: Catalog, kb: KnowledgeBase, principals: Collection[str]) -> list[SeenDuplicate]:
    """Return the decisions at head of which a reader may read both documents, oldest first."""
    found = await catalog.duplicates(kb.id, kb.head)
    documents = {id for one in found for id in (one.document_id, one.other_document_id)}
    readers = await catalog.principals_of(kb.id, documents)
    seen = {id for id in documents if not readers[id].isdisjoint(principals)}
    kept = [one for one in found if {one.document_id, one.other_document_id} <= seen]
    versions = await catalog.versions_by_id({id for one in kept for id in (one.version_id, one.other_id)})
    return [
        SeenDuplicate(pair=one, source=versions[one.version_id].source, other=versions[one.other_id].source)
        for one in kept
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenBoilerplate:
    """A decision about a paragraph that many documents share, as a reader may see it."""

    decision: Boilerplate
    excerpt: str
    """Its words, out of a document that the reader may read."""
    sources: tuple[str, ...]
    """Documents at head that hold it and that the reader may read, by source."""


async def seen_boilerplate(
    catalog: Catalog, blobs: BlobStore, kb: KnowledgeBase, principals: Collection[str]
) -> list[SeenBoilerplate]:
    """Return the decisions at head about paragraphs that a reader may read somewhere, those of most documents first."""
    decisions = await catalog.boilerplate(kb.id, kb.head)
    places = await catalog.boilerplate_places(kb.id, kb.head, [one.digest for one in decisions])
    documents = {place.document_id for found in places.values() for place in found}
    readers = await catalog.principals_of(kb.id, documents)
    open_ones = {
        digest: [place for place in found if not readers[place.document_id].isdisjoint(principals)]
        for digest, found in places.items()
    }
    versions = await catalog.versions_by_id({place.version_id for found in open_ones.values() for place in found})
    seen = []
    for one in sorted(decisions, key=lambda one: (-one.documents, one.digest)):
        allowed = open_ones[one.digest]
        excerpt = await _words_at(blobs, versions, allowed)
        if excerpt:
            sources = dict.fromkeys(versions[place.version_id].source for place in allowed)
            seen.append(SeenBoilerplate(decision=one, excerpt=excerpt, sources=tuple(sources)))
    return seen


async def _words_at(blobs: BlobStore, versions: Mapping[VersionId, Version], places: Sequence[Place]) -> str:
    """Return the words at the first place whose text can be read; "" for none."""
    for place in places:
        (found,) = await blobs.get_each([versions[place.version_id].text_hash])
        if isinstance(found, bytes):
            return place.span.of(found.decode())
    return ""


async def rule_boilerplate(
    catalog: Catalog, blobs: BlobStore, kb: KnowledgeBase, principals: Collection[str], rule: PassedRuling
) -> int:
    """Let a ruling stand for the paragraphs that words mean: an id, or its beginning (four characters or more).

    Return how many they are; NotFoundError for none, UsageError for several.
    """
    found = await seen_boilerplate(catalog, blobs, kb, principals)
    chosen = {_paragraph_meant(found, word) for word in rule.words}
    await catalog.rule_boilerplate(kb.id, kb.head, sorted(chosen), rule.ruling)
    return len(chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedRuling:
    """What somebody decided, and about which paragraphs."""

    words: Sequence[str]
    ruling: BoilerplateRuling


def _paragraph_meant(found: Sequence[SeenBoilerplate], word: str) -> str:
    begun = [one for one in found if len(word) >= _SHORTEST_ID and one.decision.digest.startswith(word)]
    if not begun:
        raise NotFoundError(
            f"Nothing was decided about a paragraph {word!r}.", hint="`kaijuan boilerplate list` shows what was."
        )
    if len(begun) > 1:
        raise UsageError(f"{word!r} could be {len(begun)} paragraphs.", hint="Give more of the id.")
    return begun[0].decision.digest


async def rule(
    catalog: Catalog, kb: KnowledgeBase, principals: Collection[str], words: Sequence[str], ruling: Ruling
) -> int:
    """Let a ruling stand for the pairs that words mean: an id, its beginning (four characters or more), or a source.

    Return how many they are; NotFoundError for none, UsageError for several.
    """
    found = await seen_duplicates(catalog, kb, principals)
    chosen = {one.pair.version_id for one in (_pair_meant(found, word) for word in words)}
    await catalog.rule_duplicates(sorted(chosen), ruling)
    return len(chosen)


def _pair_meant(found: Sequence[SeenDuplicate], word: str) -> SeenDuplicate:
    ends = (f"/{word}", f"#{word}")
    meant = [one for one in found if len(word) >= _SHORTEST_ID and one.pair.id.startswith(word)] or [
        one for one in found if word in (one.source, one.other) or one.source.endswith(ends)
    ]
    if not meant:
        raise NotFoundError(f"Nothing was decided about {word!r}.", hint="`kaijuan duplicates list` shows what was.")
    if len(meant) > 1:
        raise UsageError(f"{word!r} could be {len(meant)} pairs.", hint="Give the id that the list shows.")
    return meant[0]
