"""Sets in BEIR layout whose queries.jsonl has answers: CMRC, DRCD, ClapNQ, MTRAG, FinanceBench and your own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from kaijuan.evals.answers.items import AnswerSet, Expected, Groups, Item
from kaijuan.evals.sets import EvalSet, Query, load_set

LABELS = {
    "answerable": "the documents answer it",
    "partial": "they answer a part of it",
    "unanswerable": "they do not answer it",
    "underspecified": "it could mean several things",
    "withheld": "an answerable one, without the documents that answer it",
    "unjudged": "the set does not say whether they answer it",
}

LONGEST_KIND = 40


def read(folder: Path, *, withheld: bool = False) -> AnswerSet:
    """Read a set; judgements may be missing.

    A question is answerable where it says so (`answerability`), has an answer, or has a relevant document. Where it
    names a `kind` of its own (sets that `kaijuan eval make` made do), it is reported under that.
    """
    data = load_set(folder, judged=False)
    items = [_item(query, data) for query in data.queries]
    if withheld:
        items += _withheld(items)
    problems = list(data.problems)
    if not any(item.gold for item in items):
        problems.append("No question has an expected answer: only refusals and citations are measured.")
    return AnswerSet(
        name=data.name,
        items=tuple(items),
        corpus=data.corpus,
        corpus_hash=data.corpus_hash,
        fingerprint=data.fingerprint,
        problems=tuple(problems),
        labels=_labels(item.kind for item in items),
    )


def _item(query: Query, data: EvalSet) -> Item:
    relevant = frozenset(data.grades.get(query.id, ()))
    kind, expected = _kind(query, relevant)
    return Item(
        id=query.id,
        question=query.text,
        kind=kind,
        expected=expected,
        # What stands for an answer to the others is a sentence that declines.
        gold=_gold(query) if expected is Expected.ANSWER else (),
        relevant=relevant,
    )


def _gold(query: Query) -> Groups:
    """Return what an answer must give: every part, where the set names the parts, else one of the answers."""
    parts = query.fields.get("answer_parts")
    groups = [_ways(part) for part in parts] if isinstance(parts, list) else []
    if groups and all(groups):
        return tuple(groups)
    return (query.answers,) if query.answers else ()


def _ways(part: object) -> tuple[str, ...]:
    ways = part if isinstance(part, list) else [part]
    return tuple(way for way in ways if isinstance(way, str) and way.strip())


def _kind(query: Query, relevant: frozenset[str]) -> tuple[str, Expected]:
    said = str(query.fields.get("answerability", "")).upper()
    if said == "UNDERSPECIFIED":
        return "underspecified", Expected.CLARIFY
    if said == "PARTIAL":
        return "partial", Expected.ANSWER
    if query.answerable is False:
        return "unanswerable", Expected.REFUSE
    if query.answerable or relevant or query.answers:
        return _own_kind(query) or "answerable", Expected.ANSWER
    return "unjudged", Expected.UNKNOWN


def _own_kind(query: Query) -> str:
    kind = query.fields.get("kind")
    return " ".join(kind.split())[:LONGEST_KIND] if isinstance(kind, str) else ""


def _labels(kinds: Iterable[str]) -> dict[str, str]:
    """Return what the kinds mean: those of this module in their order, after those that questions name themselves."""
    found = dict.fromkeys(kinds)
    own = {kind: "so named by the set" for kind in found if kind not in LABELS}
    return own | {kind: said for kind, said in LABELS.items() if kind in found}


def _withheld(items: list[Item]) -> Iterator[Item]:
    for item in items:
        if item.expected is Expected.ANSWER and item.relevant:
            yield replace(
                item,
                id=f"{item.id}/withheld",
                kind="withheld",
                expected=Expected.REFUSE,
                without=tuple(sorted(item.relevant)),
                relevant=frozenset(),
            )
