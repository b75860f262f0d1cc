"""Routes of the question in other words: each searches its wording by meaning and by words, beside the question."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from kaijuan.core.filters import Filter
from kaijuan.core.text.bm25 import numbered, weighted_terms
from kaijuan.index.ports import Hit, Index
from kaijuan.retrieve.fuse import minmax
from kaijuan.retrieve.languages import Asked
from kaijuan.retrieve.ports import Query
from kaijuan.retrieve.routes.joining import PART, VARIANT_ROUTES
from kaijuan.retrieve.understanding.results import Variant
from kaijuan.retrieve.understanding.settings import UnderstandSettings

_HALF = {"dense": 0.5, "lexical": 0.5}


class VariantRoute:
    """The chunks nearest to one wording. A passage that might answer is searched by meaning alone, as a passage."""

    def __init__(self, index: Index, asked: Asked, variant: Variant, name: str) -> None:
        self._index = index
        self._asked = asked
        self._variant = variant
        self._name = name

    @property
    def name(self) -> str:
        """Return the name that the trace shows: rewrite_1, hyde_1, step_back_1, part_1."""
        return self._name

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:  # noqa: ARG002 - it has words of its own
        """Return the `k` best chunks for the wording, scores 0 to 1."""
        text = self._variant.text
        if self._variant.kind == "hyde":
            return await self._index.search_dense(await self._asked.passage(text), k, where)
        vector = await self._asked.vector(text)
        weights = numbered(weighted_terms(text))
        dense, lexical = await asyncio.gather(
            self._index.search_dense(vector, k, where), self._words(weights, k, where)
        )
        return [Hit(item.id, item.score) for item in minmax({"dense": dense, "lexical": lexical}, _HALF)[:k]]

    async def _words(self, weights: Mapping[int, float], k: int, where: Filter) -> list[Hit]:
        return await self._index.search_lexical(weights, k, where) if weights else []


def variant_routes(index: Index, asked: Asked, variants: Sequence[Variant]) -> list[VariantRoute]:
    """Return a route for each wording, in order."""
    return [
        VariantRoute(index, asked, variant, name)
        for variant, name in zip(variants, variant_names(variants), strict=True)
    ]


def variant_names(variants: Sequence[Variant]) -> list[str]:
    """Return the names of the routes of these wordings, numbered by kind."""
    names: list[str] = []
    counts = dict.fromkeys(VARIANT_ROUTES, 0)
    for variant in variants:
        kind = variant.kind.replace("-", "_")
        counts[kind] += 1
        names.append(f"{kind}_{counts[kind]}")
    return names


def variant_weights(variants: Sequence[Variant], settings: UnderstandSettings) -> dict[str, float]:
    """Return what each wording adds at most: wordings of the whole share one weight, each part has its own."""
    names = variant_names(variants)
    others = sum(variant.kind != PART for variant in variants)
    return {
        name: settings.part_weight if variant.kind == PART else settings.variant_weight / others
        for variant, name in zip(variants, names, strict=True)
    }
