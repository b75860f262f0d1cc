"""Candidates in their last order: how each stands in time, what the reranker says, not the same thing twice, cut."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from kaijuan import telemetry
from kaijuan.core.documents import Version
from kaijuan.core.ids import VersionId
from kaijuan.core.text.analyse import keys_of
from kaijuan.core.text.language import language_of
from kaijuan.errors import KaijuanError
from kaijuan.index.catalog import Families
from kaijuan.retrieve.cut import USED, weak
from kaijuan.retrieve.diversify import diversified, overlaps, within_quota
from kaijuan.retrieve.furniture import only_furniture
from kaijuan.retrieve.ports import Reading, Reranker, Verdict
from kaijuan.retrieve.rerank.terms import numbers
from kaijuan.retrieve.results import Candidate, RouteReport, RouteScore
from kaijuan.retrieve.routes.exact import program_names
from kaijuan.retrieve.settings import RetrieveSettings
from kaijuan.retrieve.texts import TextShelf
from kaijuan.retrieve.to_the_letter import held_to_the_letter
from kaijuan.retrieve.validity import HOLDS, Standing, Validity, validities

_LEAST = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What ordering works with. `now` is in seconds since 1970, `kb` the name of the base."""

    texts: TextShelf
    reranker: Reranker | None
    settings: RetrieveSettings
    now: float
    kb: str
    at: date | None = None
    """The day that is asked about, where that is not left to the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """All candidates, best first, and how the reranker fared (None where none was asked)."""

    candidates: list[Candidate]
    report: RouteReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A candidate on its way, with everything that was found out about it."""

    candidate: Candidate
    reading: Reading
    validity: Validity
    weight: float
    """Below 1 for a chunk that says next to nothing; the fused score has it already."""
    verdict: Verdict | None = None

    @property
    def key(self) -> float:
        """What it is ordered by: the reranker's score, or the fused one; age and authority count in both."""
        if self.verdict is None:
            return self.reading.fused * self.validity.factor
        return self.verdict.score + math.log(max(self.validity.factor * self.weight, _LEAST))


async def ordered(
    tools: Tools, question: str, candidates: Sequence[Candidate], near: Families, *, cut: bool
) -> Ordered:
    """Return the candidates in their last order. Only those whose chunks `near` holds are looked at; the others follow.

    Whatever goes wrong in the reranker leaves the fused order, and the report says so.
    """
    settings = tools.settings
    head = [item for item in candidates[: settings.rerank_k] if item.chunk_id in near.chunks]
    names = program_names(question)
    judged = await _read(tools, question, head, near, needed=bool(names))
    if not judged:
        return Ordered(candidates=list(candidates))
    judged, report = await _asked(tools, question, judged)
    judged = _in_slots(question, judged)
    if names:
        # Sorting keeps the order among equals: what is alike to the letter stands as the routes and reranker say.
        judged.sort(key=lambda item: -held_to_the_letter(names, item.reading))
    judged = (
        await asyncio.to_thread(_spread, judged, settings) if settings.diversity or settings.per_document else judged
    )
    placed = [_placed(item, rank, settings, cut=cut) for rank, item in enumerate(judged, start=1)]
    known = {item.chunk_id for item in placed}
    return Ordered(candidates=[*placed, *(item for item in candidates if item.chunk_id not in known)], report=report)


async def _read(
    tools: Tools, question: str, head: Sequence[Candidate], near: Families, *, needed: bool
) -> list[_Judged]:
    chunks = [near.chunks[item.chunk_id] for item in head]
    versions = {chunk.version_id: near.versions[chunk.version_id] for chunk in chunks}
    texts = await _texts(tools, versions, needed=needed)
    terms = keys_of(question)[0] if near.furniture else ()
    lowered = {
        chunk.id
        for chunk in chunks
        if chunk.version_id in near.furniture
        and only_furniture(terms, chunk.span, near.furniture[chunk.version_id], texts.get(chunk.version_id, ""))
    }
    standing: Mapping[VersionId, Validity] = validities(
        versions, question, tools.now, tools.settings, tools.kb, tools.at
    )
    return [
        _Judged(
            candidate=item,
            validity=standing.get(chunk.version_id, HOLDS),
            weight=tools.settings.marked_weight if chunk.mark or chunk.id in lowered else 1.0,
            reading=Reading(
                chunk_id=chunk.id,
                document_id=chunk.document_id,
                title=versions[chunk.version_id].title,
                title_path=chunk.title_path,
                text=chunk.span.of(texts[chunk.version_id]),
                language=versions[chunk.version_id].language,
                routes=item.routes,
                fused=item.fused.score,
            ),
        )
        for item, chunk in zip(head, chunks, strict=True)
        # What cannot be read is told where passages are made.
        if chunk.version_id in texts
    ]


