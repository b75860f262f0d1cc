"""Why a given passage was or was not used: every stage's verdict with the number that decided."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from kaijuan.core.documents import Chunk, ChunkLevel, Version
from kaijuan.core.filters import Eq, Filter, all_of
from kaijuan.core.ids import ChunkId, piece_of
from kaijuan.core.spans import Span
from kaijuan.core.text.analyse import TermKind, analyse, kind_of
from kaijuan.core.text.bm25 import query_terms
from kaijuan.errors import NotFoundError
from kaijuan.index.ports import Index
from kaijuan.retrieve.cut import USED
from kaijuan.retrieve.pipeline import Retrieval, SearchRequest, apart_of, depth, ground_of, routes_of, search
from kaijuan.retrieve.results import Candidate, RouteScore, SearchResult, Trace
from kaijuan.retrieve.scope import scope
from kaijuan.retrieve.understanding.steps import prepare, trees

DEEP = 5000
"""How far down a route is searched for the rank of a chunk that was not among the first."""
TARGETS = 5
"""How many chunks one explanation speaks of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageVerdict:
    """What one stage did with the chunk."""

    stage: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkExplanation:
    """One chunk's way through all stages."""

    chunk_id: ChunkId
    version_id: str
    document_id: str
    source: str
    title: str
    title_path: tuple[str, ...]
    span: Span
    text: str
    stages: tuple[StageVerdict, ...]
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why the passages asked about were or were not used for a question."""

    question: str
    snapshot: int
    targets: tuple[ChunkExplanation, ...]
    trace: Trace


async def explain(
    context: Retrieval, request: SearchRequest, *, contains: str | None, chunk: str | None, trace_id: str
) -> Explanation:
    """Search, then follow the chunks that contain a text, or the chunk of that id, through every stage.

    NotFoundError when no chunk that the reader may see at the snapshot is meant.
    """
    result = await search(context, request, trace_id=trace_id)
    targets = (
        await _by_id(context, request, chunk) if chunk else await _by_text(context, request, contains or "", result)
    )
    allowed = await context.catalog.authorise(
        request.kb.id, request.snapshot, [target.id for target, _ in targets], request.principals
    )
    # Only now: what others may see must not crowd out what the reader may.
    targets = [pair for pair in targets if pair[0].id in allowed][:TARGETS]
    if not targets:
        raise NotFoundError(
            f"No passage visible at snapshot {request.snapshot} matches.",
            hint="Give words exactly as they stand in the document, or a chunk id from `search --json`.",
        )
    explained = [await _explain_one(context, request, result, target, version) for target, version in targets]
    return Explanation(question=request.text, snapshot=request.snapshot, targets=tuple(explained), trace=result.trace)


async def _by_id(context: Retrieval, request: SearchRequest, chunk: str) -> list[tuple[Chunk, Version]]:
    found = await context.catalog.chunks_meant([chunk], request.snapshot)
    versions = await context.catalog.versions_by_id({item.version_id for item in found.values()})
    return [(item, versions[item.version_id]) for item in found.values()]


async def _by_text(
    context: Retrieval, request: SearchRequest, words: str, result: SearchResult
) -> list[tuple[Chunk, Version]]:
    if not words.strip():
        raise NotFoundError("No text to look for was given.", hint="Use --contains TEXT or --chunk ID.")
    standing = {candidate.chunk_id: place for place, candidate in enumerate(result.trace.candidates)}
    found: list[tuple[Chunk, Version]] = []
    async for version in _versions(context, request):
        text = await context.texts.read(version.text_hash)
        places = list(_places(text, words))
        if not places:
            continue
        children = await context.catalog.chunks_of(version.id, ChunkLevel.CHILD)
        found.extend(
            (child, version) for child in children if any(child.span.intersect(place) is not None for place in places)
        )
    found.sort(key=lambda pair: (standing.get(piece_of(pair[0].id), len(standing)), pair[1].source, pair[0].span))
    return found


def _places(text: str, words: str) -> list[Span]:
    places: list[Span] = []
    at = text.find(words)
    while at >= 0 and len(places) < TARGETS:
        places.append(Span(at, at + len(words)))
        at = text.find(words, at + len(words))
    return places


async def _versions(context: Retrieval, request: SearchRequest) -> AsyncIterator[Version]:
    after = ""
    while page := await context.catalog.versions(request.kb.id, request.snapshot, after=after):
        for version in page:
            yield version
        after = page[-1].source


async def _explain_one(
    context: Retrieval, request: SearchRequest, result: SearchResult, chunk: Chunk, version: Version
) -> ChunkExplanation:
    text = chunk.span.of(await context.texts.read(version.text_hash))
    candidate = next((item for item in result.trace.candidates if item.chunk_id == piece_of(chunk.id)), None)
    stages = await _stages(context, request, result, chunk, text, candidate)
    failed = next((stage for stage in stages if not stage.passed), None)
    verdict = f"not used: {failed.stage}: {failed.detail}" if failed else f"used: {stages[-1].detail}"
    return ChunkExplanation(
        chunk_id=piece_of(chunk.id),
        version_id=version.id,
        document_id=version.document_id,
        source=version.source,
        title=version.title,
        title_path=chunk.title_path,
        span=chunk.span,
        text=text,
        stages=tuple(stages),
        verdict=verdict,
    )


async def _stages(
    context: Retrieval,
    request: SearchRequest,
    result: SearchResult,
    chunk: Chunk,
    text: str,
    candidate: Candidate | None,
) -> list[StageVerdict]:
    if context.index is None or chunk.level is not ChunkLevel.CHILD:
        return [StageVerdict(stage="index", passed=False, detail="this chunk is read, not searched")]
    filters = (*request.filters, *trees(result.trace.understanding))
    where = scope(request.kb.tenant, request.principals, request.snapshot, filters)
    if not await _admitted(context.index, where, chunk):
        return [StageVerdict(stage="filter", passed=False, detail=_not_admitted(result))]
    stages = [StageVerdict(stage="filter", passed=True, detail="visible, allowed and admitted")]
    shared = _shared_words(request.text, text)
    stages.extend(await _route_stages(context, request, result, where, chunk, candidate, shared))
    if candidate is None:
        first = depth(context.settings, request.k)
        detail = f"neither by meaning nor by words was it among the first {first} chunks"
        return [*stages, StageVerdict(stage="gather", passed=False, detail=detail)]
    stages.append(_fused_stage(result, candidate))
    stages.append(_order_stage(context, result, candidate))
    stages.append(
        StageVerdict(
            stage="cut",
            passed=candidate.fate == USED,
            detail=f"relevance {candidate.relevance:.3f}; {candidate.fate}",
        )
    )
    if candidate.fate == USED:
        stages.append(_passage_stage(result, chunk, candidate))
    return stages


def _not_admitted(result: SearchResult) -> str:
    read = [] if result.trace.understanding.relaxed else result.trace.understanding.filters
    also = f", nor does what was read from the question: {'; '.join(one.text for one in read)}" if read else ""
    return f"the filters given do not admit its document{also}"


def _shared_words(question: str, text: str) -> list[str]:
    """Return the telling terms that both hold as people know them, in the question's order.

    Each word once, and a pair of characters only where it is no part of a word shared.
    """
    held = set(query_terms(text))
    terms = [term for term in analyse(question) if term.text in held and not term.weak]
    words = list(dict.fromkeys(_plain(term.text) for term in terms if term.kind is not TermKind.BIGRAM))
    pairs = dict.fromkeys(_plain(term.text) for term in terms if term.kind is TermKind.BIGRAM)
    return words + [pair for pair in pairs if not any(pair in word for word in words)]


def _plain(key: str) -> str:
    return key if kind_of(key) is TermKind.WORD else key[1:]


def _fused_stage(result: SearchResult, candidate: Candidate) -> StageVerdict:
    best = max(one.fused.score for one in result.trace.candidates)
    detail = f"rank {candidate.fused.rank} of {len(result.trace.candidates)}, score {candidate.fused.score:.4f}"
    return StageVerdict(stage="fuse", passed=True, detail=f"{detail}, best {best:.4f}")


def _order_stage(context: Retrieval, result: SearchResult, candidate: Candidate) -> StageVerdict:
    """Tell what the reranker, age and newer editions made of it. They move it; what drops it is told by the cut."""
    if candidate.reranked is None:
        detail = f"beyond the first {context.settings.rerank_k} by fused score: left where it was"
        return StageVerdict(stage="order", passed=True, detail=detail)
    report = result.trace.reranker
    told = [f"rank {candidate.reranked.rank}, score {candidate.reranked.score:.4f}"]
    if candidate.evidence is not None:
        told.append(f"evidence {candidate.evidence:.3f}")
    if report is None:
        told.append("no reranker")
    elif report.state != "ok":
        told.append(f"reranker {report.name} {report.state}, so the fused order stands")
    if candidate.validity:
        told.append(candidate.validity)
    return StageVerdict(stage="order", passed=True, detail="; ".join(told))


def _passage_stage(result: SearchResult, chunk: Chunk, candidate: Candidate) -> StageVerdict:
    for passage in result.passages:
        if passage.version_id == chunk.version_id and passage.span.contains(chunk.span):
            return StageVerdict(stage="passages", passed=True, detail=f"passage {passage.rank}")
    standing = candidate.reranked or candidate.fused
    detail = f"{len(result.passages)} better passages filled the places asked for; it stood at {standing.rank}"
    return StageVerdict(stage="passages", passed=False, detail=detail)


async def _admitted(index: Index, where: Filter, chunk: Chunk) -> bool:
    async for header in index.scan(all_of([where, Eq("version_id", chunk.version_id)])):
        if header.id == chunk.id:
            return True
    return False


async def _route_stages(
    context: Retrieval,
    request: SearchRequest,
    result: SearchResult,
    where: Filter,
    chunk: Chunk,
    candidate: Candidate | None,
    shared: Sequence[str],
) -> list[StageVerdict]:
    assert context.index is not None
    stages = []
    query = (await prepare(ground_of(context), request)).query
    apart = await apart_of(context, context.index, request)
    for route in await routes_of(context, context.index, request, apart, result.trace.understanding.variants):
        standing: RouteScore | None = candidate.routes.get(route.name) if candidate else None
        if standing is None:
            hits = await route.find(query, DEEP, where)
            standing = next((RouteScore(n, hit.score) for n, hit in enumerate(hits, 1) if hit.id == chunk.id), None)
        detail = f"rank {standing.rank}, score {standing.score:.4f}" if standing else f"not among the first {DEEP}"
        if route.name == "lexical":
            detail += f"; shares with the question: {', '.join(shared)}" if shared else "; shares no telling word"
        # A route that missed it decides nothing by itself: another may have found it.
        stages.append(StageVerdict(stage=route.name, passed=True, detail=detail))
    return stages
