"""Whether the evidence suffices: a logistic over a few features, fitted by bench/fit_sufficiency.py.

The coefficients and the record of their fit are in sufficiency.json. Cosines mean different things in different
models, so models it was fitted for have coefficients of their own; "any" uses none that depend on the model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources

from kaijuan.answer.extract import Read, Scored, alike, coverage, rarities
from kaijuan.answer.kinds import is_unspoken
from kaijuan.answer.question import AnchorKind, Question
from kaijuan.answer.units import Unit
from kaijuan.answer.wanted import ValueKind, counts
from kaijuan.core.text.language import language_of
from kaijuan.retrieve.results import Passage

UNTYPED = 6.0
"""Log odds lost without the kind of value asked for. Public sets ask too few such questions to fit it."""
UNSPOKEN, TIMELESS = 1.0, 2.0
"""Log odds lost where the kind of thing asked for has no word in any text and the best unit speaks of another kind,
and where a time is asked for and the best unit names none."""
_MANY = 16
_MEAN_DISTINCT = 0.55
_SURE = 1e-4
_CUT_LEAD = 2.0
_MEAN_ABOVE = 0.045
"""What the highest cosine lies above the mean, on average of all questions."""
_COMPARED, _MEAN_LEAD = 3, 0.4
"""Passages that the best one is compared with, and how far it leads on average of all questions."""
_HAN = ("zh", "ja")
_LONE_MARGIN = 0.3
"""What a single unit is taken to lead by: about the mean of all questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What sufficiency is judged by. Most are between -1 and 1."""

    similarity: float
    """Highest cosine of a unit and the question."""
    chunk_similarity: float
    """Highest cosine of a found chunk and the question."""
    distinct: float
    """How many standard deviations the best cosine lies above the mean of the units', divided by 4. Among few units
    it cannot be told, and is drawn to what it is on average."""
    coverage: float
    """Highest coverage of one unit."""
    passage_coverage: float
    """Highest coverage of one passage."""
    known: float
    """Share of the question's words that occur anywhere in the evidence."""
    focus: float
    """Share of the words naming what is asked for that occur anywhere in the evidence; 1 where nothing is named."""
    typed: float
    """0 where a price or a number of things is asked for and the best unit has none."""
    unspoken: float
    """1 where the best unit speaks of other kinds of the thing asked for, and no text of the kind asked for."""
    timeless: float
    """1 where a time is asked for and the best unit names none."""
    missing: float
    """Share of names, numbers and dates of the question that no passage holds."""
    relevance: float
    """Highest relevance of a passage, as the search estimates it."""
    lead: float
    """How far, in log odds, the most relevant passage lies above the three after it."""
    pairs: float
    """Share of the question's pairs of neighbouring characters that the document of the best unit holds; 1 for scripts
    with blanks. Words are cut in more than one way, names often wrongly."""
    margin: float
    """How far the score of the best unit lies above the mean of the three after it."""
    above_mean: float
    """How far the highest cosine lies above the mean of the units': between languages all cosines are drawn up or down
    together by how a question is put. Among few units it is drawn to what it is on average."""
    apart: float
    """`lead`, drawn to what it is on average where few passages are compared: those in another language are often alone
    beside many in the question's, which says nothing of them."""
    into_han: float
    """1 where the evidence is in Chinese or Japanese and the question is not: cosines are lower that way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Coefficients by feature, and the probability from which evidence suffices."""

    coefficients: Mapping[str, float]
    intercept: float
    threshold: float

    def probability(self, features: Features) -> float:
        """Return the estimated probability, 0 to 1, that the question can be answered."""
        values = asdict(features)
        logit = self.intercept + sum(weight * values[name] for name, weight in self.coefficients.items())
        logit -= UNTYPED * (1.0 - features.typed) + UNSPOKEN * features.unspoken + TIMELESS * features.timeless
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))

    def margin(self, probability: float) -> float:
        """Return how far, in log odds, a probability lies above the threshold, so that two fits can be compared."""
        return _log_odds(probability) - _log_odds(self.threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """The fits for evidence in the question's language, and in another, where words say nothing."""

    own: Fit
    foreign: Fit
    into_han: Fit | None = None
    """For evidence in Chinese or Japanese and a question that is not: cosines are lower that way and say less by
    themselves. None where that was not fitted apart."""

    def across(self, features: Features) -> Fit:
        """Return the fit for evidence in another language."""
        return self.into_han if self.into_han is not None and features.into_han else self.foreign


def judge_for(model: str) -> Judge:
    """Return the fits for an embedding model by its name, or those for any model."""
    judges = _judges()
    return judges.get(model, judges["any"])


@cache
def _judges() -> dict[str, Judge]:
    record = json.loads(resources.files("kaijuan.answer").joinpath("sufficiency.json").read_text(encoding="utf-8"))
    return {
        name: Judge(**{side: Fit(**values) for side, values in fits.items()}) for name, fits in record["models"].items()
    }


def features_of(
    question: Question, scored: Sequence[Scored], reads: Sequence[Read], passages: Sequence[Passage]
) -> Features:
    """Return the features of the evidence: `scored` are the units compared by meaning, `reads` all of them."""
    best = max(scored, key=lambda item: item.score)
    cosines = [item.similarity for item in scored]
    highest = max(cosines)
    chunk = max((passage.routes["dense"].score for passage in passages if "dense" in passage.routes), default=highest)
    return Features(
        similarity=highest,
        chunk_similarity=chunk,
        distinct=_distinct(cosines),
        coverage=max(item.coverage for item in scored),
        passage_coverage=_passage_coverage(question, reads),
        known=_known(question, reads),
        focus=_share_held(question.focus, reads),
        typed=float(not _untyped(question, best)),
        unspoken=float(is_unspoken(question, best.read, reads)),
        timeless=float(question.wants is not None and question.wants.timeless(best.read.terms, best.read.quote)),
        missing=_missing(question, reads),
        relevance=max((passage.relevance for passage in passages), default=0.0),
        lead=_lead(best, scored, passages),
        pairs=_pairs(question, best, reads),
        margin=_margin(best, scored),
        above_mean=_above_mean(cosines),
        apart=_apart(best, scored, passages),
        into_han=float(_into_han(question, best.read.unit)),
    )


def _untyped(question: Question, best: Scored) -> bool:
    wants = question.wants
    if wants is None or not wants.strict:
        return False
    if is_foreign(question, best.read.unit) and wants.kind not in (ValueKind.PRICE, ValueKind.MARK):
        # What is counted has another name there.
        return not counts(best.read.terms, best.read.quote)
    return not wants.met(best.read.terms, best.read.quote)


def _lead(best: Scored, scored: Sequence[Scored], passages: Sequence[Passage]) -> float:
    """Of passages that were cut for being weak, all that is known is that they lay far below.

    Another edition that rules the same thing differently is no sign that nothing rules it.
    """
    places = sorted({item.read.unit.passage for item in scored})
    rivals = {item.read.unit.passage for item in scored if alike(best.read, item.read)} - {best.read.unit.passage}
    relevances = [passage.relevance for at, passage in zip(places, passages, strict=True) if at not in rivals]
    ranked = sorted((_log_odds(min(max(value, _SURE), 1 - _SURE)) for value in relevances), reverse=True)
    after = ranked[1:4] or [ranked[0] - _CUT_LEAD]
    return ranked[0] - sum(after) / len(after)


def _pairs(question: Question, best: Scored, reads: Sequence[Read]) -> float:
    """Passages of one document have one title and are told by it here: reads know passages, not documents."""
    title = best.read.unit.context.partition(" › ")[0]
    mine = [
        read
        for read in reads
        if read.unit.passage == best.read.unit.passage or (title and read.unit.context.partition(" › ")[0] == title)
    ]
    return _share_held([key for key in question.weights if key[0] == "~"], mine)


def _margin(best: Scored, scored: Sequence[Scored]) -> float:
    others = (item.score for item in scored if item is not best and not alike(best.read, item.read))
    after = sorted(others, reverse=True)[:3] or [best.score - _LONE_MARGIN]
    return best.score - sum(after) / len(after)


def _known(question: Question, reads: Sequence[Read]) -> float:
    words = [key for key in question.weights if key[0] != "~"]
    return _share_held(words, reads)


def _share_held(keys: Collection[str], reads: Sequence[Read]) -> float:
    held = [any(read.says(key) or read.about(key) for read in reads) for key in keys]
    return sum(held) / len(held) if held else 1.0


def _log_odds(probability: float) -> float:
    return math.log(probability / (1.0 - probability))


def is_foreign(question: Question, unit: Unit) -> bool:
    """Say whether a unit is in another language than the question, as far as scripts tell."""
    language = language_of(unit.quote)
    if not language or not question.language:
        return False
    # Chinese and Japanese share ideographs, so that words count between them, and the one often quotes the other.
    return language != question.language and {language, question.language} != {"zh", "ja"}


def _distinct(cosines: Sequence[float]) -> float:
    mean = sum(cosines) / len(cosines)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in cosines) / len(cosines))
    told = min(1.0, len(cosines) / _MANY)
    value = (max(cosines) - mean) / deviation / 4 if deviation > 1e-6 else _MEAN_DISTINCT
    return told * value + (1 - told) * _MEAN_DISTINCT


def _apart(best: Scored, scored: Sequence[Scored], passages: Sequence[Passage]) -> float:
    told = min(_COMPARED, len(passages) - 1) / _COMPARED
    return told * _lead(best, scored, passages) + (1 - told) * _MEAN_LEAD


def _above_mean(cosines: Sequence[float]) -> float:
    told = min(1.0, len(cosines) / _MANY)
    return told * (max(cosines) - sum(cosines) / len(cosines)) + (1 - told) * _MEAN_ABOVE


def _into_han(question: Question, unit: Unit) -> bool:
    return question.language not in _HAN and language_of(unit.quote) in _HAN


def _passage_coverage(question: Question, reads: Sequence[Read]) -> float:
    rarity = rarities(question, reads)
    passages: dict[int, list[Read]] = {}
    for read in reads:
        passages.setdefault(read.unit.passage, []).append(read)
    return max(coverage(rarity, group) for group in passages.values())


def _missing(question: Question, reads: Sequence[Read]) -> float:
    soft = [anchor for anchor in question.anchors if anchor.kind is not AnchorKind.IDENTIFIER]
    if not soft:
        return 0.0
    held = [any(read.has(anchor) for read in reads) for anchor in soft]
    return 1.0 - sum(held) / len(held)
