"""Ask the questions of a set through the public verb, measure each answer, and leave nothing but the base."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from kaijuan import registry
from kaijuan.answer.results import Answer, Status
from kaijuan.config import Config
from kaijuan.core.citations import Citation
from kaijuan.core.filters import Filter, In, Not
from kaijuan.core.ids import stable_id
from kaijuan.engine import Kaijuan
from kaijuan.errors import BusyError, KaijuanError, StoreError
from kaijuan.evals.answers.assess import Assessment, assess
from kaijuan.evals.answers.given import Given, Quote, Statement, as_row, from_row
from kaijuan.evals.answers.items import AnswerSet, Item
from kaijuan.evals.answers.judges.remembered import RememberedJudge
from kaijuan.evals.answers.ports import Judge
from kaijuan.evals.bases import Base, evals_folder, open_base
from kaijuan.evals.journal import Journal
from kaijuan.index.ports import Embedder
from kaijuan.jobs.report import Progress

PASSAGES = 8
"""As `ask` takes by default."""
WARMING = "warm-up 预热"
"""Asked first and not counted: the first question of a process loads the model."""

Sources = Mapping[str, str]
"""Address of a document by its id in the set."""
Asked = Callable[[int, int], None]
"""Told how many of how many questions are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is asked: of each kind of question `limit`, all for 0, chosen by `seed`; `k` passages for each."""

    k: int = PASSAGES
    limit: int = 0
    seed: int = 0
    judge: str = "rules"
    fresh: bool = False
    """Whether to forget what a run that was stopped had found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRun:
    """One set asked with one configuration."""

    data: AnswerSet
    documents: int
    chunks: int
    reused: bool
    ingest_seconds: float
    config: Mapping[str, Any]
    judge: str
    assessments: tuple[Assessment, ...]
    resumed: int
    """Questions that a run that was stopped had asked."""
    problems: tuple[str, ...]


async def measure(
    data: AnswerSet,
    home: Path,
    config: Config,
    options: Options,
    *,
    embedder: Callable[[], Embedder] | None = None,
    progress: Callable[[Progress], None] | None = None,
    asked: Asked = lambda _done, _total: None,
) -> AnswerRun:
    """Take the corpus in where that is still to do, ask, and measure.

    A run that was stopped goes on where it was, unless data, settings or code changed meanwhile or `fresh` is set.
    Questions that fail are kept with their failure; one that finds the store at fault ends the run, since all others
    would fail too.
    """
    ruling: Judge = registry.load("judge", options.judge).from_settings(config.eval)
    try:
        async with open_base(data, home, config, embedder=embedder, progress=progress) as base:
            settings = config_of(base, options)
            key = ("answers", data.fingerprint, data.corpus_hash, json.dumps(_asking(settings), sort_keys=True))
            with Journal(evals_folder(home), key, fresh=options.fresh) as journal:
                before = set(journal.rows)
                items = sample(data.items, options.limit, options.seed)
                # Rules cost nothing: they are applied again rather than kept.
                judge = ruling if options.judge == "rules" else RememberedJudge(ruling, journal)
                found = await _ask_and_assess(base, items, options, journal, judge, asked)
    finally:
        await ruling.close()
    return AnswerRun(
        data=data,
        documents=base.documents,
        chunks=base.chunks,
        reused=base.reused,
        ingest_seconds=base.seconds,
        config=settings,
        judge=ruling.name,
        assessments=tuple(found),
        resumed=sum(item.id in before for item in items),
        problems=(*data.problems, *base.problems),
    )


def sample(items: Sequence[Item], limit: int, seed: int = 0) -> list[Item]:
    """Return `limit` items of each kind, all for 0, in their order: those with the smallest hash of seed and id.

    So a sample is the same on every machine and after questions were added, and a larger one holds the smaller.
    """
    if not limit:
        return list(items)
    kinds: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: stable_id("sample", seed, item.id)):
        kinds[item.kind].append(item)
    kept = {item.id for members in kinds.values() for item in members[:limit]}
    return [item for item in items if item.id in kept]


