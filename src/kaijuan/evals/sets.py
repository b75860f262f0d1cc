"""Evaluation sets in BEIR layout: corpus.jsonl, queries.jsonl, qrels.tsv, each in one folder.

A file CORPUS may name another folder, relative to the set's, that holds the corpus (Thakur et al., BEIR, 2021, for
the layout; CORPUS is ours).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kaijuan.errors import EvalDataError

MOST_PROBLEMS_SHOWN = 5
MOST_GRADE = 1000
"""Highest grade of a judgement."""
MOST_PATH = 1000
"""Characters of the path that a file CORPUS may hold."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question of a set. `answers` are the accepted answers, `answerable` None where the set does not say."""

    id: str
    text: str
    answers: tuple[str, ...] = ()
    answerable: bool | None = None
    history: tuple[str, ...] = ()
    """Earlier turns, oldest first."""
    fields: Mapping[str, Any]
    """Everything else that the line said."""


@dataclass(frozen=True, kw_only=True)
class EvalSet:
    """Questions with graded documents. `grades` holds positive grades only: query id -> document id -> grade.

    `problems` are sentences about what was left out, for the report to show.
    """

    name: str
    folder: Path
    corpus: Path
    queries: tuple[Query, ...]
    grades: Mapping[str, Mapping[str, int]]
    problems: tuple[str, ...]

    @property
    def judged(self) -> tuple[Query, ...]:
        """The questions with at least one relevant document, in the order of their ids."""
        return tuple(query for query in self.queries if query.id in self.grades)

    @cached_property
    def corpus_hash(self) -> str:
        """SHA-256 of the corpus file, in hexadecimal."""
        return file_hash(self.corpus)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over corpus, questions and judgements: two sets with one fingerprint are the same set."""
        parts = [self.corpus_hash]
        parts += [
            file_hash(path) for path in (self.folder / "queries.jsonl", self.folder / "qrels.tsv") if path.exists()
        ]
        return hashlib.sha256("".join(parts).encode()).hexdigest()


def load_set(folder: Path, *, judged: bool = True) -> EvalSet:
    """Read one set; EvalDataError says which file or line is at fault.

    Blank questions, repeated ids and judgements of unknown questions or documents are left out and named in
    `problems`; a set of which nothing would be left is an error. Unless it must be `judged`, qrels.tsv may be missing.
    """
    if not folder.is_dir():
        raise EvalDataError(f"There is no folder {folder}.", hint="Name the folder that holds queries.jsonl.")
    _refuse_several(folder)
    corpus = corpus_path(folder)
    problems: list[str] = []
    documents = _document_ids(corpus)
    queries, blank = _queries(folder / "queries.jsonl", problems)
    qrels = folder / "qrels.tsv"
    optional = not judged and not qrels.exists()
    named = {query.id for query in queries}
    grades = {} if optional else _grades(qrels, named, documents, problems, blank=blank - named)
    return EvalSet(
        name=_name(folder.resolve()),
        folder=folder,
        corpus=corpus,
        queries=tuple(sorted(queries, key=lambda query: query.id)),
        grades=grades,
        problems=tuple(problems),
    )


def _refuse_several(folder: Path) -> None:
    """Name the splits of a set made by `kaijuan eval make`: only one of them is a set to measure on."""
    if (folder / "queries.jsonl").exists():
        return
    below = sorted({*folder.glob("*/queries.jsonl"), *folder.glob("v*/*/queries.jsonl")})
    if below:
        names = ", ".join(str(path.parent) for path in below[:MOST_PROBLEMS_SHOWN])
        raise EvalDataError(f"{folder} holds several sets, one a split.", hint=f"Name one of them: {names}.")


def _name(folder: Path) -> str:
    """Return a set's name: its folder's, and for the split of a set that was made, where it belongs."""
    made = (folder.parent / "set.json").is_file()
    return f"{folder.parent.parent.name}-{folder.parent.name}-{folder.name}" if made else folder.name


def corpus_path(folder: Path) -> Path:
    """Return the corpus file of a folder, its own or the one that its file CORPUS points to."""
    pointer = folder / "CORPUS"
    corpus = (folder / _pointed_to(pointer) if pointer.is_file() else folder) / "corpus.jsonl"
    if not corpus.is_file():
        hint = "Put corpus.jsonl there, or a file CORPUS that names the folder with the corpus."
        raise EvalDataError(f"The set has no corpus: {corpus} is missing.", hint=hint)
    return corpus


def _pointed_to(pointer: Path) -> str:
    try:
        named = pointer.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise EvalDataError(f"{pointer} is not UTF-8.", hint="Save it as UTF-8.") from error
    if not named or len(named) > MOST_PATH or not named.isprintable():
        raise EvalDataError(
            f"{pointer} names no folder: {named!r:.80}.", hint="Write one path in it, relative to the set's folder."
        )
    return named


def _document_ids(corpus: Path) -> frozenset[str]:
    seen = Counter(text_field(row, "_id", corpus, number) for number, row in rows(corpus))
    if not seen:
        raise EvalDataError(f"{corpus} holds no document.", hint="Write one JSON object a line: _id, title, text.")
    repeated = [id for id, count in seen.items() if count > 1]
    if repeated:
        raise EvalDataError(
            f"{corpus} gives {len(repeated)} ids to more than one document: {_some(repeated)}.",
            hint="Give every document an id of its own; judgements cannot be told apart otherwise.",
        )
    return frozenset(seen)


def _queries(path: Path, problems: list[str]) -> tuple[list[Query], set[str]]:
    """Return the questions, and the ids of those without words."""
    if not path.is_file():
        raise EvalDataError(
            f"The set has no questions: {path} is missing.", hint="Write one JSON object a line: _id, text."
        )
    found: dict[str, Query] = {}
    blank, repeated = [], []
    for number, row in rows(path):
        id = text_field(row, "_id", path, number)
        text = text_field(row, "text", path, number)
        if not text.strip():
            blank.append(id)
        elif id in found:
            repeated.append(id)
        else:
            found[id] = _query(id, text, row)
    _note(problems, blank, "question is blank", "questions are blank")
    _note(
        problems, repeated, "question id comes twice; the first is kept", "question ids come twice; the first is kept"
    )
    if not found:
        raise EvalDataError(
            f"{path} holds no question.{_first(problems)}", hint="Write one JSON object a line: _id, text."
        )
    return list(found.values()), set(blank)


def _query(id: str, text: str, row: Mapping[str, Any]) -> Query:
    given = row.get("answer", row.get("answers"))
    answers = given if isinstance(given, list) else [] if given is None else [given]
    known = {"_id", "text", "answer", "answers", "history"}
    return Query(
        id=id,
        text=text,
        answers=tuple(str(answer) for answer in answers if str(answer).strip()),
        answerable=_answerable(row),
        history=_history(row.get("history")),
        fields={key: value for key, value in row.items() if key not in known},
    )


def _answerable(row: Mapping[str, Any]) -> bool | None:
    said = row.get("answerability", row.get("answerable"))
    if isinstance(said, bool) or said is None:
        return said
    return {"ANSWERABLE": True, "PARTIAL": True, "UNANSWERABLE": False}.get(str(said).upper())


def _history(given: object) -> tuple[str, ...]:
    turns = given if isinstance(given, list) else [given] if given else []
    return tuple(_turn(turn) for turn in turns)


def _turn(turn: object) -> str:
    return str(turn.get("text", "")) if isinstance(turn, dict) else str(turn)


def _grades(
    path: Path, queries: set[str], documents: frozenset[str], problems: list[str], *, blank: set[str]
) -> dict[str, dict[str, int]]:
    if not path.is_file():
        raise EvalDataError(
            f"The set has no judgements: {path} is missing.",
            hint="Write one line for each question and relevant document: query-id, corpus-id, score, parted by tabs.",
        )
    judged: dict[str, dict[str, int]] = {}
    strange_queries, strange_documents, repeated = [], [], []
    for query, document, grade in _judgements(path):
        if query in blank:
            continue  # it was named among the questions already
        if query not in queries:
            strange_queries.append(query)
        elif document not in documents:
            strange_documents.append(document)
        elif document in judged.setdefault(query, {}):
            repeated.append(f"{query} {document}")
        else:
            judged[query][document] = grade
    before = len(problems)
    for ids, one, several in (
        (strange_queries, "judgement names a question", "judgements name questions"),
        (strange_documents, "judgement names a document", "judgements name documents"),
    ):
        where = "set" if ids is strange_queries else "corpus"
        _note(problems, ids, f"{one} that the {where} does not have", f"{several} that the {where} does not have")
    _note(
        problems, repeated, "judgement comes twice, and the first counts", "judgements come twice, and the first counts"
    )
    grades = {query: {id: grade for id, grade in found.items() if grade > 0} for query, found in judged.items()}
    bare = [query for query, found in grades.items() if not found]
    _note(problems, bare, "question has no relevant document", "questions have no relevant document")
    grades = {query: found for query, found in grades.items() if found}
    if not grades:
        raise EvalDataError(
            f"No judgement in {path} can be used. {' '.join(problems[before:])}".rstrip(),
            hint="The ids in qrels.tsv must be those in queries.jsonl and corpus.jsonl, and some grades above 0.",
        )
    return grades


def _judgements(path: Path) -> Iterator[tuple[str, str, int]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise EvalDataError(f"{path} is not UTF-8.", hint="Save it as UTF-8.") from error
    for number, row in enumerate((line.rstrip("\r").split("\t") for line in lines), start=1):
        if row != [""] and not (number == 1 and row[0] == "query-id"):
            try:
                query, document, grade = row
                yield query, document, _grade(grade)
            except ValueError as error:
                raise EvalDataError(
                    f"Line {number} of {path} is not a judgement: {row!r:.120}.",
                    hint="A line is: query-id, corpus-id, score, parted by tabs. A score is a whole number, "
                    f"at most {MOST_GRADE}.",
                ) from error


def _grade(text: str) -> int:
    # The metrics know whole grades only, and trec_eval takes memory by the highest.
    grade = float(text)
    if not grade.is_integer() or abs(grade) > MOST_GRADE:
        raise ValueError(text)
    return int(grade)


def rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the JSON objects of a file with the numbers of their lines; EvalDataError names a line that holds none."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, _row(line, path, number)
    except UnicodeDecodeError as error:
        raise EvalDataError(f"{path} is not UTF-8.", hint="Save it as UTF-8.") from error


def _row(line: str, path: Path, number: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError covers bad JSON and giant numbers
        raise EvalDataError(f"Line {number} of {path} is not JSON: {error}.") from error
    if not isinstance(row, dict):
        raise EvalDataError(f"Line {number} of {path} is not a JSON object.")
    return row


def text_field(row: Mapping[str, Any], key: str, path: Path, number: int) -> str:
    """Return a field that must be there, as text; EvalDataError names the line that lacks it."""
    value = row.get(key)
    if not isinstance(value, str | int):
        raise EvalDataError(f"Line {number} of {path} has no {key}.", hint=f"Each line needs {key}, as text.")
    return str(value)


def _note(problems: list[str], ids: list[str], one: str, several: str) -> None:
    if ids:
        problems.append(f"{len(ids)} {one if len(ids) == 1 else several}: {_some(ids)}.")


def _some(ids: list[str]) -> str:
    shown = ", ".join(ids[:MOST_PROBLEMS_SHOWN])
    return shown if len(ids) <= MOST_PROBLEMS_SHOWN else f"{shown}, ..."


def _first(problems: list[str]) -> str:
    return f" {problems[-1]}" if problems else ""


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
