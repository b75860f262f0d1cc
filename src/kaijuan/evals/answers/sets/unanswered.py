"""Questions without documents (SimpleQA and its like), asked of a corpus that does not hold the answers."""

from __future__ import annotations

from pathlib import Path

from kaijuan.errors import EvalDataError
from kaijuan.evals.answers.items import AnswerSet, Expected, Item
from kaijuan.evals.answers.sets.corpora import hash_of
from kaijuan.evals.sets import corpus_path, file_hash, rows, text_field

FILE = "questions.jsonl"
KIND = "stranger"


def read(folder: Path, over: Path | None) -> AnswerSet:
    """Read the questions, all to be refused over the corpus of the folder `over`.

    A document may by chance hold an answer all the same; answers that contain the expected one are told apart.
    """
    if over is None:
        raise EvalDataError(
            f"The questions of {folder} have no documents.", hint="Name the folder whose corpus is asked with --over."
        )
    corpus = corpus_path(over)
    path = folder / FILE
    items: dict[str, Item] = {}
    repeated = 0
    for number, row in rows(path):
        id, question = text_field(row, "_id", path, number), text_field(row, "text", path, number)
        answers = row.get("answer")
        known = answers if isinstance(answers, list) else [] if answers is None else [answers]
        gold = tuple(str(answer) for answer in known if str(answer).strip())
        repeated += id in items
        if question.strip():
            items.setdefault(
                id,
                Item(id=id, question=question, kind=KIND, expected=Expected.REFUSE, gold=(gold,) if gold else ()),
            )
    if not items:
        raise EvalDataError(f"{path} holds no question.")
    corpus_hash = file_hash(corpus)
    return AnswerSet(
        name=f"{folder.resolve().name} over {corpus.resolve().parent.name}",
        items=tuple(items.values()),
        corpus=corpus,
        corpus_hash=corpus_hash,
        fingerprint=hash_of([path, corpus]),
        problems=(f"{repeated} question ids come twice; the first is kept.",) if repeated else (),
        labels={KIND: "asked of a corpus that is not about it"},
    )
