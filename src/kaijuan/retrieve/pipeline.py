"""Question to passages, step by step: understand, gather, fuse, authorise, cut, order, expand, trace."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType

from kaijuan import telemetry
from kaijuan.core.chat import ChatModel
from kaijuan.core.filters import Filter
from kaijuan.core.ids import ChunkId
from kaijuan.core.text.bm25 import numbered
from kaijuan.index.catalog import CatalogReader, Families, KnowledgeBase
from kaijuan.index.ports import Embedder, Hit, Index
from kaijuan.retrieve.asked_back import asked_back
from kaijuan.retrieve.cut import USED, fate
from kaijuan.retrieve.fuse import FUSIONS, Fused, rrf, weighed, with_foreign
from kaijuan.retrieve.gather import Gathered, gather
from kaijuan.retrieve.holdings import HoldingsShelf
from kaijuan.retrieve.languages import Apart, Asked, ForeignRoute, Known, foreign_to, is_foreign, languages_of
from kaijuan.retrieve.order import Ordered, Tools, ordered
from kaijuan.retrieve.other_words import in_other_words
from kaijuan.retrieve.passages import READ_AHEAD, expanded, texts_of
from kaijuan.retrieve.ports import Query, Reranker, Route
from kaijuan.retrieve.relevance import FITS, floors, relevances
from kaijuan.retrieve.results import Candidate, RouteScore, SearchResult, Trace
from kaijuan.retrieve.routes.breakers import Breakers
from kaijuan.retrieve.routes.dense import DenseRoute
from kaijuan.retrieve.routes.feedback import feedback_terms
from kaijuan.retrieve.routes.joining import is_side, with_side_routes
from kaijuan.retrieve.routes.lexical import LexicalRoute
from kaijuan.retrieve.routes.settings import RoutesSettings
from kaijuan.retrieve.routes.side import rules_of, side_routes, side_weights
from kaijuan.retrieve.routes.variants import variant_routes, variant_weights
from kaijuan.retrieve.scope import check_fields, scope
from kaijuan.retrieve.settings import RetrieveSettings
from kaijuan.retrieve.texts import TextShelf
from kaijuan.retrieve.understanding.asking import Wordings
from kaijuan.retrieve.understanding.results import OK, StepReport, Understanding, Variant
from kaijuan.retrieve.understanding.settings import UnderstandSettings
from kaijuan.retrieve.understanding.steps import Ground, Prepared, prepare, ready

LOOKED_AT = 3
"""Chunks in which the answer of a part of a question is looked for."""
WIDENINGS = 2
"""How often the routes are asked for more when access checks left too few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search. It reads the one snapshot it names, from the first step to the last."""

    text: str
    k: int
    kb: KnowledgeBase
    snapshot: int
    principals: frozenset[str]
    filters: tuple[Filter, ...] = ()
    at: date | None = None
    """The day that is asked about; by default today, or what the question names."""
    cut: bool = True
    """False keeps every candidate up to `k`, as evaluation needs."""
    read_filters: bool = True
    """Whether filters may be read from the question."""
    use_model: bool = True
    """Whether the language model may be asked for the question in other words, where one is configured."""
    chat: ChatModel | None = None
    """Stands in for the configured language model, such as one that remembers what it was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What the steps work with."""

    catalog: CatalogReader
    index: Index | None
    """None while the knowledge base has never been published."""
    embedder: Embedder
    texts: TextShelf
    settings: RetrieveSettings
    understanding: UnderstandSettings = field(default_factory=UnderstandSettings)
    routes: RoutesSettings = field(default_factory=RoutesSettings)
    breakers: Breakers = field(default_factory=Breakers)
    """Which routes failed of late, kept between searches."""
    shelf: HoldingsShelf = field(default_factory=HoldingsShelf)
    """What documents say about themselves, kept between searches."""
    known_fields: set[str] = field(default_factory=set)
    """Fields that documents are known to have, kept between searches of one index space."""
    known_languages: Known = field(default_factory=dict)
    """Languages of what readers see, kept likewise."""
    reranker: Reranker | None = None
    chat: ChatModel | None = None
    """The language model; None where none is configured."""
    wordings: Wordings = field(default_factory=Wordings)
    """What the language model said of late, kept between searches."""
    others: Sequence[Route] = ()
    """Side routes of other rooms, named `graph` and `memory`."""
    now: float = field(default_factory=time.time)
    """Seconds since 1970: what is in force depends on the day."""


async def search(context: Retrieval, request: SearchRequest, *, trace_id: str) -> SearchResult:
    """Return at most `request.k` passages, best first, with the trace that explains them."""
    timings: dict[str, float] = {}
    with telemetry.timed(timings, "total", span="search"):
        with telemetry.timed(timings, "understand"):
            prepared = await prepare(ground_of(context), request)
        query = prepared.query
        with telemetry.timed(timings, "gather"):
            found, understanding, narrowed = await _find_or_relax(context, request, prepared)
            if context.routes.feedback:
                query, found, understanding = await _fed_back(context, narrowed, query, found, understanding)
        if (request.chat or context.chat) is not None and request.use_model:
            with telemetry.timed(timings, "reword"):
                found, understanding = await _reworded(context, narrowed, query, found, understanding)
        with telemetry.timed(timings, "order"):
            last = await _order(context, request, found)
        with telemetry.timed(timings, "expand"):
            passages, candidates = await expanded(context, request, last.candidates, found.near)
            understanding = await asked_back(context, request, understanding, passages)
    for answer in found.gathered:
        timings[answer.report.name] = answer.report.milliseconds
    trace = Trace(
        id=trace_id,
        query=request.text,
        normalised=query.normalised,
        terms=query.terms,
        snapshot=request.snapshot,
        routes=tuple(answer.report for answer in found.gathered),
        candidates=tuple(candidates),
        settings=context.settings.model_dump(),
        timings_ms=timings,
        understanding=understanding,
        reranker=last.report,
    )
    return SearchResult(
        query=request.text, snapshot=request.snapshot, passages=tuple(passages), trace=trace, timings_ms=timings
    )


def ground_of(context: Retrieval) -> Ground:
    """Return what the steps of understanding work with."""
    return Ground(
        catalog=context.catalog,
        index=context.index,
        settings=context.understanding,
        shelf=context.shelf,
        texts=context.texts,
    )


def depth(settings: RetrieveSettings, k: int) -> int:
    """Return how many chunks each route is asked for when `k` passages are wanted."""
    return max(settings.route_k, 4 * k)


async def routes_of(
    context: Retrieval, index: Index, request: SearchRequest, apart: Apart, variants: Sequence[Variant] = ()
) -> list[Route]:
    """Return the routes that a search takes, in the order in which they are shown."""
    asked = Asked(context.embedder, seconds=context.settings.embed_seconds)
    return [
        DenseRoute(index, asked, apart.languages),
        LexicalRoute(index),
        *await side_routes(context, index, request, asked),
        *(ForeignRoute(index, asked, language) for language in apart.languages),
        *variant_routes(index, asked, variants),
    ]


async def apart_of(context: Retrieval, index: Index, request: SearchRequest) -> Apart:
    """Return the languages that are searched by routes of their own."""
    if not context.settings.languages_apart:
        return Apart()
    seen = scope(request.kb.tenant, request.principals, request.snapshot, ())
    key = (request.snapshot, frozenset(request.principals))
    return foreign_to(request.text, await languages_of(index, seen, key, context.known_languages))


async def _order(context: Retrieval, request: SearchRequest, found: _Found) -> Ordered:
    tools = Tools(
        texts=context.texts,
        reranker=context.reranker,
        settings=context.settings,
        now=context.now,
        kb=request.kb.name,
        at=request.at,
    )
    return await ordered(tools, request.text, found.candidates, found.near, cut=request.cut)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the routes brought, judged, and the families of the first few, looked up meanwhile."""

    gathered: Sequence[Gathered]
    candidates: Sequence[Candidate]
    near: Families


