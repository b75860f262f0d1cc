"""Grow found chunks to what a reader needs: their parents, overlapping ones merged, spans exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kaijuan.core.documents import Block, Chunk, Version, boxes_of, pages_of
from kaijuan.core.ids import ChunkId, VersionId
from kaijuan.core.spans import Span
from kaijuan.retrieve.results import Candidate, Passage

_ABOUT = ("version", "effective_from", "effective_to", "authority", "published", "updated")
"""Fields of a document that tell which of two is to be followed."""


@dataclass(slots=True, kw_only=True)
class Area:
    """A span of one version that will be a passage, and the candidates found in it, best first."""

    version: VersionId
    span: Span
    title_path: tuple[str, ...]
    found: list[Candidate] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)

    @property
    def best(self) -> Candidate:
        """The candidate that stands for the passage."""
        return self.found[0]


def areas(
    candidates: Sequence[Candidate], chunks: Mapping[ChunkId, Chunk], parents: Mapping[ChunkId, Chunk]
) -> list[Area]:
    """Return one area for each parent that holds a candidate, in order of the best candidate in it.

    Areas of one version that overlap become one, so that no character is given to a reader twice.
    """
    result: list[Area] = []
    for candidate in candidates:
        chunk = chunks[candidate.chunk_id]
        whole = parents.get(chunk.parent_id, chunk) if chunk.parent_id else chunk
        area = Area(version=chunk.version_id, span=whole.span, title_path=whole.title_path)
        area.found.append(candidate)
        area.spans.append(chunk.span)
        _place(result, area)
    return result


def _place(result: list[Area], area: Area) -> None:
    """Add an area, joined with every earlier one it touches; the earliest keeps its place, path and best candidate."""
    touched = [other for other in result if other.version == area.version and other.span.meets(area.span)]
    if not touched:
        result.append(area)
        return
    home, *others = touched
    for other in (*others, area):
        home.span = Span(min(home.span.start, other.span.start), max(home.span.end, other.span.end))
        home.found.extend(other.found)
        home.spans.extend(other.spans)
    result[:] = [item for item in result if all(item is not other for other in others)]


def passage(area: Area, rank: int, version: Version, text: str, blocks: Sequence[Block]) -> Passage:
    """Return the passage of an area. `text` is the version's whole canonical text, `blocks` those the span meets."""
    best = area.best
    return Passage(
        rank=rank,
        score=best.fused.score,
        relevance=max(candidate.relevance for candidate in area.found),
        document_id=version.document_id,
        version_id=version.id,
        chunk_id=best.chunk_id,
        source=version.source,
        title=version.title,
        title_path=area.title_path,
        text=area.span.of(text),
        span=area.span,
        hits=tuple(area.spans),
        pages=tuple(pages_of(blocks, area.span)),
        boxes=tuple(boxes_of(blocks, area.span)),
        blocks=tuple(blocks),
        content_hash=version.content_hash,
        routes=best.routes,
        evidence=max((one.evidence for one in area.found if one.evidence is not None), default=None),
        validity=best.validity,
        about={name: str(version.metadata[name]) for name in _ABOUT if version.metadata.get(name)},
    )
