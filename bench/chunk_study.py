"""Which strategy of cutting finds the evidence within how much reading: a controlled study on whole documents.

    python -m bench.chunk_study ../shared/data/stard_law_zh ... [--home DIR] [--limit N] [--documents N]
        [--strategies NAME ...]

The corpora hold passages. Here those of one title become one document again, in their order (articles of a law by
number, pages of a report by page), so that cutting has something to do. Every strategy takes in the same files in the
same base, where only the cutting is done anew. A question is asked as users ask. Its score is the share of its
evidence's characters that stands in the passages given, read in their order up to a budget of tokens: strategies with
larger or smaller pieces compare fairly. Against `recursive` by a paired randomisation test, corrected by Holm. Prints
JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import machine
from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.spans import Span, merge
from kaijuan.evals.experiments.significance import compare, holm
from kaijuan.evals.retrieval import sample
from kaijuan.evals.sets import EvalSet, load_set
from kaijuan.ingest.parsers.han_numbers import han_number
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.retrieve.results import SearchResult
from kaijuan.verbs.wiring import make_embedder

BASELINE = "recursive"
STRATEGIES = (BASELINE, "fixed", "sliding", "structural", "sentence_window", "auto")
BUDGETS = (500, 1000, 2000)
ASKED = 20
_ARTICLE = re.compile(r"第([零〇一二三四五六七八九十百千两\d]+)条(?:之([一二三四五六七八九十\d]+))?")
_PAGE = re.compile(r"#(\d+)$")
_ENDS = 40
"""Characters at both ends of a passage by which it is found again in the text as read."""
NUMBERS = {
    han_number(number, "1").removeprefix("一" if 10 <= number < 20 else "").replace("〇", "零"): number
    for number in range(1, 3000)
}
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A document of the corpus."""

    id: str
    title: str
    text: str


@dataclass(kw_only=True)
class Places:
    """Where the passages of a corpus stand: source of the file and span in its text."""

    found: dict[str, tuple[str, Span]] = field(default_factory=dict)
    missing: int = 0


def read_corpus(data: EvalSet) -> list[Passage]:
    rows = (json.loads(line) for line in data.corpus.read_text(encoding="utf-8").splitlines() if line.strip())
    return [Passage(id=str(row["_id"]), title=row.get("title", ""), text=row["text"]) for row in rows]


def documents_of(passages: Sequence[Passage]) -> list[list[Passage]]:
    """Put passages of one title together, in the order of their numbers, else of the corpus."""
    titled: dict[str, list[Passage]] = {}
    for passage in passages:
        titled.setdefault(passage.title or passage.id, []).append(passage)
    return [sorted(group, key=_order) for group in titled.values()]


def _order(passage: Passage) -> tuple[int, int]:
    if page := _PAGE.search(passage.id):
        return int(page[1]), 0
    article = _ARTICLE.match(passage.text.strip())
    if article is None:
        return 0, 0
    return NUMBERS.get(article[1].replace("〇", "零"), 0), NUMBERS.get(article[2] or "", 0)


def chosen(groups: list[list[Passage]], wanted: set[str], most: int, seed: int) -> list[list[Passage]]:
    """Return the documents that hold evidence, and others by chance up to `most` passages (0: all)."""
    if not most:
        return groups
    needed = [group for group in groups if any(passage.id in wanted for passage in group)]
    others = [group for group in groups if not any(passage.id in wanted for passage in group)]
    random.Random(seed).shuffle(others)
    size = sum(map(len, needed))
    for group in others:
        if size + len(group) <= most:
            needed.append(group)
            size += len(group)
    return needed


def write_documents(groups: Sequence[Sequence[Passage]], folder: Path) -> dict[str, Sequence[Passage]]:
    """Write one Markdown file a document; return the passages by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, Sequence[Passage]] = {}
    for number, group in enumerate(groups):
        name = f"{number:05d}.md"
        head = f"# {group[0].title}\n\n" if group[0].title else ""
        (folder / name).write_text(head + "\n\n".join(passage.text for passage in group), encoding="utf-8")
        written[name] = group
    return written


async def places_of(engine: Kaijuan, written: Mapping[str, Sequence[Passage]]) -> Places:
    """Find every passage again in the texts as they were read; one that was changed by reading is counted."""
    places = Places()
    for version in await engine.list():
        text = await engine.texts.read(version.text_hash)
        at = 0
        for passage in written[Path(version.source).name]:
            body = passage.text.strip()
            start = text.find(body[:_ENDS].split("\n")[0], at)
            tail = body[-_ENDS:].split("\n")[-1]
            end = text.find(tail, max(start, start + len(body) - 3 * _ENDS)) if start >= 0 else -1
            if start < 0 or end < 0 or end > start + 2 * len(body) + _ENDS:
                places.missing += 1
                continue
            at = start + 1
            places.found[passage.id] = (version.source, Span(start, end + len(tail)))
    return places


def covered(result: SearchResult, evidence: Sequence[tuple[str, Span]], engine: Kaijuan, budget: int) -> float:
    """Return the share of the evidence's characters in the passages, read up to `budget` tokens."""
    left = budget
    read: dict[str, list[Span]] = {}
    for passage in result.passages:
        tokens = engine.embedder.token_spans(passage.text)
        span = passage.span
        if len(tokens) > left:
            span = Span(span.start, span.start + tokens[left - 1].end) if left else Span(span.start, span.start)
        read.setdefault(passage.source, []).append(span)
        left -= min(left, len(tokens))
        if not left:
            break
    whole = sum(len(span) for _, span in evidence)
    held = 0
    for source, span in evidence:
        held += sum(len(part) for one in merge(read.get(source, ())) if (part := one.intersect(span)) is not None)
    return held / whole


