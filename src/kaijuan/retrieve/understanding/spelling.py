"""A word that no document has, and the nearest that several have: slips of letters, and of characters by their sound.

There is no list of the index's words. What a word may have been is asked of the index, and the words are then read
from the passages found: so only words of documents that the reader may see are ever proposed.
"""

from __future__ import annotations

import asyncio
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from kaijuan.core.filters import Filter
from kaijuan.core.ids import ChunkId
from kaijuan.core.spans import Span
from kaijuan.core.text.analyse import keys_of
from kaijuan.core.text.bm25 import term_id
from kaijuan.core.text.characters import HAN
from kaijuan.core.text.normalise import folded
from kaijuan.core.text.stopwords import CHINESE, ENGLISH
from kaijuan.index.ports import Index, search_lexical_each
from kaijuan.retrieve.scope import scope
from kaijuan.retrieve.understanding.anchors import QUOTED
from kaijuan.retrieve.understanding.results import Expansion

if TYPE_CHECKING:
    from kaijuan.retrieve.pipeline import SearchRequest
    from kaijuan.retrieve.understanding.steps import Ground

FREQUENT = 2
"""Passages that must have a word before it is proposed for another."""
_LOOKED_AT = 50
"""Passages that are read for it."""
_MOST_WORDS = 16
"""Words of a question that are looked up; longer texts are pasted, not typed."""
_MOST_CANDIDATES = 3000
_LATIN = re.compile(r"(?<![\w&.'’/@#-])[A-Za-z]{4,24}(?![\w&.'’/@#-])")
_HAN_RUN = re.compile(f"[{HAN}]+")
_TOKEN = re.compile(f"[a-z]{{3,}}|[{HAN}]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word of the question that may be a slip."""

    text: str
    span: Span
    key: str
    """Its term in the index."""


async def corrections(ground: Ground, request: SearchRequest) -> list[Expansion]:
    """Return what was probably meant by words that no document of the reader has."""
    index = ground.index
    words = list(_words(request.text))[:_MOST_WORDS]
    if index is None or not words:
        return []
    where = scope(request.kb.tenant, request.principals, request.snapshot, ())
    there = await search_lexical_each(index, [{term_id(word.key): 1.0} for word in words], 1, where)
    unknown = [word for word, held in zip(words, there, strict=True) if not held]
    found: list[Expansion] = []
    for word in unknown:
        if not any(one.span.intersect(word.span) for one in found):
            meant = await _meant(ground, index, request, where, word)
            found += [Expansion(span=word.span, words=meant, by="spelling")] if meant else []
    return found


def _words(text: str) -> Iterator[_Word]:
    """Yield the words of a question that may be slips: no names in quotes, no codes, no function words."""
    quoted = [Span(*match.span()) for match in QUOTED.finditer(text)]
    for match in (*_LATIN.finditer(text), *_HAN_RUN.finditer(text)):
        for word, at in _pieces(match.group()):
            span = Span(match.start() + at, match.start() + at + len(word))
            if not any(place.intersect(span) for place in quoted):
                yield _Word(text=word, span=span, key=_key(word))


def _pieces(run: str) -> Iterator[tuple[str, int]]:
    if run.isascii():
        # Capitals in the middle are names: iPhone, GitHub. All capitals are acronyms.
        if run.lower() not in ENGLISH and run[1:].islower():
            yield run, 0
        return
    import rjieba

    at, single = 0, ""
    # By the dictionary alone: what it does not know comes apart, and two parts in a row may be one word amiss.
    for word in (*rjieba.cut(run, False), ""):
        if len(word) == 1 and word not in CHINESE:
            single += word
        else:
            yield from ((single[place : place + 2], at - len(single) + place) for place in range(len(single) - 1))
            single = ""
            if len(word) == 2 and word not in CHINESE:
                yield word, at
        at += len(word)


def _key(word: str) -> str:
    """Return the term by which a word is looked up: its stem, or the two characters of a Chinese word."""
    matched = folded(word)
    if len(matched) == 2 and _HAN_RUN.fullmatch(matched):
        return "~" + matched
    keys, _ = keys_of(word)
    return keys[0] if keys else matched


async def _meant(ground: Ground, index: Index, request: SearchRequest, where: Filter, word: _Word) -> str:
    for candidates in await asyncio.to_thread(lambda: list(_candidates(word.text))):
        ids = {term_id(_key(candidate)): 1.0 for candidate in candidates[:_MOST_CANDIDATES]}
        if not ids:
            continue
        hits = [hit.id for hit in await index.search_lexical(ids, _LOOKED_AT, where)]
        texts = await _readable(ground, request, hits)
        counts = _counted(texts, frozenset(candidates))
        for candidate, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0][0] != word.text[0], item[0])):
            holders = await index.search_lexical({term_id(_key(candidate)): 1.0}, FREQUENT, where)
            if len(holders) >= FREQUENT:
                return candidate
    return ""