async def _find_or_relax(
    context: Retrieval, request: SearchRequest, prepared: Prepared
) -> tuple[_Found, Understanding, SearchRequest]:
    """Search under the filters that were read from the question, and without them where they leave nothing.

    The last that is returned is the request as it was searched.
    """
    narrowed = replace(request, filters=(*request.filters, *prepared.filters))
    found = await _find(context, narrowed, prepared.query)
    if not prepared.filters or any(candidate.fate == USED for candidate in found.candidates):
        return found, prepared.understanding, narrowed
    return await _find(context, request, prepared.query), replace(prepared.understanding, relaxed=True), request


async def _fed_back(
    context: Retrieval, request: SearchRequest, query: Query, found: _Found, understanding: Understanding
) -> tuple[Query, _Found, Understanding]:
    """Search the words of the first chunks too; the question's own come first."""
    settings = context.routes
    texts = await _first_texts(context, found, settings.feedback_chunks)
    terms = feedback_terms(query, texts, most=settings.feedback_terms, share=settings.feedback_weight)
    report = StepReport(name="feedback", state=OK, said=tuple(terms))
    understanding = replace(understanding, steps=(*understanding.steps, report))
    if not terms:
        return query, found, understanding
    more = {**query.expansion, **numbered(terms)}
    wider = replace(query, terms=(*query.terms, *terms), expansion=more)
    return wider, await _find(context, request, wider), understanding


