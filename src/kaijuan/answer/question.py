"""What a question asks for: its parts, the words that matter, and the anchors no answer may miss."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.spans import Span
from kaijuan.core.text.analyse import Term, TermKind, analyse
from kaijuan.core.text.language import language_of
from kaijuan.core.text.normalise import normalise


class AnchorKind(StrEnum):
    """What an anchor is. Only a missing identifier forbids an answer."""

    IDENTIFIER = "identifier"
    NAME = "name"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """Something exact in the question. `keys` are the terms of which one must occur, or `phrase` itself."""

    kind: AnchorKind
    text: str
    keys: frozenset[str] = frozenset()
    phrase: str = ""

    def held(self, terms: Mapping[str, int] | frozenset[str], folded: str) -> bool:
        """Say whether a text with these terms and this normalised form has the anchor."""
        return any(key in terms for key in self.keys) or (bool(self.phrase) and self.phrase in folded)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question, or one part of several asked at once."""

    text: str
    language: str
    weights: Mapping[str, float]
    """Content terms and how much each says, before its rarity."""
    anchors: tuple[Anchor, ...]


_INTERROGATIVES = re.compile(
    r"什么时候|甚麼時候|什么地方|什么样|什么|甚麼|什麼|哪一年|哪一[个位种天]|哪[年月日天]|何时|何時|何处|何年|何人|是谁|是誰|多少|多久|多长|多大"
    r"|几[个位种次年月天岁条项名家]|幾[個位種次年月天歲條項名家]|哪[些个位种里裡兒儿國国]|哪|谁|誰|怎么样|怎麼樣|怎么|怎麼|怎样|如何|为什么|為什麼|为何|為何|是否|吗|嗎|呢"
    r"|请问|請問|[这那這]是|\b(?:who|whom|whose|what|which|when|where|why|how(?: (?:many|much|long|often|far|old))?)(?:'s)?\b",
    re.IGNORECASE,
)
_PART = re.compile(r"[^?？]*[?？]+|[^?？]+\Z")
_QUOTED = re.compile(r"《([^《》]{2,60})》|「([^「」]{2,60})」|『([^『』]{2,60})』|“([^“”]{2,60})”|\"([^\"]{2,60})\"")
# 3.5kg, 8:30, 1,000 and 19th are amounts; v2.3.1 and ERR-9988 are names.
_SOFT_CODE = re.compile(r"#(?:\d[\d,:/-]*(?:\.\d+)?[a-z%°µμ℃]{0,5}|[^\d]*)")
_DIGITS = re.compile(r"\d{3,}")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_COUNTED = re.compile(r"\d|第.+[条條章节節款项項页頁版期号號]")
_MOST_PARTS = 4


def read_question(text: str) -> Question:
    """Return what `text` asks for."""
    terms = _content(text)
    weights: dict[str, float] = {}
    for term in terms:
        weights[term.text] = max(weights.get(term.text, 0.0), term.weight)
    return Question(text=text, language=language_of(text), weights=weights, anchors=anchors_of(text, terms))


def parts_of(text: str) -> list[str]:
    """Return the questions asked in `text`; just `text` unless two or more end in a question mark."""
    parts: list[str] = []
    held = ""
    for match in _PART.finditer(text):
        held += match.group()
        if held.rstrip().endswith(("?", "？")) and _content(held):
            parts.append(held.strip())
            held = ""
    return parts if 2 <= len(parts) <= _MOST_PARTS else [text.strip()]


def _content(text: str) -> list[Term]:
    """Return the terms that say what is wanted: no function words, question words or doubled forms."""
    asking = [Span(*match.span()) for match in _INTERROGATIVES.finditer(text)]

    def matters(term: Term) -> bool:
        doubled = term.kind is TermKind.LEAD or (term.kind is TermKind.WORD and term.text.startswith("="))
        weak = term.weight <= 0.1 or (term.kind is TermKind.BIGRAM and term.weight < 0.2)
        return not doubled and not weak and not any(term.span.intersect(span) for span in asking)

    terms = [term for term in analyse(text) if matters(term)]
    codes = [term.span for term in terms if term.kind is TermKind.CODE]
    # Of the codes inside a code (GB and T in GB/T 7714) only the whole says what is meant.
    return [
        term
        for term in terms
        if term.kind is not TermKind.CODE or not any(span != term.span and span.contains(term.span) for span in codes)
    ]


def anchors_of(text: str, terms: Sequence[Term]) -> tuple[Anchor, ...]:
    """Return the identifiers, quoted names, numbers, dates and years in `text`."""
    found: dict[str, Anchor] = {}
    for match in _QUOTED.finditer(text):
        name = next(group for group in match.groups() if group)
        found[name] = Anchor(kind=AnchorKind.NAME, text=name, phrase=normalise(name)[0].strip())
    for term in _longest(terms):
        anchor = _anchor(term, term.span.of(text))
        if anchor is not None:
            found.setdefault(anchor.text, anchor)
    return tuple(found.values())


def _longest(terms: Sequence[Term]) -> list[Term]:
    """Return the terms that can be anchors, without those inside the span of a longer one."""
    able = {TermKind.CODE, TermKind.NUMBER, TermKind.DATE}
    named = [term for term in terms if term.kind in able or (term.kind is TermKind.STEM and term.text.isdigit())]
    named.sort(key=lambda term: (term.kind is TermKind.NUMBER, -len(term.span), -len(term.text), term.text))
    kept: list[Term] = []
    for term in named:
        if not any(other.span.intersect(term.span) for other in kept):
            kept.append(term)
    return sorted(kept, key=lambda term: term.span)


def _anchor(term: Term, text: str) -> Anchor | None:
    if term.kind is TermKind.CODE:
        soft = _SOFT_CODE.fullmatch(term.text) is not None
        if soft and not any(map(str.isdigit, term.text)):
            return Anchor(kind=AnchorKind.NAME, text=text, keys=frozenset({term.text})) if text.isupper() else None
        kind = AnchorKind.NUMBER if soft else AnchorKind.IDENTIFIER
        return Anchor(kind=kind, text=text, keys=frozenset({term.text, "<" + term.text[1:]}))
    if term.kind is TermKind.STEM and not _YEAR.fullmatch(term.text) and len(term.text) < 2:
        return None
    if term.kind is TermKind.NUMBER and not _COUNTED.search(text):
        # "一年" and "两个" in a question are how one asks, not what must be found.
        return None
    return Anchor(kind=AnchorKind.NUMBER, text=text, keys=frozenset({term.text, *_DIGITS.findall(text)}))
