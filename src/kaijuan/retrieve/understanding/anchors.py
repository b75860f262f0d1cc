"""What no rewrite of a question may lose: dates, versions, identifiers, numbers, quoted names, negations (spec F3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.core.spans import merge
from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.core.text.characters import HAN
from kaijuan.core.text.identifiers import canonical
from kaijuan.core.text.normalise import folded
from kaijuan.core.text.stopwords import ENGLISH


class AnchorKind(StrEnum):
    """What an anchor is."""

    DATE = "date"
    VERSION = "version"
    IDENTIFIER = "identifier"
    NUMBER = "number"
    NAME = "name"
    """Words in quotation marks, or an acronym."""
    NEGATION = "negation"
    """What is denied: 不支持, "without a receipt"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """Something exact in a question. A text holds it when one of `keys` is among the text's own keys."""

    kind: AnchorKind
    text: str
    """As it stands in the question, folded for matching."""
    keys: frozenset[str]


QUOTED = re.compile(
    r"《([^《》\n]{1,80})》|「([^「」\n]{1,80})」|『([^『』\n]{1,80})』|“([^“”\n]{1,80})”|\"([^\"\n]{1,80})\"|`([^`\n]{1,80})`"
)
"""A name in quotation marks; one of the groups holds it. To be looked for in the text as it was written."""
_ATOM = re.compile(rf"(?:(?![{HAN}])[\w×·./#&+%°@:*=-])*\d(?:(?![{HAN}])[\w×·./#&+%°@:*=-])*")
_ENDS = "./:*=-·&+@"
_VERSION = re.compile(r"v\d+(?:\.\d+)*\S*|\d+(?:\.\d+){2,}\S*")
_DIGITS_ONLY = re.compile(r"[\d.,%]+")
_ACRONYM = re.compile(r"(?<![A-Za-z0-9])[A-Z][A-Z&]{1,9}(?![A-Za-z0-9]|[-_./ ]?\d)")
_SHOUTED = 2
"""Words in capitals up to which they may be names."""
_HAN_NUMERAL = re.compile(r"[零〇一二三四五六七八九十百千万亿两]{2,}|^第")

_NOT_A_NOT = re.compile(
    rf"([{HAN}])不\1|[{HAN}]没\1|有没有|是否|能否|可否|有无|不仅|不但|不过|不管|不论|不断|不久|不同|差不多|对不起|不好意思|不如"
    r"|要不要|特别|区别|级别|类别|别的|别人|分别|个别|无论|无线|非常|无人机|除了"
)
_DENIES_HAN = re.compile(
    rf"(?:并不|不能|不会|不得|不可|不是|不|没有|没|无|非|未|勿|禁止|莫|别)(?P<what>[{HAN}A-Za-z0-9]{{0,6}})"
)
_DENIES_ENGLISH = re.compile(
    r"\b(?:not|never|no|without|cannot|neither|nor|except|unless|excluding|(?:is|are|was|were|do|does|did|can|could|wo|would|should|"
    r"must|has|have|had|ai|need)n['’]?t)\b(?P<what>(?:[\s,]+[a-z0-9'’-]+){0,4})"
)


def anchors(text: str) -> tuple[Anchor, ...]:
    """Return the anchors of a question, each once, in the order in which their kinds are listed above.

    Linear in the length of `text`.
    """
    found: dict[tuple[str, frozenset[str]], Anchor] = {}
    for anchor in (*_dates_and_ordinals(text), *_atoms(text), *_names(text), *_negations(text)):
        found.setdefault((anchor.kind, anchor.keys), anchor)
    return tuple(found.values())


def held(wanted: tuple[Anchor, ...], rewrite: str) -> bool:
    """Say whether a rewrite has all anchors, and denies nothing that was not denied."""
    return not lost(wanted, rewrite) and _denied_in(rewrite) <= _denied(wanted)


def lost(wanted: tuple[Anchor, ...], rewrite: str) -> tuple[Anchor, ...]:
    """Return the anchors that a rewrite lacks."""
    keys = {key for anchor in anchors(rewrite) for key in anchor.keys}
    matched = folded(rewrite)
    return tuple(
        anchor
        for anchor in wanted
        if keys.isdisjoint(anchor.keys) and not (anchor.kind is AnchorKind.NAME and _stands(anchor.text, matched))
    )


