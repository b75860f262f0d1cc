"""What a question asks for: its parts, the words that matter, and the anchors no answer may miss."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from kaijuan.answer.comparing import by_edition
from kaijuan.answer.wanted import YEAR, Wanted, wanted
from kaijuan.core.spans import Span
from kaijuan.core.text.analyse import Term, TermKind, analyse
from kaijuan.core.text.language import language_of
from kaijuan.core.text.normalise import normalise
from kaijuan.core.text.values import values_of


class AnchorKind(StrEnum):
    """What an anchor is. Only a missing identifier forbids an answer."""

    IDENTIFIER = "identifier"
    NAME = "name"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """Something exact in the question: one of `keys` must occur among a text's terms, or `phrase` in it, or, for a
    name of several words (iPhone 15 Pro), all of its `words`."""

    kind: AnchorKind
    text: str
    keys: frozenset[str] = frozenset()
    phrase: str = ""
    words: frozenset[str] = frozenset()

    def held(self, terms: Container[str], folded: str) -> bool:
        """Say whether a text with these terms and this normalised form has the anchor."""
        if any(key in terms for key in self.keys) or (self.phrase and self.phrase in folded):
            return True
        return bool(self.words) and all(word in terms for word in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question, or one part of several asked at once."""

    text: str
    language: str
    weights: Mapping[str, float]
    """Content terms and how much each says, before its rarity."""
    anchors: tuple[Anchor, ...]
    wants: Wanted | None = None
    focus: frozenset[str] = frozenset()
    """The words that name what is asked for: 代码 in 股票的代码是多少, budget in "what is the budget of"."""
    amounts: frozenset[Decimal] = frozenset()
    """The numbers it names, 满五年 and "five years" alike: what also counts across languages."""
    how: bool = False
    """Whether it asks what to do, so that the steps after the first belong to the answer."""


_INTERROGATIVES = re.compile(
    r"什么时候|甚麼時候|什么地方|什么样|什么|甚麼|什麼|哪一年|哪一[个位种天]|哪[年月日天]|何时|何時|何处|何年|何人|是谁|是誰|多少|多久|多长|多大"
    r"|(?<![好这這那])[几幾](?![乎何率])(?:个?小时|個?小時|分钟|分鐘|个?月|個?月|[个位种次年天岁条项名家点号日时元块人周个個種歲條項點號時塊週])?"
    r"|哪[些个位种里裡兒儿國国]|哪|谁|誰|怎么样|怎麼樣|怎么|怎麼|怎样|如何|为什么|為什麼|为何|為何|是否|吗|嗎|呢"
    r"|请问|請問|[这那這]是"
    r"|\b(?:who|whom|whose|what|which|when|where|why|how(?: (?:many|much|long|often|far|old))?)(?:'s)?\b"
    r"|\b(?:do|does|did|means?)\b",
    re.IGNORECASE,
)
_PART = re.compile(r"[^?？]*[?？]+|[^?？]+\Z")
_QUOTED = re.compile(r"《([^《》]{2,60})》|「([^「」]{2,60})」|『([^『』]{2,60})』|“([^“”]{2,60})”|\"([^\"]{2,60})\"")
# 3.5kg, 8:30, 1,000 and 19th are amounts; v2.3.1 and ERR-9988 are names.
_SOFT_CODE = re.compile(r"#(?:\d[\d,:/-]*(?:\.\d+)?[a-z%°µμ℃]{0,5}|[^\d]*)")
_POSSESSIVE = re.compile(r"[^\W\d_]+['’]s?")
"""Not a code: Steel's."""
_DIGITS = re.compile(r"\d{3,}")
_COUNTED = re.compile(r"\d|第.+[条條章节節款项項页頁版期号號]")
_HOW_TO = re.compile(
    r"怎么办|怎麼辦|(?:怎么|怎麼|怎样|怎樣|如何)(?!样|樣|回事|理解|评价|評價)|步骤|步驟|流程"
    r"|\bhow (?:do|does|can|could|should|to|would)\b|\bwhat (?:should|do|can|must) (?:i|we|you) do\b|\bsteps\b",
    re.IGNORECASE,
)
_COUNT_WORD = re.compile(r"\A[\s个位种名年月天岁條条项項家本部所座件张張台股分倍颗節节小时時分钟鐘周週次]*")
_ACRONYM = re.compile(r"[A-Z]{2,6}")
_MOST_PARTS = 4
_SAYS = {
    TermKind.WORD: 1.0,
    TermKind.BIGRAM: 0.3,
    TermKind.CODE: 3.0,
    TermKind.NUMBER: 0.5,
    TermKind.DATE: 1.0,
}
"""How much a term of a kind says about what is wanted. Forms and leads repeat what others say."""
_LONE_HAN = 0.5
"""Of a word of one character: most of them are parts of words."""


def read_question(text: str) -> Question:
    """Return what `text` asks for."""
    terms = _content(text)
    weights: dict[str, float] = {}
    for term in terms:
        weights[term.text] = _SAYS[term.kind] * (_LONE_HAN if _is_lone(term.text) else 1.0)
    return Question(
        text=text,
        language=language_of(text),
        weights=weights,
        anchors=anchors_of(text, terms),
        wants=wanted(text),
        focus=focus_of(text, terms),
        amounts=amounts_of(text),
        how=_HOW_TO.search(text) is not None,
    )


def amounts_of(text: str) -> frozenset[Decimal]:
    """Return the numbers that a text names with what they count, in digits or in words of either language. One is left
    out: "a year" and 一年 are how one asks."""
    return frozenset(amount.value for amount in values_of(text).amounts if amount.measure and amount.value != 1)


