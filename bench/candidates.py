"""The candidates of many questions with all that a reranker may look at, kept for fitting and for trying fusions.

    python -m bench.candidates ../shared/data/xquad_zh_en ... --home DIR --into DIR [--documents N] [--questions N]

One compressed JSON file a set. With `--documents` a corpus is sampled: every document judged for the sampled questions,
its neighbours in the corpus (of one law, filing or article: near misses that favour no route), and others by hash.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kaijuan.config import Config
from kaijuan.core.filters import Eq, Filter, all_of
from kaijuan.core.ids import ChunkId, stable_id
from kaijuan.core.text.bm25 import numbered, weighted_terms
from kaijuan.engine import Kaijuan
from kaijuan.evals.bases import open_base
from kaijuan.evals.retrieval import name_of, sample
from kaijuan.evals.sets import EvalSet, Query, load_set, rows
from kaijuan.index.ports import Hit, Index
from kaijuan.index.rebuild import open_space
from kaijuan.retrieve.scope import scope

DEPTH = 100
"""Chunks asked of each route."""
NEIGHBOURS = 2
READERS = frozenset({"all"})
LANGUAGES = ("zh", "en")


@dataclass(kw_only=True)
class Collected:
    """What is kept of one set: places of chunks in `chunks` stand for them everywhere else."""

    places: dict[ChunkId, int] = field(default_factory=dict)
    chunks: list[dict[str, Any]] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)


def sampled(data: EvalSet, into: Path, *, documents: int, questions: int) -> EvalSet:
    """Write a smaller set beside and return it; the same on every machine."""
    asked = sample(data.judged, questions)
    silent = sample([one for one in data.queries if one.answerable is False], questions // 2)
    lines = [(str(row["_id"]), json.dumps(row, ensure_ascii=False)) for _, row in rows(data.corpus)]
    judged = {document for one in asked for document in data.grades[one.id]}
    kept = set(judged)
    for at, (id, _) in enumerate(lines):
        if id in judged and len(kept) < documents:
            kept.update(other for other, _ in lines[max(0, at - NEIGHBOURS) : at + NEIGHBOURS + 1])
    for id in sorted((id for id, _ in lines), key=lambda id: stable_id("document", id)):
        if len(kept) >= documents:
            break
        kept.add(id)
    folder = into / "sets" / data.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.jsonl").write_text("".join(f"{line}\n" for id, line in lines if id in kept), encoding="utf-8")
    (folder / "queries.jsonl").write_text(
        "".join(f"{json.dumps(_row(one), ensure_ascii=False)}\n" for one in [*asked, *silent]), encoding="utf-8"
    )
    grades = [(one.id, document, grade) for one in asked for document, grade in data.grades[one.id].items()]
    (folder / "qrels.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in grades), encoding="utf-8")
    return load_set(folder)


def _row(query: Query) -> dict[str, Any]:
    return {"_id": query.id, "text": query.text, "answerable": query.answerable}


async def collected(data: EvalSet, home: Path) -> Collected:
    """Take the corpus in, unless `home` holds it, and ask every route every question."""
    found = Collected()
    async with open_base(data, home, Config()) as base:
        engine = base.engine
        kb = await engine.catalog.kb(engine.tenant, engine.kb_name)
        index = await open_space(engine.catalog, engine.indexes, kb, engine.embedder)
        where = scope(kb.tenant, READERS, kb.head, ())
        try:
            for query in data.queries:
                if query.id not in data.grades and query.answerable is not False:
                    continue
                lists = await _lists(index, engine, query.text, where)
                await _learn(engine, found, [hit.id for hits in lists.values() for hit in hits])
                found.questions.append(
                    {
                        "id": query.id,
                        "text": query.text,
                        "grades": dict(data.grades.get(query.id, {})),
                        "lists": {name: _short(hits, found.places) for name, hits in lists.items()},
                    }
                )
        finally:
            await index.close()
    return found


async def _lists(index: Index, engine: Kaijuan, text: str, where: Filter) -> dict[str, list[Hit]]:
    vector = await engine.embedder.embed_query(text)
    terms = weighted_terms(text)
    words = numbered({key: weight for key, weight in terms.items() if key[0] != "~"})
    pairs = numbered({key: weight for key, weight in terms.items() if key[0] == "~"})
    lists = {
        "dense": await index.search_dense(vector, DEPTH, where),
        "lexical": await index.search_lexical(numbered(terms), DEPTH, where) if terms else [],
        "words": await index.search_lexical(words, DEPTH, where) if words else [],
        "pairs": await index.search_lexical(pairs, DEPTH, where) if pairs else [],
    }
    for language in LANGUAGES:
        there = all_of([where, Eq("language", language)])
        lists[f"dense_{language}"] = await index.search_dense(vector, DEPTH // 2, there)
    return lists


def _short(hits: Sequence[Hit], places: Mapping[ChunkId, int]) -> list[list[float]]:
    return [[places[hit.id], hit.score] for hit in hits]


async def _learn(engine: Kaijuan, found: Collected, ids: Iterable[ChunkId]) -> None:
    missing = [id for id in dict.fromkeys(ids) if id not in found.places]
    chunks = await engine.catalog.chunks(missing)
    versions = await engine.catalog.versions_by_id({chunk.version_id for chunk in chunks.values()})
    for id, chunk in chunks.items():
        version = versions[chunk.version_id]
        found.places[id] = len(found.chunks)
        found.chunks.append(
            {
                "id": id,
                "document": name_of(version.source),
                "title": version.title,
                "path": list(chunk.title_path),
                "language": version.language,
                "text": chunk.span.of(await engine.texts.read(version.text_hash)),
            }
        )


def keep(folder: Path, home: Path, into: Path, *, documents: int, questions: int) -> None:
    """Write the candidates of one set, unless they are there already."""
    name = folder.resolve().name
    target = into / f"{name}.json.gz"
    if target.exists():
        return
    data = load_set(folder)
    if documents or questions:
        data = sampled(data, into, documents=documents or sys.maxsize, questions=questions)
    found = asyncio.run(collected(data, home))
    with gzip.open(target, "wt", encoding="utf-8") as file:
        json.dump({"set": name, "chunks": found.chunks, "questions": found.questions}, file, ensure_ascii=False)
    print(f"{name}: {len(found.questions)} questions, {len(found.chunks)} chunks met", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=0)
    parser.add_argument("--questions", type=int, default=0)
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    for folder in given.sets:
        keep(folder, given.home, given.into, documents=given.documents, questions=given.questions)


if __name__ == "__main__":
    main()
