"""Which languages a base holds, and dense search in each of those that the question is not in.

Small multilingual models prefer a text in the question's own language, whatever it says, so that one list of both holds
hardly anything in the other. Every other language therefore has a list of its own. A passage in two languages at once
is near to questions in either and stands in the list of the question's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, MutableMapping
from dataclasses import dataclass, field

from kaijuan.core.filters import TONGUE, Eq, Filter, all_of
from kaijuan.core.text.language import language_of
from kaijuan.errors import ModelError
from kaijuan.index.ports import Embedder, Hit, Index, Vector
from kaijuan.retrieve.ports import Query

LANGUAGES = ("zh", "en", "ja", "ko", "ru", "ar", "he", "el", "hi", "th")
"""All that `core.text.language` tells apart."""
_ROUTE = "dense_"
_KEPT = 64
"""Snapshots and readers of which the languages are remembered."""

Known = MutableMapping[tuple[int, frozenset[str]], Mapping[str, int]]
"""How many chunks in each language some readers see at a snapshot."""


async def languages_of(index: Index, seen: Filter, key: tuple[int, frozenset[str]], known: Known) -> Mapping[str, int]:
    """Return the languages among the points that pass `seen`, and how many points each has.

    What a snapshot holds never changes, so it is kept.
    """
    found = known.get(key)
    if found is None:
        counts = await asyncio.gather(*(index.count(all_of([seen, Eq(TONGUE, name)])) for name in LANGUAGES))
        found = {name: count for name, count in zip(LANGUAGES, counts, strict=True) if count}
        if len(known) >= _KEPT:
            known.pop(next(iter(known)))
        known[key] = found
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """The languages that a question is not in, and how many chunks are in each and in its own."""

    own: int = 0
    foreign: Mapping[str, int] = field(default_factory=dict)
    """By route, "dense_en"."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the words of the languages, "en"."""
        return tuple(route.removeprefix(_ROUTE) for route in self.foreign)


def foreign_to(question: str, languages: Mapping[str, int]) -> Apart:
    """Return the languages that a question is not in; none where its own cannot be told."""
    own = language_of(question)
    foreign = {f"{_ROUTE}{name}": count for name, count in languages.items() if name != own} if own else {}
    return Apart(own=languages.get(own, 0), foreign=foreign)


class Asked:
    """The question's vector, made once for all routes that need it."""

    def __init__(self, embedder: Embedder, *, seconds: float) -> None:
        self._embedder = embedder
        self._seconds = seconds
        self._making = asyncio.Lock()
        self._vectors: dict[str, Vector] = {}

    async def vector(self, text: str) -> Vector:
        """Return the vector; ModelError when it is not made in time."""
        async with self._making:
            if text not in self._vectors:
                self._vectors[text] = await self._made(self._embedder.embed_query(text))
            return self._vectors[text]

    async def passage(self, text: str) -> Vector:
        """Return the vector of a text that is like the documents; ModelError when it is not made in time."""
        async with self._making:
            info = self._embedder.info
            spans = self._embedder.token_spans(text)
            room = info.max_tokens - info.reserved_tokens
            if len(spans) > room:
                text = text[: spans[room - 1].end]
            vectors: Vector = (await self._made(self._embedder.embed_passages([text])))[0]
            return vectors

    async def _made(self, embedding: Awaitable[Vector]) -> Vector:
        try:
            async with asyncio.timeout(self._seconds):
                return await embedding
        except TimeoutError as error:
            raise ModelError(f"The question was not embedded within {self._seconds:g} s.") from error


class ForeignRoute:
    """The nearest chunks of documents in one language that is not the question's."""

    def __init__(self, index: Index, asked: Asked, language: str) -> None:
        self._index = index
        self._asked = asked
        self.language = language

    @property
    def name(self) -> str:
        """Return the name that the trace shows, "dense_en"."""
        return f"{_ROUTE}{self.language}"

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        """Return the `k` chunks of that language with the highest cosine similarity."""
        vector = await self._asked.vector(query.text)
        return await self._index.search_dense(vector, k, all_of([where, Eq(TONGUE, self.language)]))


def is_foreign(route: str) -> bool:
    """Say whether a route is one of these, by its name."""
    return route.startswith(_ROUTE)