def focus_of(text: str, terms: Sequence[Term]) -> frozenset[str]:
    """Return the content words next to the question word: before it in Chinese, unless it counts what follows.

    一线城市的住宿标准是多少 asks for 标准, 多少名员工 for 员工, "which city" and "what is the city of" for the city.
    """
    match = _INTERROGATIVES.search(text)
    if match is None:
        return frozenset()
    words = [term for term in terms if term.kind is TermKind.WORD and not _is_lone(term.text)]
    after = [term for term in words if term.span.start >= match.end()]
    before = [term for term in words if term.span.end <= match.start()]
    if match.group().isascii():
        return _together(after[:1], after)
    counted = match.end() + len(_COUNT_WORD.match(text[match.end() :]).group())  # type: ignore[union-attr] # matches ""
    named = [term for term in after if term.span.start <= counted]
    return _together(named[:1] or before[-1:], words)


def _together(some: Sequence[Term], words: Sequence[Term]) -> frozenset[str]:
    """Return the words that stand where `some` do, with words that overlap them (试用 and 试用期)."""
    return frozenset(other.text for term in some for other in words if other.span.intersect(term.span))


def _is_lone(key: str) -> bool:
    return len(key) == 1 and key >= "\u3400"


def parts_of(text: str) -> list[str]:
    """Return the questions asked in `text`: one for each edition it compares, or that ends in a question mark."""
    if editions := by_edition(text):
        return editions
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
        if term.kind is TermKind.CODE and _POSSESSIVE.fullmatch(term.span.of(text)):
            return False
        return term.kind in _SAYS and not term.weak and not any(term.span.intersect(span) for span in asking)

    return _whole_codes(text, [term for term in analyse(text) if matters(term)])


def _whole_codes(text: str, terms: Sequence[Term]) -> list[Term]:
    """Leave out codes inside a code (GB and T in GB/T 7714), and a word taken for a name before one (fixes v2.3.1)."""
    codes = {term.span for term in terms if term.kind is TermKind.CODE}
    loose = {
        span
        for span in codes
        if span.of(text).islower() and any(" " not in o.of(text) and o != span and span.contains(o) for o in codes)
    }
    kept = codes - loose
    return [
        term
        for term in terms
        if term.kind is not TermKind.CODE
        or (term.span in kept and not any(span != term.span and span.contains(term.span) for span in kept))
    ]


def anchors_of(text: str, terms: Sequence[Term]) -> tuple[Anchor, ...]:
    """Return the identifiers, quoted names, acronyms, numbers, dates and years in `text`."""
    found: dict[str, Anchor] = {}
    for match in _QUOTED.finditer(text):
        name = next(group for group in match.groups() if group)
        found[name] = Anchor(kind=AnchorKind.NAME, text=name, phrase=normalise(name)[0].strip())
    for term in terms if not (text.isascii() and text.isupper()) else ():
        name = term.span.of(text)
        if term.kind is TermKind.WORD and _ACRONYM.fullmatch(name):
            found.setdefault(name, Anchor(kind=AnchorKind.NAME, text=name, keys=frozenset({term.text})))
    for term in _longest(terms):
        anchor = _anchor(term, term.span.of(text), _words(term, terms))
        if anchor is not None:
            found.setdefault(anchor.text, anchor)
    return tuple(found.values())


def _longest(terms: Sequence[Term]) -> list[Term]:
    """Return the terms that can be anchors, without those inside the span of a longer one."""
    able = {TermKind.CODE, TermKind.NUMBER, TermKind.DATE}
    named = [term for term in terms if term.kind in able or _is_digits(term)]
    # A reading that spans part of a code ("9988 and" as a count) gives way to the code, a bare number to both.
    order = {TermKind.DATE: 0, TermKind.CODE: 0, TermKind.NUMBER: 1, TermKind.WORD: 2}
    named.sort(key=lambda term: (order[term.kind], -len(term.span), term.kind is TermKind.CODE, -len(term.text)))
    kept: list[Term] = []
    for term in named:
        if not any(other.span.intersect(term.span) for other in kept):
            kept.append(term)
    return sorted(kept, key=lambda term: term.span)


def _is_digits(term: Term) -> bool:
    return term.kind is TermKind.WORD and term.text.isdecimal()


def _words(term: Term, terms: Sequence[Term]) -> frozenset[str]:
    inside = (other for other in terms if other.kind is TermKind.WORD and term.span.contains(other.span))
    return frozenset(other.text for other in inside)


def _anchor(term: Term, text: str, words: frozenset[str]) -> Anchor | None:
    if term.kind is TermKind.CODE and " " in text:
        # "season 8" is a way to say a number, "Windows 11" is a name.
        kind = AnchorKind.NUMBER if text.islower() else AnchorKind.IDENTIFIER
        return Anchor(kind=kind, text=text, keys=frozenset({term.text, "<" + term.text[1:]}), words=words)
    if term.kind is TermKind.CODE:
        soft = _SOFT_CODE.fullmatch(term.text) is not None
        if soft and not any(map(str.isdigit, term.text)):
            return Anchor(kind=AnchorKind.NAME, text=text, keys=frozenset({term.text})) if text.isupper() else None
        kind = AnchorKind.NUMBER if soft else AnchorKind.IDENTIFIER
        return Anchor(kind=kind, text=text, keys=frozenset({term.text, "<" + term.text[1:]}))
    if term.kind is TermKind.WORD and not YEAR.fullmatch(term.text) and len(term.text) < 2:
        return None
    if term.kind is TermKind.NUMBER and not _COUNTED.search(text):
        # "一年" and "两个" in a question are how one asks, not what must be found.
        return None
    return Anchor(kind=AnchorKind.NUMBER, text=text, keys=frozenset({term.text, *_DIGITS.findall(text)}))