async def asked(engine: Kaijuan, data: EvalSet, places: Places, limit: int) -> dict[int, dict[str, float]]:
    """Return the score of every question by budget."""
    scores: dict[int, dict[str, float]] = {budget: {} for budget in BUDGETS}
    for query in sample(data.judged, limit):
        gold = [id for id, grade in data.grades[query.id].items() if grade > 0 and id in places.found]
        if not gold:
            continue
        result = await engine.search(query.text, k=ASKED)
        for budget in BUDGETS:
            scores[budget][query.id] = covered(result, [places.found[id] for id in gold], engine, budget)
    return scores


async def studied(folder: Path, home: Path, strategies: Sequence[str], *, limit: int, most: int) -> Row:
    """Run every strategy on one set."""
    data = load_set(folder)
    questions = sample(data.judged, limit)
    wanted = {id for query in questions for id, grade in data.grades[query.id].items() if grade > 0}
    groups = chosen(documents_of(read_corpus(data)), wanted, most, seed=0)
    place = home / data.name / f"{limit}-{most}"
    written = write_documents(groups, place / "files")
    found: dict[str, Row] = {}
    scores: dict[str, dict[int, dict[str, float]]] = {}
    for strategy in strategies:
        config = Config(chunk=ChunkSettings(strategy=strategy))
        embedder = make_embedder(config.embedder, home / "cache")
        async with Kaijuan(place / "base", config=config, embedder=embedder) as engine:
            report = await engine.add(str(place / "files"))
            places = await places_of(engine, written)
            cut = await engine.chunk_report()
            scores[strategy] = await asked(engine, data, places, limit)
        found[strategy] = {
            "chunks": cut.children,
            "parents": cut.parents,
            "median_tokens": cut.median_tokens,
            "recut": report.added + report.updated,
            "cut_structures": cut.cut_count,
            "cut_sentences": cut.parted_sentences,
            "missing": places.missing,
        }
        print(f"{data.name}: {strategy} {_means(scores[strategy])}", file=sys.stderr, flush=True)
    return {
        "set": data.name,
        "documents": len(groups),
        "passages": sum(map(len, groups)),
        "questions": len(scores[strategies[0]][BUDGETS[0]]),
        "strategies": {name: {**row, **_judged(scores, name)} for name, row in found.items()},
    }


def _means(scores: Mapping[int, Mapping[str, float]]) -> dict[int, float]:
    return {budget: round(sum(each.values()) / max(1, len(each)), 4) for budget, each in scores.items()}


def _judged(scores: Mapping[str, Mapping[int, dict[str, float]]], name: str) -> Row:
    """Return means, and for the middle budget the difference to the baseline with its corrected p value."""
    means: Row = {"coverage": _means(scores[name])}
    others = [other for other in scores if other != BASELINE]
    if name == BASELINE or BASELINE not in scores:
        return means
    budget = BUDGETS[1]
    compared = {other: compare(scores[BASELINE][budget], scores[other][budget], seed=0) for other in others}
    own = compared[name]
    p = holm({other: one.p for other, one in compared.items()})[name]
    return {
        **means,
        "effect": round(own.effect, 4),
        "interval": [round(own.low, 4), round(own.high, 4)],
        "p": round(p, 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="questions of each set; 0 for all")
    parser.add_argument("--documents", type=int, default=0, help="most passages of each corpus; 0 for all")
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES)
    given = parser.parse_args()
    with TemporaryDirectory() as spare:
        home = given.home or Path(spare)
        rows = [
            asyncio.run(studied(folder, home, given.strategies, limit=given.limit, most=given.documents))
            for folder in given.sets
        ]
    print(json.dumps({"machine": machine(), "budget": BUDGETS[1], "sets": rows}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