def invented(wanted: tuple[Anchor, ...], text: str) -> tuple[Anchor, ...]:
    """Return the dates, versions, identifiers and numbers of a text that were not asked about."""
    keys = {key for anchor in wanted for key in anchor.keys}
    return tuple(anchor for anchor in anchors(text) if anchor.kind in _EXACT and keys.isdisjoint(anchor.keys))


_EXACT = frozenset({AnchorKind.DATE, AnchorKind.VERSION, AnchorKind.IDENTIFIER, AnchorKind.NUMBER})


def guarded(question: str, rewrite: str) -> str:
    """Return the rewrite if it holds every anchor of the question, otherwise the question itself."""
    return rewrite if rewrite.strip() and held(anchors(question), rewrite) else question


def _stands(name: str, matched: str) -> bool:
    if not name.isascii():
        return name in matched
    return re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", matched) is not None


def _denied(wanted: tuple[Anchor, ...]) -> bool:
    return any(anchor.kind is AnchorKind.NEGATION for anchor in wanted)


def _denied_in(rewrite: str) -> bool:
    return any(True for _ in _negations(rewrite))


def _dates_and_ordinals(text: str) -> Iterator[Anchor]:
    for term in analyse(text):
        written = folded(term.span.of(text))
        if term.kind is TermKind.DATE:
            yield Anchor(kind=AnchorKind.DATE, text=written, keys=frozenset({term.text}))
        elif term.kind is TermKind.NUMBER and _HAN_NUMERAL.search(written):
            yield Anchor(kind=AnchorKind.NUMBER, text=written, keys=frozenset({term.text}))


def _atoms(text: str) -> Iterator[Anchor]:
    """Yield everything with a digit in it, as one word: 600, 18, v2.3.1, ERR-9988. Dates have keys of their own."""
    for match in _ATOM.finditer(folded(_without_dates(text))):
        atom = match.group().strip(_ENDS)
        if not atom:
            continue
        key = canonical(atom) or atom
        if _DIGITS_ONLY.fullmatch(atom):
            kind = AnchorKind.NUMBER
        else:
            kind = AnchorKind.VERSION if _VERSION.fullmatch(atom) else AnchorKind.IDENTIFIER
        yield Anchor(kind=kind, text=atom, keys=frozenset({"#" + key}))


def _without_dates(text: str) -> str:
    at, kept = 0, []
    for span in merge(term.span for term in analyse(text) if term.kind is TermKind.DATE):
        kept.append(text[at : span.start])
        at = span.end
    return " ".join([*kept, text[at:]])


def _names(text: str) -> Iterator[Anchor]:
    for match in QUOTED.finditer(text):
        name = folded(next(group for group in match.groups() if group)).strip()
        if name:
            yield Anchor(kind=AnchorKind.NAME, text=name, keys=frozenset({"=" + name}))
    if text.isascii() and text.isupper() and len(set(text.split())) > _SHOUTED:
        return  # somebody shouts
    for match in _ACRONYM.finditer(text):
        name = folded(match.group())
        yield Anchor(kind=AnchorKind.NAME, text=name, keys=frozenset({"=" + name}))


def _negations(text: str) -> Iterator[Anchor]:
    matched = folded(text)
    plain = _NOT_A_NOT.sub(lambda match: "　" * len(match.group()), matched)
    for match in _DENIES_HAN.finditer(plain):
        yield _negation(matched[match.start() : match.end()], _first_word(match["what"]))
    for match in _DENIES_ENGLISH.finditer(matched):
        words = (word for word in re.findall(r"[a-z0-9]+", match["what"]) if word not in ENGLISH)
        yield _negation(match.group(), _first_word(next(words, "")))


def _negation(written: str, what: str) -> Anchor:
    return Anchor(kind=AnchorKind.NEGATION, text=written, keys=frozenset({"!" + what}))


def _first_word(run: str) -> str:
    """Return the first word of a run that says something: 支持 of 支持退款, "" for none."""
    return next((term.text for term in analyse(run) if term.kind is TermKind.WORD and not term.weak), "")
