"""One question back, with choices, where a question can mean several things and the documents answer each otherwise.

Three things can be missing: which of several names an abbreviation stands for; to which region, product or department a
question belongs, where the first passages say the same with other values for each; and what "it" is when nothing was
said before. The first of these that holds is asked, the likeliest choice first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from kaijuan.core.documents import Metadata
from kaijuan.core.ids import DocumentId
from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.core.text.characters import HAN
from kaijuan.core.text.language import language_of
from kaijuan.core.text.normalise import folded
from kaijuan.retrieve.understanding.anchors import AnchorKind, anchors
from kaijuan.retrieve.understanding.matching import places
from kaijuan.retrieve.understanding.results import Clarification, Expansion

MOST_CHOICES = 6
_LOOKED_AT = 6
"""Passages from the best on that are compared."""
_ALIKE = 0.75
"""Share of words that two passages must have in common to say the same."""
_NEAR = 0.6
"""Share of the best passage's relevance down to which another one counts as an answer too."""
_ABOUT = 0.5
"""Share of the question's words that a passage must have to answer it."""
_LONGEST = 600
"""Characters of a passage that is compared; longer ones say more than one thing."""
_BARE = 40
"""Characters of a question that may be about nothing but "it"."""

_SLOTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "region": ("地区", "region"),
        "city": ("城市", "city"),
        "country": ("国家", "country"),
        "location": ("地点", "location"),
        "branch": ("分公司", "branch"),
        "product": ("产品", "product"),
        "model": ("型号", "model"),
        "audience": ("适用对象", "group of people"),
        "grade": ("级别", "grade"),
        "plan": ("方案", "plan"),
        "department": ("部门", "department"),
        "team": ("团队", "team"),
        "category": ("类别", "category"),
        "type": ("类型", "type"),
    }
)
"""Fields of documents that a question may have to name, the most telling first, with their words. Years and versions
are none: there the newest is meant."""
_SAID = MappingProxyType(
    {
        "zh": {"name": "“{about}”指的是哪一个？", "slot": "您问的是哪个{about}？", "it": "“{about}”指的是哪一项？"},
        "en": {
            "name": "Which “{about}” do you mean?",
            "slot": "Which {about} is it about?",
            "it": "What does “{about}” stand for?",
        },
    }
)
_IT_ZH = re.compile(r"^(?:请问|請問|那么?|那麼)?\s*(它们?|它們|这个|這個|那个|那個|上述|该|該)(?!问题|問題|意思)")
_IT_EN = re.compile(
    r"^(?:(?:what|when|where|how|why|who)\s+)?(?:does|is|was|did|do|are|were|has|have)\s+(it|they|this|that|these|those)"
    r"\s+(?!possible|necessary|true|ok|allowed|safe|there|mean|required|legal)\w",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_VALUES = frozenset({TermKind.NUMBER, TermKind.DATE, TermKind.CODE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A passage as far as this step looks: what it says, its relevance 0 to 1, and what its document says of itself."""

    text: str
    score: float
    document_id: DocumentId
    source: str
    title: str
    metadata: Metadata = field(default_factory=dict)
    holds: bool = True
    """Whether it is in force and of the newest edition."""


def ask_back(question: str, expansions: Sequence[Expansion], spoken: Sequence[Spoken]) -> Clarification | None:
    """Return the question to the asker, None where one answer will do."""
    words = _SAID["zh" if language_of(question) == "zh" else "en"]
    name = _name(question, expansions, spoken, words)
    return name or _slot(question, spoken, words) or _it(question, spoken, words)


def _name(
    question: str, expansions: Sequence[Expansion], spoken: Sequence[Spoken], words: Mapping[str, str]
) -> Clarification | None:
    """Ask which of several full names is meant, where passages found explain more than one of them."""
    by_place: dict[tuple[int, int], list[Expansion]] = {}
    for one in expansions:
        if one.by == "abbreviation":
            by_place.setdefault((one.span.start, one.span.end), []).append(one)
    ranks = {passage.source: rank for rank, passage in reversed(list(enumerate(spoken)))}
    for (start, end), several in sorted(by_place.items()):
        found = sorted((one for one in several if one.source in ranks), key=lambda one: ranks[one.source])
        names = list(dict.fromkeys(one.words for one in found))
        if len(names) > 1:
            about = question[start:end]
            explaining = {one.source for one in found}
            return _asked(words["name"], about, names, [each for each in spoken if each.source in explaining])
    return None


def may_rival(spoken: Sequence[Spoken]) -> bool:
    """Say whether passages may say the same with other values; cheap, and asked before metadata is read."""
    short = [
        passage for passage in spoken[:_LOOKED_AT] if len(passage.text) <= _LONGEST and _DIGIT.search(passage.text)
    ]
    first = next(iter(spoken), None)
    return first is not None and first in short and any(one.score >= _NEAR * first.score for one in short[1:])


def _slot(question: str, spoken: Sequence[Spoken], words: Mapping[str, str]) -> Clarification | None:
    """Ask for a field, where passages say the same of each of its values with other numbers."""
    # What documents say of themselves is looked at first: reading the passages takes many times as long.
    rivals = list(_rivals(spoken)) if _may_differ(spoken[:_LOOKED_AT]) else []
    if len(rivals) < 2 or not all(_is_about(passage.text, question) for passage in rivals):
        return None
    matched = folded(question)
    for name, (han, english) in _SLOTS.items():
        values = [_value(passage.metadata.get(name)) for passage in rivals]
        if not all(values) or len(set(values)) < 2 or any(_stands(value, matched) for value in values):
            continue
        label = han if words is _SAID["zh"] else english
        return _asked(words["slot"], label, list(dict.fromkeys(values)), rivals)
    return None


def _may_differ(spoken: Sequence[Spoken]) -> bool:
    """Say whether another passage has a value of its own in a field that the best one has."""
    if not spoken:
        return False
    first, *others = spoken
    values = {name: value for name in _SLOTS if (value := _value(first.metadata.get(name)))}
    return any(_value(one.metadata.get(name)) not in ("", value) for name, value in values.items() for one in others)


def _it(question: str, spoken: Sequence[Spoken], words: Mapping[str, str]) -> Clarification | None:
    """Ask what a pronoun stands for, where the question names nothing and several documents come into question."""
    asked = question.strip()
    match = _IT_ZH.match(asked) or _IT_EN.match(asked)
    if match is None or len(asked) > _BARE or any(one.kind is not AnchorKind.NEGATION for one in anchors(asked)):
        return None
    titles = list(dict.fromkeys(passage.title for passage in spoken if passage.title.strip()))
    return _asked(words["it"], match[1], titles, spoken) if len(titles) > 1 else None


def _asked(words: str, about: str, choices: Sequence[str], told: Sequence[Spoken]) -> Clarification:
    return Clarification(
        question=words.format(about=about),
        choices=tuple(choices[:MOST_CHOICES]),
        about=about,
        needed=True,
        documents=tuple(dict.fromkeys(passage.document_id for passage in told)),
    )


def _rivals(spoken: Sequence[Spoken]) -> Iterator[Spoken]:
    """Yield the best passage and those nearly as good that say the same with other values."""
    first = next(iter(spoken), None)
    if first is None or len(first.text) > _LONGEST or not first.holds:
        return
    said, values = _read(first.text)
    if not values:
        return
    yield first
    for other in spoken[1:_LOOKED_AT]:
        if len(other.text) > _LONGEST or not other.holds or other.score < _NEAR * first.score:
            continue
        also, others = _read(other.text)
        if others and others != values and _overlap(said, also) >= _ALIKE:
            yield other


def _is_about(text: str, question: str) -> bool:
    """Say whether a passage has at least half of the question's words; else its values are not what is asked for."""
    asked, _ = _read(question)
    said, _ = _read(text)
    return len(asked & said) >= _ABOUT * max(1, len(asked))


def _read(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a passage and the values in it."""
    terms = analyse(text)
    values = {term.text for term in terms if term.kind in _VALUES or any(map(str.isdigit, term.text))}
    words = {term.text for term in terms if term.kind is TermKind.WORD and term.text not in values and not term.weak}
    return frozenset(words), frozenset(values)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _value(given: object) -> str:
    return given.strip() if isinstance(given, str) else str(given) if isinstance(given, int) else ""


def _stands(value: str, matched: str) -> bool:
    word = folded(value).strip()
    # 上海 names 上海分公司 well enough.
    parts = [word, *re.findall(f"[{HAN}]{{2}}", word)[:1]]
    return any(True for part in parts for _ in places(part, matched))
