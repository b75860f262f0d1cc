"""Which documents of a run say what others say: found by signature, proven on the texts, decided by rule.

Nothing is removed: a decision lets a search show an equal passage once, and can be reversed (spec B2).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kaijuan import telemetry
from kaijuan.core.documents import Version
from kaijuan.core.duplicates import Duplicate, DuplicateKind, DuplicateState
from kaijuan.core.ids import VersionId
from kaijuan.index.catalog import Catalog, Run, Signed
from kaijuan.index.ports import BlobStore
from kaijuan.ingest.dedupe.rules import alike
from kaijuan.ingest.dedupe.shingles import likeness, shingles

LEAST = 0.9
"""Likeness from which two texts are nearly the same."""
_MOST_CANDIDATES = 4
"""Compared with each version, oldest first: of a thousand copies any one proves it."""
_PAGE = 100
Candidates = Sequence[tuple[VersionId, Sequence[VersionId]]]


async def find_duplicates(catalog: Catalog, blobs: BlobStore, run: Run, now: float) -> int:
    """Decide about the versions that the run staged; return about how many there was something to decide."""
    signed = await catalog.signatures(run)
    if not any(one.fresh for one in signed):
        return 0
    wanted = await asyncio.to_thread(candidates, signed)
    if not wanted:
        return 0
    before = {(one.document_id, one.other_document_id): one for one in await catalog.ruled_duplicates(run.kb_id)}
    groups: dict[VersionId, VersionId] = {
        one.version_id: one.group_id
        for one in await catalog.duplicates(run.kb_id, run.target)
        if one.state is DuplicateState.MERGED
    }
    decided = 0
    for at in range(0, len(wanted), _PAGE):
        page = wanted[at : at + _PAGE]
        versions = await catalog.versions_by_id({id for fresh, others in page for id in (fresh, *others)})
        texts = await _texts(blobs, list(versions.values()))
        found = await asyncio.to_thread(lambda: list(_decided(page, versions, texts, groups, now)))  # noqa: B023 - awaited here
        found = [_as_ruled(one, before.get((one.document_id, one.other_document_id))) for one in found]
        groups |= {one.version_id: one.group_id for one in found if one.state is DuplicateState.MERGED}
        await catalog.record_duplicates(run, found)
        decided += len(found)
    return decided


def candidates(signed: Sequence[Signed]) -> list[tuple[VersionId, list[VersionId]]]:
    """Return for each fresh version those before it that share a band of the signature, a few of the oldest."""
    import numpy as np  # late: most commands add nothing

    bands = np.frombuffer(b"".join(one.signature for one in signed), dtype="<u8").reshape(len(signed), -1)
    fresh = np.fromiter((one.fresh for one in signed), dtype=bool, count=len(signed))
    shared: dict[int, set[int]] = {}
    for band in bands.T:
        # Only what some fresh version has as well; of a hundred thousand that is little.
        rows = np.flatnonzero(np.isin(band, band[fresh]))
        first: dict[int, list[int]] = {}
        for row in rows.tolist():
            earlier = first.setdefault(int(band[row]), [])
            if signed[row].fresh and earlier:
                shared.setdefault(row, set()).update(earlier)
            if len(earlier) < _MOST_CANDIDATES:
                earlier.append(row)
    return [
        (signed[row].version, [signed[other].version for other in sorted(others)[:_MOST_CANDIDATES]])
        for row, others in sorted(shared.items())
    ]


async def _texts(blobs: BlobStore, versions: Sequence[Version]) -> dict[VersionId, str]:
    texts: dict[VersionId, str] = {}
    found = await blobs.get_each([version.text_hash for version in versions])
    for version, data in zip(versions, found, strict=True):
        if isinstance(data, bytes):
            texts[version.id] = data.decode()
        else:
            telemetry.event("duplicates.unreadable", version=version.id, code=data.code)
    return texts


def _decided(
    page: Candidates,
    versions: Mapping[VersionId, Version],
    texts: Mapping[VersionId, str],
    groups: Mapping[VersionId, VersionId],
    now: float,
) -> Iterator[Duplicate]:
    mine = dict(groups)
    sets = {id: shingles(text) for id, text in texts.items()}
    for fresh, others in page:
        best: Duplicate | None = None
        for other in others:
            if fresh not in texts or other not in texts:
                continue
            one = _pair(versions[fresh], versions[other], texts, likeness(sets[fresh], sets[other]), now)
            # The first that is merged settles it; of several revisions the most alike is named.
            if one is not None and (best is None or _weight(one) > _weight(best)):
                best = replace(one, group_id=mine.get(other, other))
            if best is not None and best.state is DuplicateState.MERGED:
                mine[fresh] = best.group_id
                break
        if best is not None:
            yield best


def _weight(one: Duplicate) -> tuple[bool, float]:
    return one.state is DuplicateState.MERGED, one.similarity


def _pair(
    one: Version, other: Version, texts: Mapping[VersionId, str], similarity: float, now: float
) -> Duplicate | None:
    if similarity < LEAST or one.document_id == other.document_id:
        return None
    found = alike(one, other, texts[one.id], texts[other.id], similarity)
    return Duplicate(
        version_id=one.id,
        other_id=other.id,
        group_id=other.id,
        kb_id=one.kb_id,
        document_id=one.document_id,
        other_document_id=other.document_id,
        kind=found.kind,
        similarity=round(similarity, 4),
        reason=found.reason,
        state=DuplicateState.KEPT if found.kind is DuplicateKind.REVISION else DuplicateState.MERGED,
        created_at=now,
    )


def _as_ruled(one: Duplicate, before: Duplicate | None) -> Duplicate:
    """Let what a person said of the same two documents stand for their new versions."""
    return one if before is None else replace(one, state=before.state, history=before.history)
