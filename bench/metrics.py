"""Ranking metrics over one query, and the corpora in BEIR layout that they are measured on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Normalised discounted cumulative gain with gain = grade (Jarvelin and Kekalainen, 2002)."""
    gain = sum(grades.get(doc, 0) / math.log2(place + 2) for place, doc in enumerate(ranked[:k]))
    best = sum(grade / math.log2(place + 2) for place, grade in enumerate(sorted(grades.values(), reverse=True)[:k]))
    return gain / best if best else 0.0


def recall(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Share of the relevant documents among the first k."""
    relevant = {doc for doc, grade in grades.items() if grade > 0}
    return len(relevant & set(ranked[:k])) / len(relevant) if relevant else 0.0


@dataclass(frozen=True, kw_only=True)
class Set:
    """Questions of one set, with graded documents."""

    name: str
    corpus: Path
    queries: dict[str, str]
    grades: dict[str, dict[str, int]]


def load_set(folder: Path) -> Set:
    """Read queries.jsonl and qrels.tsv; a CORPUS file may name another folder that holds the corpus. Blank questions
    are left out."""
    holder = folder / "CORPUS"
    corpus = (folder / holder.read_text(encoding="utf-8").strip() if holder.exists() else folder) / "corpus.jsonl"
    grades: dict[str, dict[str, int]] = {}
    lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    for line in lines:
        query, doc, grade = line.split("\t")
        if int(grade) > 0:
            grades.setdefault(query, {})[doc] = int(grade)
    texts = {}
    with (folder / "queries.jsonl").open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["_id"] in grades and row["text"].strip():
                texts[row["_id"]] = row["text"]
    return Set(name=folder.name, corpus=corpus, queries=texts, grades=grades)
