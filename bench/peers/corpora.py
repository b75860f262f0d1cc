"""Seeded subsets of the shared corpora, small enough for every system; all relevant documents stay."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.metrics import Set, load_set

SEED = 11
QUESTIONS = 100
DOCUMENTS = 600


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """One set and how much of it is taken. Characters of a chunk: about 256 of the model's tokens."""

    name: str
    documents: int = DOCUMENTS
    chunk_characters: int


CORPORA = (
    Corpus(name="xquad_zh_en", chunk_characters=1000),
    Corpus(name="stard_law_zh", chunk_characters=400),
    Corpus(name="rgb_news_zh", chunk_characters=400),
    Corpus(name="medfaq_zh", chunk_characters=400),
    Corpus(name="cosqa_code_en", chunk_characters=1000),
    # Pages of filings: ten times the text of the others.
    Corpus(name="financebench_en", documents=80, chunk_characters=1000),
)


@dataclass(frozen=True, kw_only=True)
class Subset:
    """What is measured on: written to files for the systems, grades kept here."""

    name: str
    folder: Path
    documents: int
    questions: dict[str, str]
    grades: dict[str, dict[str, int]]
    fingerprint: str


def write_subset(corpus: Corpus, data: Path, folder: Path, *, questions: int = QUESTIONS) -> Subset:
    """Choose questions and documents, and write rows.jsonl and questions.json."""
    whole = load_set(data / corpus.name)
    chosen = choose_questions(whole, questions)
    wanted = {doc for query in chosen for doc in whole.grades[query]}
    rows = choose_rows(whole.corpus, wanted, corpus.documents)
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "rows.jsonl").write_text(text, encoding="utf-8")
    asked = json.dumps(chosen, ensure_ascii=False)
    (folder / "questions.json").write_text(asked, encoding="utf-8")
    return Subset(
        name=corpus.name,
        folder=folder,
        documents=len(rows),
        questions=chosen,
        grades={query: whole.grades[query] for query in chosen},
        fingerprint=hashlib.blake2b((text + asked).encode(), digest_size=8).hexdigest(),
    )


def choose_questions(whole: Set, count: int) -> dict[str, str]:
    """Return a seeded choice of the questions, by id."""
    names = sorted(whole.queries)
    chosen = sorted(random.Random(SEED).sample(names, min(count, len(names))))
    return {name: whole.queries[name] for name in chosen}


def choose_rows(corpus: Path, wanted: set[str], count: int) -> list[Mapping[str, object]]:
    """Return the wanted documents and a seeded choice of others, `count` in all where there are as many."""
    with corpus.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    others = [row["_id"] for row in rows if row["_id"] not in wanted]
    room = max(0, min(count - len(wanted), len(others)))
    kept = wanted | set(random.Random(SEED).sample(others, room))
    return [
        {"id": row["_id"], "title": row.get("title", ""), "text": row["text"], "metadata": {}}
        for row in rows
        if row["_id"] in kept
    ]
