"""A set on disk: one folder a version, each readable as BEIR sets, one a split; what was made is never changed.

SET/reviews.jsonl                 what people said, for all versions
SET/splits.tsv                    where each document went, for good
SET/v1/set.json                   version, base, snapshot, seed, what made it, how many
SET/v1/items.jsonl                every question as it was made, with its evidence
SET/v1/corpus.jsonl               the documents
SET/v1/{train,dev,test}/          CORPUS, queries.jsonl, qrels.tsv: what `kaijuan eval` reads; reviews applied
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kaijuan.errors import EvalDataError, StoreError
from kaijuan.evals.making.items import Item, Kind, Split
from kaijuan.evals.making.reviews import Status, read_reviews, reviewed
from kaijuan.evals.making.splits import Assigned

FORMAT = 1
SET, ITEMS, CORPUS, SPLITS = "set.json", "items.jsonl", "corpus.jsonl", "splits.tsv"
_VERSION = re.compile(r"v([1-9]\d*)\Z")
_HEAD = "source\tfamily\tsplit"
_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def versions_of(root: Path) -> list[int]:
    """Return the versions that a set has, in order."""
    if not root.is_dir():
        return []
    found = [_VERSION.match(path.name) for path in root.iterdir() if (path / SET).is_file()]
    return sorted(int(match[1]) for match in found if match)


def version_folder(root: Path, version: int | None = None) -> Path:
    """Return the folder of a version, the newest by default; EvalDataError where there is none."""
    known = versions_of(root)
    if not known:
        raise EvalDataError(
            f"{root} is no set made by kaijuan.", hint="`kaijuan eval make DIR` makes one from a knowledge base."
        )
    if version is not None and version not in known:
        raise EvalDataError(f"{root} has no version {version}.", hint=f"It has {', '.join(map(str, known))}.")
    return root / f"v{version or known[-1]}"


def read_facts(folder: Path) -> dict[str, Any]:
    """Return what set.json says of a version."""
    facts = _json(folder / SET)
    if facts.get("format") != FORMAT:
        raise EvalDataError(
            f"{folder / SET} has format {facts.get('format')!r}; this kaijuan reads {FORMAT}.",
            hint="Install the version of kaijuan that made it, or make the set anew.",
        )
    return facts


def read_items(folder: Path) -> list[Item]:
    """Return the questions of a version as they were made."""
    path = folder / ITEMS
    rows = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
    return [_item(row, path, number) for number, row in enumerate(rows, start=1) if row.strip()]


def read_reviewed(root: Path, version: int | None = None) -> list[Item]:
    """Return the questions of a version with what people said of them."""
    return reviewed(read_items(version_folder(root, version)), read_reviews(root))


def _item(line: str, path: Path, number: int) -> Item:
    try:
        row = json.loads(line)
        return Item(
            id=row["id"],
            kind=Kind(row["kind"]),
            split=Split(row["split"]),
            language=row["language"],
            question=row["question"],
            answers=tuple(row["answers"]),
            evidence=tuple(row["evidence"]),
            how=row["how"],
            as_of=row.get("as_of", ""),
            parts=tuple(row.get("parts", ())),
            also=tuple(row.get("also", ())),
            since=row["since"],
            extra=row.get("extra", {}),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise EvalDataError(f"Line {number} of {path} is no question: {error!r}.") from error


def item_row(item: Item) -> dict[str, Any]:
    """Return an item as a line of items.jsonl holds it."""
    row: dict[str, Any] = {
        "id": item.id,
        "kind": str(item.kind),
        "split": str(item.split),
        "language": item.language,
        "question": item.question,
        "answers": list(item.answers),
        "evidence": [dict(piece) for piece in item.evidence],
        "how": item.how,
        "since": item.since,
    }
    return row | {
        name: value
        for name, value in (
            *(("as_of", item.as_of), ("parts", list(item.parts))),
            *(("also", list(item.also)), ("extra", dict(item.extra))),
        )
        if value
    }


def query_row(item: Item) -> dict[str, Any]:
    """Return an item as a line of queries.jsonl."""
    row = {
        "_id": item.id,
        "text": item.question,
        "answer": list(item.answers),
        "answerability": "ANSWERABLE" if item.answerable else "UNANSWERABLE",
        "kind": str(item.kind),
        "language": item.language,
        "how": item.how,
        "evidence": [dict(piece) for piece in item.evidence],
    }
    if item.parts:
        row["answer_parts"] = list(item.parts)
    if item.as_of:
        row["as_of"] = item.as_of
    return row


def corpus_row(id: str, title: str, text: str, source: str) -> str:
    """Return a document as a line of corpus.jsonl; its text is the version's, so that spans hold in it."""
    return _line({"_id": id, "title": title, "text": text, "origin": source})


