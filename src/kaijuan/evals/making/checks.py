"""What a draft must hold to before the base is asked: each check is a sentence one can say no to, and has a name."""

from __future__ import annotations

import re
from collections import Counter

from kaijuan.answer.question import read_question
from kaijuan.core.text.normalise import folded
from kaijuan.evals.making.chinese.words import POINTING, simplified
from kaijuan.evals.making.english.words import points_outside
from kaijuan.evals.making.items import Draft, Kind

SHORTEST_QUESTION = {"zh": 5, "en": 12}
LONGEST_QUESTION = {"zh": 130, "en": 260}
LONGEST_ANSWER = 700
MOST_ABOUT_ONE = 2
"""Questions of one kind about one thing."""
_PARTS = re.compile(r"[；;]\s*")
_SIGNS = re.compile(r"[|{}<>\\�\x00-\x1f]|\[\[|\]\]|''|\[\d+\]|https?://")
_PAIRS = (("（", "）"), ("(", ")"), ("《", "》"), ("「", "」"), ("“", "”"), ("[", "]"), ("『", "』"))
_OF_EXTRACTS = frozenset({"faq", "heading"})
"""Questions that are written by people, or about a whole section."""


def fault_of(draft: Draft) -> str:
    """Return the name of the first check that a draft fails; "" when it passes all."""
    for name, passes in _CHECKS:
        if not passes(draft):
            return name
    return ""


def _is_readable(draft: Draft) -> bool:
    length = len(draft.question)
    language = draft.language if draft.language in SHORTEST_QUESTION else "en"
    if not SHORTEST_QUESTION[language] <= length <= LONGEST_QUESTION[language]:
        return False
    texts = [draft.question, *(draft.answers if draft.how not in _OF_EXTRACTS else ())]
    return not any(_SIGNS.search(text) for text in texts) and all(_is_balanced(text) for text in texts)


def _is_balanced(text: str) -> bool:
    return all(text.count(left) == text.count(right) for left, right in _PAIRS) and text.count('"') % 2 == 0


def _has_answer(draft: Draft) -> bool:
    if draft.kind is Kind.UNANSWERABLE:
        return not draft.answers
    return bool(draft.answers) and all(0 < len(answer.strip()) <= LONGEST_ANSWER for answer in draft.answers)


def _answer_is_in_evidence(draft: Draft) -> bool:
    """The answer stands in the quoted words; where things are compared, it is one of the things."""
    if draft.kind is Kind.UNANSWERABLE:
        return True
    if _is_comparison(draft):
        return draft.answers[0] in draft.question
    quoted = folded(" ".join(piece.quote for piece in draft.evidence))
    return all(all(folded(part) in quoted for part in parts_of(draft, answer)) for answer in draft.answers)


def parts_of(draft: Draft, answer: str) -> list[str]:
    """Return the parts of an answer to a question of two parts; else the answer."""
    if draft.parts:
        return list(draft.parts)
    if draft.how not in ("pair", "two-parts"):  # a model's, or from a set of before parts were kept
        return [answer]
    return [part for part in _PARTS.split(answer) if part]


def _is_comparison(draft: Draft) -> bool:
    return draft.how.startswith(("compare/", "table/compare"))


def _answer_is_not_given_away(draft: Draft) -> bool:
    if draft.kind is Kind.UNANSWERABLE or _is_comparison(draft):
        return True
    asked = folded(draft.question)
    bare = (folded(part).strip(" \"'“”「」.。") for answer in draft.answers for part in parts_of(draft, answer))
    return not any(len(part) > 1 and part in asked for part in bare)


def _stands_alone(draft: Draft) -> bool:
    """Nothing in the question points outside it. Names may hold such words, and so may questions people wrote."""
    if draft.how in _OF_EXTRACTS:
        return True
    asked = draft.question
    for name in (draft.about, *(piece.document.title for piece in draft.evidence)):
        asked = asked.replace(name, "") if name != draft.question else asked
    asked = re.sub(r"《[^》]*》|“[^”]*”|\"[^\"]*\"|「[^」]*」", "", asked)
    if draft.language == "zh":
        return not _POINTING.search(_OWN_PARTS.sub("", simplified(asked)))
    return not points_outside(asked)


_POINTING = POINTING
_OWN_PARTS = re.compile(r"，其")
"""Of a question in two parts, where the first names what the second asks of."""


def _is_of_one_split(draft: Draft) -> bool:
    return len({piece.document.split for piece in draft.evidence}) == 1


_CHECKS = (
    ("two_splits", _is_of_one_split),
    ("unreadable", _is_readable),
    ("answer_missing", _has_answer),
    ("answer_not_in_evidence", _answer_is_in_evidence),
    ("answer_in_question", _answer_is_not_given_away),
    ("points_outside", _stands_alone),
)


class Repeats:
    """Remembers what was asked, so that a set does not ask nearly the same twice."""

    def __init__(self) -> None:
        self._asked: set[frozenset[str]] = set()
        self._places: set[tuple[str, ...]] = set()
        self._about: Counter[tuple[Kind, str]] = Counter()

    def fault_of(self, draft: Draft) -> str:
        """Return "repeated" where a question like this, or two about the same thing, were kept before."""
        about = (draft.kind, draft.about)
        if self._words(draft) in self._asked or self._place(draft) in self._places:
            return "repeated"
        return "repeated" if draft.about and self._about[about] >= MOST_ABOUT_ONE else ""

    def keep(self, draft: Draft) -> None:
        """Remember a draft that is kept."""
        self._asked.add(self._words(draft))
        self._places.add(self._place(draft))
        self._about[(draft.kind, draft.about)] += 1

    @staticmethod
    def _words(draft: Draft) -> frozenset[str]:
        weights = read_question(draft.question).weights
        order = draft.question if draft.how.startswith(("compare/", "table/")) else ""
        return frozenset(weights) | {order} if weights else frozenset({draft.question})

    @staticmethod
    def _place(draft: Draft) -> tuple[str, ...]:
        """One question of a kind about the same words; a table's row may be asked by each of its columns."""
        places = [f"{piece.document.id}:{piece.span.start}:{piece.span.end}" for piece in draft.evidence]
        if draft.kind in (Kind.TABLE, Kind.UNANSWERABLE):
            places.append(draft.question)
        return draft.kind, *places
