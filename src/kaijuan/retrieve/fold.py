"""Equal passages of merged documents are shown once, the other sources named (spec B2).

Only passages that the reader was given are compared, after every check of access: who may read but one of the documents
sees that one. Passages of merged documents that differ in a number or a negation stay apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kaijuan.core.ids import ChunkId, VersionId
from kaijuan.ingest.dedupe.rules import same_claims
from kaijuan.ingest.dedupe.shingles import likeness, plain, shingles
from kaijuan.retrieve.results import Passage

_NEARLY = 0.9


def fold(
    passages: Sequence[Passage], groups: Mapping[VersionId, VersionId]
) -> tuple[list[Passage], dict[ChunkId, str]]:
    """Return the passages that are shown, and by chunk the source that is shown in its place."""
    shown: list[Passage] = []
    folded: dict[ChunkId, str] = {}
    for passage in passages:
        at = next((at for at, other in enumerate(shown) if _same(passage, other, groups)), None)
        if at is None:
            shown.append(passage)
            continue
        first, second = shown[at], passage
        if groups.get(first.version_id, first.version_id) == second.version_id:
            # The document that the others were merged with stands for them, so that equal scores never change which.
            first, second = second, first
        folded = {id: first.source if source == second.source else source for id, source in folded.items()}
        folded[second.chunk_id] = first.source
        shown[at] = replace(
            first,
            score=max(first.score, second.score),
            relevance=max(first.relevance, second.relevance),
            also=tuple(dict.fromkeys((*first.also, *second.also, second.source))),
        )
    return shown, folded


def _same(one: Passage, other: Passage, groups: Mapping[VersionId, VersionId]) -> bool:
    mine, theirs = (groups.get(passage.version_id, passage.version_id) for passage in (one, other))
    if mine != theirs or one.version_id == other.version_id:
        return False
    if plain(one.text) == plain(other.text):
        return True
    return likeness(shingles(one.text), shingles(other.text)) >= _NEARLY and same_claims(one.text, other.text)