def write_version(root: Path, partial: Path, facts: Mapping[str, Any], items: Sequence[Item]) -> Path:
    """Complete the folder `partial`, which holds the corpus already, and give it its name in one step."""
    version = int(facts["version"])
    target = root / f"v{version}"
    _write(partial / ITEMS, "".join(_line(item_row(item)) for item in items))
    render(partial, reviewed(items, read_reviews(root)))
    _write(partial / SET, json.dumps(facts, ensure_ascii=False, indent=2) + "\n")
    try:
        partial.rename(target)
    except OSError as error:
        raise StoreError(
            f"Version {version} cannot be put in its place at {target}: {error.strerror}.",
            hint="Another run may have made it meanwhile; look there, then try again.",
        ) from error
    return target


def render(folder: Path, items: Sequence[Item]) -> None:
    """Write the splits of a version as sets that `kaijuan eval` reads. Rejected questions are left out."""
    for split in Split:
        shown = [item for item in items if item.split is split and item.status != Status.REJECTED]
        place = folder / split
        if not shown and not place.exists():
            continue
        place.mkdir(exist_ok=True)
        _write(place / "CORPUS", "..\n")
        _write(place / "queries.jsonl", "".join(_line(query_row(item)) for item in shown))
        _write(place / "qrels.tsv", qrels(shown))


def qrels(items: Iterable[Item]) -> str:
    """Return the judgements: 2 for a document that holds evidence, 1 for another that says the same."""
    lines = ["query-id\tcorpus-id\tscore\n"]
    for item in items:
        if not item.answerable:
            continue
        grades = dict.fromkeys(item.also, 1) | {str(piece["document"]): 2 for piece in item.evidence}
        lines += [f"{item.id}\t{document}\t{grade}\n" for document, grade in grades.items()]
    return "".join(lines)


def read_splits(root: Path) -> Assigned:
    """Return where the documents went that the set has known."""
    path = root / SPLITS
    documents: dict[str, Split] = {}
    families: dict[str, Split] = {}
    if path.is_file():
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[1:], start=2):
            if not line:
                continue
            try:
                source, family, split = line.split("\t")
                documents[_plain(source)] = Split(split)
                families.setdefault(_plain(family), Split(split))
            except ValueError as error:
                raise EvalDataError(
                    f"Line {number} of {path} is not: source, family, split.",
                    hint="Mend it from a backup: without it, questions could move between splits.",
                ) from error
    return Assigned(documents=documents, families=families)


def write_splits(root: Path, rows: Mapping[str, tuple[str, Split]]) -> None:
    """Write where each document goes; rows of documents that are gone stay, should they come back."""
    path = root / SPLITS
    known: dict[str, str] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").split("\n")[1:]:
            if line:
                known[line.split("\t")[0]] = line
    for source, (family, split) in rows.items():
        key = source.translate(_ESCAPED)
        known.setdefault(key, f"{key}\t{family.translate(_ESCAPED)}\t{split}")
    _write(path, "\n".join([_HEAD, *(known[key] for key in sorted(known))]) + "\n")


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"t": "\t", "n": "\n", "r": "\r"}.get(match[1], match[1]), text)


def partial_folder(root: Path, version: int) -> Path:
    """Return a fresh folder in which a version is put together; what a stopped run left is removed."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        partial = root / f".v{version}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
    except OSError as error:
        raise StoreError(f"{root} cannot be written: {error.strerror}.", hint="Choose another folder.") from error
    return partial


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EvalDataError(f"{path} cannot be read: {error}.") from error
    if not isinstance(found, dict):
        raise EvalDataError(f"{path} is not a JSON object.")
    return found


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    """Write a file in one step: a reader sees the old or the new one."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        # Half code points of damaged file names cannot be written as UTF-8.
        fresh.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        os.replace(fresh, path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}.") from error
