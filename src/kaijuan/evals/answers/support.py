"""Whether cited words carry a statement, told without a model: the same words, or all its numbers and most words.

What is said here is sure for quotations, which is what extractive answers are made of, and careful for paraphrases:
a number, date, name or negation that the cited words do not have makes a statement unsupported. Whether words entail
it that do not contain it is for a model to judge (judges/chat.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from kaijuan.core.text.analyse import keys_of
from kaijuan.core.text.normalise import folded
from kaijuan.core.text.sentences import sentences
from kaijuan.core.text.stopwords import CHINESE, ENGLISH
from kaijuan.core.text.values import values_of
from kaijuan.evals.answers.correctness import has_run
from kaijuan.evals.answers.normalise import words

MOST_WORDS = 0.8
"""Share of a statement's content words that the cited words must have."""
_NAMED = re.compile(r"[《「『“\"]([^》」』”\"]{1,60})[》」』”\"]")
_CAPITAL = re.compile(r"(?<![.!?。！？]\s)(?<!^)(?<![\w'’-])[A-Z][\w'’&-]*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot)\b|n['’]t\b|不(?!同|断|少|仅|久|过|但|管|论|足|良|锈)|没有?|未(?!来)|无(?!论|锡|线)|非(?!常|洲|法)"
)


class Support(StrEnum):
    """How far cited words carry a statement."""

    VERBATIM = "verbatim"
    """They contain it word for word."""
    WORDS = "words"
    """They have all its numbers, dates and names and nearly all its words."""
    NONE = "none"


def support(statement: str, cited: Sequence[str]) -> Support:
    """Return how far the cited texts together carry a statement; without citations not at all."""
    asked = words(statement)
    texts = [text for text in cited if text.strip()]
    if not asked or not texts:
        return Support.NONE
    if any(has_run(words(text), asked) for text in texts):
        return Support.VERBATIM
    evidence = "\n".join(texts)
    if _has_values(statement, evidence) and _has_names(statement, evidence) and _has_words(statement, evidence):
        return Support.WORDS
    return Support.NONE


def _has_values(statement: str, evidence: str) -> bool:
    wanted, found = values_of(statement), values_of(evidence)
    return all(any(one.is_said_by(other) for other in found.amounts) for one in wanted.amounts) and all(
        any(one.is_said_by(other) for other in found.days) for one in wanted.days
    )


def _has_names(statement: str, evidence: str) -> bool:
    run = words(evidence)
    names = [match[1] for match in _NAMED.finditer(statement)] + _CAPITAL.findall(statement)
    return all(has_run(run, words(name)) for name in names)


def _has_words(statement: str, evidence: str) -> bool:
    asked = _content(statement)
    held = asked & _content(evidence)
    if len(held) < MOST_WORDS * len(asked):
        return False
    nearest = max(
        (span.of(evidence) for span in sentences(evidence)),
        key=lambda sentence: len(asked & _content(sentence)),
        default=evidence,
    )
    return _negated(statement) == _negated(nearest)


def _content(text: str) -> frozenset[str]:
    keys, _ = keys_of(values_of(text).rest)  # numbers are compared by value
    return frozenset(key for key in keys if key[0].isalnum() and key not in ENGLISH and key not in CHINESE)


def _negated(text: str) -> bool:
    return _NEGATION.search(folded(text)) is not None
