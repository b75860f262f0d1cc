"""From what people say (a chunk's id, words to cut before, a question) to orders for one document."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kaijuan.core.chunk_work import ALIAS, ChunkWork, Wish, WorkKind
from kaijuan.core.documents import Chunk, ChunkLevel, Version
from kaijuan.core.ids import DocumentId, piece_of
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.ports import BlobStore
from kaijuan.jobs.work_views import work_views

SHORTEST_ID = 4
"""Characters by which work can be named."""
LONGEST_SAID = 20_000
"""Characters of an edit or a question; far beyond what any embedder reads."""
_SHAPING = frozenset({WorkKind.SPLIT, WorkKind.MERGE, WorkKind.EDIT, WorkKind.EXCLUDE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Footing:
    """A document as it is live, and the chunks of it that were named."""

    version: Version
    text: str
    chunks: tuple[Chunk, ...]
    """All of them, in reading order."""
    named: tuple[Chunk, ...]


async def footing(
    catalog: Catalog, blobs: BlobStore, kb: KnowledgeBase, principals: Collection[str], ids: Sequence[str]
) -> Footing:
    """Return the document of these chunks, which must all be of one. Ids of earlier versions lead to the same passages.

    NotFoundError for chunks that a principal may not read as for those that there are not.
    """
    if not ids:
        raise UsageError("No chunk was named.", hint="`kaijuan chunks list DOCUMENT` shows their ids.")
    found = await catalog.chunks_meant(ids, kb.head)
    versions = await catalog.versions_by_id({chunk.version_id for chunk in found.values()})
    own = {version.document_id for version in versions.values() if version.kb_id == kb.id}
    readers = await catalog.principals_of(kb.id, own)
    for id in ids:
        chunk = found.get(id)
        if chunk is None or readers.get(chunk.document_id, frozenset()).isdisjoint(principals):
            raise NotFoundError(f"There is no chunk {id!r}.", hint="`kaijuan chunks list DOCUMENT` shows their ids.")
    if len(own) > 1:
        raise UsageError("These chunks are of several documents.", hint="Name chunks of one document at a time.")
    (document,) = own
    live = (await catalog.standing([document], kb.head))[document].live
    if live is None:
        raise NotFoundError("The document of this chunk has been removed.")
    chunks = await catalog.chunks_of(live.id)
    living = [_living(chunk, versions[chunk.version_id], live, chunks) for chunk in found.values()]
    named = tuple({chunk.id: chunk for chunk in living}.values())
    text = (await blobs.get(live.text_hash)).decode()
    return Footing(version=live, text=text, chunks=tuple(chunks), named=named)


def _living(chunk: Chunk, version: Version, live: Version, chunks: Sequence[Chunk]) -> Chunk:
    """Return the chunk of the live version that is the same piece, or stands where a chunk stood in its own."""
    if version.id == live.id:
        return chunk
    same = next((other for other in chunks if piece_of(other.id) == piece_of(chunk.id)), None)
    if same is not None:
        return same
    key = (chunk.span, chunk.level, chunk.search_text if chunk.origin == ALIAS else "")
    for other in chunks:
        if key == (other.span, other.level, other.search_text if other.origin == ALIAS else ""):
            if version.text_hash == live.text_hash:
                return other
            break
    raise UsageError(
        f"Chunk {piece_of(chunk.id)} is of an earlier version; the live one has no such chunk.",
        hint="List the chunks again with `kaijuan chunks list`.",
    )


def one_child(ground: Footing) -> Chunk:
    """Return the one chunk that was named; UsageError where it is not searched."""
    if len(ground.named) != 1:
        raise UsageError("Name one chunk.")
    return children(ground)[0]


def children(ground: Footing) -> list[Chunk]:
    """Return the chunks that were named in reading order; UsageError where one is not searched."""
    for chunk in ground.named:
        if chunk.level is ChunkLevel.EXCLUDED:
            raise UsageError(f"Chunk {piece_of(chunk.id)} is excluded.", hint="Restore it first.")
        if chunk.level is not ChunkLevel.CHILD:
            raise UsageError(
                f"Chunk {piece_of(chunk.id)} is the {chunk.level.value} around others, not one that is searched.",
                hint="Name one of its children.",
            )
        if chunk.origin == ALIAS:
            raise UsageError(
                f"Chunk {piece_of(chunk.id)} is a question to a passage.", hint="Name the chunk of the passage."
            )
    return sorted(ground.named, key=lambda chunk: chunk.span)


def split(ground: Footing, at: Sequence[int | str]) -> Wish:
    """Return the wish to search a chunk in parts, cut at places or before words of its text."""
    chunk = one_child(ground)
    body = chunk.span.of(ground.text)
    cuts = sorted({_cut(body, place) for place in at})
    if not cuts:
        raise UsageError("It is not said where to split.", hint="Give a place (--at 120) or words (--before TEXT).")
    borders = [0, *cuts, len(body)]
    if any(not body[a:b].strip() for a, b in pairwise(borders)):
        raise UsageError("A part would be empty.", hint="Split at a place between two words of the chunk.")
    return Wish(kind=WorkKind.SPLIT, span=chunk.span, cuts=tuple(cuts))


def _cut(body: str, place: int | str) -> int:
    if isinstance(place, int):
        if not 0 < place < len(body):
            raise UsageError(
                f"The chunk cannot be split at {place}.",
                hint=f"It has {len(body)} characters: give 1 to {len(body) - 1}.",
            )
        return place
    count = body.count(place) if place else 0
    if count != 1:
        said = "does not hold" if count == 0 else f"holds {count} times"
        raise UsageError(f"The chunk {said} {place!r}.", hint="Give words that stand in it once.")
    return body.index(place)


def merge(ground: Footing) -> Wish:
    """Return the wish to search neighbouring chunks as one."""
    chosen = children(ground)
    if len(chosen) < 2:
        raise UsageError("One chunk alone cannot be merged.", hint="Name two or more that follow each other.")
    whole = Span(chosen[0].span.start, max(chunk.span.end for chunk in chosen))
    named = {chunk.id for chunk in chosen}
    for chunk in ground.chunks:
        searched = chunk.level in (ChunkLevel.CHILD, ChunkLevel.EXCLUDED) and chunk.origin != ALIAS
        if searched and chunk.id not in named and whole.contains(chunk.span):
            raise UsageError(
                f"Chunk {piece_of(chunk.id)} stands between them.", hint="Name it too, or chunks that are neighbours."
            )
    return Wish(kind=WorkKind.MERGE, span=whole)


def edit(ground: Footing, text: str) -> Wish:
    """Return the wish that a chunk be found by another text."""
    chunk = one_child(ground)
    said = _said(text, "text")
    if said == chunk.span.of(ground.text):
        raise UsageError("That is the text which it has.", hint="`kaijuan chunks restore` undoes an edit.")
    return Wish(kind=WorkKind.EDIT, span=chunk.span, said=said)


def exclude(ground: Footing) -> list[Wish]:
    """Return the wishes that chunks be searched no more."""
    return [Wish(kind=WorkKind.EXCLUDE, span=chunk.span) for chunk in children(ground)]


def alias(ground: Footing, questions: Sequence[str]) -> list[Wish]:
    """Return the wishes that a chunk be found by questions, too."""
    chunk = one_child(ground)
    said = list(dict.fromkeys(_said(question, "question") for question in questions))
    known = {each.search_text for each in ground.chunks if each.origin == ALIAS and each.span == chunk.span}
    if not said:
        raise UsageError("No question was given.")
    if again := [question for question in said if question in known]:
        raise UsageError(f"The chunk is found by {again[0]!r} already.")
    return [Wish(kind=WorkKind.ALIAS, span=chunk.span, said=question) for question in said]


def _said(text: str, what: str) -> str:
    said = text.strip()
    if not said:
        raise UsageError(f"The {what} is empty.")
    if len(said) > LONGEST_SAID:
        raise UsageError(f"The {what} has {len(said)} characters.", hint=f"At most {LONGEST_SAID} are taken.")
    if "\x00" in said or any("\ud800" <= letter <= "\udfff" for letter in said):
        raise UsageError(f"The {what} holds a character that is no text.")
    return said


def undone(work: Sequence[ChunkWork], ground: Footing) -> list[str]:
    """Return the ids of the work to be undone, so that the chunks that were named are as their strategy cuts them.

    Questions are undone by naming them, not with their passage.
    """
    places = {one.id: one.passage.place_in(ground.text) for one in work}
    ids: dict[str, None] = {}
    for chunk in ground.named:
        own = [one.id for one in work if _is_on(one, places[one.id], chunk)]
        if not own:
            raise UsageError(f"Nobody has done anything to chunk {piece_of(chunk.id)}.")
        ids.update(dict.fromkeys(own))
    return _with_what_follows(work, list(ids), ground.text)


def _is_on(one: ChunkWork, place: Span | None, chunk: Chunk) -> bool:
    if place is None:
        return False
    if chunk.origin == ALIAS:
        return one.kind is WorkKind.ALIAS and one.said == chunk.search_text and place == chunk.span
    return one.kind in _SHAPING and (place.contains(chunk.span) or chunk.span.contains(place))


def _with_what_follows(work: Sequence[ChunkWork], ids: Collection[str], text: str) -> list[str]:
    """Add what was done later to the pieces that the work made: they go with it."""
    chosen = dict.fromkeys(ids)
    for at, one in enumerate(work):
        place = one.passage.place_in(text)
        if one.id in chosen and one.kind in (WorkKind.SPLIT, WorkKind.MERGE) and place is not None:
            chosen.update(dict.fromkeys(_within(work[at + 1 :], place, text)))
    return list(chosen)


def _within(work: Sequence[ChunkWork], place: Span, text: str) -> Iterator[str]:
    for one in work:
        own = one.passage.place_in(text)
        if one.kind in _SHAPING and own is not None and place.contains(own):
            yield one.id


async def restoring(
    catalog: Catalog, blobs: BlobStore, kb: KnowledgeBase, principals: Collection[str], words: Sequence[str]
) -> tuple[Footing, list[str]]:
    """Return the document that words are about and the ids of the work to be undone.

    A word is a chunk's id, or the beginning of the id of work. What was done later to the pieces that work made is
    undone with it.
    """
    work = [view.work for view in await work_views(catalog, kb, kb.head, principals)]
    named = {word: _begun(work, word) for word in words}
    chunks = [word for word, one in named.items() if one is None]
    documents = {one.document_id for one in named.values() if one is not None}
    ground = await footing(catalog, blobs, kb, principals, chunks) if chunks or not words else None
    documents |= {ground.version.document_id} if ground else set()
    if len(documents) > 1:
        raise UsageError("This is work on several documents.", hint="Restore one document at a time.")
    (document,) = documents
    own = [one for one in work if one.document_id == document]
    ground = ground or await _bare(catalog, blobs, kb, document)
    ids = _with_what_follows(own, [one.id for one in named.values() if one is not None], ground.text)
    return ground, list(dict.fromkeys([*ids, *undone(own, ground)]))


def _begun(work: Sequence[ChunkWork], word: str) -> ChunkWork | None:
    begun = [one for one in work if len(word) >= SHORTEST_ID and one.id.startswith(word)]
    if len(begun) > 1:
        raise UsageError(f"{word!r} could be {len(begun)} pieces of work.", hint="Give more of the id.")
    return begun[0] if begun else None


async def _bare(catalog: Catalog, blobs: BlobStore, kb: KnowledgeBase, document: DocumentId) -> Footing:
    live = (await catalog.standing([document], kb.head))[document].live
    if live is None:
        raise NotFoundError("The document of this work has been removed.")
    text = (await blobs.get(live.text_hash)).decode()
    return Footing(version=live, text=text, chunks=(), named=())