async def _reworded(
    context: Retrieval, request: SearchRequest, query: Query, found: _Found, understanding: Understanding
) -> tuple[_Found, Understanding]:
    """Search the question in other words too, where a language model was asked for them and gave any."""
    chat = request.chat or context.chat
    if chat is None or context.index is None:
        return found, understanding

    async def look(text: str) -> list[str]:
        near = await _find(context, replace(request, text=text, k=LOOKED_AT), await ready(text))
        return await _first_texts(context, near, LOOKED_AT)

    told = context.embedder.info.name in FITS
    understanding = await in_other_words(
        chat,
        request.text,
        understanding,
        context.understanding,
        best=max((one.relevance for one in found.candidates), default=0.0) if told else None,
        look=look,
        wordings=context.wordings,
    )
    if not understanding.variants:
        return found, understanding
    return await _find(context, request, query, understanding.variants), understanding


async def _first_texts(context: Retrieval, found: _Found, count: int) -> list[str]:
    """Return the texts of the first few chunks; the catalog has allowed them to the reader."""
    first = [found.near.chunks[one.chunk_id] for one in found.candidates[:count] if one.chunk_id in found.near.chunks]
    versions = {chunk.version_id: found.near.versions[chunk.version_id] for chunk in first}
    texts, _ = await texts_of(context, versions)
    return [chunk.span.of(texts[chunk.version_id]) for chunk in first if chunk.version_id in texts]


async def _find(context: Retrieval, request: SearchRequest, query: Query, variants: Sequence[Variant] = ()) -> _Found:
    if context.index is None:
        return _Found(gathered=[], candidates=[], near=Families(chunks={}, parents={}, versions={}))
    seen = scope(request.kb.tenant, request.principals, request.snapshot, ())
    await check_fields(context.index, seen, request.filters, context.known_fields)
    where = scope(request.kb.tenant, request.principals, request.snapshot, request.filters)
    seconds = context.settings.route_seconds + context.settings.embed_seconds
    k = depth(context.settings, request.k)
    apart = await apart_of(context, context.index, request)
    routes = await routes_of(context, context.index, request, apart, variants)
    weights = variant_weights(variants, context.understanding)
    for _ in range(1 + WIDENINGS):
        gathered = await gather(routes, query, k, where, seconds=seconds, rules=rules_of(context))
        sizes = chosen_from(gathered, apart, k)
        fused = fuse(gathered, context.settings, context.embedder.info.name, context.routes, weights, sizes)
        allowed, near = await _admit(context, request, fused)
        full = any(len(answer.hits) >= k for answer in gathered)
        if len(allowed) == len(fused) or len(allowed) >= request.k or not full:
            break
        k *= 4
    marked = {id for id, chunk in near.chunks.items() if chunk.mark}
    fused = weighed(fused, marked, context.settings.marked_weight)
    shown = [_allowed_only(answer, allowed) for answer in gathered]
    candidates = _judge(context, request, query, shown, fused, allowed)
    return _Found(gathered=shown, candidates=candidates, near=near)