async def _texts(tools: Tools, versions: Mapping[VersionId, Version], *, needed: bool) -> dict[VersionId, str]:
    """Return the texts that can be read; nothing is read where nobody looks at them."""
    if tools.reranker is None and not tools.settings.diversity and not needed:
        return dict.fromkeys(versions, "")
    found = await tools.texts.read_each([version.text_hash for version in versions.values()])
    return {version: text for version, text in zip(versions, found, strict=True) if isinstance(text, str)}


async def _asked(tools: Tools, question: str, judged: list[_Judged]) -> tuple[list[_Judged], RouteReport | None]:
    if tools.reranker is None:
        return judged, None
    start = time.perf_counter()
    verdicts: list[Verdict] = []
    state = "ok"
    try:
        async with asyncio.timeout(tools.settings.rerank_seconds):
            verdicts = await tools.reranker.rerank(question, [item.reading for item in judged])
    except TimeoutError:
        state = "timeout"
    except KaijuanError as failure:
        state = f"failed: {failure.code}"
    if state != "ok":
        telemetry.count(f"rerank.dropped.{tools.reranker.name}")
        telemetry.event("rerank dropped", reranker=tools.reranker.name, state=state)
    spent = round((time.perf_counter() - start) * 1000, 3)
    report = RouteReport(name=tools.reranker.name, state=state, found=len(verdicts), milliseconds=spent)
    if state != "ok":
        return judged, report
    return [replace(item, verdict=verdict) for item, verdict in zip(judged, verdicts, strict=True)], report


def _in_slots(question: str, judged: Sequence[_Judged]) -> list[_Judged]:
    """Order within each language; which places a language has was settled when the routes were fused.

    Words count in one language only, so that scores of two do not compare.
    """
    own = language_of(question)
    foreign = [bool(own and item.reading.language and item.reading.language != own) for item in judged]
    queues = {
        side: iter(
            sorted((item for item, is_foreign in zip(judged, foreign, strict=True) if is_foreign is side), key=_order)
        )
        for side in (False, True)
    }
    return [next(queues[side]) for side in foreign]


def _order(item: _Judged) -> tuple[float, int]:
    return -round(item.key, 9), item.candidate.fused.rank


def _spread(judged: list[_Judged], settings: RetrieveSettings) -> list[_Judged]:
    """Keep what says the same apart, and no document from filling all places."""
    order = list(range(len(judged)))
    if settings.diversity:
        alike = overlaps([numbers(keys_of(item.reading.text)[0]) for item in judged])
        # Places, not scores: they compare across languages and rerankers.
        order = diversified([1.0 - place / len(judged) for place in order], alike, settings.diversity)
    kept, beyond = within_quota(order, [item.reading.document_id for item in judged], settings.per_document)
    return [judged[place] for place in (*kept, *beyond)]


def _placed(item: _Judged, rank: int, settings: RetrieveSettings, *, cut: bool) -> Candidate:
    said = item.verdict
    evidence = round(said.evidence, 6) if said is not None and said.calibrated else None
    fate = item.candidate.fate
    if fate == USED and item.validity.standing is Standing.SUPERSEDED and settings.superseded == "drop":
        fate = f"{item.validity}"
    if fate == USED and item.validity.standing is Standing.EXPIRED and settings.expired == "drop":
        fate = f"{item.validity}"
    if fate == USED and cut:
        fate = weak(evidence, settings)
    return replace(
        item.candidate,
        reranked=RouteScore(rank, round(item.key, 9)),
        evidence=evidence,
        validity=str(item.validity),
        fate=fate,
    )