async def _readable(ground: Ground, request: SearchRequest, hits: Sequence[ChunkId]) -> list[str]:
    """Return the texts of chunks that the catalog lets the reader see; what cannot be read is left out."""
    allowed, families = await ground.catalog.admit(
        request.kb.id, request.snapshot, hits, request.principals, first=len(hits)
    )
    chunks = [families.chunks[id] for id in hits if id in allowed and id in families.chunks]
    versions = [families.versions[chunk.version_id] for chunk in chunks]
    texts = await ground.texts.read_each([version.text_hash for version in versions])
    return [chunk.span.of(text) for chunk, text in zip(chunks, texts, strict=True) if isinstance(text, str)]


def _counted(texts: Sequence[str], candidates: frozenset[str]) -> Counter[str]:
    """Count in how many texts each candidate stands."""
    sizes = {len(candidate) for candidate in candidates if not candidate.isascii()}
    counts: Counter[str] = Counter()
    for text in texts:
        seen: set[str] = set()
        for match in _TOKEN.finditer(folded(text)):
            run = match.group()
            if run.isascii():
                seen.add(run)
            else:
                seen.update(run[at : at + size] for size in sizes for at in range(len(run) - size + 1))
        counts.update(seen & candidates)
    return counts


def _candidates(word: str) -> Iterator[list[str]]:
    """Yield what a word may have been meant as, the likeliest kind of slip first."""
    matched = folded(word)
    if matched.isascii():
        yield from _latin(matched)
    else:
        yield from _han(matched)


def _latin(word: str) -> Iterator[list[str]]:
    from kaijuan.retrieve.understanding.pinyin import syllables_of, written

    yield list(dict.fromkeys(_edits(word)))
    syllables = syllables_of(word)
    if len(syllables) == 2:
        yield ["".join(pair) for pair in product(*map(written, syllables))]


def _edits(word: str) -> Iterator[str]:
    """Yield what one slip makes of a word: letters swapped, left out, doubled or typed amiss (Damerau 1964)."""
    for at in range(len(word)):
        if at + 1 < len(word):
            yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        yield word[:at] + word[at + 1 :]
        for letter in string.ascii_lowercase:
            yield word[:at] + letter + word[at + 1 :]
            yield word[:at] + letter + word[at:]
    yield from (word + letter for letter in string.ascii_lowercase)


def _han(word: str) -> Iterator[list[str]]:
    from kaijuan.retrieve.understanding.pinyin import alike

    for near in (False, True):
        yield [word[:at] + other + word[at + 1 :] for at, own in enumerate(word) for other in alike(own, near=near)]
    if len(word) == 2 and not _in_dictionary(word):
        # Both wrong: a word picked amiss from a list of those that sound alike.
        yield ["".join(pair) for pair in product(*(own + alike(own) for own in word)) if "".join(pair) != word]


def _in_dictionary(word: str) -> bool:
    import rjieba

    return bool(rjieba.has_word(word))
