"""What retrieval returns: passages with exact spans, and the trace that explains them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kaijuan.core.documents import Block, PageBox
from kaijuan.core.ids import ChunkId, DocumentId, VersionId
from kaijuan.core.spans import Span


@dataclass(frozen=True, slots=True)
class RouteScore:
    """Where a chunk stood in one route. Ranks count from 1."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of one version to read, with the chunk that was found in it.

    `span` is what the reader is given (the parent, or the union of overlapping ones), `hits` the spans of the
    chunks that were found inside it, best first. `text` is exactly the version's text at `span`.
    """

    rank: int
    score: float
    """Fused score, comparable within one result only."""
    relevance: float
    """Calibrated 0-1."""
    document_id: DocumentId
    version_id: VersionId
    chunk_id: ChunkId
    source: str
    title: str
    title_path: tuple[str, ...]
    text: str
    span: Span
    hits: tuple[Span, ...]
    pages: tuple[int, ...]
    boxes: tuple[PageBox, ...]
    blocks: tuple[Block, ...]
    content_hash: str
    routes: Mapping[str, RouteScore]
    also: tuple[str, ...] = ()
    """Sources of merged documents in which the same words stand; not shown apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One chunk's way through the stages. `fate` is "used", or the stage that dropped it with its reason."""

    chunk_id: ChunkId
    routes: Mapping[str, RouteScore]
    fused: RouteScore
    relevance: float
    fate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteReport:
    """How one route fared. `state` is "ok", "timeout" or "failed: code"."""

    name: str
    state: str
    found: int
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Everything that happened to one request (spec G8)."""

    id: str
    query: str
    normalised: str
    terms: tuple[str, ...]
    snapshot: int
    routes: tuple[RouteReport, ...]
    candidates: tuple[Candidate, ...]
    settings: Mapping[str, object]
    timings_ms: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Passages, best first, and how they were found."""

    query: str
    snapshot: int
    passages: tuple[Passage, ...]
    trace: Trace
    timings_ms: Mapping[str, float] = field(default_factory=dict)
