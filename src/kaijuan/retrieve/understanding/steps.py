"""The steps of understanding, side by side: each within its time, and without it the search goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from kaijuan import telemetry
from kaijuan.core.filter_language import parse_filter
from kaijuan.core.filters import Filter, fields_of
from kaijuan.core.text.bm25 import numbered
from kaijuan.core.text.normalise import folded
from kaijuan.errors import KaijuanError
from kaijuan.index.catalog import CatalogReader
from kaijuan.index.ports import Index
from kaijuan.retrieve.holdings import HoldingsShelf
from kaijuan.retrieve.ports import Query
from kaijuan.retrieve.texts import TextShelf
from kaijuan.retrieve.understand import understand
from kaijuan.retrieve.understanding.anchors import anchors
from kaijuan.retrieve.understanding.expanding import expansion_terms
from kaijuan.retrieve.understanding.intents import intents_of
from kaijuan.retrieve.understanding.matching import heads, short_keys
from kaijuan.retrieve.understanding.results import OK, Expansion, ReadFilter, StepReport, Understanding
from kaijuan.retrieve.understanding.settings import UnderstandSettings
from kaijuan.retrieve.understanding.spelling import corrections
from kaijuan.retrieve.understanding.synonyms import from_abbreviations, from_glossary
from kaijuan.retrieve.understanding.wanted_fields import may_mean_documents, read_filters

if TYPE_CHECKING:
    from kaijuan.retrieve.pipeline import SearchRequest

_Found = TypeVar("_Found")
SHORT = 500
"""Characters up to which a question is analysed on the event loop, in about a millisecond at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the steps ask."""

    catalog: CatalogReader
    index: Index | None
    """None while nothing has been published: then there is nothing to understand a question by."""
    settings: UnderstandSettings
    shelf: HoldingsShelf
    texts: TextShelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A question ready to be searched."""

    query: Query
    understanding: Understanding
    filters: tuple[Filter, ...] = ()
    """What `understanding.filters` say, as trees."""


async def prepare(ground: Ground, request: SearchRequest) -> Prepared:
    """Return what a question means in this base and for this reader. UsageError as in `understand`."""
    query = await ready(request.text)
    seen = await intents_of(request.text, seconds=ground.settings.step_seconds)
    understanding = Understanding(
        kinds=seen.kinds,
        entities=seen.entities,
        times=seen.times,
        mood=seen.mood,
        anchors=tuple(dict.fromkeys(anchor.text for anchor in anchors(request.text))),
    )
    if ground.index is None:
        return Prepared(query=query, understanding=understanding)
    settings = ground.settings
    wanted = settings.filters and request.read_filters
    (terms, glossary), (learned, abbreviations), (mended, spelling), (read, fields) = await asyncio.gather(
        _step("glossary", settings.glossary, settings, lambda: _glossary(ground, request)),
        _step("abbreviations", settings.abbreviations, settings, lambda: _abbreviations(ground, request)),
        _step("spelling", settings.spelling, settings, lambda: corrections(ground, request)),
        _step("filters", wanted, settings, lambda: _filters(ground, request)),
    )
    expansions = (*terms, *learned, *_still_unknown(mended, (*terms, *learned)))
    understanding = replace(
        understanding,
        expansions=expansions,
        filters=tuple(read),
        steps=(glossary, abbreviations, spelling, fields),
    )
    return Prepared(
        query=_expanded(query, expansions, settings.expansion_weight),
        understanding=understanding,
        filters=trees(understanding),
    )


def trees(understanding: Understanding) -> tuple[Filter, ...]:
    """Return the filters that were read from the question and hold, as trees."""
    return () if understanding.relaxed else tuple(parse_filter(one.text) for one in understanding.filters)


def _still_unknown(mended: Sequence[Expansion], known: Sequence[Expansion]) -> list[Expansion]:
    """Return corrections of words that neither the glossary nor a document explains."""
    return [one for one in mended if not any(one.span.intersect(other.span) for other in known)]


async def ready(text: str) -> Query:
    """Return a text ready to be searched, nothing looked up for it. UsageError as in `understand`."""
    # A thread costs more than the analysis of a short question, and pays only for a long one.
    return understand(text) if len(text) <= SHORT else await asyncio.to_thread(understand, text)


def _expanded(query: Query, expansions: Sequence[Expansion], share: float) -> Query:
    if not expansions:
        return query
    terms = expansion_terms(query.text, expansions, share)
    fresh = {term: weight for term, weight in terms.items() if term not in query.terms}
    return replace(query, terms=(*query.terms, *fresh), expansion=numbered(fresh))


async def _step(
    name: str, on: bool, settings: UnderstandSettings, work: Callable[[], Awaitable[Sequence[_Found]]]
) -> tuple[Sequence[_Found], StepReport]:
    if not on:
        return (), StepReport(name=name, state="off")
    start = time.perf_counter()
    found: Sequence[_Found] = ()
    state = OK
    try:
        async with asyncio.timeout(settings.step_seconds):
            found = await work()
    except TimeoutError:
        state = "timeout"
    except KaijuanError as error:
        state = f"failed: {error.code}"
    if state != OK:
        telemetry.count(f"understand.dropped.{name}")
        telemetry.event("step dropped", step=name, state=state)
    spent = round((time.perf_counter() - start) * 1000, 3)
    return found, StepReport(name=name, state=state, said=tuple(map(str, found)), milliseconds=spent)


async def _filters(ground: Ground, request: SearchRequest) -> Sequence[ReadFilter]:
    if not may_mean_documents(request.text):
        return ()
    holdings = await ground.shelf.read(ground.catalog, request.kb, request.snapshot, request.principals)
    # What the caller filters by is the caller's to say.
    given = {name for tree in request.filters for name in fields_of(tree)}
    return [one for one in read_filters(request.text, holdings) if one.field not in given]


async def _glossary(ground: Ground, request: SearchRequest) -> Sequence[Expansion]:
    return from_glossary(request.text, await ground.catalog.glossary(request.kb.id))


async def _abbreviations(ground: Ground, request: SearchRequest) -> Sequence[Expansion]:
    matched = folded(request.text)
    learned = await ground.catalog.abbreviations(
        request.kb.id, request.snapshot, short_keys(matched), heads(matched), request.principals
    )
    return from_abbreviations(request.text, learned)
