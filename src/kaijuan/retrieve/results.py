"""What retrieval returns: passages with exact spans, and the trace that explains them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kaijuan.core.documents import Block, PageBox
from kaijuan.core.ids import ChunkId, DocumentId, VersionId
from kaijuan.core.spans import Span
from kaijuan.retrieve.understanding.results import Understanding


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
    evidence: float | None = None
    """The probability, 0 to 1, that it answers the question, as the reranker says; None where none was asked, or where
    it cannot tell, as the onboard one cannot of text in another language."""
    band: str = ""
    """"evidence", "supporting" or "weak" by `evidence`."""
    validity: str = ""
    """"expired 2023-12-31", "superseded by ...", "not in force yet 2027-01-01"; empty for what holds."""
    about: Mapping[str, str] = field(default_factory=dict)
    """What its document says of itself: version, effective_from, effective_to, authority, published, updated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One chunk's way through the stages. `fate` is "used", or the stage that dropped it with its reason."""

    chunk_id: ChunkId
    routes: Mapping[str, RouteScore]
    fused: RouteScore
    relevance: float
    fate: str
    reranked: RouteScore | None = None
    """Where it stood when everything was weighed; None for those that were too far down to be looked at."""
    evidence: float | None = None
    """What the reranker says: the probability, 0 to 1, that it answers the question; None where none was asked or it
    cannot tell."""
    validity: str = ""
    """"expired 2023-12-31", "superseded by ..."; empty for what holds, or says nothing about it."""


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
    understanding: Understanding = field(default_factory=Understanding)
    reranker: RouteReport | None = None
    """How the reranker fared; None where none was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Passages, best first, and how they were found."""

    query: str
    snapshot: int
    passages: tuple[Passage, ...]
    trace: Trace
    timings_ms: Mapping[str, float] = field(default_factory=dict)
