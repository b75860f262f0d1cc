"""Which way of cutting finds the evidence within how much reading: a controlled study on whole documents.

    python -m bench.chunk_study ../shared/data/stard_law_zh ... [--files DIR] [--tokens N] [--limit N] [--home DIR]
        [--arms NAME ...] [--journal FILE]

The corpora hold passages. Here those of one title become one document again, in their order (articles of a law by
number, pages of a report by page), so that cutting has something to do; of each corpus the documents with the most
questions for their length are taken, and others by chance, up to `--tokens`. `--files` adds Markdown, HTML and PDF
files, with questions that `kaijuan.evals` makes from them. Every arm takes in the same documents in the same base,
where only the cutting is done anew. A question is asked as users ask. Its score is the share of its evidence's
characters that stands in the passages given, read in their order up to a budget of tokens: strategies with larger or
smaller pieces compare fairly. Against `recursive` by a paired randomisation test, corrected by Holm. Prints JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.chunk_documents import (
    about_tokens,
    chosen,
    documents_of,
    excerpts,
    places_of,
    read_corpus,
    write_documents,
)
from bench.machine import machine
from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.spans import Span, merge
from kaijuan.evals.experiments.significance import compare_sets, holm
from kaijuan.evals.making.items import Kind
from kaijuan.evals.making.pipeline import Request, make
from kaijuan.evals.retrieval import sample
from kaijuan.evals.sets import load_set
from kaijuan.index.ports import Embedder
from kaijuan.index.settings import IndexSettings
from kaijuan.ingest.settings import ChunkSettings, GateSettings
from kaijuan.retrieve.results import SearchResult
from kaijuan.verbs.embedders import make_embedder

Row = dict[str, Any]
Scores = dict[int, dict[str, float]]
"""By budget, then by question."""
BASELINE = "recursive"
CHILDREN_ALONE = "recursive, children read alone"
WITHOUT_TITLES = "recursive, without title path"
CUTS: Mapping[str, Mapping[str, Any]] = {
    BASELINE: {},
    "fixed": {"strategy": "fixed"},
    "structural": {"strategy": "structural"},
    "auto": {"strategy": "auto"},
    "semantic": {"strategy": "semantic"},
    "recursive, with contexts": {"contexts": "rules"},
    "recursive, with descriptions": {"descriptions": True},
    "sentence_window": {"strategy": "sentence_window"},
}
"""Arms by what is set otherwise than by default."""
ARMS = (*CUTS, WITHOUT_TITLES)
BUDGETS = (500, 1000, 2000)
ASKED = 20
FILES = (
    *("text/choose-index.md", "text/README.rst", "html/getting-debian.zh-cn.html", "html/wiki_duck.html"),
    *("pdf/Java开发手册(黄山版).pdf", "pdf/amt_handbook_sample.pdf", "pdf/ULTABEAUTY_2023Q4_EARNINGS.pdf"),
    "pdf/layout-parser-paper-with-empty-pages.pdf",
)
MADE = 40
"""Questions of each kind made from files, at most."""
Evidence = list[tuple[str, Span]]
"""Source and place of everything that answers a question."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question with its evidence."""

    id: str
    text: str
    evidence: Evidence


@dataclass(frozen=True, kw_only=True)
class Matter:
    """Documents in a folder, and how the questions about them are found once the base is filled."""

    name: str
    folder: Path
    facts: Row
    questions: Callable[[Kaijuan], Awaitable[list[Asked]]]