def config_of(base: Base, options: Options) -> dict[str, Any]:
    """Return what a result depends on, as JSON has it."""
    config = base.engine.config
    return {
        "k": options.k,
        "limit": options.limit,
        "seed": options.seed,
        "judge": options.judge,
        "embedder": base.engine.embedder.info.name,
        "pipeline": base.fingerprint,
        "chunk": config.chunk.model_dump(mode="json"),
        "index": config.index.model_dump(mode="json"),
        "retrieve": config.retrieve.model_dump(mode="json"),
        "answer": config.answer.model_dump(mode="json"),
    }


def document_name(source: str) -> str:
    """Return the id of a document in its set from its address: what follows "#", or the name of its file."""
    _, mark, record = source.rpartition("#")
    return unquote(record if mark else source.rpartition("/")[2], errors="surrogateescape")


def _asking(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings on which answers depend: a larger sample or another judge asks no question again."""
    return {key: value for key, value in settings.items() if key not in {"limit", "seed", "judge"}}


async def _ask_and_assess(
    base: Base, items: Sequence[Item], options: Options, journal: Journal, judge: Judge, asked: Asked
) -> list[Assessment]:
    sources = await _sources(base.engine, items)
    if any(item.id not in journal.rows for item in items):
        await base.engine.ask(WARMING, k=1)
    found: list[Assessment] = []
    for count, item in enumerate(items, start=1):
        row = journal.rows.get(item.id)
        given = from_row(row) if row is not None else await _ask(base.engine, item, options.k, sources)
        if row is None and not given.failure:
            journal.add(item.id, as_row(given))
        found.append(await assess(item, given, judge))
        asked(count, len(items))
    return found


async def _sources(engine: Kaijuan, items: Sequence[Item]) -> Sources:
    if all(item.among is None and not item.without for item in items):
        return {}
    return {document_name(version.source): version.source for version in await engine.list()}


async def _ask(engine: Kaijuan, item: Item, k: int, sources: Sources) -> Given:
    start = time.perf_counter()
    try:
        answer = await engine.ask(item.question, k=k, filters=_filters(item, sources))
        spent = (time.perf_counter() - start) * 1000
        return await _given(engine, answer, spent)
    except StoreError as error:
        if isinstance(error, BusyError):
            return _failed(error, start)
        raise
    except KaijuanError as error:
        return _failed(error, start)


def _failed(error: KaijuanError, start: float) -> Given:
    return Given(
        status=Status.REFUSED,
        text="",
        confidence=0.0,
        milliseconds=round((time.perf_counter() - start) * 1000, 3),
        failure=f"{error.code}: {error.message}",
    )


def _filters(item: Item, sources: Sources) -> list[Filter]:
    filters: list[Filter] = []
    if item.among is not None:
        filters.append(In("source", tuple(sources[id] for id in item.among if id in sources)))
    if item.without:
        filters.append(Not(In("source", tuple(sources[id] for id in item.without if id in sources))))
    return filters


async def _given(engine: Kaijuan, answer: Answer, spent: float) -> Given:
    places = {citation.id: place for place, citation in enumerate(answer.citations)}
    return Given(
        status=answer.status,
        text=answer.answer,
        statements=tuple(
            Statement(text=sentence.text, quotes=tuple(places[id] for id in sentence.citations))
            for sentence in answer.sentences
        ),
        quotes=tuple(
            [
                Quote(document=document_name(one.source), text=one.quote, exact=await _is_exact(engine, one))
                for one in answer.citations
            ]
        ),
        notes=answer.notes,
        confidence=answer.confidence,
        milliseconds=round(spent, 3),
    )


async def _is_exact(engine: Kaijuan, citation: Citation) -> bool:
    """Say whether a quote is the text of its version at its span."""
    versions = await engine.catalog.versions_by_id({citation.version_id})
    version = versions.get(citation.version_id)
    return version is not None and citation.span.of(await engine.texts.read(version.text_hash)) == citation.quote
