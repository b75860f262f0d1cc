"""Words that mean the same as some in the question: from the glossary, and from what documents explain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kaijuan.core.glossary import GlossaryTerm, LearnedAbbreviation
from kaijuan.core.spans import Span
from kaijuan.core.text.normalise import folded, normalise
from kaijuan.retrieve.understanding.matching import longest, places
from kaijuan.retrieve.understanding.results import Expansion

MOST_NAMES = 3
"""Full names of one short name that are searched; more of them say that it means anything."""
MOST_EXPANSIONS = 24


def from_glossary(question: str, terms: Iterable[GlossaryTerm]) -> list[Expansion]:
    """Return the other words of every term of which a word stands in the question, by place."""
    matched, offsets = normalise(question)
    found: dict[Span, list[tuple[GlossaryTerm, str]]] = {}
    for term in terms:
        for word in term.words:
            for place in places(folded(word).strip(), matched):
                found.setdefault(place, []).append((term, word))
    kept = longest(found)
    return [
        Expansion(span=offsets.back(place), words=other, by="glossary", source=_author(term))
        for place in kept
        for term, word in found[place]
        for other in _others(term, word, matched)
    ][:MOST_EXPANSIONS]


def _others(term: GlossaryTerm, word: str, matched: str) -> Iterator[str]:
    own = folded(word).strip()
    for other in term.words:
        key = folded(other).strip()
        if key != own and not any(True for _ in places(key, matched)):
            yield other


def _author(term: GlossaryTerm) -> str:
    return term.history[-1].by if term.history else ""


def from_abbreviations(question: str, learned: Sequence[LearnedAbbreviation]) -> list[Expansion]:
    """Return full names of short ones in the question and short names of full ones, the most often explained first."""
    matched, offsets = normalise(question)
    found: dict[tuple[Span, str], list[LearnedAbbreviation]] = {}
    for one in learned:
        short, long = folded(one.short).strip(), folded(one.long).strip()
        for name, other in ((short, one.long), (long, one.short)):
            if any(True for _ in places(folded(other).strip(), matched)):
                continue  # the question says both
            for place in places(name, matched):
                found.setdefault((place, other), []).append(one)
    kept = longest({place for place, _ in found})
    return [
        Expansion(span=offsets.back(place), words=other, by="abbreviation", source=explained[0].source)
        for place in kept
        for other, explained in _most_explained(place, found)
    ][:MOST_EXPANSIONS]


def _most_explained(
    place: Span, found: dict[tuple[Span, str], list[LearnedAbbreviation]]
) -> list[tuple[str, list[LearnedAbbreviation]]]:
    names: dict[str, tuple[str, list[LearnedAbbreviation]]] = {}
    for (at, other), explained in sorted(found.items()):
        if at == place:
            names.setdefault(folded(other), (other, []))[1].extend(explained)
    by_documents = sorted(names.values(), key=lambda item: (-len({one.document_id for one in item[1]}), item[0]))
    return by_documents[:MOST_NAMES]
