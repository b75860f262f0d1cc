"""Chunks to passages: grown to what is worth reading, joined, equal ones folded, what cannot be read passed over."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kaijuan import telemetry
from kaijuan.core.documents import Block, Version
from kaijuan.core.ids import ChunkId, VersionId, piece_of
from kaijuan.core.spans import Span
from kaijuan.errors import CorruptStoreError, KaijuanError
from kaijuan.index.catalog import Families
from kaijuan.retrieve.cut import USED, band
from kaijuan.retrieve.expand import Area, areas, passage
from kaijuan.retrieve.fold import fold
from kaijuan.retrieve.results import Candidate, Passage
from kaijuan.retrieve.settings import RetrieveSettings

if TYPE_CHECKING:
    from kaijuan.retrieve.pipeline import Retrieval, SearchRequest

READ_AHEAD = 2
"""Candidates looked up for each passage wanted, at first."""


async def expanded(
    context: Retrieval, request: SearchRequest, candidates: Sequence[Candidate], near: Families
) -> tuple[list[Passage], list[Candidate]]:
    """Return the passages, and the candidates with the fate of those whose text cannot be read.

    The next best take their places. An error only when no text at all can be read: "nothing found" would be untrue.
    """
    lost: dict[ChunkId, KaijuanError] = {}
    wanted = request.k
    while True:
        used = [item for item in candidates if item.fate == USED and item.chunk_id not in lost]
        chosen, families = await _areas(context, wanted, used, near)
        versions = {area.version: families.versions[area.version] for area in chosen}
        (texts, errors), blocks = await asyncio.gather(texts_of(context, versions), _blocks(context, chosen))
        if errors:
            lost |= {
                item.chunk_id: errors[area.version] for area in chosen if area.version in errors for item in area.found
            }
            continue
        passages = [
            _banded(passage(area, rank, versions[area.version], texts[area.version], parts), context.settings)
            for rank, (area, parts) in enumerate(zip(chosen, blocks, strict=True), start=1)
        ]
        folding = request.cut and context.settings.fold_duplicates
        shown, folded = fold(passages, families.groups) if folding else (passages, {})
        if len(shown) >= request.k or len(chosen) < wanted:
            break
        # As many more as were folded away; there are only so many candidates.
        wanted += request.k - len(shown)
    if lost and not chosen:
        first = next(iter(lost.values()))
        raise CorruptStoreError(
            f"Nothing that was found can be read. {first.message}", hint=first.hint or None
        ) from first
    fates = {id: f"unreadable: {error.message}" for id, error in lost.items()}
    for area in chosen:
        if source := folded.get(area.best.chunk_id):
            fates |= {item.chunk_id: f"folded: the same words as in {source}" for item in area.found}
    passages = [
        replace(one, rank=rank, chunk_id=piece_of(one.chunk_id)) for rank, one in enumerate(shown[: request.k], start=1)
    ]
    return passages, [_marked(candidate, fates.get(candidate.chunk_id)) for candidate in candidates]


def _banded(given: Passage, settings: RetrieveSettings) -> Passage:
    return replace(given, band=band(given.evidence, settings))


async def texts_of(
    context: Retrieval, versions: Mapping[VersionId, Version]
) -> tuple[dict[VersionId, str], dict[VersionId, KaijuanError]]:
    """Return the texts of versions, and the errors of those that cannot be read, which are counted."""
    found = await context.texts.read_each([version.text_hash for version in versions.values()])
    texts: dict[VersionId, str] = {}
    errors: dict[VersionId, KaijuanError] = {}
    for version, text in zip(versions.values(), found, strict=True):
        if isinstance(text, str):
            texts[version.id] = text
            continue
        telemetry.count("search.unreadable")
        telemetry.event("search.unreadable", version=version.id, source=version.source, code=text.code)
        errors[version.id] = text
    return texts, errors


def _marked(candidate: Candidate, fate: str | None) -> Candidate:
    # What readers get speaks of pieces, whose ids stay; what finds them, of chunks of versions.
    return replace(candidate, chunk_id=piece_of(candidate.chunk_id), fate=fate or candidate.fate)


async def _areas(context: Retrieval, k: int, used: Sequence[Candidate], near: Families) -> tuple[list[Area], Families]:
    # A few candidates a passage are enough most often; more are looked up only where they share parents.
    for count in (READ_AHEAD * k, 4 * READ_AHEAD * k, len(used)):
        ids = [candidate.chunk_id for candidate in used[:count]]
        known = all(id in near.chunks for id in ids)
        found = near if known else await context.catalog.families(ids)
        chosen = areas(used[:count], found.chunks, found.parents)
        if len(chosen) >= k or count >= len(used):
            break
    return chosen[:k], found


async def _blocks(context: Retrieval, chosen: Sequence[Area]) -> list[list[Block]]:
    places: dict[VersionId, list[Span]] = {}
    for area in chosen:
        places.setdefault(area.version, []).append(area.span)
    found = await context.catalog.blocks_within(places)
    return [[block for block in found[area.version] if block.span.meets(area.span)] for area in chosen]
