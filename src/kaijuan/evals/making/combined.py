"""Questions that need two passages: comparisons, one fact reached through another, two facts of one thing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kaijuan.core.ids import stable_id
from kaijuan.evals.making.facts import Fact, Sort, Topic
from kaijuan.evals.making.items import Draft, Head, Kind
from kaijuan.evals.making.wording import worded

LEAST_YEARS_APART = 1
FAR_APART = 200
"""Characters between two sentences of one document from which they are two passages, when one block holds both."""
_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)")
_MEASURE = re.compile(r"([\d,，]+(?:\.\d+)?)\s*(万)?\s*(公里|千米|米|公尺)")
_METRES = {"公里": 1000.0, "千米": 1000.0, "米": 1.0, "公尺": 1.0}
_CHAINED = frozenset({"born-on", "born-in", "died-on", "educated-at", "native-of"})
"""Relations asked of a person who is reached through a work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """An article with what it states about its topic."""

    head: Head
    topic: Topic
    facts: tuple[Fact, ...]


def combined_drafts(articles: Sequence[Article], seed: int) -> Iterator[Draft]:
    """Yield questions on two articles, or two places of one, all within one split."""
    yield from _comparisons(articles, seed)
    yield from _chains(articles)
    for article in articles:
        yield from _pairs(article)


def _comparisons(articles: Sequence[Article], seed: int) -> Iterator[Draft]:
    """Pair facts of one relation about things of one kind; which with which is settled by the seed."""
    groups: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for article in articles:
        for fact in article.facts:
            if fact.relation.compared and _size(fact.value) is not None:
                noun = "" if fact.topic.sort is Sort.PERSON else fact.topic.noun
                groups[(article.head.split, article.head.language, fact.relation.name, fact.topic.sort, noun)].append(
                    fact
                )
    for key, facts in sorted(groups.items()):
        ordered = sorted(facts, key=lambda fact: stable_id("pairing", seed, *key, fact.statement.evidence.document.id))
        for one, other in zip(ordered[::2], ordered[1::2], strict=False):
            draft = _compared(one, other, seed)
            if draft is not None:
                yield draft


def _compared(one: Fact, other: Fact, seed: int) -> Draft | None:
    first, second = _size(one.value), _size(other.value)
    if first is None or second is None or one.relation.compared is None or one.topic.name == other.topic.name:
        return None
    if abs(first - second) < (LEAST_YEARS_APART if _YEAR.search(one.value) else max(first, second) * 0.02):
        return None
    evidence = one.statement.evidence, other.statement.evidence
    smaller = int(stable_id("which", seed, *(piece.document.id for piece in evidence))[0], 16) % 2 == 0
    winner = one if (first < second) == smaller else other
    return Draft(
        kind=Kind.MULTI,
        how=f"compare/{one.relation.name}",
        language=_language(one),
        question=worded(one.relation.compared[0 if smaller else 1], one).format(a=one.topic.name, b=other.topic.name),
        answers=(winner.topic.name,),
        evidence=evidence,
        about=f"{one.topic.name} {other.topic.name}",
    )


def _size(value: str) -> float | None:
    """Return what a value is compared by: the year of a date, the metres of a length."""
    year = _YEAR.search(value)
    if year:
        return float(year[1])
    measure = _MEASURE.search(value)
    if not measure:
        return None
    number = float(measure[1].replace(",", "").replace("，", ""))
    return number * (10_000 if measure[2] else 1) * _METRES[measure[3]]


def _chains(articles: Sequence[Article]) -> Iterator[Draft]:
    """Follow a value to the article about it: when was the director of that film born?"""
    people: dict[tuple[str, str], list[Article]] = defaultdict(list)
    for article in articles:
        if article.topic.sort is Sort.PERSON:
            people[(article.head.split, article.topic.short)].append(article)
    for article in articles:
        for fact in article.facts:
            found = people.get((article.head.split, fact.value), []) if fact.relation.noun else []
            if len(found) == 1 and found[0].head.id != article.head.id:
                yield from _through(fact, found[0])


