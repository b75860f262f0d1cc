"""RAMDocs (Wang et al., 2025): ambiguous questions whose documents are right, wrong or beside the point."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kaijuan.errors import EvalDataError
from kaijuan.evals.answers.items import AnswerSet, Expected, Groups, Item
from kaijuan.evals.answers.sets.corpora import hash_of, numbered, write_corpus
from kaijuan.evals.sets import rows, text_field

LABELS = {
    "misinformed": "some of its documents give a wrong answer",
    "several answers": "its documents give different right answers",
    "noise only": "one answer, among documents beside the point",
}


def read(folder: Path, corpora: Path) -> AnswerSet:
    """Read every question with its own documents; a good answer gives every gold answer and no wrong one."""
    paths = sorted(folder.glob("ramdocs*.jsonl"))
    documents: dict[str, str] = {}
    items: list[Item] = []
    for path in paths:
        for number, row in rows(path):
            id = f"{path.stem}-{number}"
            own = numbered(id, _texts(row, path, number))
            documents |= own
            items.append(_item(id, row, tuple(own), path, number))
    if not items or not documents:
        raise EvalDataError(f"{folder} holds no question with documents.")
    corpus, digest = write_corpus(corpora, folder.resolve().name, documents)
    return AnswerSet(
        name=folder.resolve().name,
        items=tuple(items),
        corpus=corpus,
        corpus_hash=digest,
        fingerprint=hash_of(paths),
        labels=LABELS,
    )


def _texts(row: Mapping[str, Any], path: Path, number: int) -> list[object]:
    documents = row.get("documents")
    if not isinstance(documents, list) or not all(isinstance(one, dict) for one in documents):
        raise EvalDataError(f"Line {number} of {path} has no documents.", hint="Each line needs documents with a text.")
    return [one.get("text") for one in documents]


def _item(id: str, row: Mapping[str, Any], own: tuple[str, ...], path: Path, number: int) -> Item:
    gold = _each_alone(row.get("gold_answers"))
    right = {answer for group in gold for answer in group}
    planted = tuple(group for group in _each_alone(row.get("wrong_answers")) if group[0] not in right)
    if not gold:
        raise EvalDataError(f"Line {number} of {path} has no gold_answers.")
    return Item(
        id=id,
        question=text_field(row, "question", path, number),
        kind="misinformed" if planted else "several answers" if len(gold) > 1 else "noise only",
        expected=Expected.ANSWER,
        gold=gold,
        planted=planted,
        among=own,
        conflict=True,
    )


def _each_alone(answers: object) -> Groups:
    known = answers if isinstance(answers, list) else []
    return tuple((answer,) for answer in dict.fromkeys(str(one) for one in known) if answer.strip())