def chosen_from(gathered: Sequence[Gathered], apart: Apart, k: int) -> dict[str, int]:
    """Return how many chunks each dense list was chosen from; a list that is not full was chosen from what it holds."""
    found = {answer.report.name: len(answer.hits) for answer in gathered}
    sizes = {"dense": apart.own, **apart.foreign}
    return {name: size if found.get(name, 0) >= k else found.get(name, 0) for name, size in sizes.items()}


def _allowed_only(answer: Gathered, allowed: set[ChunkId]) -> Gathered:
    """Forget the hits that the reader may not see, in the count too."""
    hits = tuple(hit for hit in answer.hits if hit.id in allowed)
    return replace(answer, hits=hits, report=replace(answer.report, found=len(hits)))


def fuse(
    gathered: Sequence[Gathered],
    settings: RetrieveSettings,
    model: str = "",
    routes: RoutesSettings | None = None,
    variants: Mapping[str, float] = MappingProxyType({}),
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> list[Fused]:
    """Join the routes by the configured method; `variants` has the weights of those of other wordings.

    `sizes` has how many chunks the dense lists were chosen from. With one route left, its order stands.
    """
    answers = {answer.report.name: answer.hits for answer in gathered if answer.report.state == "ok"}
    side = {name: hits for name, hits in answers.items() if is_side(name)}
    lists = {name: hits for name, hits in answers.items() if not is_foreign(name) and name not in side}
    foreign = {name: hits for name, hits in answers.items() if is_foreign(name)}
    fused = _fuse_own(lists, settings)
    fused = with_foreign(fused, lists.get("dense", ()), foreign, model, sizes) if foreign else fused
    return with_side_routes(fused, side, {**side_weights(routes or RoutesSettings()), **variants}) if side else fused


def _fuse_own(lists: Mapping[str, Sequence[Hit]], settings: RetrieveSettings) -> list[Fused]:
    weights = {"dense": settings.dense_weight, "lexical": 1.0 - settings.dense_weight}
    if len(lists) == 1:
        weights = dict.fromkeys(weights, 1.0)
    if settings.fusion == "rrf":
        return rrf(lists, weights, k=settings.rrf_k)
    return FUSIONS[settings.fusion](lists, weights)


async def _admit(context: Retrieval, request: SearchRequest, fused: Sequence[Fused]) -> tuple[set[ChunkId], Families]:
    # The filter in the index was for speed and recall; the catalog is the truth (design section 4).
    ids = [candidate.id for candidate in fused]
    return await context.catalog.admit(
        request.kb.id,
        request.snapshot,
        ids,
        request.principals,
        first=max(READ_AHEAD * request.k, context.settings.rerank_k),
    )


def _judge(
    context: Retrieval,
    request: SearchRequest,
    query: Query,
    gathered: Sequence[Gathered],
    fused: Sequence[Fused],
    allowed: set[ChunkId],
) -> list[Candidate]:
    lowest = floors({answer.report.name: answer.hits for answer in gathered})
    # What the catalog does not allow leaves no mark, not even in the trace: a trace is read by the same user.
    kept = [item for item in fused if item.id in allowed]
    best = kept[0].score if kept else 0.0
    fit = FITS.get(context.embedder.info.name)
    scores = relevances(query, [item.routes for item in kept], lowest, fit)
    return [
        Candidate(
            chunk_id=item.id,
            routes=item.routes,
            fused=RouteScore(rank, item.score),
            relevance=score,
            fate=fate(item, best, score, context.settings) if request.cut else USED,
        )
        for rank, (item, score) in enumerate(zip(kept, scores, strict=True), start=1)
    ]
