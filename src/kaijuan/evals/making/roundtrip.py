"""Asks the base's own search for a draft: are its documents found, and who else says, or seems to say, the answer?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from kaijuan.answer.question import read_question
from kaijuan.core.text.analyse import keys_of
from kaijuan.core.text.normalise import folded
from kaijuan.engine import Kaijuan
from kaijuan.evals.making.checks import parts_of
from kaijuan.evals.making.items import Draft, Kind
from kaijuan.retrieve.results import Passage

DEPTH = 50
"""Passages among which the evidence must be: what even a wide search does not find cannot be measured by it."""
MOST_ALSO = 20
"""Other documents that may say the same. More, and the question does not tell its answer from the common."""
_HAN = "\u3400"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the search said. `fault` is "" when the draft may stay; `also` are sources that hold the answer too."""

    fault: str = ""
    also: tuple[str, ...] = ()


async def ask_back(engine: Kaijuan, draft: Draft, snapshot: int) -> Found:
    """Return whether the base's search leads from the question to its evidence, and to it alone.

    Another document that holds the answer and all words of the question says the same, and is counted as relevant. One
    that has all the words without the answer makes the question ambiguous.
    """
    result = await engine.search(draft.question, k=DEPTH, as_of=snapshot, cut=False)
    wanted = {piece.document.source for piece in draft.evidence}
    if not wanted <= {passage.source for passage in result.passages}:
        return Found(fault="not_found_again")
    if draft.kind in (Kind.UNANSWERABLE, Kind.MULTI):
        return Found()
    return _others(draft, result.passages, wanted)


def _others(draft: Draft, passages: Collection[Passage], wanted: Collection[str]) -> Found:
    asked = _Asked(draft)
    also: set[str] = set()
    rivals: set[str] = set()
    for passage in passages:
        if passage.source in wanted:
            continue
        verdict = asked.verdict(passage)
        if verdict == "same":
            also.add(passage.source)
        elif verdict == "rival":
            rivals.add(passage.source)
    if rivals - also:
        return Found(fault="ambiguous")
    if len(also) > MOST_ALSO:
        return Found(fault="too_common")
    return Found(also=tuple(sorted(also)))


class _Asked:
    """A draft as its words, read once: those that its own evidence has too. The others are how one asks."""

    def __init__(self, draft: Draft) -> None:
        own = _Text("\n".join(f"{piece.document.title}\n{piece.quote}" for piece in draft.evidence))
        weights = read_question(draft.question).weights
        self._words = frozenset(word for word in weights if word[0] not in "~=<" and own.has(word))
        self._answers = [folded(part) for answer in draft.answers for part in parts_of(draft, answer)]

    def verdict(self, passage: Passage) -> str:
        """Return "same", "rival" or "" for a passage of another document."""
        text = _Text(f"{passage.title}\n{' '.join(passage.title_path)}\n{passage.text}")
        if not self._words or not all(text.has(word) for word in sorted(self._words, reverse=True)):
            return ""
        return "same" if all(text.holds(answer) for answer in self._answers) else "rival"


class _Text:
    """A text in which words are looked up: Han words wherever they stand, others as terms."""

    def __init__(self, text: str) -> None:
        self._text = folded(text)
        self._keys: frozenset[str] | None = None

    def has(self, word: str) -> bool:
        if word[0] >= _HAN:
            return word in self._text
        if self._keys is None:
            self._keys = frozenset(keys_of(self._text)[0])
        return word in self._keys

    def holds(self, answer: str) -> bool:
        return answer in self._text
