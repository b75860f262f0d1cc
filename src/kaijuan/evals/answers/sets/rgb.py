"""RGB (Chen et al., AAAI 2024): news snippets that hold the answer, hold none, or hold a planted wrong one.

As its authors do, five snippets are given to a question, of which a share is noise; they are taken in the order of the
file, so that nothing depends on chance. Files: zh_refine (noise, refusal), zh_int (integration), zh_fact and en_fact
(counterfactual).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from kaijuan.errors import EvalDataError
from kaijuan.evals.answers.items import AnswerSet, Expected, Groups, Item
from kaijuan.evals.answers.sets.corpora import hash_of, numbered, write_corpus
from kaijuan.evals.sets import rows, text_field

SNIPPETS = 5
NOISE = (0.0, 0.2, 0.4, 0.6, 0.8)
INTEGRATION_NOISE = (0.0, 0.2, 0.4)
FILES = ("zh_refine.jsonl", "zh_int.jsonl", "zh_fact.jsonl", "en_fact.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One line: its question, and its snippets by id."""

    id: str
    question: str
    gold: Groups
    planted: Groups
    positive: dict[str, str]
    negative: dict[str, str]
    wrong: dict[str, str]


@dataclass(slots=True)
class _Pool:
    items: list[Item] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)

    def add(
        self, case: _Case, kind: str, label: str, given: Mapping[str, str], expected: Expected = Expected.ANSWER
    ) -> None:
        """Add one way to ask a case: of the snippets `given`."""
        self.labels.setdefault(kind, label)
        self.documents |= given
        self.items.append(
            Item(
                id=f"{case.id}/{kind}",
                question=case.question,
                kind=kind,
                expected=expected,
                gold=case.gold,
                planted=case.planted if case.wrong.keys() & given.keys() else (),
                among=tuple(given),
                relevant=frozenset(case.positive.keys() & given.keys()),
                conflict=bool(case.wrong.keys() & given.keys()),
            )
        )


def read(folder: Path, corpora: Path) -> AnswerSet:
    """Read the files that are there; each question is asked several times, of different snippets of its own."""
    paths = [folder / name for name in FILES if (folder / name).is_file()]
    pool = _Pool()
    for path in paths:
        for case in _cases(path):
            _ADD[path.stem](pool, case)
    if not pool.items:
        raise EvalDataError(f"{folder} holds no question.")
    corpus, digest = write_corpus(corpora, folder.resolve().name, pool.documents)
    return AnswerSet(
        name=folder.resolve().name,
        items=tuple(pool.items),
        corpus=corpus,
        corpus_hash=digest,
        fingerprint=hash_of(paths, str(SNIPPETS)),
        labels=pool.labels,
    )


def _add_noise(pool: _Pool, case: _Case) -> None:
    for share in NOISE:
        given = _mixed(case.positive, case.negative, share)
        if case.positive.keys() & given.keys():
            pool.add(case, f"noise {share:.0%}", f"{share:.0%} of its snippets do not answer it", given)
    if case.negative:
        given = _first(case.negative, SNIPPETS)
        pool.add(case, "negatives only", "none of its snippets answers it", given, Expected.REFUSE)


def _add_integration(pool: _Pool, case: _Case) -> None:
    for share in INTEGRATION_NOISE:
        kind = f"integration, noise {share:.0%}"
        label = f"the answer needs several snippets, {share:.0%} of them do not answer it"
        # A snippet for each part of the answer is always given.
        given = _mixed(case.positive, case.negative, share, least=len(case.gold))
        pool.add(case, kind, label, given)


def _add_planted(pool: _Pool, case: _Case) -> None:
    language = case.id[:2]
    share = min(len(case.wrong), SNIPPETS - 1)
    planted = _first(case.wrong, share) | _first(case.negative, SNIPPETS - share)
    # Who only has the documents cannot know better: neither answering nor refusing is judged, only what is given.
    label = "all snippets on it give a planted wrong answer"
    pool.add(case, f"planted, {language}", label, planted, Expected.UNKNOWN)
    half = _first(case.wrong, 2) | _first(case.positive, 2)
    disputed = half | _first(case.negative, SNIPPETS - len(half))
    pool.add(case, f"disputed, {language}", "some snippets give the right answer, some a planted one", disputed)


_ADD = {"zh_refine": _add_noise, "zh_int": _add_integration, "zh_fact": _add_planted, "en_fact": _add_planted}


def _mixed(positive: Mapping[str, str], negative: Mapping[str, str], share: float, *, least: int = 0) -> dict[str, str]:
    """Return SNIPPETS snippets with this share of noise; where one kind is short, the other fills up."""
    noise = min(math.ceil(SNIPPETS * share), len(negative))
    right = _first(positive, max(SNIPPETS - noise, least))
    return right | _first(negative, SNIPPETS - len(right))


def _first(texts: Mapping[str, str], count: int) -> dict[str, str]:
    return dict(list(texts.items())[: max(count, 0)])


def _cases(path: Path) -> Iterator[_Case]:
    for number, row in rows(path):
        id = f"{path.stem}-{number}"
        gold = _groups(row.get("answer"))
        if not gold:
            raise EvalDataError(f"Line {number} of {path} has no answer.")
        yield _Case(
            id=id,
            question=text_field(row, "query", path, number),
            gold=gold,
            planted=_groups(row.get("fakeanswer")),
            positive=numbered(f"{id}-p", _flat(row.get("positive"))),
            negative=numbered(f"{id}-n", _flat(row.get("negative"))),
            wrong=numbered(f"{id}-w", _flat(row.get("positive_wrong"))),
        )


def _flat(snippets: object) -> Sequence[object]:
    """Return the snippets; of several lists, one of each first, then the second of each."""
    found = snippets if isinstance(snippets, list) else []
    if not any(isinstance(one, list) for one in found):
        return found
    lists = [one if isinstance(one, list) else [one] for one in found]
    return [one for one in chain.from_iterable(zip_longest(*lists)) if one is not None]


def _groups(answer: Any) -> Groups:
    """Return what must be given: a list holds things that must all be given, a list in it ways to write one."""
    things = answer if isinstance(answer, list) else [answer]
    groups = [tuple(str(one) for one in (thing if isinstance(thing, list) else [thing])) for thing in things if thing]
    return tuple(group for group in groups if any(one.strip() for one in group))
