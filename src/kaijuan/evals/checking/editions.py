"""Pairs of documents that rule one thing differently: of two years, two versions, or such that nothing tells apart.

What is ruled, by whom and in which words is in editions.json.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

KINDS = ("title", "file", "effective", "version", "undecidable")
"""Where the newer of the two can be told from: the year in the title or the file's name, the day it came into force,
its version; or nowhere."""
_NAMED = ("title", "file")
"""Kinds whose editions a question can name by their year."""
_SHARED = 3
"""Other things that both documents rule alike."""
_MONTHS = ("January", "March", "May", "July", "September")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One document of a pair. `name` is its file's."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePair:
    """Two documents and what they must be answered with. Of an undecidable pair neither is the newer."""

    language: str
    kind: str
    older: Made
    newer: Made
    question: str
    old_question: str
    """Asks what the older edition says; "" where it has no name of its own."""
    comparing: str
    """Asks for both; "" likewise."""
    old: str
    new: str


def rule_pairs(language: str, count: int, seed: int) -> list[RulePair]:
    """Return `count` pairs, each of a company of its own, the kinds in turn; the same for the same seed."""
    chance = random.Random(f"{seed}:{language}:editions")  # noqa: S311 a draw, no secret
    said = _said()[language]
    companies = [
        said["words"]["company"].format(place=place, trade=trade)
        for place in said["places"]
        for trade in said["trades"]
    ]
    chance.shuffle(companies)
    return [
        _pair(said, language, KINDS[at % len(KINDS)], companies[at % len(companies)], chance) for at in range(count)
    ]


def documents_of(pairs: Sequence[RulePair]) -> Iterator[Made]:
    """Yield all documents of some pairs."""
    for pair in pairs:
        yield from (pair.older, pair.newer)


@cache
def _said() -> dict[str, Any]:
    text = resources.files("kaijuan.evals.checking").joinpath("editions.json").read_text(encoding="utf-8")
    said: dict[str, Any] = json.loads(text)
    return said


def _pair(said: Mapping[str, Any], language: str, kind: str, company: str, chance: random.Random) -> RulePair:
    words, topics = said["words"], said["topics"]
    topic = chance.choice(topics)
    old, new = chance.sample(topic["values"], 2)
    first = chance.choice((2019, 2020, 2021, 2022))
    years = (first, first + chance.choice((1, 2, 3)))
    shared = [one["says"][0].format(v=chance.choice(one["values"])) for one in topics if one is not topic]
    body = chance.sample(shared, _SHARED)
    policy = chance.choice(words["policies"])
    documents = [
        _document(
            said, kind, company, policy, (place, years[place]), topic["says"][place].format(v=value), body, chance
        )
        for place, value in enumerate((old, new))
    ]
    named = kind in _NAMED
    fields = {"company": company, "asked": topic["asked"], "subject": topic["subject"]}
    return RulePair(
        language=language,
        kind=kind,
        older=documents[0],
        newer=documents[1],
        question=words["question"].format(**fields),
        old_question=words["old_question"].format(year=years[0], **fields) if named else "",
        comparing=words["comparing"].format(one=years[0], two=years[1], **fields) if named else "",
        old=old,
        new=new,
    )


def _document(  # noqa: PLR0913 one argument a fact
    said: Mapping[str, Any],
    kind: str,
    company: str,
    policy: str,
    edition: tuple[int, int],
    rule: str,
    body: Sequence[str],
    chance: random.Random,
) -> Made:
    """Return a document in Markdown: title, what dates it, and the rule among others that both editions share."""
    words = said["words"]
    place, year = edition
    if kind == "undecidable":
        policy = words["other"][place]
    title = words["title"].format(company=company, policy=policy)
    title += words["dated"].format(year=year) if kind == "title" else ""
    lines = [f"# {title}", chance.choice(said["fillers"])]
    if kind == "effective":
        months = _MONTHS if said is _said()["en"] else (1, 3, 5, 7, 9)
        lines.append(words["effective"].format(year=year, month=chance.choice(months)))
    if kind == "version":
        lines.append(words["version"].format(version=f"{1 + place}.{chance.randint(0, 3)}"))
    rules = [*body, rule]
    chance.shuffle(rules)
    lines += [*rules, chance.choice(said["fillers"])]
    mark = f"-{year}" if kind == "file" else f"-{'ab'[place]}"
    return Made(name=f"{company}-{policy}{mark}.md".replace(" ", "_"), title=title, text="\n\n".join(lines) + "\n")