def _through(fact: Fact, person: Article) -> Iterator[Draft]:
    for further in person.facts:
        if further.relation.name not in _CHAINED:
            continue
        yield Draft(
            kind=Kind.MULTI,
            how=f"chain/{fact.relation.name}/{further.relation.name}",
            language=_language(fact),
            question=worded(further.relation.question, further).format(
                x=worded(fact.relation.noun, fact).format(x=fact.topic.name)
            ),
            answers=(further.value,),
            evidence=(fact.statement.evidence, further.statement.evidence),
            about=f"{fact.topic.name} {fact.value}",
        )


class _Half(NamedTuple):
    fact: Fact
    question: str


def _pairs(article: Article) -> Iterator[Draft]:
    """Ask two things of one topic that stand in different passages."""
    told = [fact for fact in article.facts if fact.relation.name != "definition"]
    for at, one in enumerate(told):
        for other in told[at + 1 :]:
            if _are_apart(one, other) and one.relation.name.split("-")[0] != other.relation.name.split("-")[0]:
                yield _both(one, other)
                return


def _are_apart(one: Fact, other: Fact) -> bool:
    first, second = sorted((one.statement, other.statement), key=lambda statement: statement.evidence.span)
    gap = second.evidence.span.start - first.evidence.span.end
    return gap >= FAR_APART or (first.place != second.place and gap > 0)


def _both(one: Fact, other: Fact) -> Draft:
    language = _language(one)
    name = one.topic.name
    first, second = (worded(fact.relation.question, fact).format(x=name) for fact in (one, other))
    if language == "zh":
        rest = worded(other.relation.question.replace("{x}的", "其").replace("{x}", ""), other)
        question = f"{first.rstrip('？')}，{'' if rest.startswith('其') else '又'}{rest}"
    else:
        question = f"{first.rstrip('?')}, and {second[0].lower()}{second[1:]}"
    return Draft(
        kind=Kind.MULTI,
        how="pair",
        language=language,
        question=question,
        answers=(f"{one.value}；{other.value}" if language == "zh" else f"{one.value}; {other.value}",),
        parts=(one.value, other.value),
        evidence=(one.statement.evidence, other.statement.evidence),
        about=name,
    )


def _language(fact: Fact) -> str:
    return fact.statement.evidence.document.language


def pairs_of_drafts(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Yield questions in two parts, from two sections of one document of rules: each part is asked in full."""
    by_document: dict[str, list[Draft]] = defaultdict(list)
    for draft in drafts:
        short = draft.kind in (Kind.SINGLE, Kind.TIME) and len(draft.answers[0]) <= SHORT_ANSWER
        if short and draft.how.split("/")[-1] not in _LONG_ANSWERS:
            by_document[draft.evidence[0].document.id].append(draft)
    for _, found in sorted(by_document.items()):
        used: set[int] = set()
        for at, one in enumerate(found):
            for beside in range(at + 1, len(found)):
                if at in used or beside in used or not _far(one, found[beside]):
                    continue
                used |= {at, beside}
                yield _two_parts(one, found[beside])


SHORT_ANSWER = 48
"""Characters of an answer that may be one of two."""
_LONG_ANSWERS = frozenset({"heading", "faq", "definition", "condition", "means"})
_FRAME = re.compile(r"\A(?:根据|根據)《[^》]*》，|\AAccording to [^,]*, ")


def _far(one: Draft, other: Draft) -> bool:
    first, second = sorted((one.evidence[0].span, other.evidence[0].span))
    return second.start - first.end >= FAR_APART


def _two_parts(one: Draft, other: Draft) -> Draft:
    rest = _FRAME.sub("", other.question)
    if one.language == "zh":
        question, answer = f"{one.question}另外，{rest}", f"{one.answers[0]}；{other.answers[0]}"
    else:
        # A question begins with its question word, never with a name.
        question = f"{one.question.rstrip('?')}, and {rest[0].lower()}{rest[1:]}"
        answer = f"{one.answers[0]}; {other.answers[0]}"
    return Draft(
        kind=Kind.MULTI,
        how="two-parts",
        language=one.language,
        question=question,
        answers=(answer,),
        parts=(one.answers[0], other.answers[0]),
        evidence=(one.evidence[0], other.evidence[0]),
        about=f"{one.about} {other.about}",
    )