@dataclass(kw_only=True)
class Counting:
    """An embedder that counts about how many tokens it was given, whether their vectors were known or not."""

    inner: Embedder
    tokens: float = 0.0

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        self.tokens += sum(map(about_tokens, texts))
        return await self.inner.embed_passages(texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass(kw_only=True)
class Journal:
    """What a killed run had measured: arms of matters, with every score."""

    path: Path | None
    rows: dict[str, Row] = field(default_factory=dict)

    def read(self) -> Journal:
        if self.path is not None and self.path.exists():
            self.rows = json.loads(self.path.read_text(encoding="utf-8"))
        return self

    def keep(self, matter: str, arm: str, row: Row) -> None:
        self.rows.setdefault(matter, {})[arm] = row
        if self.path is not None:
            self.path.write_text(json.dumps(self.rows, ensure_ascii=False), encoding="utf-8")


def corpus_matter(folder: Path, home: Path, tokens: float, limit: int) -> Matter:
    data = load_set(folder)
    gold = {query.id: [id for id, grade in data.grades[query.id].items() if grade > 0] for query in data.judged}
    groups = excerpts(documents_of(read_corpus(data)), {id for ids in gold.values() for id in ids})
    groups = chosen(groups, gold, tokens, seed=0)
    place = home / data.name / "files"
    shutil.rmtree(place, ignore_errors=True)
    written = write_documents(groups, place)
    facts = {
        "documents": len(groups),
        "passages": sum(map(len, groups)),
        "tokens": round(sum(passage.tokens for group in groups for passage in group)),
    }

    async def questions(engine: Kaijuan) -> list[Asked]:
        places = await places_of(engine, written)
        facts["passages_not_found_again"] = places.missing
        whole = [query for query in data.judged if all(id in places.found for id in gold[query.id])]
        return [
            Asked(id=query.id, text=query.text, evidence=[places.found[id] for id in gold[query.id]])
            for query in sample(whole, limit)
        ]

    return Matter(name=data.name, folder=place, facts=facts, questions=questions)


def files_matter(root: Path, home: Path, limit: int) -> Matter:
    place = home / "files" / "files"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name in FILES:
        shutil.copy(root / name, place)
    facts: Row = {"documents": len(FILES)}

    async def questions(engine: Kaijuan) -> list[Asked]:
        shutil.rmtree(home / "files" / "made", ignore_errors=True)
        kinds = (Kind.SINGLE, Kind.TABLE)
        made = await make(engine, Request(root=home / "files" / "made", kinds=kinds, count=MADE))
        asked = [
            Asked(
                id=item.id,
                text=item.question,
                evidence=[(row["source"], Span(row["start"], row["end"])) for row in item.evidence],
            )
            for item in made.items
            if item.evidence
        ]
        return asked[:limit] if limit else asked

    return Matter(name="files", folder=place, facts=facts, questions=questions)


def covered(result: SearchResult, evidence: Evidence, engine: Kaijuan, budget: int, *, children: bool = False) -> float:
    """Return the share of the evidence's characters in what is read up to `budget` tokens: the passages, or only the
    children found in them."""
    left = budget
    read: dict[str, list[Span]] = {}
    for passage in result.passages:
        for span in passage.hits if children else (passage.span,):
            if not left:
                break
            text = passage.text[span.start - passage.span.start : span.end - passage.span.start]
            tokens = engine.embedder.token_spans(text)
            if len(tokens) > left:
                span = Span(span.start, span.start + tokens[left - 1].end)
            read.setdefault(passage.source, []).append(span)
            left -= min(left, len(tokens))
    held = 0
    for source, span in evidence:
        held += sum(len(part) for one in merge(read.get(source, ())) if (part := one.intersect(span)) is not None)
    return held / sum(len(span) for _, span in evidence)


async def scored(engine: Kaijuan, questions: Sequence[Asked]) -> tuple[Scores, Scores]:
    """Return the scores of all questions, reading passages and reading children alone."""
    whole: Scores = {budget: {} for budget in BUDGETS}
    alone: Scores = {budget: {} for budget in BUDGETS}
    for asked in questions:
        result = await engine.search(asked.text, k=ASKED)
        for budget in BUDGETS:
            whole[budget][asked.id] = round(covered(result, asked.evidence, engine, budget), 4)
            alone[budget][asked.id] = round(covered(result, asked.evidence, engine, budget, children=True), 4)
    return whole, alone


async def studied(matter: Matter, home: Path, arms: Sequence[str], journal: Journal) -> Row:
    """Run every arm on the same documents."""
    questions: list[Asked] = []
    for arm in arms:
        if questions and arm in journal.rows.get(matter.name, {}):
            continue
        titles = arm != WITHOUT_TITLES
        config = Config(
            chunk=ChunkSettings(**CUTS.get(arm, {})),
            gate=GateSettings(hidden_instructions="off", instructions="off", invisible="off", secrets="off"),
            index=IndexSettings() if titles else IndexSettings(title_weight=0, path_weight=0, prefix_tokens=0),
        )
        counting = Counting(inner=make_embedder(config.embedder, home / "cache"))
        # What changes points but no chunk needs a base of its own.
        place = matter.folder.parent / ("base" if titles else "bare")
        async with Kaijuan(place, config=config, embedder=counting) as engine:
            await engine.add(str(matter.folder))
            embedded = round(counting.tokens)
            questions = questions or await matter.questions(engine)
            if arm in journal.rows.get(matter.name, {}):
                continue
            cut = await engine.chunk_report()
            whole, alone = await scored(engine, questions)
        row = {
            "chunks": cut.children,
            "parents": cut.parents,
            "median_tokens": cut.median_tokens,
            "embedded_tokens": embedded,
            "cut_structures": cut.cut_count,
            "cut_sentences": cut.parted_sentences,
        }
        journal.keep(matter.name, arm, {**row, "scores": _named(whole)})
        if arm == BASELINE:
            journal.keep(matter.name, CHILDREN_ALONE, {**row, "scores": _named(alone)})
        print(f"{matter.name}: {arm} {_means(_named(whole))}", file=sys.stderr, flush=True)
    return {"set": matter.name, **matter.facts, "questions": len(questions)}


def _named(scores: Scores) -> dict[str, dict[str, float]]:
    return {str(budget): each for budget, each in scores.items()}


def _means(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {budget: round(sum(each.values()) / max(1, len(each)), 4) for budget, each in scores.items()}


def judged(rows: Mapping[str, Mapping[str, Row]], sets: Sequence[Row]) -> Row:
    """Return means and differences to the baseline by budget: of every set, and of all together that have an arm."""
    names = [one["set"] for one in sets]
    arms = [arm for arm in (BASELINE, CHILDREN_ALONE, *ARMS[1:]) if any(arm in rows[name] for name in names)]
    for one in sets:
        own = rows[one["set"]]
        one["arms"] = {
            arm: {
                **{name: value for name, value in own[arm].items() if name != "scores"},
                "coverage": _means(own[arm]["scores"]),
            }
            for arm in arms
            if arm in own
        }
        for arm, found in _compared([own], [arm for arm in arms if arm in own]).items():
            one["arms"][arm]["against"] = found
    return {"sets": list(sets), "together": _compared([rows[name] for name in names], arms)}


def _compared(sets: Sequence[Mapping[str, Row]], arms: Sequence[str]) -> dict[str, dict[str, Row]]:
    """Compare every arm with the baseline over the sets that have it; by budget, Holm over the arms."""
    found: dict[str, dict[str, Row]] = {arm: {} for arm in arms if arm != BASELINE}
    for budget in map(str, BUDGETS):
        made = {}
        for arm in found:
            having = {str(at): one for at, one in enumerate(sets) if arm in one}
            base = {at: one[BASELINE]["scores"][budget] for at, one in having.items()}
            made[arm] = compare_sets(base, {at: one[arm]["scores"][budget] for at, one in having.items()}, seed=0)
        corrected = holm({arm: one.p for arm, one in made.items()})
        for arm, one in made.items():
            found[arm][budget] = {
                "sets": sum(arm in each for each in sets),
                "effect": round(one.effect, 4),
                "low": round(one.low, 4),
                "high": round(one.high, 4),
                "p": round(corrected[arm], 4),
            }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--files", type=Path, help="the folder of files, with its folders text, html and pdf")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=100, help="questions of each set; 0 for all")
    parser.add_argument("--tokens", type=float, default=80_000, help="about how many tokens of each corpus")
    parser.add_argument("--arms", nargs="+", default=ARMS, help=f"always with {BASELINE!r}")
    parser.add_argument("--journal", type=Path, help="where rows are kept for a run that goes on after a kill")
    given = parser.parse_args()
    arms = [arm for arm in ARMS if arm == BASELINE or arm in given.arms]
    with TemporaryDirectory() as spare:
        home = given.home or Path(spare)
        matters = [corpus_matter(folder, home, given.tokens, given.limit) for folder in given.sets]
        matters += [files_matter(given.files, home, given.limit)] if given.files else []
        journal = Journal(path=given.journal).read()
        sets = [asyncio.run(studied(matter, home, arms, journal)) for matter in matters]
    print(json.dumps({"machine": machine(), **judged(journal.rows, sets)}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
