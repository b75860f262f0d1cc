"""Which units answer a question: words by rarity, meaning by embedding, exact anchors; then the best few."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kaijuan.answer.question import Anchor, AnchorKind, Question, amounts_of
from kaijuan.answer.units import Unit
from kaijuan.core.text.analyse import analyse
from kaijuan.core.text.bm25 import idf
from kaijuan.core.text.language import language_of
from kaijuan.core.text.normalise import normalise
from kaijuan.retrieve.results import Passage

CONTEXT_SHARE = 0.6
"""What a question term in the title or heading counts beside one in the sentence itself."""
FLOOR = 0.3
"""Rarity of a term that all units hold, where one that none holds has 1 + this."""
ANCHOR_BONUS, NEAR_MISS = 0.5, 0.4
COVERAGE, SIMILARITY, FOUND, RANK, VALUE, NAMED = 0.45, 0.45, 0.1, 0.02, 0.15, 0.45
"""Weights of a unit's score, measured by bench/fit_sufficiency.py: share of correct sentences chosen."""
FLAT = 0.04
"""Cosines of units that lie closer together than this say nothing apart."""
ADDS = 0.1
"""Share of the question that a further sentence must say beyond what the sentences before it say."""
SAME = 0.8
"""Share of terms in common from which two units say the same."""
ALIKE = 0.7
"""Share of the shorter unit's words that another has which speaks of the same thing."""
_FEWEST_WORDS = 3
_ASKS = re.compile(r"[?？][\s”’\"')）]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A unit with its terms: how often each occurs in it, and which its context has. An answer is read with its
    question."""

    unit: Unit
    terms: Mapping[str, int]
    context: frozenset[str]
    quote: str
    """Normalised text of the unit."""
    around: str
    """Normalised text of its context."""

    @property
    def folded(self) -> str:
        """Normalised text of context and unit."""
        return f"{self.around}\n{self.quote}"

    def says(self, key: str) -> bool:
        """Say whether the unit holds a term. Han words also count inside words that were cut another way."""
        return key in self.terms or (_is_han(key) and key in self.quote)

    def has(self, anchor: Anchor) -> bool:
        """Say whether the unit or its context holds an anchor."""
        return anchor.held(self.terms, self.folded) or anchor.held(self.context, "")

    def about(self, key: str) -> bool:
        """Say whether the unit's context holds a term."""
        return key in self.context or (_is_han(key) and key in self.around)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A unit judged for one question."""

    read: Read
    coverage: float
    """Share of the question's content that unit and context hold, weighted by rarity, 0 to 1."""
    similarity: float
    """Cosine of unit and question; 0 where it was not embedded."""
    score: float


def read_units(units: Sequence[Unit]) -> list[Read]:
    """Analyse units. Contexts repeat, so each is analysed once."""
    contexts: dict[str, tuple[frozenset[str], str]] = {}
    read: list[Read] = []
    for unit in units:
        if unit.context not in contexts:
            contexts[unit.context] = frozenset(_counts(unit.context)), normalise(unit.context)[0]
        context, around = contexts[unit.context]
        said = f"{unit.asked}\n{unit.quote}" if unit.asked else unit.quote
        read.append(
            Read(
                unit=unit,
                terms=_counts(said),
                context=context,
                quote=normalise(said)[0],
                around=around,
            )
        )
    return read


def _counts(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for term in analyse(text):
        counts[term.text] = counts.get(term.text, 0) + 1
    return counts


def _is_han(key: str) -> bool:
    return key[0] >= "\u3400"


def rarities(question: Question, units: Sequence[Read]) -> dict[str, float]:
    """Return how much each question term tells the units apart: its weight times idf over them.

    The idf is scaled to what an absent term would have, so that it means the same for few units and many.
    """
    most = idf(len(units), 0)
    held = {key: sum(read.says(key) or read.about(key) for read in units) for key in question.weights}
    return {key: weight * (FLOOR + idf(len(units), held[key]) / most) for key, weight in question.weights.items()}


def coverage(rarity: Mapping[str, float], reads: Sequence[Read]) -> float:
    """Return the share of the question that `reads` hold together; what only their context holds counts less."""
    whole = sum(rarity.values())
    if not whole:
        return 0.0
    inside = around = 0.0
    for key, value in rarity.items():
        if any(read.says(key) for read in reads):
            inside += value
        elif any(read.about(key) for read in reads):
            around += value
    return (inside + CONTEXT_SHARE * around) / whole


def shortlist(
    questions: Sequence[Question], reads: Sequence[Read], passages: Sequence[Passage], limit: int
) -> list[int]:
    """Return the positions of the units worth embedding: by words, by rank of the passage, by being found."""
    keys: list[tuple[float, int]] = []
    tables = [rarities(question, reads) for question in questions]
    for at, read in enumerate(reads):
        words = max(coverage(table, [read]) for table in tables)
        anchored = sum(read.has(anchor) for question in questions for anchor in question.anchors)
        place = 0.3 * read.unit.found + 0.2 * passages[read.unit.passage].relevance - 0.05 * read.unit.passage
        keys.append((-(words + place + 0.3 * anchored), at))
    return sorted(at for _, at in sorted(keys)[:limit])


def score_units(
    question: Question, reads: Sequence[Read], similarities: npt.NDArray[np.float32], named: Sequence[float] = ()
) -> list[Scored]:
    """Score every unit for one question. `similarities` are cosines, in the order of `reads`; `named` says how much
    the question names the document of each."""
    rarity = rarities(question, reads)
    low, high = (float(similarities.min()), float(similarities.max())) if len(reads) else (0.0, 0.0)
    scored: list[Scored] = []
    for read, cosine, name in zip(reads, similarities.tolist(), named or [0.0] * len(reads), strict=True):
        covered = coverage(rarity, [read])
        meaning = (cosine - low) / max(high - low, FLAT)
        score = COVERAGE * covered + SIMILARITY * meaning + FOUND * read.unit.found - RANK * read.unit.passage
        score += NAMED * name
        score += _anchor_score(question.anchors, read) + _amounts_score(question, read)
        if question.wants is not None and question.wants.met(read.terms, read.quote):
            score += VALUE
        if _ASKS.search(read.unit.quote):
            score -= VALUE
        scored.append(Scored(read=read, coverage=covered, similarity=cosine, score=score))
    return scored


def _anchor_score(anchors: Sequence[Anchor], read: Read) -> float:
    """Reward the anchors a unit holds; punish the code that is nearly the one asked for."""
    if not anchors:
        return 0.0
    held = sum(read.has(anchor) for anchor in anchors)
    total = ANCHOR_BONUS * held / len(anchors)
    if any(near_miss(anchor, read) for anchor in anchors) and not held:
        total -= NEAR_MISS
    return total


def _amounts_score(question: Question, read: Read) -> float:
    """Reward a unit in another language that names the numbers asked about: 五年 and "five years" share no term."""
    if not question.amounts or language_of(read.unit.quote) in ("", question.language):
        return 0.0
    return ANCHOR_BONUS * len(question.amounts & amounts_of(read.unit.quote)) / len(question.amounts)


def near_miss(anchor: Anchor, read: Read) -> bool:
    """Say whether a unit is about not the identifier but one that begins like it (ERR-9981 for ERR-9988)."""
    if anchor.kind is not AnchorKind.IDENTIFIER or read.has(anchor):
        return False
    stems = {_stem(key) for key in anchor.keys if key.startswith("#")}
    return any(key.startswith("#") and _stem(key) in stems for key in (*read.terms, *read.context))


def _stem(key: str) -> str:
    """Return a code with every digit made 0, which near misses share (err-0000)."""
    return "".join("0" if character.isdigit() else character for character in key)


def alike(one: Read, other: Read) -> bool:
    """Say whether two units speak of the same thing, whatever they say of it: most words of the shorter are shared."""
    left, right = words_of(one), words_of(other)
    fewest = min(len(left), len(right))
    return fewest >= _FEWEST_WORDS and len(left & right) >= ALIKE * fewest


def words_of(read: Read) -> frozenset[str]:
    """Return the words of a unit, without numbers, codes and pairs of characters."""
    return frozenset(key for key in read.terms if key[0] not in "~+#=<@" and not any(map(str.isdigit, key)))


def same(one: Read, other: Read) -> bool:
    """Say whether two units say nearly the same, by shared terms (Jaccard); unequal numbers are never the same."""
    left, right = set(one.terms), set(other.terms)
    if not left or not right:
        return one.unit.quote == other.unit.quote
    if any(any(map(str.isdigit, key)) for key in left ^ right):
        return False
    return len(left & right) / len(left | right) >= SAME
