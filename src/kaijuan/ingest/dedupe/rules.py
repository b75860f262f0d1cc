"""When two texts that are nearly the same are one document, and when one is another document (spec B2).

Similar names alone never merge. Number, version, issuer and dates in force decide, then numbers and negations in the
text.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from kaijuan.core.documents import Metadata, Version
from kaijuan.core.duplicates import DuplicateKind

TELLING = ("document_number", "doi", "version", "issuer", "effective_from", "effective_to", "published", "department")
"""Metadata that says which document this is. Absent on one side it says nothing."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# One numeral alone is part of many words.
_HAN_NUMBER = re.compile(
    "[一二三四五六七八九十百千万亿两]{2,}|[一二三四五六七八九十百千两](?=[元万亿天日月年周条章款倍成岁级])"
)
_NOT = re.compile(r"\b(?:not|no|never|none|without|cannot|must not)\b|n't\b|[不未无非勿禁]", re.I)
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """What a pair is, and why."""

    kind: DuplicateKind
    reason: str


def alike(one: Version, other: Version, text: str, other_text: str, similarity: float) -> Alike:
    """Return what a pair of versions of different documents is."""
    exact = text == other_text
    for difference in (
        _metadata(one.metadata, other.metadata),
        "" if exact else _content(one, other, text, other_text),
    ):
        if difference:
            return Alike(kind=DuplicateKind.REVISION, reason=difference)
    if exact:
        return Alike(kind=DuplicateKind.EXACT, reason="the same text")
    return Alike(kind=DuplicateKind.NEAR, reason=f"{similarity:.0%} of the text is the same, and all numbers in it")


def _metadata(one: Metadata, other: Metadata) -> str:
    for name in TELLING:
        mine, theirs = one.get(name), other.get(name)
        if mine is not None and theirs is not None and mine != theirs:
            return f"{name} differs: {mine} and {theirs}"
    return ""


def _content(one: Version, other: Version, text: str, other_text: str) -> str:
    if said := _difference(_numbers(one.title), _numbers(other.title)):
        return f"numbers in the titles differ: {said}"
    if said := _difference(_numbers(text), _numbers(other_text)):
        return f"numbers in the text differ: {said}"
    return "" if _denials(text) == _denials(other_text) else "what is denied differs"


def _numbers(text: str) -> Counter[str]:
    return Counter(_NUMBER.findall(text)) + Counter(_HAN_NUMBER.findall(text))


def _denials(text: str) -> int:
    return len(_NOT.findall(text))


def same_claims(text: str, other: str) -> bool:
    """Say whether two texts hold the same numbers, and as many negations."""
    return _numbers(text) == _numbers(other) and _denials(text) == _denials(other)


def _difference(mine: Counter[str], theirs: Counter[str]) -> str:
    if mine == theirs:
        return ""
    only = [", ".join(list(counts)[:_SHOWN]) or "none" for counts in (mine - theirs, theirs - mine)]
    return " and ".join(only)
