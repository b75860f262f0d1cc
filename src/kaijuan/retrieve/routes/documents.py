"""The document route: documents whose title or description the question names, and their best chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kaijuan.core.filters import Filter, In, all_of
from kaijuan.core.ids import DocumentId
from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.core.text.bm25 import idf
from kaijuan.index.ports import Hit, Index
from kaijuan.retrieve.holdings import Holdings
from kaijuan.retrieve.ports import Query

MOST_DOCUMENTS = 5
"""Documents that are searched by themselves."""
NAMED = 0.6
"""Share of a title, weighed by the rarity of its words, that must stand in the question."""
_MOST_LISTED = 20_000
"""Titles that are compared; in a larger base the route is silent."""


class DocumentRoute:
    """Looks for titles in the question first, then for its words in those documents, at most so many of each."""

    name = "document"

    def __init__(self, index: Index, holdings: Holdings, *, quota: int) -> None:
        self._index = index
        self._holdings = holdings
        self._quota = quota

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        """Return at most `k` chunks of documents that the question names, best first."""
        named = self._named(query.text)
        found: list[Hit] = []
        for id in named if query.weights else ():
            inside = all_of([where, In("document_id", (id,))])
            found += await self._index.search_lexical(query.weights, self._quota, inside)
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:k]

    def _named(self, text: str) -> list[DocumentId]:
        documents = self._holdings.documents
        if not 1 < len(documents) <= _MOST_LISTED:
            return []
        asked = _words(text)
        titles = self._holdings.titled(_words)
        holders = Counter(word for words in titles.values() for word in words)
        scores: list[tuple[float, DocumentId]] = []
        for id, words in titles.items():
            weights = {word: idf(len(titles), holders[word]) for word in words}
            whole = sum(weights.values())
            share = sum(weight for word, weight in weights.items() if word in asked) / whole if whole else 0.0
            if share >= NAMED:
                scores.append((share * sum(weights[word] for word in words & asked), id))
        return [id for _, id in sorted(scores, key=lambda item: (-item[0], item[1]))[:MOST_DOCUMENTS]]


def _words(text: str) -> frozenset[str]:
    return frozenset(term.text for term in analyse(text) if not term.weak and term.kind is not TermKind.FORM)


class TagsRoute:
    """Looks for keywords and tags of documents in the question, then for its words in the documents that have them."""

    name = "tags"

    def __init__(self, index: Index, tagged: Iterable[tuple[str, str]]) -> None:
        """Take the (field, value) pairs that stand in the question."""
        self._index = index
        self._tagged = tuple(tagged)

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        """Return at most `k` chunks of documents that have one of the tags, best first."""
        best: dict[str, Hit] = {}
        for field, value in self._tagged if query.weights else ():
            inside = all_of([where, In(field, (value,))])
            for hit in await self._index.search_lexical(query.weights, k, inside):
                best[hit.id] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.id))[:k]
