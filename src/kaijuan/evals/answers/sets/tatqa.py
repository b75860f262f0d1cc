"""TAT-QA (Zhu et al., ACL 2021): questions over a table and its paragraphs, each context one page with a real table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from kaijuan.errors import EvalDataError
from kaijuan.evals.answers.items import AnswerSet, Expected, Groups, Item
from kaijuan.evals.answers.sets.corpora import hash_of, write_pages
from kaijuan.evals.sets import rows

LABELS = {
    "span": "a piece of the text or table",
    "multi-span": "several pieces",
    "arithmetic": "must be computed",
    "count": "must be counted",
}


def read(folder: Path, corpora: Path) -> AnswerSet:
    """Read every question with its context; a number may be given with or without the scale of its table."""
    paths = sorted(folder.glob("tatqa*.jsonl"))
    pages: dict[str, str] = {}
    items: list[Item] = []
    for path in paths:
        for number, row in rows(path):
            try:
                name, page = _page(row)
                items += _items(row, name)
            except (KeyError, TypeError, ValueError) as error:
                raise EvalDataError(
                    f"Line {number} of {path} is no context: {error!r:.80}.",
                    hint="A line has table, paragraphs and questions as in TAT-QA's own files.",
                ) from error
            pages[name] = page
    if not items:
        raise EvalDataError(f"{folder} holds no question.")
    corpus, digest = write_pages(corpora, folder.resolve().name, pages)
    return AnswerSet(
        name=folder.resolve().name,
        items=tuple(items),
        corpus=corpus,
        corpus_hash=digest,
        fingerprint=hash_of(paths),
        labels={kind: LABELS.get(kind, kind) for kind in dict.fromkeys([*LABELS, *(item.kind for item in items)])},
    )


def _page(row: Mapping[str, Any]) -> tuple[str, str]:
    table = row["table"]
    cells = "\n".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in line) + "</tr>" for line in table["table"]
    )
    ordered = sorted(row["paragraphs"], key=lambda one: one["order"])
    texts = "\n".join(f"<p>{escape(one['text'])}</p>" for one in ordered)
    page = f"<!doctype html>\n<html><body>\n{texts}\n<table>\n{cells}\n</table>\n</body></html>\n"
    return f"{table['uid']}.html", page


def _items(row: Mapping[str, Any], name: str) -> Iterator[Item]:
    for asked in row["questions"]:
        gold = _gold(asked["answer"], asked["scale"])
        if gold and asked["question"].strip():
            yield Item(
                id=asked["uid"],
                question=asked["question"],
                kind=asked["answer_type"],
                expected=Expected.ANSWER,
                gold=gold,
                among=(name,),
                relevant=frozenset({name}),
            )


def _gold(answer: object, scale: str) -> Groups:
    parts = answer if isinstance(answer, list) else [answer]
    return tuple(_written(str(part), scale) for part in parts if str(part).strip())


def _written(part: str, scale: str) -> tuple[str, ...]:
    """Return a value as it stands in the table, and with the table's scale."""
    if not scale or not any(map(str.isdigit, part)):
        return (part,)
    return (part, f"{part}%" if scale == "percent" else f"{part} {scale}")
