"""Which side routes a search takes, and how each is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kaijuan.core.text.normalise import folded
from kaijuan.index.ports import Index
from kaijuan.retrieve.gather import Plan, Rules
from kaijuan.retrieve.holdings import Holdings
from kaijuan.retrieve.languages import Asked
from kaijuan.retrieve.ports import Route
from kaijuan.retrieve.routes.documents import DocumentRoute, TagsRoute
from kaijuan.retrieve.routes.exact import ExactRoute
from kaijuan.retrieve.routes.faq import FaqRoute
from kaijuan.retrieve.routes.outside import OutsideRoute
from kaijuan.retrieve.routes.settings import RoutesSettings
from kaijuan.retrieve.understanding.matching import places

if TYPE_CHECKING:
    from kaijuan.retrieve.pipeline import Retrieval, SearchRequest

TAG_FIELDS = ("keywords", "tags", "aliases")
_MOST_TAGS = 20


async def side_routes(context: Retrieval, index: Index, request: SearchRequest, asked: Asked) -> list[Route]:
    """Return the side routes that are switched on."""
    settings = context.routes
    routes: list[Route] = [ExactRoute(index)] if settings.exact else []
    if settings.document or settings.tags:
        holdings = await context.shelf.read(context.catalog, request.kb, request.snapshot, request.principals)
        if settings.document:
            routes.append(DocumentRoute(index, holdings, quota=settings.document_quota))
        if settings.tags and (tagged := _tagged(request.text, holdings)):
            routes.append(TagsRoute(index, tagged))
    if settings.faq:
        routes.append(FaqRoute(index, asked))
    others = [OutsideRoute(route, context.catalog, request.snapshot) for route in context.others]
    return [*routes, *others]


def _tagged(text: str, holdings: Holdings) -> list[tuple[str, str]]:
    matched = folded(text)
    return [
        (name, value)
        for name, value in holdings.values(TAG_FIELDS)
        if isinstance(value, str) and len(value) > 1 and any(True for _ in places(folded(value).strip(), matched))
    ][:_MOST_TAGS]


def rules_of(context: Retrieval) -> Rules:
    """Return how single routes are asked."""
    settings = context.routes
    return Rules(
        plans={
            "dense": Plan(k=settings.dense_k, seconds=settings.dense_seconds),
            "lexical": Plan(k=settings.lexical_k, seconds=settings.lexical_seconds or context.settings.route_seconds),
            "exact": Plan(k=settings.exact_k, seconds=settings.exact_seconds),
            "document": Plan(k=settings.document_k, seconds=settings.document_seconds),
            # It waits for the vector of the question as the dense route does.
            "faq": Plan(k=settings.faq_k, seconds=settings.faq_seconds + context.settings.embed_seconds),
            "tags": Plan(k=settings.tags_k, seconds=settings.tags_seconds),
            "graph": Plan(k=settings.graph_k, seconds=settings.graph_seconds),
            "memory": Plan(k=settings.memory_k, seconds=settings.memory_seconds),
        },
        breakers=context.breakers,
        failures=settings.breaker_failures,
        pause=settings.breaker_seconds,
    )


def side_weights(settings: RoutesSettings) -> Mapping[str, float]:
    """Return what each side route adds at most, as a share of the best fused score."""
    return {
        "exact": settings.exact_weight,
        "document": settings.document_weight,
        "faq": settings.faq_weight,
        "tags": settings.tags_weight,
        "graph": settings.graph_weight,
        "memory": settings.memory_weight,
    }
